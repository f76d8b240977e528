//! The lines of a bill as a table that goes on over pages, and the sums below it.

use super::bill::{Bill, Item};
use crate::paper::{Colour, Page, Style};

/// How a table looks.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) plain: Style,
    pub(super) bold: Style,
    pub(super) accent: Colour,
    /// Of the head: on a coloured ground, or over a line.
    pub(super) filled_head: bool,
    /// Every second line on a tinted ground.
    pub(super) striped: bool,
    /// A line around every cell.
    pub(super) grid: bool,
    pub(super) row: f32,
}

/// Where the columns lie: left end of the table and right ends of the columns that are set to the right.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub(super) left: f32,
    pub(super) description: f32,
    pub(super) quantity: f32,
    pub(super) price: f32,
    pub(super) rate: f32,
    pub(super) amount: f32,
}

impl Columns {
    pub(super) fn between(left: f32, right: f32) -> Self {
        Self {
            left,
            description: left + 30.0,
            quantity: right - 208.0,
            price: right - 128.0,
            rate: right - 80.0,
            amount: right - 5.0,
        }
    }
}

/// The names of the columns; gives where the first line begins.
pub(super) fn head(page: &mut Page<'_>, bill: &Bill<'_>, look: &Look, columns: &Columns, y: f32) -> f32 {
    let words = bill.words;
    let right = columns.amount + 5.0;
    let style = if look.filled_head {
        page.area(columns.left, y, right - columns.left, look.row + 2.0, look.accent);
        look.bold.in_colour(Colour::WHITE)
    } else {
        look.bold
    };
    let baseline = y + look.row * 0.5 + look.bold.size * 0.36 + 1.0;
    page.text_at(columns.left + 5.0, baseline, style, &words.position);
    page.text_at(columns.description, baseline, style, &words.description);
    page.right_at(columns.quantity, baseline, style, if bill.hours { &words.hours } else { &words.quantity });
    page.right_at(columns.price, baseline, style, &words.unit_price);
    page.right_at(columns.rate, baseline, style, bill.tax_word_short());
    page.right_at(columns.amount, baseline, style, &words.amount);
    if !look.filled_head {
        page.rule(columns.left, y + look.row + 2.0, right, 1.0, look.accent);
    }
    if look.grid {
        page.frame(columns.left, y, right - columns.left, look.row + 2.0, 0.6, look.accent);
    }
    y + look.row + 2.0
}

/// One line; gives where the next begins.
pub(super) fn line(
    page: &mut Page<'_>,
    bill: &Bill<'_>,
    look: &Look,
    columns: &Columns,
    y: f32,
    (place, item): (usize, &Item),
) -> f32 {
    let right = columns.amount + 5.0;
    if look.striped && place % 2 == 0 {
        page.area(columns.left, y, right - columns.left, look.row, look.accent.tint(0.07));
    }
    let baseline = y + look.row * 0.5 + look.plain.size * 0.36;
    page.text_at(columns.left + 5.0, baseline, look.plain, &place.to_string());
    page.text_at(columns.description, baseline, look.plain, &item.description);
    page.right_at(columns.quantity, baseline, look.plain, &bill.quantity(item));
    page.right_at(columns.price, baseline, look.plain, &bill.plain(item.price));
    page.right_at(columns.rate, baseline, look.plain, &bill.rate(item.rate));
    page.right_at(columns.amount, baseline, look.plain, &bill.plain(item.net));
    let below = y + look.row;
    if look.grid {
        page.frame(columns.left, y, right - columns.left, look.row, 0.4, look.accent);
        for x in [
            columns.description - 5.0,
            columns.quantity - 36.0,
            columns.quantity + 5.0,
            columns.price + 5.0,
            columns.rate + 5.0,
        ] {
            page.line((x, y), (x, below), 0.4, look.accent);
        }
    } else if !look.striped {
        page.rule(columns.left, below, right, 0.4, Colour::LIGHT);
    }
    below
}

/// What the lines come to; gives where it ends.
pub(super) fn sums(page: &mut Page<'_>, bill: &Bill<'_>, look: &Look, columns: &Columns, y: f32) -> f32 {
    let words = bill.words;
    let right = columns.amount + 5.0;
    let left = right - 220.0;
    let mut at = y + look.row;
    page.text_at(left, at, look.plain, &words.net_total);
    page.right_at(columns.amount, at, look.plain, &bill.money(bill.net));
    for (rate, tax) in &bill.taxes {
        at += look.row * 0.9;
        page.text_at(left, at, look.plain, &format!("{} {}", bill.tax_word(), bill.rate(*rate)));
        page.right_at(columns.amount, at, look.plain, &bill.money(*tax));
    }
    at += look.row * 0.45;
    page.rule(left, at, right, 1.0, look.accent);
    at += look.row * 0.95;
    let large = Style { size: look.bold.size + 2.0, ..look.bold };
    page.text_at(left, at, large, &words.total);
    page.right_at(columns.amount, at, large, &bill.money(bill.total));
    at + look.row * 0.6
}
