//! A picture on its way to an engine: what was done to it, and the way back to the scan.

use docmill_core::Result;
use docmill_core::ocr::{Scan, Word};

use crate::shared::grey::Grey;

/// Pixels with their history.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) grey: Grey,
    pub(crate) dpi: Option<u32>,
    /// What was done, in order.
    pub(crate) steps: Vec<&'static str>,
    /// Degrees clockwise, of quarter turns.
    pub(crate) turned: u32,
    back: Affine,
}

impl Picture {
    /// A scan as it came.
    pub(crate) fn of(scan: &Scan) -> Result<Self> {
        let back = Affine { x: [1.0, 0.0, 0.0], y: [0.0, 1.0, 0.0] };
        Ok(Self { grey: Grey::of(scan)?, dpi: scan.dpi, steps: Vec::new(), turned: 0, back })
    }

    /// Turned clockwise by a multiple of 90 degrees.
    pub(crate) fn turn(&self, degrees: u32) -> Self {
        let (width, height) = (self.grey.width() as f32, self.grey.height() as f32);
        let (step, back) = match degrees % 360 {
            90 => ("turn by 90°", Affine { x: [0.0, 1.0, 0.0], y: [-1.0, 0.0, height] }),
            180 => ("turn by 180°", Affine { x: [-1.0, 0.0, width], y: [0.0, -1.0, height] }),
            270 => ("turn by 270°", Affine { x: [0.0, -1.0, width], y: [1.0, 0.0, 0.0] }),
            _ => return self.clone(),
        };
        let turned = (self.turned + degrees) % 360;
        Self { turned, ..self.after(step, self.grey.turned(degrees), &back) }
    }

    /// Made larger or smaller.
    pub(crate) fn scale(&self, factor: f32) -> Result<Self> {
        let size = |side: u32| ((side as f32 * factor).round() as u32).max(1);
        let (width, height) = (size(self.grey.width()), size(self.grey.height()));
        let (across, down) =
            (self.grey.width() as f32 / width as f32, self.grey.height() as f32 / height as f32);
        let back = Affine { x: [across, 0.0, 0.0], y: [0.0, down, 0.0] };
        let step = if factor > 1.0 { "upscale" } else { "downscale" };
        let dpi = self.dpi.map(|dpi| (dpi as f32 * factor).round() as u32);
        Ok(Self { dpi, ..self.after(step, self.grey.resized(width, height)?, &back) })
    }

    /// Turned by a small angle, in radians.
    pub(crate) fn tilt(&self, angle: f32) -> Self {
        let (sin, cos) = angle.sin_cos();
        let (middle_x, middle_y) = (self.grey.width() as f32 / 2.0, self.grey.height() as f32 / 2.0);
        let back = Affine {
            x: [cos, sin, middle_x - cos * middle_x - sin * middle_y],
            y: [-sin, cos, middle_y - cos * middle_y + sin * middle_x],
        };
        self.after("deskew", self.grey.tilted(angle), &back)
    }

    /// Other pixels in the same places.
    pub(crate) fn with(&self, step: &'static str, grey: Grey) -> Self {
        let here = Affine { x: [1.0, 0.0, 0.0], y: [0.0, 1.0, 0.0] };
        self.after(step, grey, &here)
    }

    fn after(&self, step: &'static str, grey: Grey, back: &Affine) -> Self {
        let steps = self.steps.iter().copied().chain([step]).collect();
        Self { grey, dpi: self.dpi, steps, turned: self.turned, back: self.back.after(back) }
    }

    /// A word with its box where it lies on the scan, which has this size.
    pub(crate) fn on_scan(&self, word: Word, (width, height): (u32, u32)) -> Word {
        let (left, top) = (word.x as f32, word.y as f32);
        let (right, bottom) = (left + word.width as f32, top + word.height as f32);
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let points = corners.map(|(x, y)| self.back.at(x, y));
        let least = |pick: fn(&(f32, f32)) -> f32| points.iter().map(pick).fold(f32::INFINITY, f32::min);
        let most = |pick: fn(&(f32, f32)) -> f32| points.iter().map(pick).fold(0.0, f32::max);
        let x = (least(|p| p.0).floor().max(0.0) as u32).min(width);
        let y = (least(|p| p.1).floor().max(0.0) as u32).min(height);
        let right = (most(|p| p.0).ceil() as u32).min(width);
        let bottom = (most(|p| p.1).ceil() as u32).min(height);
        Word { x, y, width: right.saturating_sub(x), height: bottom.saturating_sub(y), ..word }
    }
}

/// A point of one picture as a point of another: each row gives a coordinate from x, y and 1.
#[derive(Clone, Copy, Debug)]
struct Affine {
    x: [f32; 3],
    y: [f32; 3],
}

impl Affine {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        let row = |r: [f32; 3]| r[0] * x + r[1] * y + r[2];
        (row(self.x), row(self.y))
    }

    /// First `inner`, then this one.
    fn after(&self, inner: &Self) -> Self {
        let row = |r: [f32; 3]| {
            [
                r[0] * inner.x[0] + r[1] * inner.y[0],
                r[0] * inner.x[1] + r[1] * inner.y[1],
                r[0] * inner.x[2] + r[1] * inner.y[2] + r[2],
            ]
        };
        Self { x: row(self.x), y: row(self.y) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A black pixel of a white picture, as a word.
    fn found(picture: &Picture) -> Word {
        let grey = &picture.grey;
        let at = grey.pixels().iter().enumerate().min_by_key(|(_, p)| **p).unwrap().0 as u32;
        let (x, y) = (at % grey.width(), at / grey.width());
        Word { text: "x".into(), confidence: 1.0, line: 0, x, y, width: 1, height: 1 }
    }

    #[test]
    fn on_scan_finds_the_way_back_from_every_step() {
        let mut pixels = vec![255; 40 * 30];
        pixels[9 * 40 + 31] = 0;
        let scan = Scan::new(1, (40, 30), pixels).unwrap();
        let picture = Picture::of(&scan).unwrap();
        let ways = [
            picture.clone(),
            picture.turn(90),
            picture.turn(180),
            picture.turn(270),
            picture.turn(90).turn(180),
            picture.scale(2.0).unwrap(),
            picture.scale(3.0).unwrap().turn(270),
            picture.tilt(0.05),
            picture.turn(90).scale(2.0).unwrap().tilt(-0.1),
        ];
        for way in ways {
            let word = way.on_scan(found(&way), (40, 30));
            let (dx, dy) = (word.x.abs_diff(31), word.y.abs_diff(9));
            assert!(dx <= 1 && dy <= 1, "{:?} gives {} {}", way.steps, word.x, word.y);
        }
    }
}
