//! The articles of a page: places that the document names in the order they are read in, as newspapers do.

use hayro_interpret::TransformExt;
use hayro_interpret::kurbo::Rect;
use hayro_syntax::object::{Array, Rect as Box};
use hayro_syntax::page::Page;

use super::lists;

/// No page has more.
const MOST: usize = 200;

/// The places on the page as it is seen. Empty for nearly all documents.
pub(super) fn places(page: &Page<'_>) -> Vec<Rect> {
    let Some(beads) = page.raw().get::<Array<'_>>(b"B") else { return Vec::new() };
    let transform = page.initial_transform(true).to_kurbo();
    lists::dicts(&beads)
        .take(MOST)
        .filter_map(|bead| bead.get::<Box>(b"R"))
        .map(|place| {
            let place = Rect::new(place.x0, place.y0, place.x1, place.y1).abs();
            transform.transform_rect_bbox(place)
        })
        .filter(Rect::is_finite)
        .collect()
}
