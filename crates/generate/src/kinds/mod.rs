//! A file or a folder for each kind of document: what it says, and how it looks.

pub(crate) mod contract;
pub(crate) mod invoice;
pub(crate) mod letter;
pub(crate) mod mail;
pub(crate) mod receipt;
pub(crate) mod statement;

use jiff::civil::{Date, date};

use crate::cast::Country;
use crate::chance::Chance;
use crate::paper::{A4, Colour, LETTER, Page, Size};

/// A working day of the years that documents come from.
fn some_day(chance: &mut Chance) -> Date {
    let (year, month) = (chance.between(2022, 2025), chance.between(1, 12));
    // No month is shorter than 28 days, and a weekend is moved into the week before.
    let day = date(year as i16, month as i8, chance.between(4, 28) as i8);
    match day.weekday() {
        jiff::civil::Weekday::Saturday => day.yesterday().unwrap_or(day),
        jiff::civil::Weekday::Sunday => day.nth_weekday(-1, jiff::civil::Weekday::Friday).unwrap_or(day),
        _ => day,
    }
}

/// The paper that a country writes on.
fn paper_of(country: Country) -> Size {
    if country == Country::Us { LETTER } else { A4 }
}

/// A number without a pattern that a person would see through.
fn reference(chance: &mut Chance) -> String {
    let letters = ["AB", "KD", "LX", "MT", "PR", "QS", "TR", "VN"];
    format!("{}-{}", chance.pick(&letters), chance.digits(5))
}

/// What a pen leaves where somebody signs.
fn sign(page: &mut Page<'_>, chance: &mut Chance, x: f32, y: f32, width: f32) {
    let mut jump = |low: f64, high: f64| chance.within(low, high) as f32;
    let mut at = (x, y);
    let start = at;
    let mut curves = Vec::new();
    let strokes = 7;
    for _ in 0..strokes {
        let end = (at.0 + width / strokes as f32 * jump(0.6, 1.3), y + jump(-7.0, 5.0));
        let one = (at.0 + jump(-4.0, 9.0), at.1 - jump(4.0, 22.0));
        let two = (end.0 - jump(-2.0, 10.0), end.1 + jump(-4.0, 14.0));
        curves.push([one, two, end]);
        at = end;
    }
    page.stroke(start, &curves, 1.1, Colour::INK);
}
