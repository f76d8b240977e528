//! By how much lines of text are tilted: the angle at which ink falls into the fewest rows.

use docmill_core::Result;

use crate::shared::grey::Grey;

/// Wide enough to tell a tenth of a degree.
const WIDTH: u32 = 800;

/// Points of ink that are looked at; more add nothing.
const MAX_POINTS: usize = 60_000;

/// Pages are never put on a scanner worse than this, in tenths of a degree.
const FARTHEST: i32 = 80;

/// The tilt in radians, positive if lines fall to the right.
pub(super) fn angle(page: &Grey) -> Result<f32> {
    let scale = (WIDTH as f32 / page.width() as f32).min(1.0);
    let small = page.resized((page.width() as f32 * scale) as u32, (page.height() as f32 * scale) as u32)?;
    let points = ink(&small);
    if points.len() < 200 {
        return Ok(0.0);
    }
    let rows = small.height() as usize;
    let best = |candidates: &mut dyn Iterator<Item = i32>| {
        candidates
            .map(|tenths| (tenths, sharpness(&points, rows, radians(tenths))))
            .max_by_key(|(tenths, sharpness)| (*sharpness, -tenths.abs()))
            .map_or(0, |(tenths, _)| tenths)
    };
    let rough = best(&mut (-FARTHEST..=FARTHEST).step_by(5));
    let fine = best(&mut (rough - 5..=rough + 5));
    // The best at the edge of the search is no best.
    Ok(if fine.abs() >= FARTHEST { 0.0 } else { radians(fine) })
}

fn radians(tenths: i32) -> f32 {
    (tenths as f32 / 10.0).to_radians()
}

/// Where ink ends above and paper begins: lower edges of letters stand on the line.
fn ink(page: &Grey) -> Vec<(f32, f32)> {
    let level = page.threshold();
    let width = page.width() as usize;
    let mut points = Vec::new();
    let pixels = page.pixels();
    for at in width..pixels.len() {
        if pixels[at - width] <= level && pixels[at] > level {
            points.push(((at % width) as f32, (at / width) as f32));
        }
    }
    let every = points.len().div_ceil(MAX_POINTS).max(1);
    points.into_iter().step_by(every).collect()
}

/// How unevenly the points fall into rows that are tilted by `angle`.
fn sharpness(points: &[(f32, f32)], rows: usize, angle: f32) -> u64 {
    let slope = angle.tan();
    let mut counts = vec![0_u64; rows * 2];
    for (x, y) in points {
        let row = y - x * slope + rows as f32 / 2.0;
        if let Some(count) = counts.get_mut(row.max(0.0) as usize) {
            *count += 1;
        }
    }
    counts.iter().map(|n| n * n).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Level lines of short strokes.
    fn lines() -> Grey {
        let (width, height) = (400_usize, 300_usize);
        let mut pixels = vec![255_u8; width * height];
        for line in (30..270).step_by(24) {
            for y in line..line + 8 {
                for x in (40..360).filter(|x| x % 9 < 5) {
                    pixels[y * width + x] = 20;
                }
            }
        }
        Grey::new(width as u32, height as u32, pixels).unwrap()
    }

    #[test]
    fn angle_of_tilted_lines_is_found_with_its_sign() {
        for degrees in [-4.0_f32, -1.0, 0.0, 0.7, 3.0] {
            let tilted = lines().tilted(degrees.to_radians());
            let found = angle(&tilted).unwrap().to_degrees();
            assert!((found - degrees).abs() <= 0.3, "{degrees}° was taken for {found}°");
        }
    }

    #[test]
    fn angle_of_an_empty_page_is_none() {
        let white = Grey::new(100, 100, vec![255; 10_000]).unwrap();
        assert!(angle(&white).unwrap().abs() < f32::EPSILON);
    }
}
