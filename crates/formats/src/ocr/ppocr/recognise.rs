//! What lines say. The network gives, for every step from left to right, how likely each character is; repeated
//! ones and blanks between them are taken out (CTC).

use docmill_core::Result;
use docmill_core::error::Error;
use rten::{Model, RunOptions};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use super::gaps::with_blanks;
use super::{Area, failed};
use crate::shared::grey::Grey;

/// Lines are read at this height.
const HEIGHT: u32 = 48;

/// A longer line is squeezed: it would take memory without end.
const MAX_WIDTH: u32 = 3_200;

/// Lines of about one length go through the network together, up to so many pixels of width in all.
const TOGETHER: u32 = 1_600;

/// Pieces in which less was recognised are no text.
const MIN_CONFIDENCE: f32 = 0.5;

pub(super) struct Recogniser {
    model: Model,
    options: RunOptions,
    /// The character of each number; nothing for the blank.
    characters: Vec<String>,
}

/// What was read in one area.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) area: Area,
    pub(super) glyphs: Vec<Glyph>,
}

/// One character.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    pub(super) text: String,
    pub(super) confidence: f32,
    /// Where it stands, as a share of the width of its area.
    pub(super) at: f32,
}

impl Recogniser {
    pub(super) fn load(bytes: Vec<u8>, options: RunOptions) -> Result<Self> {
        let broken = || Error::missing_dependency("the recogniser of PP-OCR cannot be loaded");
        let model = Model::load(bytes).map_err(|e| broken().with_source(e))?;
        let listed = model.metadata().get("character").ok_or_else(broken)?;
        let characters =
            std::iter::once("").chain(listed.split('\n')).chain([" "]).map(str::to_owned).collect();
        Ok(Self { model, options, characters })
    }

    /// Reads every area; those without text are left out.
    pub(super) fn read(&self, page: &Grey, areas: &[Area]) -> Result<Vec<Piece>> {
        let mut strips = Vec::with_capacity(areas.len());
        for area in areas {
            strips.extend(strip(page, *area)?.map(|picture| (*area, picture)));
        }
        strips.sort_by_key(|(_, picture)| picture.width());
        let mut pieces = Vec::new();
        let mut rest = strips.as_slice();
        while let Some((_, first)) = rest.first() {
            let most = (TOGETHER / first.width().max(1)).max(1) as usize;
            let (batch, later) = rest.split_at(most.min(rest.len()));
            rest = later;
            pieces.extend(self.batch(batch)?);
        }
        Ok(pieces)
    }

    fn batch(&self, strips: &[(Area, Grey)]) -> Result<Vec<Piece>> {
        let width = strips.iter().map(|(_, strip)| strip.width()).max().unwrap_or(1) as usize;
        let height = HEIGHT as usize;
        let mut input = vec![0.0_f32; strips.len() * 3 * height * width];
        for ((_, strip), planes) in strips.iter().zip(input.chunks_exact_mut(3 * height * width)) {
            for plane in planes.chunks_exact_mut(height * width) {
                for (row, to) in strip.rows().zip(plane.chunks_exact_mut(width)) {
                    for (pixel, to) in row.iter().zip(to) {
                        *to = f32::from(*pixel) / 127.5 - 1.0;
                    }
                }
            }
        }
        let input = NdTensor::from_data([strips.len(), 3, height, width], input);
        let output =
            self.model.run_one(input.view().into(), Some(self.options.clone())).map_err(|e| failed(&e))?;
        let output: NdTensor<f32, 3> = output.try_into().map_err(|e| failed(&e))?;
        let (steps, classes) = (output.size(1), output.size(2));
        if classes > self.characters.len() {
            return Err(failed(&format!("{classes} classes, {} characters", self.characters.len())));
        }
        let likely = output.to_vec();
        let mut pieces = Vec::new();
        for ((area, strip), line) in strips.iter().zip(likely.chunks_exact((steps * classes).max(1))) {
            // Shorter strips are padded on the right; their share of the steps is their own.
            let used = strip.width() as f32 / width as f32 * steps as f32;
            let glyphs = with_blanks(self.decode(line, classes, used), strip);
            let sum: f32 = glyphs.iter().map(|glyph| glyph.confidence).sum();
            if !glyphs.is_empty() && sum / glyphs.len() as f32 >= MIN_CONFIDENCE {
                pieces.push(Piece { area: *area, glyphs });
            }
        }
        Ok(pieces)
    }

    fn decode(&self, line: &[f32], classes: usize, used: f32) -> Vec<Glyph> {
        let mut glyphs = Vec::new();
        let mut before = 0;
        for (step, likely) in line.chunks_exact(classes).enumerate() {
            let (best, confidence) = likely.iter().enumerate().fold((0, 0.0_f32), |best, (class, value)| {
                if *value > best.1 { (class, *value) } else { best }
            });
            if best != 0 && best != before {
                let at = ((step as f32 + 0.5) / used.max(1.0)).min(1.0);
                glyphs.push(Glyph { text: self.characters[best].clone(), confidence, at });
            }
            before = best;
        }
        glyphs
    }
}

/// An area in the height that lines are read at.
fn strip(page: &Grey, area: Area) -> Result<Option<Grey>> {
    let Some(cut) =
        page.part(area.left as u32, area.top as u32, area.right.ceil() as u32, area.bottom.ceil() as u32)
    else {
        return Ok(None);
    };
    let width = (HEIGHT as f32 * cut.width() as f32 / cut.height() as f32).ceil() as u32;
    cut.resized(width.clamp(8, MAX_WIDTH), HEIGHT).map(Some)
}
