//! Dividing by the paper: what is left is ink, however the light fell.

use docmill_core::Result;

use crate::shared::grey::Grey;

/// The paper is looked for in a picture this many times smaller: light changes slowly.
const COARSE: u32 = 8;

/// How far, in coarse pixels, paper is looked for around a letter: wider than the strokes of a headline.
const REACH: usize = 4;

/// Every pixel as a share of the paper around it.
pub(super) fn divide(page: &Grey) -> Result<Grey> {
    let (width, height) = (page.width(), page.height());
    let small = page.resized((width / COARSE).max(1), (height / COARSE).max(1))?;
    // The lightest nearby is paper; blurred, so that no edge of the light becomes an edge of ink.
    let paper = blurred(&lightest(&small)?)?;
    let paper = paper.resized(width, height)?;
    let pixels = page
        .pixels()
        .iter()
        .zip(paper.pixels())
        .map(|(ink, paper)| (u32::from(*ink) * 255 / u32::from((*paper).max(1))).min(255) as u8)
        .collect();
    Grey::new(width, height, pixels)
}

fn lightest(page: &Grey) -> Result<Grey> {
    around(page, |values| values.iter().copied().max().unwrap_or(255))
}

fn blurred(page: &Grey) -> Result<Grey> {
    around(page, |values| {
        let sum: u32 = values.iter().map(|value| u32::from(*value)).sum();
        (sum / values.len().max(1) as u32) as u8
    })
}

/// Replaces every pixel by something made of its row and then of its column.
fn around(page: &Grey, of: impl Fn(&[u8]) -> u8) -> Result<Grey> {
    let along = |page: &Grey| {
        let mut pixels = Vec::with_capacity(page.pixels().len());
        for row in page.rows() {
            for x in 0..row.len() {
                pixels.push(of(&row[x.saturating_sub(REACH)..(x + REACH + 1).min(row.len())]));
            }
        }
        Grey::new(page.width(), page.height(), pixels)
    };
    Ok(along(&along(page)?.turned(90))?.turned(270))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divide_leaves_ink_on_even_paper_whatever_the_light() {
        let (width, height) = (160_u32, 160_u32);
        let mut pixels = Vec::new();
        for y in 0..height {
            for x in 0..width {
                // Light falls from the left; every twentieth row is a line of ink.
                let paper = 250 - x / 2;
                pixels.push(if y % 20 == 10 { paper / 4 } else { paper } as u8);
            }
        }
        let even = divide(&Grey::new(width, height, pixels).unwrap()).unwrap();
        for (y, row) in even.rows().enumerate().skip(20).take(120) {
            for value in &row[20..140] {
                assert!(if y % 20 == 10 { *value < 90 } else { *value > 200 }, "row {y}: {value}");
            }
        }
    }
}
