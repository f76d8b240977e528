//! Signs of companies, drawn.

use super::{Colour, Page};
use crate::cast::Mark;

/// How far the handles of a curve lie out so that four of them make a circle.
const ROUND: f32 = 0.552;

/// Draws a sign into a square.
pub(crate) fn draw(page: &mut Page<'_>, mark: Mark, x: f32, y: f32, side: f32, colour: Colour) {
    let soft = colour.tint(0.55);
    match mark {
        Mark::Bars => {
            for (at, part) in [(0.0, 0.45), (0.36, 0.72), (0.72, 1.0)] {
                let height = side * part;
                let shade = if part < 1.0 { soft } else { colour };
                page.area(x + side * at, y + side - height, side * 0.28, height, shade);
            }
        }
        Mark::Diamond => {
            let half = side / 2.0;
            diamond(page, (x + half, y + half), half, colour);
            diamond(page, (x + half, y + half), half * 0.52, Colour::WHITE);
            diamond(page, (x + half, y + half), half * 0.28, soft);
        }
        Mark::Leaf => {
            page.shape(
                (x, y + side),
                &[
                    [(x, y + side * 0.3), (x + side * 0.4, y), (x + side, y)],
                    [(x + side, y + side * 0.6), (x + side * 0.6, y + side), (x, y + side)],
                ],
                colour,
            );
            page.line(
                (x + side * 0.08, y + side * 0.92),
                (x + side * 0.72, y + side * 0.28),
                side * 0.05,
                Colour::WHITE,
            );
        }
        Mark::Ring => {
            let half = side / 2.0;
            disc(page, (x + half, y + half), half, colour);
            disc(page, (x + half, y + half), half * 0.66, Colour::WHITE);
            disc(page, (x + half * 1.25, y + half * 0.75), half * 0.30, soft);
        }
    }
}

fn diamond(page: &mut Page<'_>, (x, y): (f32, f32), reach: f32, colour: Colour) {
    let corners = [(x + reach, y), (x, y + reach), (x - reach, y), (x, y - reach)];
    let sides = corners.map(|corner| [corner, corner, corner]);
    page.shape((x, y - reach), &sides, colour);
}

fn disc(page: &mut Page<'_>, (x, y): (f32, f32), radius: f32, colour: Colour) {
    let out = radius * ROUND;
    let curves = [
        [(x + out, y - radius), (x + radius, y - out), (x + radius, y)],
        [(x + radius, y + out), (x + out, y + radius), (x, y + radius)],
        [(x - out, y + radius), (x - radius, y + out), (x - radius, y)],
        [(x - radius, y - out), (x - out, y - radius), (x, y - radius)],
    ];
    page.shape((x, y - radius), &curves, colour);
}
