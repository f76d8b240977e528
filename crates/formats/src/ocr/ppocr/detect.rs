//! Where lines of text are. The network says for every pixel how likely it lies inside a line, shrunk so that lines
//! do not touch; connected pieces of likely pixels, grown again, are the lines.

use docmill_core::Result;
use docmill_core::error::Error;
use rten::{Model, RunOptions};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use super::{Area, failed};
use crate::shared::grey::Grey;

/// The shorter side is made at least so long: letters must not be smaller than those of the training…
const MIN_SIDE: f32 = 736.0;
/// …and the longer one at most this, because time grows with it.
const MAX_SIDE: f32 = 1_920.0;
/// The network halves its input five times.
const MULTIPLE: u32 = 32;

/// Likelihood of a pixel that counts, and mean likelihood of a piece that counts.
const PIXEL_LIKELY: f32 = 0.3;
const PIECE_LIKELY: f32 = 0.5;

/// By how much pieces are grown: area times this, divided by circumference.
const GROW: f32 = 1.6;

/// Smaller pieces are dirt.
const MIN_PIXELS: usize = 12;

/// More lines on a page are not believed.
const MAX_PIECES: usize = 3_000;

pub(super) struct Detector {
    model: Model,
    options: RunOptions,
}

impl Detector {
    pub(super) fn load(bytes: Vec<u8>, options: RunOptions) -> Result<Self> {
        let model = Model::load(bytes).map_err(|e| {
            Error::missing_dependency("the detector of PP-OCR cannot be loaded").with_source(e)
        })?;
        Ok(Self { model, options })
    }

    /// Areas of lines, or of parts of lines, in no order.
    pub(super) fn find(&self, page: &Grey) -> Result<Vec<Area>> {
        let (width, height) = (page.width() as f32, page.height() as f32);
        let enlarge = (MIN_SIDE / width.min(height)).max(1.0);
        let scale = enlarge.min(MAX_SIDE / width.max(height));
        let size = |side: f32| ((side * scale / MULTIPLE as f32).round() as u32).max(1) * MULTIPLE;
        let seen = page.resized(size(width), size(height))?;
        let likely = self.likelihood(&seen)?;
        let (across, down) = (width / seen.width() as f32, height / seen.height() as f32);
        let areas = pieces(&likely, seen.width() as usize);
        Ok(areas
            .into_iter()
            .map(|area| Area {
                left: (area.left * across).max(0.0),
                top: (area.top * down).max(0.0),
                right: (area.right * across).min(width),
                bottom: (area.bottom * down).min(height),
            })
            .collect())
    }

    fn likelihood(&self, page: &Grey) -> Result<Vec<f32>> {
        let plane: Vec<f32> = page.pixels().iter().map(|pixel| f32::from(*pixel) / 127.5 - 1.0).collect();
        let input = [plane.as_slice(); 3].concat();
        let shape = [1, 3, page.height() as usize, page.width() as usize];
        let input = NdTensor::from_data(shape, input);
        let output =
            self.model.run_one(input.view().into(), Some(self.options.clone())).map_err(|e| failed(&e))?;
        let output: NdTensor<f32, 4> = output.try_into().map_err(|e| failed(&e))?;
        Ok(output.to_vec())
    }
}

/// Connected likely pixels as areas, grown.
fn pieces(likely: &[f32], width: usize) -> Vec<Area> {
    let mut open: Vec<bool> = likely.iter().map(|value| *value > PIXEL_LIKELY).collect();
    let rows = likely.len() / width.max(1);
    let mut areas = Vec::new();
    let mut stack = Vec::new();
    for start in 0..open.len() {
        if !std::mem::take(&mut open[start]) {
            continue;
        }
        stack.push(start);
        let (mut left, mut top, mut right, mut bottom) = (width, rows, 0, 0);
        let (mut count, mut sum) = (0_usize, 0.0_f32);
        while let Some(at) = stack.pop() {
            let (x, y) = (at % width, at / width);
            (left, right) = (left.min(x), right.max(x));
            (top, bottom) = (top.min(y), bottom.max(y));
            (count, sum) = (count + 1, sum + likely[at]);
            let beside = [
                (x > 0).then(|| at - 1),
                (x + 1 < width).then_some(at + 1),
                (y > 0).then(|| at - width),
                (y + 1 < rows).then_some(at + width),
            ];
            for next in beside.into_iter().flatten() {
                if std::mem::take(&mut open[next]) {
                    stack.push(next);
                }
            }
        }
        if count < MIN_PIXELS || sum / (count as f32) < PIECE_LIKELY {
            continue;
        }
        let (wide, tall) = ((right - left + 1) as f32, (bottom - top + 1) as f32);
        let grow = wide * tall * GROW / (2.0 * (wide + tall));
        areas.push(Area {
            left: left as f32 - grow,
            top: top as f32 - grow,
            right: (right + 1) as f32 + grow,
            bottom: (bottom + 1) as f32 + grow,
        });
        if areas.len() >= MAX_PIECES {
            break;
        }
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_grown_and_dirt_is_dropped() {
        let (width, height) = (60, 30);
        let mut likely = vec![0.0; width * height];
        for y in 10..16 {
            for x in 10..40 {
                likely[y * width + x] = 0.9;
            }
        }
        likely[2 * width + 50] = 0.9;
        let areas = pieces(&likely, width);
        assert_eq!(areas.len(), 1);
        let area = areas[0];
        assert!((area.left - 6.0).abs() < 0.1 && (area.top - 6.0).abs() < 0.1, "{area:?}");
        assert!((area.right - 44.0).abs() < 0.1 && (area.bottom - 20.0).abs() < 0.1, "{area:?}");
    }
}
