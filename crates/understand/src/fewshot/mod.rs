//! A classifier that learns from a few examples of each label.
//!
//! Nearness to the examples is seen in up to three ways: common words, common runs of letters, and vectors of an
//! embedding if the caller has them. How the ways are mixed is chosen by what the examples say about each other when each
//! is left out in turn (`ridge`), never by the texts that are to be classified.

mod features;
mod ridge;

use docmill_core::{Error, Result};

use self::features::{Space, View};
use self::ridge::{Solution, Square};

/// More examples are refused: the equations grow with the square of their number, and what so many examples can teach is
/// better taught to a model.
pub const MAX_EXAMPLES: usize = 1_000;

/// A longer example is cut here; see `features` for how many words count.
const MAX_BYTES: usize = 256 << 10;

/// From this many examples on, fewer strengths and mixes are tried.
const MANY: usize = 400;

/// How much the classifier trusts the mean more than single examples.
const STRENGTHS: [f64; 4] = [0.05, 0.15, 0.4, 1.0];

/// Parts of words, and of vectors; the rest are letters.
const MIXES: [(f64, f64); 12] = [
    (0.5, 0.0),
    (1.0, 0.0),
    (0.75, 0.0),
    (0.25, 0.0),
    (0.25, 0.5),
    (0.4, 0.2),
    (0.12, 0.75),
    (0.5, 0.5),
    (0.0, 0.5),
    (0.8, 0.2),
    (0.25, 0.75),
    (0.0, 1.0),
];

/// A text whose label is known.
#[derive(Clone, Copy, Debug)]
pub struct Example<'a> {
    /// What it is.
    pub label: &'a str,
    /// What it says.
    pub text: &'a str,
    /// Its vector, if there is a model that makes such; all examples have one, or none is used.
    pub vector: Option<&'a [f32]>,
}

/// What a classifier says of a text.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// The best label.
    pub label: String,
    /// How probable it is, 0 to 1.
    pub confidence: f32,
    /// How probable each label is, best first.
    pub scores: Vec<(String, f32)>,
}

/// Knows labels from examples.
pub struct Classifier {
    labels: Vec<String>,
    shares: Vec<f64>,
    words: Space,
    letters: Space,
    vectors: Vec<Vec<f32>>,
    /// For texts without a vector.
    plain: Model,
    /// For texts with one.
    embedded: Option<Model>,
}

/// One way of mixing, and what was learnt with it.
struct Model {
    mix: (f64, f64),
    weights: Vec<Vec<f64>>,
    sharpness: f64,
}

impl Classifier {
    /// Learns from examples. At least two labels are needed, and at least one example for each.
    pub fn train(examples: &[Example<'_>]) -> Result<Self> {
        if examples.len() > MAX_EXAMPLES {
            return Err(Error::invalid_request(format!(
                "{} examples are more than the {MAX_EXAMPLES} that can be learnt from",
                examples.len()
            ))
            .with_hint("give the most typical examples of each label"));
        }
        let mut labels: Vec<String> = examples.iter().map(|e| e.label.to_owned()).collect();
        labels.sort_unstable();
        labels.dedup();
        if labels.len() < 2 {
            return Err(Error::invalid_request(format!(
                "examples of {} labels: at least two are needed to tell them apart",
                labels.len()
            ))
            .with_hint("add examples of another label"));
        }
        let truth: Vec<usize> = examples
            .iter()
            .filter_map(|e| labels.binary_search_by(|l| l.as_str().cmp(e.label)).ok())
            .collect();
        let texts: Vec<&str> = examples.iter().map(|e| cut(e.text)).collect();
        let words = Space::of(View::Words, texts.iter().copied());
        let letters = Space::of(View::Letters, texts.iter().copied());
        let vectors = unit_vectors(examples);

        let near_words: Vec<_> = texts.iter().map(|t| words.nearness(t)).collect();
        let near_letters: Vec<_> = texts.iter().map(|t| letters.nearness(t)).collect();
        let near_vectors: Vec<Vec<f32>> =
            vectors.iter().map(|v| vectors.iter().map(|w| dot(v, w)).collect()).collect();
        let choose = |with_vectors: bool| {
            best_model(&near_words, &near_letters, &near_vectors, with_vectors, &truth, labels.len())
        };
        let plain =
            choose(false).ok_or_else(|| Error::bug("examples gave no equations that can be solved"))?;
        let embedded = if vectors.is_empty() { None } else { choose(true) };
        Ok(Self {
            shares: ridge::shares(&truth, labels.len()),
            labels,
            words,
            letters,
            vectors,
            plain,
            embedded,
        })
    }

    /// What a text is. A vector helps if the examples had vectors of the same model.
    pub fn classify(&self, text: &str, vector: Option<&[f32]>) -> Verdict {
        let text = cut(text);
        let vector =
            vector.and_then(unit).filter(|v| self.vectors.first().is_some_and(|w| w.len() == v.len()));
        let (model, near_vectors) = match (&self.embedded, vector) {
            (Some(model), Some(vector)) => (model, self.vectors.iter().map(|w| dot(&vector, w)).collect()),
            _ => (&self.plain, Vec::new()),
        };
        let near = mixed(model.mix, &self.words.nearness(text), &self.letters.nearness(text), &near_vectors);
        let mut scores = self.shares.clone();
        for (near, weights) in near.iter().zip(&model.weights) {
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += near * weight;
            }
        }
        let mut scores: Vec<(String, f32)> = self
            .labels
            .iter()
            .cloned()
            .zip(probabilities(&scores, model.sharpness).into_iter().map(|p| p as f32))
            .collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (label, confidence) = scores.first().cloned().unwrap_or_default();
        Verdict { label, confidence, scores }
    }
}

/// The mix and strength that are least wrong about the examples, each left out in turn.
fn best_model(
    words: &[Vec<f32>],
    letters: &[Vec<f32>],
    vectors: &[Vec<f32>],
    with_vectors: bool,
    truth: &[usize],
    labels: usize,
) -> Option<Model> {
    let size = truth.len();
    let mixes = MIXES.iter().filter(|(_, vectors)| (*vectors > 0.0) == with_vectors);
    let (few, strengths) = if size > MANY { (2, &STRENGTHS[1..3]) } else { (usize::MAX, &STRENGTHS[..]) };
    let mut best: Option<(Model, f64)> = None;
    for mix in mixes.take(few) {
        let mut nearness = Square::zero(size);
        for i in 0..size {
            let vectors = vectors.get(i).map_or(&[][..], Vec::as_slice);
            nearness.cells[i * size..(i + 1) * size].copy_from_slice(&mixed(
                *mix,
                &words[i],
                &letters[i],
                vectors,
            ));
        }
        for strength in strengths {
            let Some(solution) = ridge::solve(&nearness, *strength, truth, labels) else { continue };
            let (sharpness, loss) = best_sharpness(&solution, truth);
            // The loss knows more than a count of what was right: a narrow miss is better than a bad one.
            if best.as_ref().is_none_or(|(_, least)| loss < *least) {
                best = Some((Model { mix: *mix, weights: solution.weights, sharpness }, loss));
            }
        }
    }
    best.map(|(model, _)| model)
}

fn mixed((of_words, of_vectors): (f64, f64), words: &[f32], letters: &[f32], vectors: &[f32]) -> Vec<f64> {
    let of_letters = 1.0 - of_words - of_vectors;
    let vectors = vectors.iter().copied().chain(std::iter::repeat(0.0));
    words
        .iter()
        .zip(letters)
        .zip(vectors)
        .map(|((w, l), v)| of_words * f64::from(*w) + of_letters * f64::from(*l) + of_vectors * f64::from(v))
        .collect()
}

/// How sharply scores become probabilities, so that the probabilities of unseen examples are true; and how far off they
/// still are (mean negative logarithm).
fn best_sharpness(solution: &Solution, truth: &[usize]) -> (f64, f64) {
    let loss = |sharpness: f64| {
        let total: f64 = solution
            .unseen
            .iter()
            .zip(truth)
            .map(|(scores, label)| -probabilities(scores, sharpness)[*label].max(1e-9).ln())
            .sum();
        total / truth.len().max(1) as f64
    };
    (0..16)
        .map(|step| 1.5_f64.powi(step))
        .map(|sharpness| (sharpness, loss(sharpness)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((1.0, 0.0))
}

fn probabilities(scores: &[f64], sharpness: f64) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let raised: Vec<f64> = scores.iter().map(|s| ((s - most) * sharpness).exp()).collect();
    let sum: f64 = raised.iter().sum();
    raised.into_iter().map(|r| r / sum).collect()
}

/// The vectors of all examples, or none if one of them has none or another length.
fn unit_vectors(examples: &[Example<'_>]) -> Vec<Vec<f32>> {
    let vectors: Option<Vec<_>> = examples.iter().map(|e| e.vector.and_then(unit)).collect();
    vectors.filter(|all| all.windows(2).all(|pair| pair[0].len() == pair[1].len())).unwrap_or_default()
}

fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = dot(vector, vector).sqrt();
    (length > 0.0 && length.is_finite()).then(|| vector.iter().map(|x| x / length).collect())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(&str, &str); 6] = [
        ("cars", "the engine of my car needs new oil and the brakes are worn"),
        ("cars", "which tyres fit a small car with a diesel engine"),
        ("cars", "the dealer sold me a car with a broken gear box"),
        ("bread", "mix flour water and yeast and let the dough rest"),
        ("bread", "bake the bread in a hot oven until the crust is brown"),
        ("bread", "a sour dough needs flour and patience before you bake it"),
    ];

    fn examples() -> Vec<Example<'static>> {
        TEXTS.iter().map(|(label, text)| Example { label, text, vector: None }).collect()
    }

    #[test]
    fn classify_tells_unseen_texts_by_their_words() {
        let classifier = Classifier::train(&examples()).unwrap();
        let verdict = classifier.classify("my car has engine trouble", None);
        assert_eq!(verdict.label, "cars");
        assert!(verdict.confidence > 0.5 && verdict.confidence <= 1.0, "{verdict:?}");
        assert_eq!(classifier.classify("flour for the dough", None).label, "bread");
        let sum: f32 = verdict.scores.iter().map(|s| s.1).sum();
        assert!((sum - 1.0).abs() < 1e-3);
    }

    #[test]
    fn training_twice_gives_the_same_answers() {
        let (one, two) = (Classifier::train(&examples()).unwrap(), Classifier::train(&examples()).unwrap());
        assert_eq!(one.classify("a car", None), two.classify("a car", None));
    }

    #[test]
    fn vectors_help_where_words_cannot() {
        let vectors = [[1.0, 0.1], [0.9, 0.0], [1.0, -0.1], [0.0, 1.0], [0.1, 0.9], [-0.1, 1.0]];
        let examples: Vec<_> =
            examples().into_iter().zip(&vectors).map(|(e, v)| Example { vector: Some(v), ..e }).collect();
        let classifier = Classifier::train(&examples).unwrap();
        assert_eq!(classifier.classify("zzz", Some(&[0.0, 2.0])).label, "bread");
        assert_eq!(classifier.classify("zzz", Some(&[2.0, 0.0])).label, "cars");
        // A vector of another model is not looked at.
        assert_eq!(classifier.classify("engine", Some(&[0.0, 1.0, 0.0])).label, "cars");
    }

    #[test]
    fn train_refuses_one_label_and_too_many_examples() {
        let one = Classifier::train(&examples()[..3]).err().unwrap();
        assert!(one.to_string().contains("at least two"), "{one}");
        let many = vec![Example { label: "a", text: "b", vector: None }; MAX_EXAMPLES + 1];
        assert!(Classifier::train(&many).err().unwrap().to_string().contains("1001"));
    }

    #[test]
    fn hostile_texts_are_classified_without_harm() {
        let mut all = examples();
        let long = "x".repeat(1 << 20);
        for text in ["", "\0\0", long.as_str(), "日本語の文章", "\u{202e}abc"] {
            all.push(Example { label: "odd", text, vector: None });
        }
        let classifier = Classifier::train(&all).unwrap();
        for text in ["", &long, "日本"] {
            let verdict = classifier.classify(text, None);
            assert!(verdict.confidence.is_finite());
        }
    }
}
