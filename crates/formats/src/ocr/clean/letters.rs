//! How tall letters are, from the heights of connected pieces of ink.

use crate::shared::grey::Grey;

/// Pieces that are looked at; more add nothing.
const MAX_PIECES: usize = 4_000;

/// Fewer tell nothing.
const MIN_PIECES: usize = 12;

/// The median height in pixels of what could be letters.
pub(super) fn height(page: &Grey) -> Option<f32> {
    let level = page.threshold();
    let (width, rows) = (page.width() as usize, page.height() as usize);
    let mut ink: Vec<bool> = page.pixels().iter().map(|pixel| *pixel <= level).collect();
    let mut heights = Vec::new();
    let mut open = Vec::new();
    for start in 0..ink.len() {
        if !ink[start] {
            continue;
        }
        ink[start] = false;
        open.push(start);
        let (mut top, mut bottom, mut left, mut right) = (rows, 0, width, 0);
        while let Some(at) = open.pop() {
            let (x, y) = (at % width, at / width);
            (top, bottom) = (top.min(y), bottom.max(y));
            (left, right) = (left.min(x), right.max(x));
            let beside = [
                (x > 0).then(|| at - 1),
                (x + 1 < width).then_some(at + 1),
                (y > 0).then(|| at - width),
                (y + 1 < rows).then_some(at + width),
            ];
            for next in beside.into_iter().flatten() {
                if std::mem::take(&mut ink[next]) {
                    open.push(next);
                }
            }
        }
        let (tall, wide) = (bottom - top + 1, right - left + 1);
        // Specks, rules and pictures are no letters.
        if tall >= 5 && wide >= 2 && wide <= tall * 4 && tall <= wide * 8 && tall < rows / 4 {
            heights.push(tall as f32);
            if heights.len() >= MAX_PIECES {
                break;
            }
        }
    }
    if heights.len() < MIN_PIECES {
        return None;
    }
    heights.sort_by(f32::total_cmp);
    Some(heights[heights.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn height_is_that_of_most_pieces_and_not_of_rules() {
        let (width, rows) = (200_usize, 200_usize);
        let mut pixels = vec![255_u8; width * rows];
        for top in (10..190).step_by(20) {
            for left in (10..190).step_by(12) {
                for y in top..top + 9 {
                    pixels[y * width + left..y * width + left + 6].fill(0);
                }
            }
        }
        pixels[..width].fill(0);
        let page = Grey::new(width as u32, rows as u32, pixels).unwrap();
        assert_eq!(height(&page), Some(9.0));
        assert_eq!(height(&Grey::new(10, 10, vec![255; 100]).unwrap()), None);
    }
}
