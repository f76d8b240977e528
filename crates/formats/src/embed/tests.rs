//! With a small model whose arithmetic is done a second time here, slowly and plainly. The real one is put to the test in
//! `docmill/tests/minilm.rs`.

use super::tokens::tests::json;
use super::weights::tests::file_of;
use super::*;
use crate::sink::Collected;

const SMALL: Shape = Shape { words: 12, positions: 512, width: 6, inner: 10, heads: 2, layers: 2 };

const PIECES: &[&str] = &["mill", "##er", "corn", "river", ".", "the", "a"];

/// Tensors of a model in that shape, with numbers that are all different.
fn tensors(shape: Shape) -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let Shape { words, positions, width, inner, layers, .. } = shape;
    let mut wanted = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![words, width]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![positions, width]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, width]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![width]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![width]),
    ];
    for layer in 0..layers {
        for (name, outputs, inputs) in [
            ("attention.self.query", width, width),
            ("attention.self.key", width, width),
            ("attention.self.value", width, width),
            ("attention.output.dense", width, width),
            ("intermediate.dense", inner, width),
            ("output.dense", width, inner),
        ] {
            wanted.push((format!("encoder.layer.{layer}.{name}.weight"), vec![outputs, inputs]));
            wanted.push((format!("encoder.layer.{layer}.{name}.bias"), vec![outputs]));
        }
        for name in ["attention.output", "output"] {
            wanted.push((format!("encoder.layer.{layer}.{name}.LayerNorm.weight"), vec![width]));
            wanted.push((format!("encoder.layer.{layer}.{name}.LayerNorm.bias"), vec![width]));
        }
    }
    let mut seed = 1_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    wanted
        .into_iter()
        .map(|(name, dimensions)| {
            let numbers = (0..dimensions.iter().product()).map(|_| next()).collect();
            (name, dimensions, numbers)
        })
        .collect()
}

fn small() -> Embedder {
    let tensors = tensors(SMALL);
    let listed: Vec<(&str, &[usize], &[f32])> = tensors
        .iter()
        .map(|(name, shape, numbers)| (name.as_str(), shape.as_slice(), numbers.as_slice()))
        .collect();
    Embedder::of(json(PIECES, true).as_bytes(), &Weights::open(file_of(&listed)).unwrap(), SMALL).unwrap()
}

fn vectors(embedder: &Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    let mut all = Vec::new();
    embedder
        .embed(texts, |vectors| {
            all.extend(vectors);
            Ok(())
        })
        .unwrap();
    all
}

/// The same model, as its paper writes it down.
struct Plain {
    tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
    shape: Shape,
}

type Rows = Vec<Vec<f64>>;

impl Plain {
    fn row(&self, name: &str, row: usize) -> Vec<f64> {
        let (_, dimensions, numbers) = self.tensors.iter().find(|(own, ..)| own == name).unwrap();
        let width = *dimensions.last().unwrap();
        numbers[row * width..(row + 1) * width].iter().map(|number| f64::from(*number)).collect()
    }

    fn linear(&self, name: &str, outputs: usize, rows: &Rows) -> Rows {
        let bias = self.row(&format!("{name}.bias"), 0);
        let weights: Rows = (0..outputs).map(|row| self.row(&format!("{name}.weight"), row)).collect();
        let one = |row: &Vec<f64>| {
            weights.iter().zip(&bias).map(|(weights, bias)| dot(weights, row) + bias).collect()
        };
        rows.iter().map(one).collect()
    }

    fn norm(&self, name: &str, rows: &Rows) -> Rows {
        let (scale, bias) = (
            self.row(&format!("{name}.LayerNorm.weight"), 0),
            self.row(&format!("{name}.LayerNorm.bias"), 0),
        );
        let one = |row: &Vec<f64>| {
            let count = row.len() as f64;
            let mean = row.iter().sum::<f64>() / count;
            let variance = row.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
            let centred = row.iter().map(|number| (number - mean) / (variance + 1e-12).sqrt());
            centred
                .zip(scale.iter().zip(&bias))
                .map(|(number, (scale, bias))| number * scale + bias)
                .collect()
        };
        rows.iter().map(one).collect()
    }

    fn attend(&self, layer: &str, rows: &Rows) -> Rows {
        let of = |part: &str| self.linear(&format!("{layer}.attention.self.{part}"), self.shape.width, rows);
        let (questions, keys, values) = (of("query"), of("key"), of("value"));
        let head = self.shape.width / self.shape.heads;
        let one = |question: &Vec<f64>| {
            let part = |first: usize| {
                let own = first..first + head;
                let raised: Vec<f64> = keys
                    .iter()
                    .map(|key| (dot(&question[own.clone()], &key[own.clone()]) / (head as f64).sqrt()).exp())
                    .collect();
                let sum: f64 = raised.iter().sum();
                own.map(|column| {
                    raised.iter().zip(&values).map(|(r, value)| r / sum * value[column]).sum::<f64>()
                })
                .collect::<Vec<f64>>()
            };
            (0..self.shape.width).step_by(head).flat_map(part).collect()
        };
        questions.iter().map(one).collect()
    }

    fn embed(&self, tokens: &[u32]) -> Vec<f64> {
        let kind = self.row("embeddings.token_type_embeddings.weight", 0);
        let enter = |(place, token): (usize, &u32)| {
            let word = self.row("embeddings.word_embeddings.weight", *token as usize);
            let place = self.row("embeddings.position_embeddings.weight", place);
            word.iter().zip(&place).zip(&kind).map(|((word, place), kind)| word + place + kind).collect()
        };
        let mut rows = self.norm("embeddings", &tokens.iter().enumerate().map(enter).collect());
        for layer in 0..self.shape.layers {
            let layer = format!("encoder.layer.{layer}");
            let gathered = self.attend(&layer, &rows);
            let gathered =
                self.linear(&format!("{layer}.attention.output.dense"), self.shape.width, &gathered);
            rows = self.norm(&format!("{layer}.attention.output"), &sum(&rows, &gathered));
            let mut widened = self.linear(&format!("{layer}.intermediate.dense"), self.shape.inner, &rows);
            widened.iter_mut().flatten().for_each(|number| *number = gelu(*number));
            let narrowed = self.linear(&format!("{layer}.output.dense"), self.shape.width, &widened);
            rows = self.norm(&format!("{layer}.output"), &sum(&rows, &narrowed));
        }
        let mean: Vec<f64> = (0..self.shape.width).map(|at| rows.iter().map(|row| row[at]).sum()).collect();
        let length = dot(&mean, &mean).sqrt();
        mean.iter().map(|number| number / length).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(a: &Rows, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// With the error function as the sum of its series, which is exact where the small model goes.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut erf) = (z, 0.0);
    for n in 0..200 {
        erf += term / f64::from(2 * n + 1);
        term *= -z * z / f64::from(n + 1);
    }
    0.5 * x * (1.0 + erf * 2.0 / std::f64::consts::PI.sqrt())
}

#[test]
fn small_model_computes_what_its_paper_says() {
    let (embedder, plain) = (small(), Plain { tensors: tensors(SMALL), shape: SMALL });
    for text in ["", "mill", "the miller. a river", "corn unknown [MASK] the the the mill"] {
        let expected = plain.embed(&embedder.tokens(text));
        let got = &vectors(&embedder, &[text])[0];
        for (got, expected) in got.iter().zip(&expected) {
            assert!((f64::from(*got) - expected).abs() < 1e-5, "{text}: {got} is not {expected}");
        }
    }
}

#[test]
fn meaning_does_not_depend_on_the_texts_beside_it() {
    let embedder = small();
    let long = "the mill ".repeat(300);
    let texts = ["mill", "", &long, "river corn", &long, &long, "a miller."];
    let together = vectors(&embedder, &texts);
    assert_eq!(together.len(), texts.len());
    for (text, together) in texts.iter().zip(&together) {
        let alone = &vectors(&embedder, &[text])[0];
        let near: f32 = alone.iter().zip(together).map(|(a, b)| a * b).sum();
        assert!((near - 1.0).abs() < 1e-5, "{near}");
    }
    assert_eq!(together[2], together[5], "the same text has the same meaning");
}

#[test]
fn groups_come_in_order_and_none_is_larger_than_it_needs_be() {
    let embedder = small();
    let long = "the ".repeat(1000);
    let mut groups = Vec::new();
    embedder
        .embed(&["mill", "corn", &long, &long, "a"], |vectors| {
            groups.push(vectors.len());
            Ok(())
        })
        .unwrap();
    assert_eq!(groups, [2, 1, 1, 1]);
    embedder.embed::<&str>(&[], |_| Err(Error::bug("nothing was asked"))).unwrap();
}

#[test]
fn order_of_another_role_is_refused() {
    let mut found = Collected::default();
    let mut embedder = small();
    embedder.work("", Work::Embed(vec!["mill".into(), "corn".into()]), None, &mut found).unwrap();
    assert!(matches!(found.0.as_slice(), [Found::Vectors(vectors)] if vectors.len() == 2));
    let limits = docmill_core::limits::Limits::default().for_reader();
    let read =
        Work::Read { inline: None, want: docmill_core::wire::Want::TEXT, limits, passwords: Vec::new() };
    assert!(embedder.work("", read, None, &mut found).is_err());
}

#[test]
fn model_whose_tokenizer_knows_more_words_is_refused() {
    let pieces: Vec<String> = (0..20).map(|number| format!("w{number}")).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let none = Weights::open(file_of(&[])).unwrap();
    let error = Embedder::of(json(&pieces, true).as_bytes(), &none, SMALL).err().unwrap();
    assert!(error.message().contains("words"), "{error}");
}
