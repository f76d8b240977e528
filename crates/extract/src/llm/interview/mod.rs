//! The course of asking: each piece of a document once, one more try for what went wrong, and the end, whatever was said.
//!
//! | what comes | what follows |
//! |---|---|
//! | an answer of another form | the same question once more, then what rules found |
//! | an answer that is cut short | its complete fields are kept; the others are asked for without rows, rows of halves |
//! | a critical field missing or invented | asked for once more by itself, then the gate says so |
//! | a value that stands nowhere | what rules found; where they found nothing it is told as ungrounded |
//! | a refusal, silence, no connection | what rules found |

mod weigh;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use docmill_core::extraction::{Extraction, Field};
use docmill_core::ports::extractor::{Asking, Interviewed};
use docmill_core::ports::llm::{Answer, Ending, Question};
use docmill_core::{Error, ErrorKind, Result};

use self::weigh::{FIRM, GROUNDED, chosen, vouched};
use super::question::Piece;
use super::{answer, question};
use crate::Material;
use crate::find::Reading;
use crate::gate::{self, rule_of};
use crate::ground::Ground;
use crate::layout::{Sheet, folded};
use crate::normalise::notation;
use crate::schema::{FieldRule, Schema, Shape};

/// How the evidence names this.
const METHOD: &str = "llm";

/// So many answers that are cut short lead to other questions: each costs money.
const MOST_CUTS: usize = 4;

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

#[cfg(test)]
mod tests;
