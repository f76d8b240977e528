//! Grain and faintness.

use docmill_core::Result;

use crate::shared::grey::Grey;

/// Every pixel becomes the middle one of itself and its eight neighbours: specks go, edges stay.
pub(super) fn median(page: &Grey) -> Result<Grey> {
    let (width, height) = (page.width() as usize, page.height() as usize);
    let pixels = page.pixels();
    let mut out = pixels.to_vec();
    for y in 1..height.saturating_sub(1) {
        for x in 1..width.saturating_sub(1) {
            let at = y * width + x;
            let mut near = [0_u8; 9];
            for (row, three) in near.chunks_exact_mut(3).enumerate() {
                let from = at + row * width - width - 1;
                three.copy_from_slice(&pixels[from..from + 3]);
            }
            near.sort_unstable();
            out[at] = near[4];
        }
    }
    Grey::new(page.width(), page.height(), out)
}

/// The darkest hundredth becomes black, the lightest half white.
pub(super) fn stretch(page: &Grey) -> Grey {
    let mut counts = [0_usize; 256];
    for pixel in page.pixels() {
        counts[usize::from(*pixel)] += 1;
    }
    let share = |part: f32| {
        let wanted = (page.pixels().len() as f32 * part) as usize;
        let mut seen = 0;
        counts.iter().position(|n| {
            seen += n;
            seen > wanted
        })
    };
    let dark = share(0.01).unwrap_or(0) as i32;
    let light = share(0.5).unwrap_or(255) as i32;
    if light - dark < 16 {
        return page.clone();
    }
    page.map(|pixel| ((i32::from(pixel) - dark) * 255 / (light - dark)).clamp(0, 255) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_removes_a_speck_and_keeps_an_edge() {
        let mut pixels = vec![255_u8; 100];
        pixels[33] = 0;
        assert_eq!(median(&Grey::new(10, 10, pixels).unwrap()).unwrap().pixels(), [255; 100]);
        let edge: Vec<u8> = (0..100).map(|at| if at % 10 < 5 { 0 } else { 255 }).collect();
        assert_eq!(median(&Grey::new(10, 10, edge.clone()).unwrap()).unwrap().pixels(), edge);
    }

    #[test]
    fn stretch_spreads_faint_ink() {
        let faint: Vec<u8> = (0..100).map(|at| if at % 10 == 0 { 180 } else { 220 }).collect();
        let spread = stretch(&Grey::new(10, 10, faint).unwrap());
        assert_eq!((spread.pixels()[0], spread.pixels()[1]), (0, 255));
    }
}
