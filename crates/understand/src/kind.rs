//! Which kind of document a text is: an invoice, a letter, a report.
//!
//! `data/kinds.toml` says by which phrases kinds are known, in several languages. What a document is headed with counts
//! most; a single common word never decides. Where the words do not tell, a model may, if the caller has one.

use std::collections::HashSet;

use docmill_core::{Error, Result};
use serde::Deserialize;

use crate::labels::{Embedder, checked, cosine};
use crate::rules::Phrases;
use crate::small_print::is_between_greetings;
use crate::words::{fold, is_number, words};
use crate::{Document, Guess};

/// Kinds are told by the beginning.
const MAX_BYTES: usize = 48 << 10;

/// Where headings count as such.
const HEAD_BYTES: usize = 1_200;

/// A heading stands on a line with few other words.
const HEADING_WORDS: usize = 7;

/// Scores of the lists. Three weak signs are as good as a strong one and a half.
const TITLE: f32 = 4.0;
const TITLE_ELSEWHERE: f32 = 0.6;
const STRONG: f32 = 2.0;
const SOME: f32 = 0.7;
const AGAINST: f32 = -2.0;

/// Somebody is greeted, and the text closes as letters do: it needs but one weak sign more.
const GREETINGS: f32 = 3.0;

/// What a kind needs: a heading, or two strong signs.
const LEAST: f32 = 3.5;

/// Common words of a long text prove little: beyond this many of a list no more are counted.
const MOST_OF_A_LIST: usize = 6;

/// A kind that a model finds must be at least so near.
const LEAST_SIMILARITY: f32 = 0.25;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<Kind>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    name: String,
    description: String,
    #[serde(default)]
    media: Vec<String>,
    title: Vec<String>,
    strong: Vec<String>,
    some: Vec<String>,
    #[serde(default)]
    fields: Vec<String>,
    against: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Title,
    Strong,
    Some,
    Against,
}

/// All kinds and the phrases they are known by.
pub(crate) struct Kinds {
    all: Vec<Kind>,
    phrases: Phrases,
    /// For each phrase its kind and its list.
    owners: Vec<(usize, List)>,
}

impl Kinds {
    pub(crate) fn load() -> Result<Self> {
        let file: File = toml::from_str(include_str!("../data/kinds.toml"))
            .map_err(|e| Error::bug("the built-in kinds cannot be read").with_source(e))?;
        let mut owners = Vec::new();
        let mut listed: Vec<&str> = Vec::new();
        for (at, kind) in file.kind.iter().enumerate() {
            for (phrases, list) in [
                (&kind.title, List::Title),
                (&kind.strong, List::Strong),
                (&kind.some, List::Some),
                (&kind.against, List::Against),
            ] {
                owners.extend(phrases.iter().map(|_| (at, list)));
                listed.extend(phrases.iter().map(String::as_str));
            }
        }
        let phrases = Phrases::of(listed);
        Ok(Self { all: file.kind, phrases, owners })
    }

    /// The names of all kinds.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|kind| kind.name.as_str())
    }

    /// Whether a line is what documents of some kind are headed with, and nothing else.
    pub(crate) fn is_heading_of_a_kind(&self, line: &str) -> bool {
        // Numbers, and what stands before them, are no words of a heading: `Rechnung (380) Nr. 4711 vom 5.3.2018`.
        let is_said = |word: &str| word.chars().count() > 3 && !is_number(word);
        let count = words(line).take(2 * HEADING_WORDS).filter(|w| is_said(w.text)).count();
        let long = words(line).take(2 * HEADING_WORDS + 1).count() > 2 * HEADING_WORDS;
        !long
            && count > 0
            && count <= 3
            && self.phrases.find(line).iter().any(|hit| self.owners[hit.phrase].1 == List::Title)
    }

    /// The words of every document of a kind that is a form, folded: its name, and what stands beside its fields. None of
    /// a kind that is none.
    pub(crate) fn words_of_form(&self, name: &str) -> HashSet<String> {
        let kind = self.all.iter().find(|kind| kind.name == name && !kind.fields.is_empty());
        let lists = kind.into_iter().flat_map(|kind| [&kind.title, &kind.strong, &kind.some, &kind.fields]);
        lists.flatten().flat_map(|phrase| words(phrase)).map(|word| fold(word.text)).collect()
    }

    /// Whether a line is the head of a table: several of the words that such documents have, side by side.
    pub(crate) fn is_head_of_a_table(&self, line: &str) -> bool {
        let mut starts: Vec<usize> = self
            .phrases
            .find(line)
            .iter()
            .filter(|hit| matches!(self.owners[hit.phrase].1, List::Strong | List::Some))
            .map(|hit| hit.start)
            .collect();
        starts.sort_unstable();
        starts.dedup();
        starts.len() >= 3
    }

    pub(crate) fn guess(
        &self,
        document: &Document<'_>,
        text: &str,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Option<Guess<String>>> {
        if let Some(kind) = document.media_type.and_then(|media| self.by_media(media)) {
            return Ok(Some(Guess { value: kind.name.clone(), confidence: 0.97, method: "media_type" }));
        }
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let scores = self.scores(text);
        let best = scores.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1));
        if let Some((at, score)) = best.filter(|(_, score)| **score >= LEAST) {
            let second =
                scores.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, s)| *s).fold(0.0, f32::max);
            // Sure where much speaks for it and little for anything else.
            let margin = (score - second) / score;
            let confidence = (score / (score + LEAST)) * (0.5 + 0.5 * margin);
            return Ok(Some(Guess {
                value: self.all[at].name.clone(),
                confidence: (confidence + 0.15).clamp(0.05, 0.95),
                method: "rules",
            }));
        }
        match embedder {
            Some(embedder) if !text.trim().is_empty() => self.by_meaning(text, embedder),
            _ => Ok(None),
        }
    }

    fn by_media(&self, media: &str) -> Option<&Kind> {
        self.all.iter().find(|kind| kind.media.iter().any(|m| media.starts_with(m.as_str())))
    }

    fn scores(&self, text: &str) -> Vec<f32> {
        let mut scores = vec![0.0; self.all.len()];
        let mut counted = vec![false; self.owners.len()];
        let mut headed = vec![false; self.all.len()];
        let mut of_list = vec![0_usize; self.all.len()];
        for hit in self.phrases.find(text) {
            let (kind, list) = self.owners[hit.phrase];
            if list == List::Title
                && hit.start < HEAD_BYTES
                && !headed[kind]
                && is_heading(text, hit.start, hit.end)
            {
                headed[kind] = true;
                scores[kind] += TITLE;
                continue;
            }
            if std::mem::replace(&mut counted[hit.phrase], true) {
                continue;
            }
            scores[kind] += match list {
                List::Title => TITLE_ELSEWHERE,
                List::Strong => STRONG,
                List::Some => {
                    of_list[kind] += 1;
                    if of_list[kind] > MOST_OF_A_LIST { 0.0 } else { SOME }
                }
                List::Against => AGAINST,
            };
        }
        if let Some(email) = self.all.iter().position(|kind| kind.name == "email") {
            scores[email] += mail_header(text);
        }
        if let Some(letter) = self.all.iter().position(|kind| kind.name == "letter")
            && is_between_greetings(text)
        {
            scores[letter] += GREETINGS;
        }
        scores
    }

    fn by_meaning(&self, text: &str, embedder: &dyn Embedder) -> Result<Option<Guess<String>>> {
        const BEGINNING: usize = 1_000;
        let mut texts: Vec<&str> = self.descriptions().collect();
        texts.push(&text[..text.floor_char_boundary(BEGINNING)]);
        let mut vectors = checked(embedder.embed(&texts)?, texts.len())?;
        let Some(own) = vectors.pop() else { return Ok(None) };
        Ok(self.nearest(&vectors, &own))
    }

    /// What kinds are, in words.
    pub(crate) fn descriptions(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|kind| kind.description.as_str())
    }

    /// The kind whose description is nearest to the beginning of a text, if any is near.
    pub(crate) fn nearest(&self, meanings: &[Vec<f32>], own: &[f32]) -> Option<Guess<String>> {
        let near = meanings.iter().map(|meaning| cosine(meaning, own));
        let (kind, near) = self.all.iter().zip(near).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (near >= LEAST_SIMILARITY).then(|| Guess {
            value: kind.name.clone(),
            confidence: (0.8 * near).clamp(0.05, 0.6),
            method: "semantic",
        })
    }
}

/// Whether a phrase stands on a short line, at its beginning or with little else.
fn is_heading(text: &str, start: usize, end: usize) -> bool {
    let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let to = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let line = &text[from..to];
    // A whole line of prose, or a long one that was not broken: no heading.
    line.len() < 160
        && words(line).take(HEADING_WORDS + 1).count() <= HEADING_WORDS
        && words(&text[from..start]).count() <= 3
}

/// The first lines of a message name sender, recipients, subject.
fn mail_header(text: &str) -> f32 {
    const FIELDS: &[&str] = &[
        "from:",
        "to:",
        "subject:",
        "date:",
        "sent:",
        "cc:",
        "von:",
        "an:",
        "betreff:",
        "gesendet:",
        "de :",
        "de:",
        "à :",
        "objet :",
        "objet:",
        "para:",
        "asunto:",
        "da:",
        "oggetto:",
        "aan:",
        "onderwerp:",
        "message-id:",
    ];
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty()).take(15);
    let count = lines
        .filter(|line| {
            let start = line[..line.floor_char_boundary(14)].to_lowercase();
            FIELDS.iter().any(|field| start.starts_with(field))
        })
        .count();
    if count >= 3 { 3.0 + count as f32 } else { 0.5 * count as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Page;

    fn kind_of(text: &str) -> Option<String> {
        let pages = [Page { number: 1, text }];
        Kinds::load().unwrap().guess(&Document::of(&pages), text, None).unwrap().map(|g| g.value)
    }

    #[test]
    fn kinds_are_told_in_several_languages() {
        for (text, kind) in [
            (
                "ACME Ltd\nINVOICE\nInvoice number: 17\nBill to: Jones\nSubtotal 10\nVAT 2\nTotal due 12",
                "invoice",
            ),
            ("Rechnung\nRechnungsnummer 17\nMenge Einzelpreis\nZahlbar bis 1.2.2024\nMwSt 19 %", "invoice"),
            (
                "FACTURE N° 12\nDate de facture 01/02/2024\nTotal HT 10,00\nTVA 2,00\nNet à payer 12,00",
                "invoice",
            ),
            (
                "TAX INVOICE\nCashier: Ann\nTotal 5.00\nCash 10.00\nChange 5.00\nThank you, please come again",
                "receipt",
            ),
            (
                "Kassenbon\nSumme 5,00\nBar gegeben 10,00\nRückgeld 5,00\nVielen Dank für Ihren Einkauf",
                "receipt",
            ),
            (
                "Non-Disclosure Agreement\nThis Agreement is made between the parties. Governing law: Delaware.",
                "contract",
            ),
            (
                "Mietvertrag\nzwischen Vermieter und Mieter, nachfolgend die Parteien. Kündigungsfrist drei Monate.",
                "contract",
            ),
            (
                "Leeds, 9 March 2024\n\nDear Mr Jones,\nwe refer to your request.\nYours sincerely\nA. Smith",
                "letter",
            ),
            ("Dear Bob,\n\nthe kettle works again.\n\nRegards, Alice\n", "letter"),
            ("Sehr geehrte Frau Maier,\nanbei die Unterlagen.\nMit freundlichen Grüßen\nB. Müller", "letter"),
            (
                "From: a@example.org\nTo: b@example.org\nSubject: Lunch\nDate: Mon, 1 Jan 2024\n\nSee you",
                "email",
            ),
            ("Kontoauszug\nAlter Kontostand 10,00\nBuchungstag Valuta\nNeuer Kontostand 20,00", "statement"),
            ("Curriculum Vitae\nJane Doe\nWork Experience\n2010 Cook\nEducation\nSkills", "resume"),
            (
                "Annual Report 2023\nExecutive Summary\nThis report describes our findings and recommendations.",
                "report",
            ),
            (
                "On waves\nAbstract\nIn this paper we propose a model. Introduction. Smith et al. References",
                "article",
            ),
            (
                "User Manual\nGetting started\nSafety instructions\nPress the button.\nTroubleshooting",
                "manual",
            ),
            ("Minutes of the meeting\nAttendees: A, B\nAction items\nNext meeting: Monday", "minutes"),
        ] {
            assert_eq!(kind_of(text).as_deref(), Some(kind), "{text}");
        }
    }

    #[test]
    fn data_that_is_an_invoice_says_so_in_the_name_of_its_rules() {
        for name in [
            "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
            "urn:ferd:CrossIndustryDocument:invoice:1p0:comfort",
            "urn:factur-x.eu:1p0:minimum",
        ] {
            let text = format!("{name}\nR-88\n2024-05-02\n380\nEUR\nMill GmbH\n19.00\n");
            assert_eq!(kind_of(&text).as_deref(), Some("invoice"), "{name}");
        }
    }

    #[test]
    fn text_of_no_kind_has_none() {
        for text in ["", "\0", "The cat sat on the mat and looked at the bird.", "日本語の文章です。"]
        {
            assert_eq!(kind_of(text), None, "{text}");
        }
    }

    #[test]
    fn media_type_decides() {
        let pages = [Page { number: 1, text: "Invoice number 12, invoice date" }];
        let document = Document { media_type: Some("message/rfc822"), ..Document::of(&pages) };
        let found = Kinds::load().unwrap().guess(&document, "Invoice number", None).unwrap().unwrap();
        assert_eq!((found.value.as_str(), found.method), ("email", "media_type"));
    }
}
