//! What scanners, feeders and cameras do to a page.

use super::picture::{Picture, grey};
use crate::chance::Chance;

/// Turned by some degrees around its middle; what comes in from outside has the colour `around`.
pub(super) fn turn(picture: &Picture, degrees: f64, around: [u8; 3]) -> Picture {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let (mx, my) = (f64::from(picture.width) / 2.0, f64::from(picture.height) / 2.0);
    each(picture.width, picture.height, |x, y| {
        let (dx, dy) = (x - mx, y - my);
        picture.between(mx + dx * cos + dy * sin, my - dx * sin + dy * cos, around)
    })
}

/// Black is no longer black and white no longer white.
pub(super) fn fade(mut picture: Picture, black: u8, white: u8) -> Picture {
    let span = u32::from(white - black);
    for pixel in &mut picture.pixels {
        *pixel = pixel.map(|c| black + (u32::from(c) * span / 255) as u8);
    }
    picture
}

/// Each pixel becomes the mean of those around it, `reach` away at most.
pub(super) fn blur(picture: &Picture, reach: i64) -> Picture {
    let across = smear(picture, reach, 1, 0);
    smear(&across, reach, 0, 1)
}

fn smear(picture: &Picture, reach: i64, dx: i64, dy: i64) -> Picture {
    let mut out = picture.clone();
    for y in 0..i64::from(picture.height) {
        for x in 0..i64::from(picture.width) {
            let (mut sum, mut count) = ([0_u32; 3], 0);
            for step in -reach..=reach {
                if let Some(pixel) = picture.at(x + step * dx, y + step * dy) {
                    for (total, part) in sum.iter_mut().zip(pixel) {
                        *total += u32::from(part);
                    }
                    count += 1;
                }
            }
            out.pixels[y as usize * picture.width as usize + x as usize] =
                sum.map(|total| (total / count) as u8);
        }
    }
    out
}

/// Grain; `amount` is about how far a pixel is moved.
pub(super) fn noise(mut picture: Picture, chance: &mut Chance, amount: f64) -> Picture {
    for pixel in &mut picture.pixels {
        // The sum of three is close enough to what sensors do.
        let off = (chance.fraction() + chance.fraction() + chance.fraction() - 1.5) * amount * 1.6;
        *pixel = pixel.map(|c| (f64::from(c) + off).round().clamp(0.0, 255.0) as u8);
    }
    picture
}

/// Dust on the glass and crumbs of toner.
pub(super) fn specks(mut picture: Picture, chance: &mut Chance) -> Picture {
    let count = chance.between(20, 140);
    for _ in 0..count {
        let (x, y) = (
            chance.between(0, i64::from(picture.width) - 1),
            chance.between(0, i64::from(picture.height) - 1),
        );
        let (radius, shade) = (chance.between(0, 1), chance.between(30, 190) as u8);
        for dy in -radius..=radius {
            for dx in -radius..=radius {
                put(&mut picture, x + dx, y + dy, [shade; 3]);
            }
        }
    }
    picture
}

/// A dark edge where the lid was open, and a faint line where the glass is dirty.
pub(super) fn edge(mut picture: Picture, chance: &mut Chance) -> Picture {
    let (width, height) = (i64::from(picture.width), i64::from(picture.height));
    let deep = width / 40 + chance.between(0, width / 40);
    let at_left = chance.hits(0.5);
    let dirty = chance.between(width / 8, width * 7 / 8);
    for y in 0..height {
        for step in 0..deep {
            let x = if at_left { step } else { width - 1 - step };
            let part = step as f64 / deep as f64;
            scale(&mut picture, x, y, 0.45 + 0.55 * part.sqrt());
        }
        scale(&mut picture, dirty, y, 0.93);
    }
    picture
}

/// Nothing but black and white, as few dots as a fax has.
pub(super) fn harden(mut picture: Picture) -> Picture {
    for pixel in &mut picture.pixels {
        *pixel = [if grey(*pixel) < 158 { 12 } else { 252 }; 3];
    }
    picture
}

/// The paper on a table, seen from a little aside.
pub(super) fn lay_on_table(picture: &Picture, chance: &mut Chance) -> Picture {
    let (width, height) = (f64::from(picture.width), f64::from(picture.height));
    let border = 0.06;
    let (out_width, out_height) =
        ((width * (1.0 + 2.0 * border)).round(), (height * (1.0 + 2.0 * border)).round());
    let mut off = |reach: f64| chance.within(-reach, reach) * width;
    let (left, top) = (width * border, height * border);
    // The corners of the paper in the photograph, clockwise from the top left.
    let corners = [
        (left + off(0.035), top + off(0.03)),
        (left + width + off(0.035), top + off(0.03)),
        (left + width + off(0.035), top + height + off(0.03)),
        (left + off(0.035), top + height + off(0.03)),
    ];
    let table = *chance.pick(&[[92, 70, 52], [120, 96, 70], [64, 66, 70], [150, 142, 130]]);
    let grain = chance.within(0.02, 0.06);
    let map = to_unit_square(corners);
    each(out_width as u32, out_height as u32, |x, y| {
        let (u, v) = map(x, y);
        if (0.0..1.0).contains(&u) && (0.0..1.0).contains(&v) {
            let paper = [247, 244, 236];
            let dot = picture.between(u * width, v * height, paper);
            return std::array::from_fn(|channel| {
                (u32::from(dot[channel]) * u32::from(paper[channel]) / 255) as u8
            });
        }
        // The shadow of the paper's edge, and the grain of the wood.
        let outside = (u.clamp(0.0, 1.0) - u).hypot(v.clamp(0.0, 1.0) - v);
        let shade = (0.55 + outside * 14.0).min(1.0);
        let wave = 1.0 + ((y * grain + (x * 0.011).sin() * 3.0).sin() + (y * grain * 3.7).sin() * 0.5) * 0.06;
        table.map(|c: u8| (f64::from(c) * shade * wave).clamp(0.0, 255.0) as u8)
    })
}

/// Light from one side, a shadow over a corner, and the warm tone of lamps.
pub(super) fn light(mut picture: Picture, chance: &mut Chance) -> Picture {
    let (width, height) = (f64::from(picture.width), f64::from(picture.height));
    let angle = chance.within(0.0, std::f64::consts::TAU);
    let (dx, dy) = (angle.cos(), angle.sin());
    let fall = chance.within(0.10, 0.28);
    let (corner_x, corner_y) = (*chance.pick(&[0.0, 1.0]), *chance.pick(&[0.0, 1.0]));
    let (reach, dark) = (chance.within(0.35, 0.75), chance.within(0.12, 0.34));
    let warm = [1.0, chance.within(0.965, 0.995), chance.within(0.90, 0.97)];
    for (at, pixel) in picture.pixels.iter_mut().enumerate() {
        let x = (at % picture.width as usize) as f64 / width;
        let y = (at / picture.width as usize) as f64 / height;
        let side = 1.0 - fall * (0.5 + (x - 0.5) * dx + (y - 0.5) * dy);
        let near = 1.0 - ((x - corner_x).hypot(y - corner_y) / reach).min(1.0);
        // Smooth at its edge, as the shadow of a hand is.
        let shade = 1.0 - dark * (near * near * (3.0 - 2.0 * near)).min(1.0) * 1.6;
        *pixel = std::array::from_fn(|channel| {
            (f64::from(pixel[channel]) * side * shade.max(0.45) * warm[channel]).clamp(0.0, 255.0) as u8
        });
    }
    picture
}

/// A picture whose pixels are computed one by one.
fn each(width: u32, height: u32, colour: impl Fn(f64, f64) -> [u8; 3]) -> Picture {
    let mut out = Picture::of(width, height, [0; 3]);
    for (at, pixel) in out.pixels.iter_mut().enumerate() {
        *pixel = colour((at % width as usize) as f64, (at / width as usize) as f64);
    }
    out
}

fn put(picture: &mut Picture, x: i64, y: i64, colour: [u8; 3]) {
    if picture.at(x, y).is_some() {
        picture.pixels[y as usize * picture.width as usize + x as usize] = colour;
    }
}

fn scale(picture: &mut Picture, x: i64, y: i64, by: f64) {
    if let Some(pixel) = picture.at(x, y) {
        put(picture, x, y, pixel.map(|c| (f64::from(c) * by) as u8));
    }
}

/// The way from a place in a quadrilateral to its place in the unit square, as a camera sees a plane (Heckbert 1989).
#[expect(clippy::many_single_char_names, reason = "the letters of the paper")]
fn to_unit_square([a, b, c, d]: [(f64, f64); 4]) -> impl Fn(f64, f64) -> (f64, f64) {
    let (sx, sy) = (a.0 - b.0 + c.0 - d.0, a.1 - b.1 + c.1 - d.1);
    let (dx1, dy1, dx2, dy2) = (b.0 - c.0, b.1 - c.1, d.0 - c.0, d.1 - c.1);
    let det = dx1 * dy2 - dx2 * dy1;
    let (g, h) = ((sx * dy2 - dx2 * sy) / det, (dx1 * sy - sx * dy1) / det);
    // From the square to the quadrilateral …
    let m = [
        [b.0 - a.0 + g * b.0, d.0 - a.0 + h * d.0, a.0],
        [b.1 - a.1 + g * b.1, d.1 - a.1 + h * d.1, a.1],
        [g, h, 1.0],
    ];
    // … and back, by the adjugate: a common factor does not matter.
    let minor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let back: [[f64; 3]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| minor(c, r)));
    move |x, y| {
        let row = |r: usize| back[r][0] * x + back[r][1] * y + back[r][2];
        (row(0) / row(2), row(1) / row(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_the_paper_are_corners_of_the_page() {
        let corners = [(10.0, 12.0), (110.0, 8.0), (118.0, 160.0), (5.0, 150.0)];
        let map = to_unit_square(corners);
        for ((x, y), (u, v)) in corners.into_iter().zip([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]) {
            let (got_u, got_v) = map(x, y);
            assert!((got_u - u).abs() < 1e-9 && (got_v - v).abs() < 1e-9, "{got_u} {got_v}");
        }
    }

    #[test]
    fn turning_by_nothing_changes_nothing() {
        let mut picture = Picture::of(7, 5, [255; 3]);
        picture.pixels[17] = [1, 2, 3];
        assert_eq!(turn(&picture, 0.0, [0; 3]).pixels, picture.pixels);
    }
}
