//! A month of an account at a bank that does not exist; every balance follows from the one before.

use docmill_core::Result;
use docmill_core::generate::SampleKind;
use jiff::civil::{Date, date};
use serde_json::json;

use super::paper_of;
use crate::cast::{Cast, Country};
use crate::chance::Chance;
use crate::content::{Content, Facts};
use crate::iban::{account, grouped};
use crate::language::{after, fill, short_date};
use crate::money::{decimal, plain, shown};
use crate::paper::{Colour, Face, Fonts, Page, Style};
use crate::people;

const LEFT: f32 = 56.0;
const ROW: f32 = 18.0;
const COUNTRIES: [Country; 4] = [Country::Gb, Country::De, Country::Fr, Country::Ch];
const ACCENT: Colour = Colour([0.05, 0.25, 0.38]);

struct Booking {
    date: Date,
    text: String,
    amount: i64,
    balance: i64,
}

/// A statement.
pub(crate) fn make<'f>(cast: &Cast, fonts: &'f Fonts, chance: &mut Chance) -> Result<Content<'f>> {
    let country = *chance.pick(&COUNTRIES);
    let language = country.language();
    let words = cast.words.of(language);
    let holder = people::company(cast, chance, country);
    let own = account(country, chance.between(1, 1 << 40) as u64);
    let from = date(chance.between(2022, 2025) as i16, chance.between(1, 12) as i8, 1);
    let to = from.last_of_month();
    let opening = chance.between(900_000, 6_500_000);
    let count = chance.between(8, 34);
    let mut days: Vec<i64> = (0..count).map(|_| chance.between(0, i64::from(to.day()) - 1)).collect();
    days.sort_unstable();
    let mut balance = opening;
    let mut bookings = Vec::new();
    for day in days {
        let (text, low, high) = chance.pick(&cast.transactions.of(language).items);
        let other = people::company(cast, chance, country);
        let values = [("month", words.month(from)), ("city", other.city.as_str()), ("company", &other.name)];
        let amount = chance.between(*low, *high);
        balance += amount;
        bookings.push(Booking { date: after(from, day)?, text: fill(text, &values), amount, balance });
    }

    let size = paper_of(country);
    let right = size.0 - LEFT;
    let (text, bold) = (Style::new(Face::Sans, 9.0), Style::new(Face::SansBold, 9.0));
    let grey = text.in_colour(Colour::GREY);
    let mut page = Page::new(fonts, size);
    page.area(LEFT, 40.0, 26.0, 26.0, ACCENT);
    page.area(LEFT + 8.0, 48.0, 10.0, 18.0, Colour::WHITE);
    page.text_at(LEFT + 36.0, 58.0, Style::new(Face::SansBold, 15.0).in_colour(ACCENT), &own.bank);
    page.lines(
        LEFT,
        116.0,
        Style::new(Face::Sans, 10.0),
        14.0,
        &[&holder.name, &holder.street, &holder.city],
    );
    page.text_at(LEFT, 200.0, Style::new(Face::SansBold, 16.0), &words.statement);
    let period = format!("{} – {}", short_date(from, country), short_date(to, country));
    let pairs = [
        (words.holder.as_str(), holder.name.clone()),
        ("IBAN", grouped(&own.iban)),
        ("BIC", own.bic.clone()),
        (&words.period, period.clone()),
    ];
    let mut at = 116.0;
    for (label, value) in &pairs {
        page.text_at(330.0, at, grey, label);
        page.text_at(410.0, at, text, value);
        at += 14.0;
    }
    let mut done = Vec::new();
    at = head(&mut page, words, 222.0, right);
    page.text_at(LEFT + 70.0, at, bold, &words.opening);
    page.right_at(right - 4.0, at, bold, &plain(opening, country));
    at += ROW;
    for booking in &bookings {
        if at > size.1 - 110.0 {
            done.push(std::mem::replace(&mut page, Page::new(fonts, size)));
            page.text_at(LEFT, 58.0, bold, &format!("{} · {}", own.bank, grouped(&own.iban)));
            at = head(&mut page, words, 74.0, right);
        }
        page.text_at(LEFT + 4.0, at, text, &short_date(booking.date, country));
        page.text_at(LEFT + 70.0, at, text, &booking.text);
        let colour = if booking.amount < 0 { Colour([0.55, 0.12, 0.10]) } else { Colour::BLACK };
        page.right_at(right - 90.0, at, text.in_colour(colour), &plain(booking.amount, country));
        page.right_at(right - 4.0, at, text, &plain(booking.balance, country));
        page.rule(LEFT, at + 5.5, right, 0.3, Colour::LIGHT);
        at += ROW;
    }
    page.area(LEFT, at - 9.0, right - LEFT, ROW + 2.0, ACCENT.tint(0.1));
    page.text_at(LEFT + 70.0, at + 4.0, bold, &words.closing);
    page.right_at(right - 4.0, at + 4.0, bold, &shown(balance, country));
    page.text_at(LEFT, at + 40.0, grey, &words.statement_note);
    done.push(page);
    let of = done.len().to_string();
    for (number, page) in (1..).zip(&mut done) {
        let text = fill(&words.page, &[("n", &format!("{number}")), ("of", &of)]);
        page.right_at(right, size.1 - 36.0, grey, &text);
    }

    let mut facts = Facts::default();
    facts.say("bank", own.bank.as_str());
    facts.say("account_holder", holder.name.as_str());
    facts.say_as("iban", own.iban.as_str(), grouped(&own.iban));
    facts.say_as("period_start", from.to_string(), short_date(from, country));
    facts.say_as("period_end", to.to_string(), short_date(to, country));
    facts.imply("currency", country.currency());
    facts.say_as("opening_balance", decimal(opening), plain(opening, country));
    facts.say_as("closing_balance", decimal(balance), plain(balance, country));
    let of = |f: &dyn Fn(&Booking) -> serde_json::Value| bookings.iter().map(f).collect::<Vec<_>>();
    facts.say_as(
        "transactions",
        of(&|b| json!({ "date": b.date.to_string(), "description": b.text, "amount": decimal(b.amount) })),
        of(&|b| json!({ "description": b.text, "amount": plain(b.amount, country) })),
    );
    Ok(Content {
        kind: SampleKind::Statement,
        language,
        title: format!("{} {} {}", words.statement, words.month(from), from.year()),
        date: to,
        vendor: Some(own.bank),
        layout: "statement".into(),
        schema: None,
        facts,
        pages: done,
    })
}

/// The names of the columns; gives the baseline of the first line.
fn head(page: &mut Page<'_>, words: &crate::language::Words, y: f32, right: f32) -> f32 {
    page.area(LEFT, y, right - LEFT, ROW + 2.0, ACCENT);
    let style = Style::new(Face::SansBold, 8.5).in_colour(Colour::WHITE);
    page.text_at(LEFT + 4.0, y + 13.5, style, &words.date);
    page.text_at(LEFT + 70.0, y + 13.5, style, &words.text);
    page.right_at(right - 90.0, y + 13.5, style, &words.amount);
    page.right_at(right - 4.0, y + 13.5, style, &words.balance);
    y + ROW + 18.0
}
