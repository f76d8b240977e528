//! What a page shows beside letters: how much of it images cover, how sharp they are, and how much is drawn.

use hayro_interpret::kurbo::{Affine, BezPath, PathEl, Point, Rect, Shape};

/// The page is looked at in so many rows and columns.
const CELLS: usize = 32;

/// So many curves are enough to be letters; no more are counted.
const MOST_CURVES: usize = 10_000;

/// Clips inside clips.
const MOST_CLIPS: usize = 1024;

const POINTS_PER_INCH: f64 = 72.0;

/// An image says how sharp the page is only if it covers this part of it.
const MAIN: f64 = 0.1;

pub(super) struct Marks {
    area: Rect,
    clips: Vec<Rect>,
    /// A bit for each cell whose middle lies under an image.
    covered: [u32; CELLS],
    sharpest: f64,
    curves: usize,
    largest_image: u64,
}

impl Marks {
    pub(super) fn new(area: Rect) -> Self {
        Self { area, clips: Vec::new(), covered: [0; CELLS], sharpest: 0.0, curves: 0, largest_image: 0 }
    }

    /// How much of the page lies under images, from 0 to 1.
    pub(super) fn covered(&self) -> f64 {
        let cells: u32 = self.covered.iter().map(|row| row.count_ones()).sum();
        f64::from(cells) / (CELLS * CELLS) as f64
    }

    /// Dots per inch of the sharpest image that covers a good part of the page; 0 without one.
    pub(super) fn dots_per_inch(&self) -> f64 {
        self.sharpest
    }

    /// Curves that are filled or drawn: letters that were turned into shapes have many.
    pub(super) fn curves(&self) -> usize {
        self.curves
    }

    /// Pixels of the largest image, by what it says of itself.
    pub(super) fn largest_image(&self) -> u64 {
        self.largest_image
    }

    pub(super) fn push_clip(&mut self, clip: Rect) {
        if self.clips.len() < MOST_CLIPS {
            self.clips.push(self.seen().intersect(clip));
        }
    }

    pub(super) fn pop_clip(&mut self) {
        self.clips.pop();
    }

    fn seen(&self) -> Rect {
        *self.clips.last().unwrap_or(&self.area)
    }

    /// An image of so many dots; `transform` takes its dots to places on the page.
    pub(super) fn add_image(&mut self, width: u32, height: u32, transform: Affine) {
        self.largest_image = self.largest_image.max(u64::from(width) * u64::from(height));
        let dots = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let place = transform.transform_rect_bbox(dots).intersect(self.seen());
        if !place.is_finite() || place.area() <= 0.0 {
            return;
        }
        for (row, cells) in self.covered.iter_mut().enumerate() {
            for column in 0..CELLS {
                let part = |n: usize| (n as f64 + 0.5) / CELLS as f64;
                let x = self.area.x0 + part(column) * self.area.width();
                let y = self.area.y0 + part(row) * self.area.height();
                *cells |= u32::from(place.contains(Point::new(x, y))) << column;
            }
        }
        if place.area() >= MAIN * self.area.area() {
            let [a, b, ..] = transform.as_coeffs();
            let points_per_dot = a.hypot(b);
            if points_per_dot > 0.0 {
                self.sharpest = self.sharpest.max(POINTS_PER_INCH / points_per_dot);
            }
        }
    }

    pub(super) fn add_path(&mut self, path: &BezPath) {
        if self.curves >= MOST_CURVES {
            return;
        }
        self.curves += path
            .elements()
            .iter()
            .take(MOST_CURVES)
            .filter(|element| matches!(element, PathEl::CurveTo(..) | PathEl::QuadTo(..)))
            .count();
    }

    pub(super) fn push_clip_path(&mut self, path: &BezPath) {
        self.push_clip(path.bounding_box());
    }
}
