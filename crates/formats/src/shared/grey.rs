//! A picture in 8-bit grey, and where its points lie on the scan it was made from.

use docmill_core::ocr::Scan;
use docmill_core::{Error, Result};
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

/// Width × height bytes, row by row without gaps; 0 is black.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Grey {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Grey {
    /// Takes pixels that fit their size.
    pub(crate) fn new(width: u32, height: u32, pixels: Vec<u8>) -> Result<Self> {
        if width == 0 || height == 0 || pixels.len() as u64 != u64::from(width) * u64::from(height) {
            return Err(Error::bug(format!("{} bytes are no picture of {width} × {height}", pixels.len())));
        }
        Ok(Self { width, height, pixels })
    }

    /// The pixels of a scan.
    pub(crate) fn of(scan: &Scan) -> Result<Self> {
        scan.check()?;
        Self::new(scan.width, scan.height, scan.pixels.to_vec())
    }

    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    pub(crate) fn height(&self) -> u32 {
        self.height
    }

    pub(crate) fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    pub(crate) fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// The rows from top to bottom.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.pixels.chunks_exact(self.width as usize)
    }

    /// What lies between these edges, as far as it is on the picture; nothing if that is empty.
    pub(crate) fn part(&self, left: u32, top: u32, right: u32, bottom: u32) -> Option<Self> {
        let (right, bottom) = (right.min(self.width), bottom.min(self.height));
        let (width, height) = (right.checked_sub(left)?, bottom.checked_sub(top)?);
        if width == 0 || height == 0 {
            return None;
        }
        let rows = self.rows().skip(top as usize).take(height as usize);
        let pixels = rows.flat_map(|row| &row[left as usize..right as usize]).copied().collect();
        Some(Self { width, height, pixels })
    }

    /// Another picture of the same size.
    pub(crate) fn map(&self, change: impl Fn(u8) -> u8) -> Self {
        let pixels = self.pixels.iter().map(|pixel| change(*pixel)).collect();
        Self { width: self.width, height: self.height, pixels }
    }

    /// In another size. Smaller ones are averaged, larger ones interpolated.
    pub(crate) fn resized(&self, width: u32, height: u32) -> Result<Self> {
        let (width, height) = (width.max(1), height.max(1));
        if (width, height) == (self.width, self.height) {
            return Ok(self.clone());
        }
        let failed = |e: &dyn std::fmt::Display| Error::bug(format!("cannot resize a picture: {e}"));
        let from =
            ImageRef::new(self.width, self.height, &self.pixels, PixelType::U8).map_err(|e| failed(&e))?;
        let mut to = Image::new(width, height, PixelType::U8);
        let filter = if width < self.width { FilterType::Box } else { FilterType::CatmullRom };
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter));
        Resizer::new().resize(&from, &mut to, &options).map_err(|e| failed(&e))?;
        Self::new(width, height, to.into_vec())
    }

    /// Turned clockwise by a multiple of 90 degrees.
    pub(crate) fn turned(&self, degrees: u32) -> Self {
        let (width, height) = (self.width as usize, self.height as usize);
        let at = |x: usize, y: usize| self.pixels[y * width + x];
        let (across, down, pixels): (usize, usize, Vec<u8>) = match degrees % 360 {
            90 => (height, width, gather(height, width, |x, y| at(y, height - 1 - x))),
            180 => (width, height, self.pixels.iter().rev().copied().collect()),
            270 => (height, width, gather(height, width, |x, y| at(width - 1 - y, x))),
            _ => return self.clone(),
        };
        Self { width: across as u32, height: down as u32, pixels }
    }

    /// Turned by a small angle in radians about its middle, clockwise for positive ones; corners become white.
    pub(crate) fn tilted(&self, angle: f32) -> Self {
        let (sin, cos) = angle.sin_cos();
        let (middle_x, middle_y) = (self.width as f32 / 2.0, self.height as f32 / 2.0);
        let (width, height) = (self.width as usize, self.height as usize);
        let pixels = gather(width, height, |x, y| {
            let (dx, dy) = (x as f32 + 0.5 - middle_x, y as f32 + 0.5 - middle_y);
            self.between(cos * dx + sin * dy + middle_x - 0.5, cos * dy - sin * dx + middle_y - 0.5)
        });
        Self { width: self.width, height: self.height, pixels }
    }

    /// The value between pixels; white outside.
    fn between(&self, x: f32, y: f32) -> u8 {
        let (left, top) = (x.floor(), y.floor());
        let at = |x: f32, y: f32| -> f32 {
            let inside = x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32;
            if inside { f32::from(self.pixels[y as usize * self.width as usize + x as usize]) } else { 255.0 }
        };
        let (right_share, low_share) = (x - left, y - top);
        let above = at(left, top) * (1.0 - right_share) + at(left + 1.0, top) * right_share;
        let below = at(left, top + 1.0) * (1.0 - right_share) + at(left + 1.0, top + 1.0) * right_share;
        (above * (1.0 - low_share) + below * low_share).round() as u8
    }

    /// The level that separates ink from paper best (Otsu): ink is this dark or darker. In a page of nothing but black and
    /// white it is black itself.
    pub(crate) fn threshold(&self) -> u8 {
        let mut counts = [0_u64; 256];
        for pixel in &self.pixels {
            counts[usize::from(*pixel)] += 1;
        }
        let total = self.pixels.len() as f64;
        let sum: f64 = counts.iter().enumerate().map(|(level, n)| level as f64 * *n as f64).sum();
        let (mut below, mut sum_below, mut best, mut level) = (0.0, 0.0, 0.0, 127);
        for (candidate, n) in counts.iter().enumerate() {
            below += *n as f64;
            sum_below += candidate as f64 * *n as f64;
            let above = total - below;
            if below == 0.0 || above == 0.0 {
                continue;
            }
            let apart = sum_below / below - (sum - sum_below) / above;
            let spread = below * above * apart * apart;
            if spread > best {
                (best, level) = (spread, candidate);
            }
        }
        level as u8
    }
}

fn gather(width: usize, height: usize, pixel: impl Fn(usize, usize) -> u8) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        pixels.extend((0..width).map(|x| pixel(x, y)));
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Grey {
        Grey::new(3, 2, vec![1, 2, 3, 4, 5, 6]).unwrap()
    }

    #[test]
    fn turned_goes_clockwise_and_comes_round() {
        let quarter = picture().turned(90);
        assert_eq!((quarter.width(), quarter.height()), (2, 3));
        assert_eq!(quarter.pixels(), [4, 1, 5, 2, 6, 3]);
        assert_eq!(picture().turned(180).pixels(), [6, 5, 4, 3, 2, 1]);
        assert_eq!(picture().turned(270).pixels(), [3, 6, 2, 5, 1, 4]);
        assert_eq!(quarter.turned(270), picture());
    }

    #[test]
    fn tilted_by_nothing_is_the_same() {
        assert_eq!(picture().tilted(0.0), picture());
    }

    #[test]
    fn threshold_lies_between_ink_and_paper() {
        let page = Grey::new(4, 1, vec![10, 12, 200, 210]).unwrap();
        assert!((12..200).contains(&page.threshold()));
    }

    #[test]
    fn pixels_that_do_not_fit_are_refused() {
        assert!(Grey::new(2, 2, vec![0; 3]).is_err());
        assert!(Grey::new(0, 2, vec![]).is_err());
    }
}
