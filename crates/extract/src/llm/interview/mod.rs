//! The course of asking: each piece of a document once, one more try for what went wrong, and the end, whatever was said.
//!
//! | what comes | what follows |
//! |---|---|
//! | an answer of another form | the same question once more, then what rules found |
//! | an answer that is cut short | its complete fields are kept; the others are asked for without rows, rows of halves |
//! | a critical field missing or invented | asked for once more by itself, then the gate says so |
//! | a value that stands nowhere | what rules found; where they found nothing it is told as ungrounded |
//! | a refusal, silence, no connection | what rules found |

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use docmill_core::extraction::{Evidence, EvidenceSource, Extraction, Field};
use docmill_core::ports::extractor::{Asking, Interviewed};
use docmill_core::ports::llm::{Answer, Ending, Question};
use docmill_core::{Error, ErrorKind, Result};

use super::question::Piece;
use super::{answer, question};
use crate::Material;
use crate::find::Reading;
use crate::gate::{self, rule_of};
use crate::ground::{Ground, Seen};
use crate::layout::{Sheet, folded};
use crate::normalise::notation;
use crate::schema::{FieldRule, Schema, Shape};

/// How the evidence names this.
const METHOD: &str = "llm";

/// How sure a value is that the document vouches for and rules did not find.
const GROUNDED: f32 = 0.8;

/// How sure one is that rules read differently.
const DISPUTED: f32 = 0.6;

/// What is left of the confidence in a value that stands nowhere among words with places, but in the running text of
/// pages that have such words: nobody can be shown where, so somebody has to look.
const UNPLACED: f32 = 0.9;

/// So many answers that are cut short lead to other questions: each costs money.
const MOST_CUTS: usize = 4;

/// What rules are as sure of as this is not given up for what a model says.
const FIRM: f32 = 0.85;

/// A document that can be looked at as often as that is needed.
pub trait Looked {
    /// The document.
    fn look(&self) -> Material<'_>;
}

impl Looked for &Material<'_> {
    fn look(&self) -> Material<'_> {
        (*self).clone()
    }
}

/// One document and a model that is asked about it.
#[derive(Debug)]
pub struct Interview<M> {
    schema: Schema,
    material: M,
    local: Extraction,
    /// Those of the document first, then halves of them.
    pieces: Vec<Piece>,
    whole: usize,
    /// What is asked for.
    names: Vec<String>,
    waiting: VecDeque<Asked>,
    asked: Option<Asked>,
    /// Whether the one more try is left.
    again: bool,
    said: BTreeMap<String, String>,
    asking: Asking,
    /// Answers that were cut short.
    cuts: usize,
    /// Fields of which a part could not be had.
    torn: BTreeSet<String>,
    /// The last answer of which something was lost.
    lost: Option<Error>,
    model: Option<String>,
    tokens: (u64, u64),
    problem: Option<Error>,
}

/// A question, by its parts.
#[derive(Clone, Debug)]
struct Asked {
    piece: usize,
    names: Vec<String>,
}

impl<M: Looked> Interview<M> {
    /// About a document of which rules have found `local`.
    pub fn new(schema: &Schema, material: M, local: Extraction, asking: Asking) -> Self {
        let pieces = question::pieces(&material.look().texts, &asking.pictures, asking.max_bytes);
        let names = if asking.all {
            schema.fields.iter().map(|rule| rule.name.clone()).collect()
        } else {
            gate::doubtful(schema, &local)
        };
        let count = if names.is_empty() { 0 } else { pieces.len() };
        let whole = pieces.len();
        let waiting = (0..count).map(|piece| Asked { piece, names: names.clone() }).collect();
        Self {
            schema: schema.clone(),
            material,
            local,
            pieces,
            whole,
            names,
            waiting,
            asked: None,
            again: true,
            said: BTreeMap::new(),
            asking,
            cuts: 0,
            torn: BTreeSet::new(),
            lost: None,
            model: None,
            tokens: (0, 0),
            problem: None,
        }
    }

    /// Everything that is asked if nothing has to be asked again.
    pub fn planned(&self) -> Vec<Question> {
        self.waiting.iter().filter_map(|asked| self.about(asked)).collect()
    }

    /// What the one more try asks beside that, at most: critical fields of every piece, or a question again whose answer
    /// was of no use.
    pub fn once_more(&self) -> Vec<Question> {
        let is_critical = |name: &&String| self.schema.fields.iter().any(|r| r.critical && r.name == **name);
        let names: Vec<String> = self.names.iter().filter(is_critical).cloned().collect();
        if names.is_empty() || self.names.len() < 2 {
            return self.planned().into_iter().take(1).collect();
        }
        self.waiting
            .iter()
            .filter_map(|asked| self.about(&Asked { piece: asked.piece, names: names.clone() }))
            .collect()
    }

    /// Whether an answer to the last question, or to a planned one before the first, has the form that was asked for, or
    /// has fields of it that are complete.
    pub fn is_of_use(&self, answer: &Answer) -> bool {
        let asked = self.asked.as_ref().or(self.waiting.front());
        asked.is_some_and(|asked| match answer.ending {
            Ending::CutShort => !answer::complete(&self.schema, &asked.names, answer).1.is_empty(),
            _ => answer::read(&self.schema, &asked.names, answer).is_ok(),
        })
    }

    fn about(&self, asked: &Asked) -> Option<Question> {
        Some(question::about(&self.schema, &asked.names, self.pieces.get(asked.piece)?))
    }

    /// What to ask next; nothing when all is said.
    pub fn question(&mut self) -> Option<Question> {
        if self.problem.is_some() {
            return None;
        }
        if self.waiting.is_empty() && self.again {
            self.again = false;
            let names = self.lacking();
            // The same question would get the same answer.
            if !names.is_empty() && names != self.names {
                self.waiting.extend((0..self.whole).map(|piece| Asked { piece, names: names.clone() }));
            }
        }
        let asked = self.waiting.pop_front()?;
        let question = self.about(&asked);
        self.asked = Some(asked);
        question
    }

    /// Takes what came of the last question.
    pub fn take(&mut self, answer: Result<Answer>) {
        let Some(asked) = self.asked.take() else { return };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return self.problem = Some(error),
        };
        self.tokens.0 += answer.tokens_in;
        self.tokens.1 += answer.tokens_out;
        self.model = Some(answer.model.clone());
        if answer.ending == Ending::CutShort {
            return self.ask_for_less(&asked, &answer);
        }
        match answer::read(&self.schema, &asked.names, &answer) {
            Ok(said) => self.keep(&said),
            Err(error) if error.kind() == ErrorKind::SchemaMismatch && self.again => {
                self.again = false;
                self.waiting.push_front(asked);
            }
            Err(error) => self.problem = Some(error),
        }
    }

    /// Keeps what was complete of an answer that was cut short, and asks for the rest in smaller parts: the same question
    /// would be cut short again. The other pieces are asked about whatever comes of it.
    fn ask_for_less(&mut self, asked: &Asked, answer: &Answer) {
        let (said, done) = answer::complete(&self.schema, &asked.names, answer);
        self.keep(&said);
        let is_rows = |name: &String| {
            let rule = self.schema.fields.iter().find(|rule| rule.name == *name);
            rule.is_some_and(|rule| matches!(rule.shape, Shape::Rows(_)))
        };
        let left = asked.names.iter().filter(|name| !done.contains(name)).cloned();
        let (rows, single): (Vec<String>, Vec<String>) = left.partition(is_rows);
        self.cuts += 1;
        let may_ask = self.cuts <= MOST_CUTS;
        if !rows.is_empty() {
            let halves = self.pieces.get(asked.piece).and_then(Piece::halves).filter(|_| may_ask);
            if let Some(halves) = halves {
                let first = self.pieces.len();
                self.pieces.extend(halves);
                for piece in [first + 1, first] {
                    self.waiting.push_front(Asked { piece, names: rows.clone() });
                }
            } else {
                self.torn.extend(rows);
                self.lost = Some(answer::cut_short());
            }
        }
        if single.is_empty() {
            return;
        }
        if may_ask && single != asked.names {
            self.waiting.push_front(Asked { piece: asked.piece, names: single });
        } else {
            self.torn.extend(single);
            self.lost = Some(answer::cut_short());
        }
    }

    /// The record, and what went wrong.
    pub fn finish(self) -> Interviewed {
        let mut extraction = gate::pass(&self.schema, self.merged());
        extraction.model = self.model;
        (extraction.tokens_in, extraction.tokens_out) = self.tokens;
        Interviewed { extraction, problem: self.problem.or(self.lost) }
    }

    /// Puts the values of one answer to those of the others: rows follow, single values are kept if they are new.
    fn keep(&mut self, said: &BTreeMap<String, String>) {
        for at in 0..self.schema.fields.len() {
            let Some(rule) = self.schema.fields.get(at).cloned() else { continue };
            let begin = format!("{}[", rule.name);
            if rule.shape == Shape::Text {
                if let Some(value) = said.get(&rule.name) {
                    let known = self.said.get(&rule.name);
                    if known.is_none_or(|known| !self.stands(&rule, known)) {
                        self.said.insert(rule.name.clone(), value.clone());
                    }
                }
                continue;
            }
            let index = |path: &str| path.strip_prefix(&begin)?.split_once(']')?.0.parse::<usize>().ok();
            let next = self.said.keys().filter_map(|path| index(path)).max().map_or(0, |last| last + 1);
            for (path, value) in said.iter().filter(|(path, _)| path.starts_with(&begin)) {
                let (Some(at), Some((_, tail))) = (index(path), path.split_once(']')) else { continue };
                let again = rule.shape == Shape::List
                    && self.said.iter().any(|(k, v)| k.starts_with(&begin) && folded(v) == folded(value));
                if !again {
                    self.said.insert(format!("{begin}{}]{tail}", next + at), value.clone());
                }
            }
        }
    }

    fn stands(&self, rule: &FieldRule, value: &str) -> bool {
        let material = self.material.look();
        let sheet = Sheet::new(material.pages);
        let reading = Reading::new(&sheet);
        let ground = Ground { reading: &reading, texts: &material.texts };
        vouched(&ground, rule, value, &self.asking).is_some()
    }

    /// Critical fields that neither rules nor the model have found.
    fn lacking(&self) -> Vec<String> {
        let fields = self.merged();
        let lacks = |rule: &&FieldRule| {
            let begin = format!("{}[", rule.name);
            let mut of_rule =
                fields.iter().filter(|(path, _)| **path == rule.name || path.starts_with(&begin));
            rule.critical && !of_rule.any(|(_, field)| !field.evidence.is_empty())
        };
        self.schema.fields.iter().filter(lacks).map(|rule| rule.name.clone()).collect()
    }

    /// A value as the model said it, with the place that vouches for it, if there is one.
    fn heard(&self, ground: &Ground<'_>, rule: &FieldRule, said: &str) -> Field {
        let order = ground.reading.order;
        let written = rule.normalise.and_then(|kind| notation(kind, said, order));
        let value = written.unwrap_or_else(|| said.to_owned());
        let seen = vouched(ground, rule, &value, &self.asking);
        Field {
            confidence: seen.as_ref().map_or(0.0, |seen| GROUNDED * seen.read),
            evidence: seen.map(|seen| seen.evidence).unwrap_or_default(),
            value: value.into(),
            method: METHOD.to_owned(),
        }
    }

    /// Rules and model together.
    fn merged(&self) -> BTreeMap<String, Field> {
        let mut fields = self.local.fields.clone();
        if self.said.is_empty() {
            return fields;
        }
        let material = self.material.look();
        let sheet = Sheet::new(material.pages);
        let reading = Reading::new(&sheet);
        let ground = Ground { reading: &reading, texts: &material.texts };
        for rule in &self.schema.fields {
            let begin = format!("{}[", rule.name);
            if rule.shape == Shape::Text {
                if let Some(said) = self.said.get(&rule.name) {
                    let heard = self.heard(&ground, rule, said);
                    let chosen = chosen(fields.remove(&rule.name), heard);
                    fields.insert(rule.name.clone(), chosen);
                }
                continue;
            }
            if self.torn.contains(&rule.name) {
                // Some of them would look like all of them.
                continue;
            }
            let rows: BTreeMap<String, Field> = self
                .said
                .iter()
                .filter(|(path, _)| path.starts_with(&begin))
                .filter_map(|(path, said)| {
                    Some((path.clone(), self.heard(&ground, rule_of(rule, path)?, said)))
                })
                .collect();
            let known: Vec<&Field> =
                fields.iter().filter(|(path, _)| path.starts_with(&begin)).map(|(_, field)| field).collect();
            let firm = !known.is_empty() && known.iter().all(|field| field.confidence >= FIRM);
            let invented = rows.values().any(|field| field.evidence.is_empty());
            // Rows of two sources are never mixed: their order may differ.
            if known.is_empty() || !firm && !invented && !rows.is_empty() {
                fields.retain(|path, _| !path.starts_with(&begin));
                fields.extend(rows);
            }
        }
        fields
    }
}

/// Where a value stands, other than in what speaks to the model.
fn vouched(ground: &Ground<'_>, rule: &FieldRule, value: &str, asking: &Asking) -> Option<Seen> {
    let mut seen = ground.seek(rule, value)?;
    let spans = seen.evidence.iter().filter_map(|evidence| evidence.span.as_deref());
    if spans.flat_map(Asking::words).any(|word| asking.distrusted.contains(&word)) {
        return None;
    }
    let has_places = !asking.unplaced && !ground.reading.sheet.rows.is_empty();
    if has_places && !is_placed(&seen.evidence) {
        seen.read = seen.read.min(UNPLACED);
    }
    Some(seen)
}

fn is_placed(evidence: &[Evidence]) -> bool {
    evidence.iter().any(|at| at.frame.is_some())
}

/// Of what rules found and what a model said, the one that is taken.
fn chosen(local: Option<Field>, heard: Field) -> Field {
    let Some(local) = local else { return heard };
    let inside = local.evidence.iter().any(|at| at.source != EvidenceSource::Page);
    if inside || heard.evidence.is_empty() {
        return local;
    }
    let text = |field: &Field| field.value.as_str().map(folded);
    if text(&local) == text(&heard) {
        return agreed(local, &heard);
    }
    if local.confidence >= FIRM {
        return Field { confidence: local.confidence.min(FIRM) * 0.95, ..local };
    }
    Field { confidence: heard.confidence.min(DISPUTED), ..heard }
}

/// What rules found and a model repeats. It takes away doubt about which value is meant, and none about what was read:
/// both looked at the same words, so they are together never surer than the words were read.
fn agreed(local: Field, heard: &Field) -> Field {
    // What stands elsewhere than among the words says nothing of them.
    if !is_placed(&heard.evidence) && heard.confidence < GROUNDED {
        return local;
    }
    let read = heard.confidence / GROUNDED;
    let both = 1.0 - (1.0 - local.confidence) * (1.0 - heard.confidence);
    Field { confidence: both.min(read).max(local.confidence), ..local }
}

#[cfg(test)]
mod tests {
    use docmill_core::ports::llm::Ending;
    use docmill_core::words::PageWords;

    use super::*;
    use crate::layout::tests::page;
    use crate::{Sources, by_sight, extract};

    const LINES: [&str; 4] =
        ["Corner Shop", "12 High Street", "Date 09/03/2024", "Grand sum of it all 12.50"];
    const TEXT: &str = "Corner Shop\n12 High Street\nDate 09/03/2024\nGrand sum of it all 12.50\n";

    fn answer(text: &str, ending: Ending) -> Answer {
        Answer { text: text.into(), ending, model: "m-1".into(), tokens_in: 100, tokens_out: 5, cost: None }
    }

    /// Asks with these answers, one after the other, and says how many were wanted.
    fn interview(answers: &[Result<Answer>]) -> (Interviewed, usize) {
        asked_for(answers, Asking { all: true, max_bytes: 8_000, ..Asking::default() })
    }

    fn asked_for(answers: &[Result<Answer>], asking: Asking) -> (Interviewed, usize) {
        asked_about(&[page(&LINES)], &[(1, TEXT)], answers, asking)
    }

    fn asked_about(
        pages: &[PageWords],
        texts: &[(u32, &str)],
        answers: &[Result<Answer>],
        asking: Asking,
    ) -> (Interviewed, usize) {
        let schema = Schema::built_in("receipt").unwrap();
        let nothing = BTreeMap::new();
        let material = Material {
            pages,
            texts: texts.to_vec(),
            data: Vec::new(),
            metadata: &nothing,
            media_type: "image/png",
        };
        let local = extract(&schema, &material, Sources::Page);
        let mut interview = Interview::new(&schema, &material, local, asking);
        let mut asked = 0;
        while let Some(question) = interview.question() {
            assert!(question.task.contains("total") || question.task.contains("items"));
            let next = answers.get(asked).or(answers.last());
            let answer = match next {
                Some(Ok(answer)) => Ok(answer.clone()),
                Some(Err(error)) => Err(Error::new(error.kind(), error.message().to_owned())),
                None => Err(Error::bug("asked too often")),
            };
            interview.take(answer);
            asked += 1;
        }
        (interview.finish(), asked)
    }

    fn said(total: &str) -> String {
        format!(
            r#"{{"company": "Corner Shop", "address": null, "date": "2024-03-09", "total": {total}, "currency": null,
                "tax_total": null, "items": []}}"#
        )
    }

    #[test]
    fn value_that_the_page_vouches_for_is_taken_with_its_box() {
        let local = by_sight(&Schema::built_in("receipt").unwrap(), &[page(&LINES)]);
        assert!(!local.fields.contains_key("total"), "rules do not know this label: {local:?}");
        let (outcome, asked) = interview(&[Ok(answer(&said("\"12.50\""), Ending::Complete))]);
        let total = &outcome.extraction.fields["total"];
        assert_eq!((total.value.as_str(), total.method.as_str(), asked), (Some("12.50"), "llm", 1));
        assert!(total.evidence[0].frame.is_some() && outcome.extraction.valid, "{outcome:?}");
        let told = &outcome.extraction;
        assert_eq!((told.model.as_deref(), told.tokens_in, told.tokens_out), (Some("m-1"), 100, 5));
        assert!(outcome.problem.is_none());
    }

    #[test]
    fn invented_value_is_asked_for_once_more_and_then_told_as_ungrounded() {
        let invented = answer(&said("\"99.99\""), Ending::Complete);
        let only = answer(r#"{"total": "99.99"}"#, Ending::Complete);
        let (outcome, asked) = interview(&[Ok(invented), Ok(only)]);
        assert_eq!(asked, 2);
        let extraction = outcome.extraction;
        assert!(!extraction.valid && extraction.fields["total"].confidence < f32::EPSILON);
        assert!(extraction.violations.iter().any(|v| v.field == "total" && v.rule == "ungrounded"));
        // What rules found is not given up for what stands nowhere.
        let other = said("\"12.50\"").replace("2024-03-09", "2021-01-01");
        let (outcome, _) = interview(&[Ok(answer(&other, Ending::Complete))]);
        assert_eq!(outcome.extraction.fields["date"].value, "2024-03-09");
    }

    #[test]
    fn field_that_was_left_out_is_asked_for_by_itself() {
        let answers = [
            Ok(answer(&said("null"), Ending::Complete)),
            Ok(answer(r#"{"total": "12.50"}"#, Ending::Complete)),
        ];
        let (outcome, asked) = interview(&answers);
        assert_eq!((asked, outcome.extraction.data["total"].as_str()), (2, Some("12.50")));
        assert_eq!((outcome.extraction.tokens_in, outcome.extraction.valid), (200, true));
    }

    #[test]
    fn malformed_answer_is_asked_for_once_more() {
        let answers = [
            Ok(answer("The total is 12.50.", Ending::Complete)),
            Ok(answer(&said("\"12.50\""), Ending::Complete)),
        ];
        let (outcome, asked) = interview(&answers);
        assert_eq!((asked, outcome.extraction.valid), (2, true));
        let (outcome, asked) = interview(&[Ok(answer("{", Ending::Complete))]);
        assert_eq!((asked, outcome.extraction.tokens_in), (2, 200));
        assert_eq!(outcome.problem.map(|e| e.kind()), Some(ErrorKind::SchemaMismatch));
        assert_eq!(outcome.extraction.data["date"], "2024-03-09");
    }

    #[test]
    fn refusal_and_silence_leave_what_rules_found() {
        for (answer, kind) in [
            (Ok(answer("no", Ending::Refused)), ErrorKind::ContentBlocked),
            (Err(Error::timeout("nobody answered")), ErrorKind::Timeout),
        ] {
            let (outcome, asked) = interview(&[answer]);
            assert_eq!((asked, outcome.problem.map(|e| e.kind())), (1, Some(kind)));
            assert_eq!(outcome.extraction.data["company"], "Corner Shop");
            assert!(outcome.extraction.violations.iter().any(|v| v.field == "total" && v.rule == "missing"));
        }
    }

    #[test]
    fn only_what_is_doubtful_is_asked_for() {
        let schema = Schema::built_in("receipt").unwrap();
        let local = Extraction { schema: "receipt".into(), ..gate::pass(&schema, BTreeMap::new()) };
        let nothing = BTreeMap::new();
        let material = Material {
            pages: &[],
            texts: vec![(1, TEXT)],
            data: Vec::new(),
            metadata: &nothing,
            media_type: "text/plain",
        };
        let asking = Asking { max_bytes: 8_000, ..Asking::default() };
        let interview = Interview::new(&schema, &material, local, asking.clone());
        let asked = interview.planned();
        let [question] = asked.as_slice() else { panic!("one piece: {asked:?}") };
        let names: Vec<&str> =
            question.schema.body["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["company", "date", "total"]);
        let (outcome, asked) = asked_for(&[Ok(answer(r#"{"total": "12.50"}"#, Ending::Complete))], asking);
        assert_eq!((asked, outcome.extraction.valid), (1, true), "the total alone: {outcome:?}");
    }

    #[test]
    fn what_stands_only_in_words_to_the_model_vouches_for_nothing() {
        let distrusted = Asking::words("all 12.50").collect();
        let asking = Asking { max_bytes: 8_000, distrusted, ..Asking::default() };
        let (outcome, _) = asked_for(&[Ok(answer(r#"{"total": "12.50"}"#, Ending::Complete))], asking);
        let told = &outcome.extraction.violations;
        assert!(told.iter().any(|v| v.field == "total" && v.rule == "ungrounded"), "{outcome:?}");
    }

    #[test]
    fn model_that_repeats_what_was_badly_read_makes_it_no_surer() {
        let lines = ["Corner Shop", "12 High Street", "Date 09/03/2024", "Total 57.86"];
        let text = lines.join("\n");
        let total = |sure: f32| {
            let mut read = page(&lines);
            for word in &mut read.words {
                word.confidence = Some(sure);
            }
            let local = by_sight(&Schema::built_in("receipt").unwrap(), &[read.clone()]);
            let answers = [Ok(answer(&said("\"57.86\""), Ending::Complete))];
            let asking = Asking { all: true, max_bytes: 8_000, ..Asking::default() };
            let (outcome, _) = asked_about(&[read], &[(1, text.as_str())], &answers, asking);
            let of = |found: &Extraction| found.fields["total"].confidence;
            (of(&local), of(&outcome.extraction))
        };
        let (local, both) = total(0.3);
        assert!(local < gate::ACCEPTED && (both - local).abs() < 1e-6, "{local} became {both}");
        let boxed = vec![Evidence { frame: Some([0.0; 4]), ..Evidence::default() }];
        let field = |confidence: f32| Field {
            value: "57.86".into(),
            confidence,
            method: METHOD.to_owned(),
            evidence: boxed.clone(),
        };
        for (local, read, both) in [(0.55, 0.3, 0.55), (0.55, 0.7, 0.7), (0.55, 1.0, 0.91), (0.9, 0.3, 0.9)] {
            let found = agreed(field(local), &field(GROUNDED * read)).confidence;
            assert!((found - both).abs() < 1e-3, "{local} and {read} became {found}");
        }
    }

    #[test]
    fn value_without_a_box_is_accepted_only_where_nothing_has_one() {
        let answers = [Ok(answer(&said("\"99.00\""), Ending::Complete))];
        let texts = [(1, "Corner Shop\n9 March 2024\nIt comes to 99.00\n")];
        let asking = Asking { all: true, max_bytes: 8_000, ..Asking::default() };
        let sure = |pages: &[PageWords], asking: Asking| {
            let (outcome, _) = asked_about(pages, &texts, &answers, asking);
            let field = &outcome.extraction.fields["total"];
            assert!(field.evidence[0].frame.is_none() && field.evidence[0].span.is_some(), "{field:?}");
            field.confidence
        };
        assert!(sure(&[page(&LINES)], asking.clone()) < gate::ACCEPTED);
        assert!(sure(&[], asking.clone()) >= gate::ACCEPTED, "a mail");
        let unplaced = Asking { unplaced: true, ..asking };
        assert!(sure(&[page(&LINES)], unplaced) >= gate::ACCEPTED, "words of a plain text");
    }

    #[test]
    fn page_that_is_shown_vouches_by_its_recognised_words_alone() {
        let pictures = vec![(1, bytes::Bytes::from_static(b"\x89PNG"))];
        let asking = Asking { max_bytes: 8_000, pictures, ..Asking::default() };
        let only = |total: &str| Ok(answer(&format!(r#"{{"total": "{total}"}}"#), Ending::Complete));
        let (outcome, asked) = asked_for(&[only("12.50")], asking.clone());
        let total = &outcome.extraction.fields["total"];
        assert!(asked == 1 && total.evidence[0].frame.is_some() && outcome.extraction.valid, "{outcome:?}");
        let (outcome, asked) = asked_for(&[only("72.50")], asking.clone());
        let extraction = outcome.extraction;
        assert!(asked == 1 && extraction.fields["total"].confidence < f32::EPSILON, "{extraction:?}");
        assert!(extraction.violations.iter().any(|v| v.field == "total" && v.rule == "ungrounded"));
        // A page on which nobody could recognise anything.
        let critical = r#"{"company": "Corner Shop", "date": "2024-03-09", "total": "12.50"}"#;
        let (outcome, _) = asked_about(&[], &[(1, "")], &[Ok(answer(critical, Ending::Complete))], asking);
        assert_eq!(outcome.extraction.fields.len(), 3);
        let unsure = |field: &Field| field.evidence.is_empty() && field.confidence < f32::EPSILON;
        assert!(outcome.extraction.fields.values().all(unsure) && !outcome.extraction.valid, "{outcome:?}");
    }

    /// An answer that was cut in its rows.
    const CUT: &str = r#"{"company": "Corner Shop", "total": "12.50", "items": [{"description": "Goods of"#;
    /// What was not in it, without rows.
    const REST: &str = r#"{"address": null, "currency": null, "date": "2024-03-09", "tax_total": null}"#;

    fn long_text() -> String {
        let goods = (0..60).map(|n| format!("Goods of the kind {n} were delivered as agreed\n"));
        TEXT.to_owned() + &goods.collect::<String>()
    }

    #[test]
    fn answer_that_is_cut_short_keeps_what_was_complete_and_is_asked_for_in_halves() {
        let text = long_text();
        let half = |n: u8| format!(r#"{{"items": [{{"description": "Goods of the kind {n}"}}]}}"#);
        let answers = [
            Ok(answer(CUT, Ending::CutShort)),
            Ok(answer(REST, Ending::Complete)),
            Ok(answer(&half(1), Ending::Complete)),
            Ok(answer(&half(40), Ending::Complete)),
        ];
        let asking = Asking { all: true, max_bytes: 8_000, ..Asking::default() };
        let (outcome, asked) = asked_about(&[page(&LINES[..3])], &[(1, &text)], &answers, asking);
        assert!(asked == 4 && outcome.problem.is_none(), "{asked}: {:?}", outcome.problem);
        let data = &outcome.extraction.data;
        assert_eq!((data["total"].as_str(), data["date"].as_str()), (Some("12.50"), Some("2024-03-09")));
        let goods: Vec<&str> =
            data["items"].as_array().unwrap().iter().filter_map(|row| row["description"].as_str()).collect();
        assert_eq!(goods, ["Goods of the kind 1", "Goods of the kind 40"]);
    }

    #[test]
    fn piece_whose_answer_cannot_be_had_whole_does_not_end_the_others() {
        let text = long_text();
        let rest =
            said("null").replace(r#""items": []"#, r#""items": [{"description": "Goods of the kind 40"}]"#);
        let answers = [
            Ok(answer(CUT, Ending::CutShort)),
            Ok(answer("{", Ending::CutShort)),
            Ok(answer(&rest, Ending::Complete)),
        ];
        let asking = Asking { all: true, max_bytes: 1_000, ..Asking::default() };
        let (outcome, asked) = asked_about(&[page(&LINES[..3])], &[(1, &text)], &answers, asking);
        // Three pieces and one further question: the one about rows would be about too little.
        assert_eq!((asked, outcome.problem.map(|e| e.kind())), (4, Some(ErrorKind::SchemaMismatch)));
        assert_eq!(outcome.extraction.data["total"], "12.50");
        assert!(
            !outcome.extraction.data.contains_key("items"),
            "some rows are not all: {:?}",
            outcome.extraction.data
        );
        // Nothing complete in it: the same is not paid for again.
        let (outcome, asked) = interview(&[Ok(answer("{", Ending::CutShort))]);
        assert_eq!(asked, 3, "the same without rows, and what is missing by itself");
        assert!(outcome.problem.is_some() && outcome.extraction.data["date"] == "2024-03-09");
    }

    #[test]
    fn one_more_try_is_foreseen() {
        let schema = Schema::built_in("receipt").unwrap();
        let nothing = BTreeMap::new();
        let text = long_text();
        let material = Material {
            pages: &[],
            texts: vec![(1, &text)],
            data: Vec::new(),
            metadata: &nothing,
            media_type: "text/plain",
        };
        let local = gate::pass(&schema, BTreeMap::new());
        let asking = Asking { all: true, max_bytes: 1_000, ..Asking::default() };
        let interview = Interview::new(&schema, &material, local, asking);
        let (planned, more) = (interview.planned(), interview.once_more());
        assert!(planned.len() > 1 && more.len() == planned.len(), "{} and {}", planned.len(), more.len());
        assert!(more.iter().all(|q| q.task.contains("total") && !q.task.contains("items")));
    }
}
