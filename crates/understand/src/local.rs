//! Everything that can be found out about a document on this machine, in the form in which it is kept and shown.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use docmill_core::artifact::{TextSource, Transcript};
use docmill_core::clock::Timestamp;
use docmill_core::id::ContentHash;
use docmill_core::ports::Understander;
use docmill_core::ports::understander::{Piece, Understood};
use docmill_core::sketch::Sketch;
use docmill_core::understanding::{Evidence, Judgement, Labelled, Understanding};
use docmill_core::{Error, Result};
use jiff::civil::Date;

use crate::chunk::{Chunk, chunks};
use crate::labels::{Embedder, LabelSet, MAX_BYTES, OFF, Prepared, builtin, checked};
use crate::nearness::Signature;
use crate::title::{first_line, has_word};
use crate::{Document, Guess, Knowledge, Page, text_of};

/// Raise it when the same text is understood otherwise than before: old answers are not taken over then.
const IDENTITY: &str = "local-5";

/// Text that is compared with that of other documents.
const MAX_COMPARED: usize = 4 << 20;

/// Longer titles are cut: they are for a line on a screen.
const MAX_TITLE_CHARS: usize = 500;

/// Knowledge and label sets, ready for any number of documents.
pub struct Local {
    identity: String,
    knowledge: Knowledge,
    sets: Vec<Prepared>,
    embedder: Option<Model>,
}

/// What makes vectors of texts, for any thread.
pub type Model = Box<dyn Embedder + Send + Sync>;

/// What is known of a document before it is understood.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// In order.
    pub pages: &'a [Page<'a>],
    /// What the content is.
    pub media_type: &'a str,
    /// ISO 639-3 code of the language, where it could be told.
    pub language: Option<&'a str>,
    /// What the file says of itself.
    pub metadata: &'a BTreeMap<String, String>,
    /// As which it came, with or without folders.
    pub name: &'a str,
    /// Nothing was written later.
    pub now: Timestamp,
}

impl Local {
    /// With the label sets that are built in, and without a model.
    pub fn new() -> Result<Self> {
        Self::with(&builtin()?, None)
    }

    /// With these label sets, and a model for those that need one.
    pub fn with(sets: &[LabelSet], embedder: Option<Model>) -> Result<Self> {
        let model = embedder.as_deref().map(|model| model as &dyn Embedder);
        let prepared = sets.iter().map(|set| set.prepare(model)).collect::<Result<_>>()?;
        Ok(Self { identity: identity(sets)?, knowledge: Knowledge::load()?, sets: prepared, embedder })
    }

    /// Everything about a document; sets that need a model and have none say so.
    pub fn about(&self, known: &Known<'_>) -> Result<Understood> {
        // All sets look at the same pieces of the text.
        let remembering = self.embedder.as_deref().map(|model| Remembering::new(model));
        let model = remembering.as_ref().map(|model| model as &dyn Embedder);
        let said = |key: &str| known.metadata.get(key).map(String::as_str);
        // The subject of other documents is what they are about, not what they are called.
        let is_mail = is_mail(known.media_type);
        let document = Document {
            pages: known.pages,
            media_type: Some(known.media_type),
            language: known.language,
            title: said("title"),
            name: known.name.rsplit('/').next(),
            subject: said("subject").filter(|_| is_mail),
            sent: said("date").filter(|_| is_mail).and_then(day),
            written: said("creation_date").and_then(day),
            today: today(known.now),
        };
        let mut found = self.knowledge.understand(&document, model)?;
        found.title = found.title.or_else(|| known.pages.iter().find_map(|page| first_line(page.text)));
        let text = text_of(known.pages, MAX_BYTES);
        let mut labels = BTreeMap::new();
        for set in &self.sets {
            labels.insert(set.set().name.clone(), set.label(&text, model)?);
        }
        Ok(kept(found, labels))
    }
}

impl Understander for Local {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn understand(&self, transcript: &Transcript, name: &str, now: Timestamp) -> Result<Option<Understood>> {
        // What a message says lies in documents of its own; what it is about stands in its head.
        let subject = transcript.metadata.get("subject").filter(|_| is_mail(&transcript.media_type));
        let mut texts = transcript.pages.iter().map(|page| &page.text).chain(subject);
        // Letters that were recognised in a picture and make no word are mostly none; what a file holds, it says.
        let mut native = transcript.pages.iter().filter(|page| page.source == TextSource::Native);
        if !texts.any(|text| has_word(text)) && !native.any(|page| first_line(&page.text).is_some()) {
            return Ok(None);
        }
        let pages = pages_of(transcript);
        let mut found = self.about(&Known {
            pages: &pages,
            media_type: &transcript.media_type,
            language: transcript.language.as_deref(),
            metadata: &transcript.metadata,
            name,
            now,
        })?;
        // That a set is off is the same for every document, and no news of this one.
        found.understanding.labels.retain(|_, said| said.method != OFF);
        Ok(Some(found))
    }

    fn pieces(&self, transcript: &Transcript, most: usize) -> Vec<Piece> {
        let pages = pages_of(transcript);
        let text_of = |chunk: &Chunk| {
            let page = pages.iter().find(|page| page.number == chunk.page)?;
            page.text.get(chunk.start..chunk.end)
        };
        let pieces = chunks(&pages).into_iter().filter_map(|chunk| {
            let own = text_of(&chunk).filter(|text| has_word(text))?;
            // Once is enough where a piece begins with its heading.
            let heading = chunk.heading.as_deref().filter(|heading| !own.trim_start().starts_with(heading));
            let text = heading.map_or_else(|| own.to_owned(), |heading| format!("{heading}\n{own}"));
            Some(Piece { page: chunk.page, start: chunk.start, end: chunk.end, text })
        });
        pieces.take(most).collect()
    }

    fn sketch(&self, transcript: &Transcript) -> Option<Sketch> {
        Signature::of(&text_of(&pages_of(transcript), MAX_COMPARED)).map(|signature| signature.sketch())
    }

    fn descriptions(&self) -> Vec<String> {
        let of_sets = self.sets.iter().flat_map(Prepared::descriptions);
        self.knowledge.kind_descriptions().chain(of_sets).map(str::to_owned).collect()
    }

    fn judge(
        &self,
        transcript: &Transcript,
        descriptions: &[Vec<f32>],
        pieces: &[Vec<f32>],
    ) -> Result<Option<Judgement>> {
        let Some(beginning) = pieces.first() else { return Ok(None) };
        let (of_kinds, mut rest) = take(descriptions, self.knowledge.kind_descriptions().count())?;
        let pages = pages_of(transcript);
        let document = Document { media_type: Some(&transcript.media_type), ..Document::of(&pages) };
        let kind = self.knowledge.kind_by_meaning(&document, of_kinds, beginning)?;
        let text = text_of(&pages, MAX_BYTES);
        let mut labels = BTreeMap::new();
        for set in &self.sets {
            let (meanings, others) = take(rest, set.descriptions().count())?;
            rest = others;
            if !meanings.is_empty() {
                labels.insert(set.set().name.clone(), set.label_by(&text, meanings, Some(pieces)));
            }
        }
        if kind.is_none() && labels.is_empty() {
            return Ok(None);
        }
        let evidence = kind
            .as_ref()
            .map(|kind| Evidence { confidence: kind.confidence, method: kind.method.to_owned() });
        Ok(Some(Judgement { kind: kind.map(|kind| kind.value), evidence, labels }))
    }
}

/// What answers depend on: the knowledge that is built in, and the label sets that are not.
fn identity(sets: &[LabelSet]) -> Result<String> {
    if sets == builtin()? {
        return Ok(IDENTITY.to_owned());
    }
    let hash = ContentHash::of(format!("{sets:?}").as_bytes()).to_string();
    Ok(format!("{IDENTITY}+{}", &hash[..hash.floor_char_boundary(16)]))
}

fn pages_of(transcript: &Transcript) -> Vec<Page<'_>> {
    transcript.pages.iter().map(|page| Page { number: page.number, text: &page.text }).collect()
}

/// What texts mean, in their order.
type Vectors<'a> = &'a [Vec<f32>];

/// The first of the vectors that were asked for together, and the others.
fn take(vectors: &[Vec<f32>], count: usize) -> Result<(Vectors<'_>, Vectors<'_>)> {
    vectors.split_at_checked(count).ok_or_else(|| Error::bug("some descriptions have no vector"))
}

/// Asks a model for each text once.
struct Remembering<'a> {
    model: &'a dyn Embedder,
    known: RefCell<HashMap<String, Vec<f32>>>,
}

impl<'a> Remembering<'a> {
    fn new(model: &'a dyn Embedder) -> Self {
        Self { model, known: RefCell::default() }
    }
}

impl Embedder for Remembering<'_> {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut known = self.known.borrow_mut();
        let new: Vec<&str> = texts.iter().copied().filter(|text| !known.contains_key(*text)).collect();
        if !new.is_empty() {
            let vectors = checked(self.model.embed(&new)?, new.len())?;
            known.extend(new.into_iter().map(str::to_owned).zip(vectors));
        }
        Ok(texts.iter().filter_map(|text| known.get(*text).cloned()).collect())
    }
}

fn kept(found: crate::Understanding, labels: BTreeMap<String, Labelled>) -> Understood {
    let mut evidence = BTreeMap::new();
    let mut note = |key: &str, confidence, method: &str| {
        evidence.insert(key.to_owned(), Evidence { confidence, method: method.to_owned() });
    };
    let title = taken(found.title, "title", &mut note);
    let summary = taken(found.summary, "summary", &mut note);
    let date = taken(found.date, "date", &mut note).map(|date| date.to_string());
    let kind = taken(found.kind, "type", &mut note);
    if let Some(best) = found.tags.first() {
        note("tags", best.confidence, best.method);
    }
    let tags = found.tags.into_iter().map(|tag| tag.value).collect();
    Understood {
        title: title.map(|title| title.chars().take(MAX_TITLE_CHARS).collect()),
        understanding: Understanding { summary, date, kind, tags, labels, evidence },
    }
}

fn taken<T>(guess: Option<Guess<T>>, key: &str, note: &mut impl FnMut(&str, f32, &str)) -> Option<T> {
    let guess = guess?;
    note(key, guess.confidence, guess.method);
    Some(guess.value)
}

fn is_mail(media_type: &str) -> bool {
    matches!(media_type, "message/rfc822" | "application/vnd.ms-outlook")
}

/// The day that a time in the form of ISO 8601 begins with.
fn day(time: &str) -> Option<Date> {
    time.get(..10)?.parse().ok()
}

fn today(now: Timestamp) -> Option<Date> {
    let now = jiff::Timestamp::from_millisecond(now.0).ok()?;
    Some(now.to_zoned(jiff::tz::TimeZone::UTC).date())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use docmill_core::artifact::{Page, TextSource};

    use super::*;

    #[test]
    fn day_of_a_time_is_what_it_begins_with() {
        assert_eq!(day("2024-01-31T10:00:00Z"), Some(jiff::civil::date(2024, 1, 31)));
        assert_eq!(day("2024-13-31T10:00:00Z"), None);
        assert_eq!(day("yesterday"), None);
    }

    fn transcript(text: &str) -> Transcript {
        let page = Page {
            number: 1,
            source: TextSource::Native,
            reason: String::new(),
            quality: None,
            text: text.into(),
        };
        Transcript {
            v: Transcript::VERSION,
            media_type: "text/plain".into(),
            language: Some("eng".into()),
            quality: None,
            metadata: BTreeMap::new(),
            pages: vec![page],
            problems: Vec::new(),
            recognised: Vec::new(),
        }
    }

    fn understood(text: &str) -> Option<Understood> {
        Local::new()
            .unwrap()
            .understand(&transcript(text), "post/letter.txt", Timestamp(1_800_000_000_000))
            .unwrap()
    }

    /// A model that means the same by everything, and notes what it is asked.
    #[derive(Clone, Default)]
    struct Noting(Arc<Mutex<Vec<String>>>);

    impl Embedder for Noting {
        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
            self.0.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
            Ok(vec![vec![1.0, 0.0]; texts.len()])
        }
    }

    #[test]
    fn model_is_asked_once_for_each_piece_of_a_text_whatever_the_number_of_sets() {
        let model = Noting::default();
        let local = Local::with(&builtin().unwrap(), Some(Box::new(model.clone()))).unwrap();
        model.0.lock().unwrap().clear();
        let pages = [crate::Page { number: 1, text: "A short note about oil and bread." }];
        let known = Known {
            pages: &pages,
            media_type: "text/plain",
            language: None,
            metadata: &BTreeMap::new(),
            name: "note.txt",
            now: Timestamp(1_800_000_000_000),
        };
        let said = local.about(&known).unwrap().understanding.labels;
        assert!(said.values().all(|said| said.method != OFF));
        assert!(said.values().filter(|said| said.method == "semantic").count() > 1);
        let asked = model.0.lock().unwrap().clone();
        assert_eq!(asked.iter().filter(|text| text.contains("oil and bread")).count(), 1, "{asked:?}");
    }

    #[test]
    fn meanings_say_what_words_do_not() {
        let local = Local::new().unwrap();
        let asked = local.descriptions();
        // Each description points its own way, and the text the way of one of them.
        let way = |at: usize| {
            let mut vector = vec![0.0; asked.len()];
            vector[at] = 1.0;
            vector
        };
        let descriptions: Vec<_> = (0..asked.len()).map(way).collect();
        let (kind, label) = (1, local.knowledge.kinds().count());
        let mut piece = way(kind);
        piece[label] = 0.9;
        let plain = transcript("Something that no list of words knows anything about.");
        let said = local.judge(&plain, &descriptions, std::slice::from_ref(&piece)).unwrap().unwrap();
        assert_eq!(said.kind.as_deref(), local.knowledge.kinds().nth(kind));
        assert_eq!(said.evidence.unwrap().method, "semantic");
        let first = local.sets.iter().find(|set| set.descriptions().next().is_some()).unwrap().set();
        assert_eq!(said.labels[&first.name].labels[0], first.labels[0].name);
        assert_eq!(said.labels[&first.name].method, "semantic");
        // Words that tell are believed.
        let invoice = transcript("INVOICE\n\nInvoice number 17\nAmount due 12.00\nPayment terms 30 days\n");
        assert_eq!(local.judge(&invoice, &descriptions, &[piece]).unwrap().unwrap().kind, None);
        assert_eq!(local.judge(&plain, &descriptions, &[]).unwrap(), None, "nothing was embedded");
        assert!(local.judge(&plain, &descriptions[1..], &[way(0)]).is_err());
    }

    #[test]
    fn other_label_sets_are_other_answers() {
        let label =
            |name: &str, word: &str| format!("[[label]]\nname = \"{name}\"\n[label.keywords]\n{word} = 1\n");
        let file = format!("name = \"mine\"\nmode = \"rules\"\n{}{}", label("a", "red"), label("b", "blue"));
        let set = LabelSet::parse(&file).unwrap();
        let mut sets = builtin().unwrap();
        assert_eq!(Local::with(&sets, None).unwrap().identity(), IDENTITY);
        sets.push(set);
        let with = Local::with(&sets, None).unwrap();
        assert!(with.identity().starts_with(IDENTITY) && with.identity() != IDENTITY);
    }

    #[test]
    fn document_without_a_word_is_not_tried_if_it_says_nothing_or_is_a_picture() {
        for nothing in ["", " \n\t", "?! \u{202e}—"] {
            assert_eq!(understood(nothing), None, "{nothing:?}");
        }
        let mut picture = transcript("xe 1\n=== r");
        picture.pages[0].source = TextSource::Ocr;
        let now = Timestamp(1_800_000_000_000);
        assert_eq!(Local::new().unwrap().understand(&picture, "icon.png", now).unwrap(), None);
        assert!(understood("a word").is_some());
    }

    #[test]
    fn document_of_numbers_is_called_by_its_first_line() {
        for (text, title) in [
            ("12345\n", "12345"),
            ("\n--\na\tb\n1\t2\n", "a, b"),
            ("1. 2,5\t3", "1. 2,5, 3"),
            ("xe 1\n=== r", "xe 1"),
        ] {
            let found = understood(text).unwrap();
            assert_eq!(found.title.as_deref(), Some(title));
            let evidence = &found.understanding.evidence["title"];
            assert!(evidence.method == "first_line" && evidence.confidence < 0.1, "{evidence:?}");
        }
    }

    #[test]
    fn transcript_is_understood_with_how_sure_each_is_and_without_sets_that_are_off() {
        let text = "Subject: Delivery of office chairs\n\nLeeds, 9 March 2024\n\nDear Mr Jones,\n\nThank you for your order \
                    of office chairs. This offer is confidential.\n\nYours sincerely\nAnn Smith\n";
        let found = understood(text).unwrap();
        assert_eq!(found.title.as_deref(), Some("Delivery of office chairs"));
        let found = found.understanding;
        assert_eq!((found.kind.as_deref(), found.date.as_deref()), (Some("letter"), Some("2024-03-09")));
        for key in ["title", "date", "type", "tags"] {
            assert!((0.0..=1.0).contains(&found.evidence[key].confidence), "{key}");
        }
        assert!(!found.labels.is_empty());
        assert!(found.labels.values().all(|said| said.method != OFF));
    }
}
