//! What tills print on narrow paper.

use docmill_core::Result;
use docmill_core::generate::SampleKind;
use jiff::civil::Date;
use serde_json::{Value, json};

use super::some_day;
use crate::cast::{Cast, Shop, TillLayout};
use crate::chance::Chance;
use crate::content::{Content, Facts};
use crate::language::{Words, short_date};
use crate::money::{decimal, held, part, plain, shown};
use crate::paper::{Colour, Face, Fonts, Page, Style};
use crate::tax_id;

/// 80 mm.
const WIDTH: f32 = 226.0;
const LEFT: f32 = 14.0;
const RIGHT: f32 = WIDTH - LEFT;

struct Line {
    description: String,
    count: i64,
    price: i64,
    total: i64,
    rate: i64,
}

impl Line {
    /// What the slip says of it: how many, and at what price, only where it was more than one.
    fn told(&self, amount: &str, price: &str, total: &str) -> Value {
        let mut said = json!({ "description": self.description, amount: total });
        if self.count > 1 {
            said["quantity"] = self.count.to_string().into();
            said["unit_price"] = price.into();
        }
        said
    }
}

struct Slip<'c> {
    shop: &'c Shop,
    words: &'c Words,
    date: Date,
    time: String,
    till: i64,
    number: String,
    tax_id: String,
    lines: Vec<Line>,
    /// Each rate with its tax.
    taxes: Vec<(i64, i64)>,
    net: i64,
    total: i64,
    /// What was given, if it was in cash.
    given: Option<i64>,
}

/// A receipt of one of the shops.
pub(crate) fn make<'f>(cast: &Cast, fonts: &'f Fonts, chance: &mut Chance) -> Result<Content<'f>> {
    let slip = Slip::make(cast, chance)?;
    let (page, layout) = match slip.shop.layout {
        TillLayout::Till => (slip.draw(fonts, Face::Fixed, Face::FixedBold, 8.0), "receipt-till"),
        TillLayout::Plain => (slip.draw(fonts, Face::Sans, Face::SansBold, 8.5), "receipt-plain"),
    };
    Ok(Content {
        kind: SampleKind::Receipt,
        language: slip.shop.country.language(),
        title: format!("{} {}", slip.words.receipt, slip.shop.name),
        date: slip.date,
        vendor: Some(slip.shop.name.clone()),
        layout: layout.into(),
        schema: Some("receipt"),
        facts: slip.facts(),
        pages: vec![page],
    })
}

impl<'c> Slip<'c> {
    fn make(cast: &'c Cast, chance: &mut Chance) -> Result<Self> {
        let at = chance.between(0, cast.shops.len() as i64 - 1);
        let shop = &cast.shops[at as usize];
        let country = shop.country;
        let goods = &cast.trade(&shop.trade, country.language())?.goods;
        let (common, food) = country.rates();
        let count = chance.between(1, 9) as usize;
        let lines: Vec<Line> = chance
            .several(goods, count)
            .into_iter()
            .map(|(description, low, high)| {
                let count = *chance.pick(&[1, 1, 1, 1, 2, 2, 3]);
                let price = chance.between(*low, *high);
                let rate = if shop.trade == "grocery" && chance.hits(0.7) { food } else { common };
                Line { description: description.clone(), count, price, total: count * price, rate }
            })
            .collect();
        let sum: i64 = lines.iter().map(|line| line.total).sum();
        let mut rates: Vec<i64> = lines.iter().map(|line| line.rate).collect();
        rates.sort_unstable_by(|a, b| b.cmp(a));
        rates.dedup();
        let of =
            |rate: i64| lines.iter().filter(|line| line.rate == rate).map(|line| line.total).sum::<i64>();
        let taxes: Vec<(i64, i64)> = rates
            .into_iter()
            .map(|rate| (rate, if country.adds_tax() { part(of(rate), rate) } else { held(of(rate), rate) }))
            .collect();
        let tax: i64 = taxes.iter().map(|(_, tax)| tax).sum();
        let (net, total) = if country.adds_tax() { (sum, sum + tax) } else { (sum - tax, sum) };
        let given = chance.hits(0.4).then(|| {
            let note = *chance.pick(&[500, 1000, 2000]);
            (total + note - 1) / note * note
        });
        Ok(Self {
            shop,
            words: cast.words.of(country.language()),
            date: some_day(chance),
            time: format!("{:02}:{:02}", chance.between(8, 20), chance.between(0, 59)),
            till: chance.between(1, 6),
            number: chance.digits(6),
            tax_id: tax_id::make(country, 1000 + at as u64),
            lines,
            taxes,
            net,
            total,
            given,
        })
    }

    fn rate(&self, rate: i64) -> String {
        format!("{}%", crate::money::short_shown(rate, self.shop.country))
    }

    fn tax(&self) -> i64 {
        self.taxes.iter().map(|(_, tax)| tax).sum()
    }

    fn draw<'f>(&self, fonts: &'f Fonts, plain_face: Face, bold_face: Face, size: f32) -> Page<'f> {
        let (shop, words, country) = (self.shop, self.words, self.shop.country);
        let rows = self.lines.iter().map(|line| if line.count > 1 { 2 } else { 1 }).sum::<usize>();
        let height = 300.0 + (rows + self.taxes.len()) as f32 * 12.0;
        let mut page = Page::new(fonts, (WIDTH, height));
        let (text, bold) = (Style::new(plain_face, size), Style::new(bold_face, size));
        let middle = WIDTH / 2.0;
        let mut title = Style::new(bold_face, 13.0);
        while page.width_of(title, &shop.name) > RIGHT - LEFT {
            title.size -= 0.5;
        }
        page.centre_at(middle, 32.0, title, &shop.name);
        let mut at = 48.0;
        let tax_word = if country.adds_tax() { &words.ein } else { &words.tax_id };
        let owner = format!("{tax_word} {}", self.tax_id);
        let phone = format!("{} {}", words.phone, shop.phone);
        for line in [&shop.street, &shop.city, &phone, &owner] {
            page.centre_at(middle, at, text, line);
            at += 11.5;
        }
        at += 6.0;
        page.dashes(LEFT, at - 8.0, RIGHT, Colour::GREY);
        at += 4.0;
        page.text_at(LEFT, at, text, &format!("{} {}", short_date(self.date, country), self.time));
        page.right_at(RIGHT, at, text, &format!("{} {}", words.till, self.till));
        at += 12.0;
        page.text_at(LEFT, at, text, &format!("{} {}", words.receipt, self.number));
        at += 8.0;
        page.dashes(LEFT, at, RIGHT, Colour::GREY);
        at += 15.0;
        for line in &self.lines {
            page.text_at(LEFT, at, text, &line.description);
            page.right_at(RIGHT, at, text, &plain(line.total, country));
            at += 12.0;
            if line.count > 1 {
                page.text_at(
                    LEFT + 10.0,
                    at,
                    text,
                    &format!("{} x {}", line.count, plain(line.price, country)),
                );
                at += 12.0;
            }
        }
        page.dashes(LEFT, at - 4.0, RIGHT, Colour::GREY);
        at += 10.0;
        if country.adds_tax() {
            for (label, amount) in [(&words.net_total, self.net), (&words.sales_tax, self.tax())] {
                page.text_at(LEFT, at, text, label);
                page.right_at(RIGHT, at, text, &plain(amount, country));
                at += 12.0;
            }
        }
        at += 4.0;
        let large = Style::new(bold_face, size + 4.0);
        page.text_at(LEFT, at, large, &words.sum);
        page.right_at(RIGHT, at, large, &shown(self.total, country));
        at += 18.0;
        let paid = match self.given {
            Some(given) => vec![(&words.given, given), (&words.change, given - self.total)],
            None => vec![(&words.card, self.total)],
        };
        for (label, amount) in paid {
            page.text_at(LEFT, at, text, label);
            page.right_at(RIGHT, at, text, &plain(amount, country));
            at += 12.0;
        }
        if !country.adds_tax() {
            page.dashes(LEFT, at - 3.0, RIGHT, Colour::GREY);
            at += 11.0;
            for (rate, tax) in &self.taxes {
                page.text_at(LEFT, at, text, &format!("{} {}", words.included_tax, self.rate(*rate)));
                page.right_at(RIGHT, at, text, &plain(*tax, country));
                at += 12.0;
            }
        }
        at += 14.0;
        page.centre_at(middle, at, bold, &words.receipt_thanks);
        at += 16.0;
        bars(&mut page, &self.number, at);
        page
    }

    fn facts(&self) -> Facts {
        let (shop, country) = (self.shop, self.shop.country);
        let mut facts = Facts::default();
        facts.say("company", shop.name.as_str());
        facts.say_as("address", format!("{}, {}", shop.street, shop.city), json!([shop.street, shop.city]));
        facts.say_as("date", self.date.to_string(), short_date(self.date, country));
        facts.say_as("total", decimal(self.total), plain(self.total, country));
        facts.imply("currency", country.currency());
        let taxes: Vec<Value> = if country.adds_tax() {
            vec![plain(self.tax(), country).into()]
        } else {
            self.taxes.iter().map(|(_, tax)| Value::from(plain(*tax, country))).collect()
        };
        facts.say_as("tax_total", decimal(self.tax()), taxes);
        let amount = if country.adds_tax() { "net_amount" } else { "gross_amount" };
        let items: Vec<Value> = self
            .lines
            .iter()
            .map(|line| line.told(amount, &decimal(line.price), &decimal(line.total)))
            .collect();
        let seen: Vec<Value> = self
            .lines
            .iter()
            .map(|line| {
                let (price, total) = (plain(line.price, country), plain(line.total, country));
                line.told(amount, &price, &total)
            })
            .collect();
        facts.say_as("items", items, seen);
        facts
    }
}

/// A bar code to look at; it stands for nothing.
fn bars(page: &mut Page<'_>, number: &str, y: f32) {
    let mut x = 50.0;
    for digit in number.bytes().chain(number.bytes().rev()) {
        for bit in 0..4 {
            let wide = if (digit >> bit) & 1 == 1 { 1.9 } else { 0.8 };
            page.area(x, y, wide, 26.0, Colour::BLACK);
            x += wide + if (digit >> (3 - bit)) & 1 == 1 { 1.5 } else { 0.9 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_hold_and_change_is_right() {
        let cast = Cast::load().unwrap();
        for number in 0..300 {
            let slip = Slip::make(&cast, &mut Chance::of(5, number)).unwrap();
            let sum: i64 = slip.lines.iter().map(|line| line.total).sum();
            assert_eq!(slip.net + slip.tax(), slip.total);
            assert_eq!(sum, if slip.shop.country.adds_tax() { slip.net } else { slip.total });
            assert!(slip.given.is_none_or(|given| given >= slip.total));
        }
    }
}
