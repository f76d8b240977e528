//! The model's arithmetic: BERT, as a plain sequence of matrix products.
//!
//! The tokens of all texts stand below each other in one matrix, so that no place is computed that only fills up a
//! shorter text; only attention looks at one text at a time. Weights are kept in the order in which the product takes
//! them, and in no other.

use docmill_core::{Error, Result};
use rten_gemm::{BiasVector, GemmError, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::{SimdOp, SimdUnaryOp};
use rten_tensor::{NdTensorView, NdTensorViewMut};
use rten_vecmath::{Gelu, Normalize, NormalizeOptions, Softmax, Sum, SumSquare, SumSquareSub};

use super::weights::Weights;

/// What is added to a variance, so that nothing is divided by zero.
const EPSILON: f32 = 1e-12;

/// The measures of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    pub(super) words: usize,
    pub(super) positions: usize,
    pub(super) width: usize,
    pub(super) inner: usize,
    pub(super) heads: usize,
    pub(super) layers: usize,
}

/// A loaded model.
pub(super) struct Network {
    shape: Shape,
    gemm: GemmExecutor,
    /// One row a token.
    words: Vec<f32>,
    /// One row a place in the text, with what every first text has in common.
    positions: Vec<f32>,
    entry: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    /// Questions, keys and values, side by side.
    attend: Linear,
    gather: Linear,
    gathered: Norm,
    widen: Linear,
    narrow: Linear,
    narrowed: Norm,
}

/// A matrix ready to be multiplied with, and what is added.
struct Linear {
    weights: PackedBMatrix<f32>,
    bias: Vec<f32>,
}

/// Mean and spread of a row are taken out and replaced by learnt ones.
struct Norm {
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl Network {
    /// Loads a model of this shape.
    pub(super) fn load(weights: &Weights, shape: Shape) -> Result<Self> {
        let Shape { words, positions, width, inner, heads, layers } = shape;
        if heads == 0 || !width.is_multiple_of(heads) {
            return Err(Error::bug(format!("{heads} heads do not share a width of {width}")));
        }
        let gemm = GemmExecutor::new();
        let linear = |names: &[String], [outputs, inputs]: [usize; 2]| {
            let (mut rows, mut bias) = (Vec::with_capacity(names.len() * outputs * inputs), Vec::new());
            for name in names {
                rows.extend(weights.tensor(&format!("{name}.weight"), &[outputs, inputs])?);
                bias.extend(weights.tensor(&format!("{name}.bias"), &[outputs])?);
            }
            let rows = NdTensorView::from_data([bias.len(), inputs], rows.as_slice());
            Ok::<_, Error>(Linear { weights: gemm.prepack_b(rows.transposed()), bias })
        };
        let norm = |name: &str| {
            let part = |part: &str| weights.tensor(&format!("{name}.LayerNorm.{part}"), &[width]);
            Ok::<_, Error>(Norm { scale: part("weight")?, bias: part("bias")? })
        };
        let mut loaded = Vec::with_capacity(layers);
        for number in 0..layers {
            let at = |part: &str| format!("encoder.layer.{number}.{part}");
            let inputs = ["query", "key", "value"].map(|name| at(&format!("attention.self.{name}")));
            loaded.push(Layer {
                attend: linear(&inputs, [width, width])?,
                gather: linear(&[at("attention.output.dense")], [width, width])?,
                gathered: norm(&at("attention.output"))?,
                widen: linear(&[at("intermediate.dense")], [inner, width])?,
                narrow: linear(&[at("output.dense")], [width, inner])?,
                narrowed: norm(&at("output"))?,
            });
        }
        let table = |name: &str, rows: usize| {
            weights.tensor(&format!("embeddings.{name}_embeddings.weight"), &[rows, width])
        };
        let mut places = table("position", positions)?;
        // Texts come alone, never as the second of a pair.
        let kind = table("token_type", 2)?;
        for row in places.chunks_exact_mut(width) {
            add(row, &kind);
        }
        let (words, entry) = (table("word", words)?, norm("embeddings")?);
        Ok(Self { shape, gemm, words, positions: places, entry, layers: loaded })
    }

    /// The meaning of each text: the mean of what its tokens have become, as a vector of length 1.
    pub(super) fn embed(&self, texts: &[Vec<u32>]) -> Result<Vec<Vec<f32>>> {
        let width = self.shape.width;
        let mut states = self.enter(texts)?;
        let tokens = states.len() / width;
        let mut attended = vec![0.0; 3 * states.len()];
        let mut gathered = vec![0.0; states.len()];
        let mut widened = vec![0.0; tokens * self.shape.inner];
        for layer in &self.layers {
            self.multiply(&states, &layer.attend, &mut attended)?;
            self.attend(texts, &attended, &mut gathered)?;
            self.onto(&gathered, &layer.gather, &mut states)?;
            layer.gathered.apply(&mut states);
            self.multiply(&states, &layer.widen, &mut widened)?;
            Gelu {}.map_mut(&mut widened);
            self.onto(&widened, &layer.narrow, &mut states)?;
            layer.narrowed.apply(&mut states);
        }
        let mut rest = states.as_slice();
        let mut meanings = Vec::with_capacity(texts.len());
        for text in texts {
            let (own, others) = rest.split_at(text.len() * width);
            rest = others;
            let mut mean = vec![0.0; width];
            for row in own.chunks_exact(width) {
                add(&mut mean, row);
            }
            // The length of the sum does not matter, only where it points.
            let length = SumSquare::new(&mean).dispatch().sqrt().max(EPSILON);
            for number in &mut mean {
                *number /= length;
            }
            meanings.push(mean);
        }
        Ok(meanings)
    }

    /// The first rows: what each token is, and where it stands.
    fn enter(&self, texts: &[Vec<u32>]) -> Result<Vec<f32>> {
        let width = self.shape.width;
        let mut states = Vec::with_capacity(texts.iter().map(Vec::len).sum::<usize>() * width);
        for text in texts {
            if text.len() > self.shape.positions {
                let most = self.shape.positions;
                return Err(Error::bug(format!("{} tokens, the model takes {most}", text.len())));
            }
            for (token, place) in text.iter().zip(self.positions.chunks_exact(width)) {
                let at = *token as usize * width;
                let word = self.words.get(at..at + width);
                let word = word.ok_or_else(|| Error::bug(format!("the model has no token {token}")))?;
                states.extend(word.iter().zip(place).map(|(word, place)| word + place));
            }
        }
        self.entry.apply(&mut states);
        Ok(states)
    }

    /// `out = rows × weights + bias`.
    fn multiply(&self, rows: &[f32], by: &Linear, out: &mut [f32]) -> Result<()> {
        self.product(rows, by, out, 0.0)
    }

    /// The same, added to what is there.
    fn onto(&self, rows: &[f32], by: &Linear, out: &mut [f32]) -> Result<()> {
        self.product(rows, by, out, 1.0)
    }

    fn product(&self, rows: &[f32], by: &Linear, out: &mut [f32], beta: f32) -> Result<()> {
        let inputs = by.weights.rows();
        let rows = NdTensorView::from_data([rows.len() / inputs, inputs], rows);
        let options = GemmOptions { beta, bias: Some(BiasVector::Row(&by.bias)), ..GemmOptions::default() };
        self.gemm
            .gemm(out, GemmInputA::Unpacked(rows), GemmInputB::Packed(&by.weights), options)
            .map_err(|e| failed(&e))
    }

    /// Lets every token of a text gather from all others what it asks for, each head in its own part of the rows.
    fn attend(&self, texts: &[Vec<u32>], attended: &[f32], gathered: &mut [f32]) -> Result<()> {
        let width = self.shape.width;
        let head = width / self.shape.heads;
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let mut scores = vec![0.0; longest * longest];
        let mut part = vec![0.0; longest * head];
        let alpha = 1.0 / (head as f32).sqrt();
        let mut start = 0;
        for text in texts {
            let tokens = text.len();
            let rows = start..start + tokens;
            start += tokens;
            let of = |rows: std::ops::Range<usize>, width: usize| rows.start * width..rows.end * width;
            let own = attended.get(of(rows.clone(), 3 * width)).unwrap_or_default();
            let own = NdTensorView::from_data([tokens, 3 * width], own);
            let to = gathered.get_mut(of(rows, width)).unwrap_or_default();
            let mut to = NdTensorViewMut::from_data([tokens, width], to);
            let scores = scores.get_mut(..tokens * tokens).unwrap_or_default();
            let part = part.get_mut(..tokens * head).unwrap_or_default();
            for first in (0..width).step_by(head) {
                let columns =
                    |kind: usize| own.slice((.., kind * width + first..kind * width + first + head));
                let (questions, keys, values) = (columns(0), columns(1), columns(2));
                let options = GemmOptions { alpha, ..GemmOptions::default() };
                let (a, b) = (GemmInputA::Unpacked(questions), GemmInputB::Unpacked(keys.transposed()));
                self.gemm.gemm(scores, a, b, options).map_err(|e| failed(&e))?;
                for row in scores.chunks_exact_mut(tokens) {
                    Softmax::new_mut(row).dispatch();
                }
                let shares = NdTensorView::from_data([tokens, tokens], &*scores);
                let (a, b) = (GemmInputA::Unpacked(shares), GemmInputB::Unpacked(values));
                self.gemm.gemm(part, a, b, GemmOptions::default()).map_err(|e| failed(&e))?;
                let part = NdTensorView::from_data([tokens, head], &*part);
                to.slice_mut((.., first..first + head)).copy_from(&part);
            }
        }
        Ok(())
    }
}

impl Norm {
    /// Applies it to every row.
    fn apply(&self, rows: &mut [f32]) {
        let width = self.scale.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = Sum::new(row).dispatch() / width as f32;
            let variance = SumSquareSub::new(row, mean).dispatch() / width as f32;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: 1.0 / (variance + EPSILON).sqrt(),
                element_scale: Some(&self.scale),
                bias: 0.0,
                element_bias: Some(&self.bias),
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

fn add(to: &mut [f32], what: &[f32]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += what);
}

fn failed(error: &GemmError) -> Error {
    Error::bug("the model could not be run").with_source(error.clone())
}
