//! Label sets: what a user wants documents sorted by, as files that can be edited and tried.
//!
//! A set has a name, labels and a mode that says how they are told apart: by keywords (`rules`), by how near a text is to
//! what the labels mean (`semantic`, which needs a model), or by examples alone (`examples`). Examples may be added to any
//! set. `parse` reads the files, `builtin` has those that come with docmill.

mod builtin;
mod parse;

use std::collections::BTreeMap;

use docmill_core::understanding::{Labelled, Matched};
use docmill_core::{Error, Result};
use serde::Serialize;

pub use self::builtin::builtin;
use crate::fewshot::{Classifier, Example};
use crate::rules::Phrases;

/// More text is not looked at.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// The method of a set that can say nothing.
pub(crate) const OFF: &str = "off";

/// How often the same keyword counts at most: a word that a page repeats in its foot says nothing new.
const MAX_TIMES: usize = 3;

/// Examples for each label at which they are trusted as much as the mode of the set.
const EXAMPLES_LIKE_RULES: f32 = 3.0;

/// How sharply similarities become shares: differences of 0.05 between labels are clear ones.
const SHARPNESS: f32 = 20.0;

/// Longest text of one piece that is given to a model; what is longer is given in pieces.
const PIECE_BYTES: usize = 1_000;

/// Pieces of a text that are compared with the labels.
const MAX_PIECES: usize = 16;

/// Makes vectors of texts. The caller has the model; this crate has none.
pub trait Embedder {
    /// One vector for each text, all of the same length.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}

/// How the labels of a set are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By keywords with weights.
    Rules,
    /// By descriptions and the vectors of a model.
    Semantic,
    /// By examples alone.
    Examples,
}

/// How many labels a document gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choose {
    /// The best one.
    One,
    /// All that reach the threshold.
    Many,
}

/// A label and how it is known.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Label {
    /// As results show it.
    pub name: String,
    /// What it means, in words; a model compares texts with it.
    pub description: String,
    /// Phrases that speak for it, and how much.
    pub keywords: Vec<(String, f32)>,
    /// Texts that have it.
    pub examples: Vec<String>,
    /// Files that have it, as the set names them. This crate opens no files: who does adds them to the examples.
    pub files: Vec<String>,
}

/// Labels that belong together.
#[derive(Clone, PartialEq, Debug)]
pub struct LabelSet {
    /// As results show it.
    pub name: String,
    /// How the labels are told apart.
    pub mode: Mode,
    /// How many of them a document gets.
    pub choose: Choose,
    /// What a label needs: a sum of weights, a similarity, or a probability, by the mode.
    pub threshold: f32,
    /// The label of documents that reach no threshold.
    pub default: Option<String>,
    /// In the order of the file.
    pub labels: Vec<Label>,
}

impl LabelSet {
    /// Reads a set. All mistakes of the file are told at once.
    pub fn parse(text: &str) -> Result<Self> {
        parse::parse(text)
    }

    /// Makes a set ready for use: its phrases are put in order, its descriptions embedded, its examples learnt. Without an
    /// embedder a semantic set is ready to say that it is off.
    pub fn prepare(&self, embedder: Option<&dyn Embedder>) -> Result<Prepared> {
        let phrases = Phrases::of(
            self.labels.iter().flat_map(|l| l.keywords.iter().map(|(phrase, _)| phrase.as_str())),
        );
        let owners = (0..)
            .zip(&self.labels)
            .flat_map(|(label, l)| (0..l.keywords.len()).map(move |keyword| (label, keyword)))
            .collect();
        let meanings = match (self.mode, embedder) {
            (Mode::Semantic, Some(embedder)) => {
                let texts: Vec<&str> = self.labels.iter().map(|l| l.description.as_str()).collect();
                checked(embedder.embed(&texts)?, texts.len())?
            }
            _ => Vec::new(),
        };
        let classifier = self.learn(embedder)?;
        let learnt_vectors = embedder.is_some();
        Ok(Prepared { set: self.clone(), phrases, owners, meanings, classifier, learnt_vectors })
    }

    /// A classifier from the examples, if there are some for at least two labels.
    fn learn(&self, embedder: Option<&dyn Embedder>) -> Result<Option<Classifier>> {
        let labelled: Vec<(&str, &str)> = self
            .labels
            .iter()
            .flat_map(|l| l.examples.iter().map(|text| (l.name.as_str(), text.as_str())))
            .collect();
        if self.labels.iter().filter(|l| !l.examples.is_empty()).count() < 2 {
            return Ok(None);
        }
        let vectors = match embedder {
            Some(embedder) => {
                labelled.iter().map(|(_, text)| mean_vector(embedder, text)).collect::<Result<Vec<_>>>()?
            }
            None => Vec::new(),
        };
        let examples: Vec<_> = labelled
            .iter()
            .enumerate()
            .map(|(at, (label, text))| Example { label, text, vector: vectors.get(at).map(Vec::as_slice) })
            .collect();
        Classifier::train(&examples)
            .map(Some)
            .map_err(|e| Error::invalid_config(format!("label set `{}`: {e}", self.name)))
    }
}

/// A set that is ready for use.
pub struct Prepared {
    set: LabelSet,
    phrases: Phrases,
    /// For each phrase its label and its place there.
    owners: Vec<(usize, usize)>,
    /// For each label the vector of its description.
    meanings: Vec<Vec<f32>>,
    classifier: Option<Classifier>,
    /// The examples were learnt with their vectors.
    learnt_vectors: bool,
}

impl Prepared {
    /// The set that this is.
    pub fn set(&self) -> &LabelSet {
        &self.set
    }

    /// What the labels mean, in words, if the set compares meanings.
    pub fn descriptions(&self) -> impl Iterator<Item = &str> {
        let semantic = self.set.mode == Mode::Semantic;
        self.set.labels.iter().filter(move |_| semantic).map(|label| label.description.as_str())
    }

    /// What the set says of a text.
    pub fn label(&self, text: &str, embedder: Option<&dyn Embedder>) -> Result<Labelled> {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let pieces = match embedder {
            Some(embedder) if !self.meanings.is_empty() || self.classifier.is_some() => {
                Some(pieces_of(embedder, text)?)
            }
            _ => None,
        };
        Ok(self.label_by(text, &self.meanings, pieces.as_deref()))
    }

    /// What the set says of a text, given the vectors of what its labels mean and of the first pieces of the text.
    pub fn label_by(&self, text: &str, meanings: &[Vec<f32>], pieces: Option<&[Vec<f32>]>) -> Labelled {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let pieces = pieces.map(|pieces| &pieces[..pieces.len().min(MAX_PIECES)]);
        let (mut scores, matched) = match self.set.mode {
            Mode::Rules => self.by_rules(text),
            Mode::Semantic => (by_meaning(meanings, pieces.unwrap_or_default()), Vec::new()),
            Mode::Examples => (None, Vec::new()),
        };
        let mut methods = Vec::new();
        if scores.is_some() {
            methods.push(if self.set.mode == Mode::Rules { "rules" } else { "semantic" });
        }
        let mut shares = scores.as_deref().map(|s| self.shares(s));
        if let Some(classifier) = &self.classifier {
            let whole = pieces.filter(|_| self.learnt_vectors).and_then(mean);
            let verdict = classifier.classify(text, whole.as_deref());
            let learnt = self.in_order(&verdict.scores);
            let with_examples = self.set.labels.iter().filter(|l| !l.examples.is_empty()).count().max(1);
            let each =
                self.set.labels.iter().map(|l| l.examples.len()).sum::<usize>() as f32 / with_examples as f32;
            let trust = if shares.is_some() { each / (each + EXAMPLES_LIKE_RULES) } else { 1.0 };
            let base = shares.unwrap_or_else(|| vec![0.0; learnt.len()]);
            shares = Some(base.iter().zip(&learnt).map(|(b, l)| b * (1.0 - trust) + l * trust).collect());
            if self.set.mode == Mode::Examples {
                scores = Some(learnt);
            }
            methods.push("examples");
        }
        match (scores, shares) {
            (Some(scores), Some(shares)) => self.decide(&scores, &shares, &methods, matched),
            _ => self.off(),
        }
    }

    /// Sums of the weights of the keywords that occur, each in proportion to how often, within bounds.
    fn by_rules(&self, text: &str) -> (Option<Vec<f32>>, Vec<Matched>) {
        let mut times = vec![0_usize; self.owners.len()];
        for hit in self.phrases.find(text) {
            times[hit.phrase] += 1;
        }
        let mut scores = vec![0.0; self.set.labels.len()];
        let mut matched = Vec::new();
        for (times, (label, keyword)) in times.into_iter().zip(&self.owners).filter(|(times, _)| *times > 0) {
            let owner = &self.set.labels[*label];
            let (phrase, weight) = &owner.keywords[*keyword];
            // The first time counts whole, the next ones half.
            let score = weight * (1.0 + 0.5 * (times.min(MAX_TIMES) - 1) as f32);
            scores[*label] += score;
            matched.push(Matched { label: owner.name.clone(), keyword: phrase.clone(), times, score });
        }
        matched.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()));
        (Some(scores), matched)
    }

    /// Scores as parts of 1.
    fn shares(&self, scores: &[f32]) -> Vec<f32> {
        match self.set.mode {
            Mode::Rules => {
                let sum: f32 = scores.iter().map(|s| s.max(0.0)).sum();
                scores.iter().map(|s| if sum > 0.0 { s.max(0.0) / sum } else { 0.0 }).collect()
            }
            Mode::Semantic | Mode::Examples => {
                let most = scores.iter().copied().fold(f32::MIN, f32::max);
                let raised: Vec<f32> = scores.iter().map(|s| ((s - most) * SHARPNESS).exp()).collect();
                let sum: f32 = raised.iter().sum();
                raised.into_iter().map(|r| r / sum).collect()
            }
        }
    }

    fn in_order(&self, scores: &[(String, f32)]) -> Vec<f32> {
        let of = |name: &str| scores.iter().find(|(n, _)| n == name).map_or(0.0, |(_, score)| *score);
        self.set.labels.iter().map(|label| of(&label.name)).collect()
    }

    fn decide(&self, scores: &[f32], shares: &[f32], methods: &[&str], matched: Vec<Matched>) -> Labelled {
        let learnt = methods.contains(&"examples");
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        // Where examples have a say, a label needs a fair share; otherwise it needs the threshold of its set.
        let reaches = |label: usize| {
            if learnt && self.set.mode != Mode::Examples {
                shares[label] >= 1.0 / scores.len() as f32
            } else {
                scores[label] >= self.set.threshold && scores[label] > 0.0
            }
        };
        let many = if self.set.choose == Choose::Many { usize::MAX } else { 1 };
        let chosen: Vec<usize> = order.into_iter().filter(|l| reaches(*l)).take(many).collect();
        let names =
            |labels: &[usize]| labels.iter().map(|l| self.set.labels[*l].name.clone()).collect::<Vec<_>>();
        let all = self.set.labels.iter().zip(scores).map(|(l, s)| (l.name.clone(), *s)).collect();
        let said = |labels: Vec<String>, confidence: f32, method: String| Labelled {
            labels,
            scores: all,
            confidence: confidence.clamp(0.0, 1.0),
            method,
            matched,
            reason: None,
        };
        match (chosen.first(), &self.set.default) {
            (Some(best), _) => {
                let confidence = match self.set.mode {
                    // One weak keyword alone makes nobody sure.
                    Mode::Rules if !learnt => {
                        shares[*best] * (scores[*best] / (scores[*best] + self.set.threshold))
                    }
                    _ => shares[*best],
                };
                said(names(&chosen), confidence, methods.join("+"))
            }
            (None, Some(default)) => {
                let most = scores.iter().copied().fold(0.0, f32::max);
                let doubt = if self.set.threshold > 0.0 { most / self.set.threshold } else { 1.0 };
                said(vec![default.clone()], 0.6 * (1.0 - 0.5 * doubt), "default".to_owned())
            }
            (None, None) => said(Vec::new(), 0.0, methods.join("+")),
        }
    }

    fn off(&self) -> Labelled {
        let reason = match self.set.mode {
            Mode::Semantic => format!(
                "the set `{}` compares meanings, and the model for that is not here: `docmill models pull` fetches it; \
                 or give its labels keywords, or examples",
                self.set.name
            ),
            _ => format!(
                "the set `{}` learns from examples, and fewer than two of its labels have any: add `examples`",
                self.set.name
            ),
        };
        Labelled {
            labels: Vec::new(),
            scores: BTreeMap::new(),
            confidence: 0.0,
            method: OFF.to_owned(),
            matched: Vec::new(),
            reason: Some(reason),
        }
    }
}

/// How near the nearest pieces of the text are to each label; nothing without a model.
fn by_meaning(meanings: &[Vec<f32>], pieces: &[Vec<f32>]) -> Option<Vec<f32>> {
    if meanings.is_empty() || pieces.is_empty() {
        return None;
    }
    let near = |meaning: &Vec<f32>| {
        let mut each: Vec<f32> = pieces.iter().map(|piece| cosine(piece, meaning)).collect();
        each.sort_by(|a, b| b.total_cmp(a));
        // One passage that is about it is enough, but two are better evidence than one.
        let best = &each[..each.len().min(2)];
        best.iter().sum::<f32>() / best.len() as f32
    };
    Some(meanings.iter().map(near).collect())
}

/// The vectors of the first pieces of a text.
fn pieces_of(embedder: &dyn Embedder, text: &str) -> Result<Vec<Vec<f32>>> {
    let chunks = crate::chunk::chunks(&[crate::Page { number: 1, text }]);
    let pieces: Vec<&str> = chunks
        .iter()
        .take(MAX_PIECES)
        .map(|chunk| &text[chunk.start..chunk.end])
        .map(|piece| &piece[..piece.floor_char_boundary(PIECE_BYTES)])
        .collect();
    if pieces.is_empty() {
        return Ok(Vec::new());
    }
    checked(embedder.embed(&pieces)?, pieces.len())
}

fn mean_vector(embedder: &dyn Embedder, text: &str) -> Result<Vec<f32>> {
    Ok(mean(&pieces_of(embedder, text)?).unwrap_or_default())
}

fn mean(vectors: &[Vec<f32>]) -> Option<Vec<f32>> {
    let mut sum = vectors.first()?.clone();
    for vector in &vectors[1..] {
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += v);
    }
    Some(sum)
}

pub(crate) fn checked(vectors: Vec<Vec<f32>>, wanted: usize) -> Result<Vec<Vec<f32>>> {
    if vectors.len() == wanted {
        return Ok(vectors);
    }
    Err(Error::bug(format!("the embedder gave {} vectors for {wanted} texts", vectors.len())))
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that knows two words.
    struct TwoWords;

    impl Embedder for TwoWords {
        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
            let count = |text: &str, word: &str| text.matches(word).count() as f32 + 0.01;
            Ok(texts.iter().map(|t| vec![count(t, "oil"), count(t, "bread")]).collect())
        }
    }

    const SEMANTIC: &str = "name = 'trades'\nmode = 'semantic'\nthreshold = 0.5\n[[label]]\nname = 'energy'\n\
                            description = 'oil and gas'\n[[label]]\nname = 'food'\ndescription = 'bread and milk'\n";

    #[test]
    fn rules_tell_label_keywords_and_scores() {
        let set = LabelSet::parse(
            "name = 'privacy'\nmode = 'rules'\nthreshold = 2\ndefault = 'public'\n[[label]]\nname = 'public'\n\
             [[label]]\nname = 'secret'\n[label.keywords]\n'passport number' = 3\nsalary = 1\n",
        )
        .unwrap();
        let ready = set.prepare(None).unwrap();
        let said = ready.label("Passport number: 123. Salary: 5000. Passport Number again.", None).unwrap();
        assert_eq!(said.labels, ["secret"]);
        assert_eq!(said.method, "rules");
        assert!((said.scores["secret"] - 5.5).abs() < 1e-5);
        assert_eq!((said.matched[0].keyword.as_str(), said.matched[0].times), ("passport number", 2));
        let plain = ready.label("Nothing to hide. Salary.", None).unwrap();
        assert_eq!((plain.labels, plain.method.as_str()), (vec!["public".to_owned()], "default"));
    }

    #[test]
    fn semantic_set_is_off_without_a_model_and_says_the_way_out() {
        let said = LabelSet::parse(SEMANTIC).unwrap().prepare(None).unwrap().label("oil", None).unwrap();
        assert_eq!(said.method, "off");
        assert!(said.reason.unwrap().contains("keywords, or examples"));
    }

    #[test]
    fn semantic_set_takes_the_nearest_meaning() {
        let ready = LabelSet::parse(SEMANTIC).unwrap().prepare(Some(&TwoWords)).unwrap();
        let said = ready.label("the price of oil rose", Some(&TwoWords)).unwrap();
        assert_eq!((said.labels, said.method.as_str()), (vec!["energy".to_owned()], "semantic"));
    }

    #[test]
    fn examples_make_a_set_without_keywords() {
        let set = LabelSet::parse(
            "name = 'mine'\nmode = 'examples'\n[[label]]\nname = 'cars'\nexamples = ['a car with an engine', \
             'new tyres for the car']\n[[label]]\nname = 'bread'\nexamples = ['bake a bread', 'flour for the bread']\n",
        )
        .unwrap();
        let said = set.prepare(None).unwrap().label("an engine", None).unwrap();
        assert_eq!((said.labels, said.method.as_str()), (vec!["cars".to_owned()], "examples"));
    }

    #[test]
    fn hostile_texts_do_no_harm() {
        let long = "y".repeat(3 << 20);
        for set in builtin().unwrap() {
            let ready = set.prepare(Some(&TwoWords)).unwrap();
            for text in ["", "\0", &long, "個人情報"] {
                let said = ready.label(text, Some(&TwoWords)).unwrap();
                assert!(said.confidence.is_finite() && (0.0..=1.0).contains(&said.confidence));
            }
        }
    }
}
