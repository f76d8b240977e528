//! Agreements of two companies to keep secrets.

use docmill_core::Result;
use docmill_core::generate::SampleKind;
use serde_json::json;

use super::{paper_of, sign, some_day};
use crate::cast::{Cast, Country};
use crate::chance::Chance;
use crate::content::{Content, Facts};
use crate::language::{after, fill};
use crate::paper::{Colour, Family, Fonts, Page, Style};
use crate::people;

/// Countries whose contracts are written; English ones are frequent.
const COUNTRIES: [(Country, u64); 4] =
    [(Country::Us, 3), (Country::Gb, 3), (Country::De, 2), (Country::Fr, 2)];

/// How a contract is set.
struct Setting {
    name: &'static str,
    family: Family,
    size: f32,
    leading: f32,
    margin: f32,
    centred: bool,
}

const SETTINGS: [Setting; 3] = [
    Setting {
        name: "contract-court",
        family: Family::Serif,
        size: 11.0,
        leading: 15.5,
        margin: 84.0,
        centred: true,
    },
    Setting {
        name: "contract-office",
        family: Family::Sans,
        size: 9.5,
        leading: 14.0,
        margin: 72.0,
        centred: false,
    },
    Setting {
        name: "contract-dense",
        family: Family::Serif,
        size: 9.5,
        leading: 12.5,
        margin: 60.0,
        centred: true,
    },
];

/// Writes down a page until it is full, and then the next.
struct Writer<'f, 's> {
    fonts: &'f Fonts,
    setting: &'s Setting,
    size: (f32, f32),
    done: Vec<Page<'f>>,
    page: Page<'f>,
    at: f32,
}

impl Writer<'_, '_> {
    /// Makes sure that so much room is left.
    fn need(&mut self, room: f32) {
        if self.at + room > self.size.1 - 76.0 {
            self.done.push(std::mem::replace(&mut self.page, Page::new(self.fonts, self.size)));
            self.at = 80.0;
        }
    }

    fn paragraph(&mut self, indent: f32, style: Style, text: &str) {
        let (margin, leading) = (self.setting.margin, self.setting.leading);
        let width = self.size.0 - 2.0 * margin - indent;
        for line in self.page.broken(style, width, text) {
            self.need(leading);
            self.page.text_at(margin + indent, self.at, style, &line);
            self.at += leading;
        }
    }
}

/// A contract.
pub(crate) fn make<'f>(cast: &Cast, fonts: &'f Fonts, chance: &mut Chance) -> Result<Content<'f>> {
    let country = *chance.weighted(&COUNTRIES);
    let language = country.language();
    let (words, texts) = (cast.words.of(language), cast.contracts.of(language));
    let setting = chance.pick(&SETTINGS);
    let effective = some_day(chance);
    let signed = after(effective, -chance.between(0, 6))?;
    let first = people::company(cast, chance, country);
    let mut second = people::company(cast, chance, country);
    while second.short == first.short {
        second = people::company(cast, chance, country);
    }
    let (term, term_short) = chance.pick(&texts.terms).clone();
    let jurisdiction = chance.pick(&texts.jurisdictions).clone();
    let purpose = chance.pick(&texts.purposes).clone();
    let date = words.long_date(effective, country);
    let values =
        [("date", date.as_str()), ("term", &term), ("jurisdiction", &jurisdiction), ("purpose", &purpose)];

    let size = paper_of(country);
    let family = setting.family;
    let (plain, bold) = (Style::new(family.plain(), setting.size), Style::new(family.bold(), setting.size));
    let mut writer =
        Writer { fonts, setting, size, done: Vec::new(), page: Page::new(fonts, size), at: 92.0 };
    let title = Style::new(family.bold(), setting.size + 6.0);
    if setting.centred {
        writer.page.centre_at(size.0 / 2.0, writer.at, title, &texts.title);
    } else {
        writer.page.text_at(setting.margin, writer.at, title, &texts.title);
        writer.page.rule(setting.margin, writer.at + 9.0, size.0 - setting.margin, 1.0, Colour::BLACK);
    }
    writer.at += 38.0;
    let gap = setting.leading * 0.55;
    writer.paragraph(0.0, plain, &fill(&texts.opening, &values));
    for (place, party) in [&first, &second].into_iter().enumerate() {
        writer.at += gap;
        if place == 1 {
            writer.paragraph(24.0, plain, &texts.and);
            writer.at += gap;
        }
        let about = [("name", party.name.as_str()), ("address", &party.address()), ("short", &party.short)];
        writer.paragraph(24.0, plain, &fill(&texts.party, &about));
    }
    writer.at += gap;
    writer.paragraph(0.0, plain, &texts.together);
    for (place, (heading, text)) in (1..).zip(&texts.clauses) {
        writer.at += gap * 1.6;
        writer.need(setting.leading * 3.0);
        let (margin, at) = (setting.margin, writer.at);
        writer.page.text_at(margin, at, bold, &format!("{place}."));
        writer.page.text_at(margin + 24.0, at, bold, heading);
        writer.at += setting.leading;
        writer.paragraph(24.0, plain, &fill(text, &values));
    }
    writer.need(150.0);
    writer.at += 40.0;
    let half = (size.0 - 2.0 * setting.margin) / 2.0;
    let (top, small) = (writer.at, Style::new(family.plain(), setting.size - 1.5).in_colour(Colour::GREY));
    let day = words.long_date(signed, country);
    for (place, party) in [&first, &second].into_iter().enumerate() {
        let x = setting.margin + place as f32 * half;
        let page = &mut writer.page;
        page.text_at(x, top, plain, &texts.signed);
        page.text_at(x, top + setting.leading, bold, &party.name);
        let town = party.city.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let town = town.split([',', ' ']).next().unwrap_or(town);
        page.text_at(x, top + 42.0, plain, &format!("{town}, {day}"));
        page.rule(x, top + 46.0, x + half - 24.0, 0.5, Colour::GREY);
        page.text_at(x, top + 57.0, small, &texts.place);
        sign(page, chance, x + 8.0, top + 88.0, 110.0);
        page.text_at(x + 130.0_f32.min(half * 0.5), top + 90.0, plain, &party.contact);
        page.rule(x, top + 94.0, x + half - 24.0, 0.5, Colour::GREY);
        page.text_at(x, top + 105.0, small, &texts.signature);
    }
    let Writer { mut done, page, .. } = writer;
    done.push(page);
    let of = done.len().to_string();
    for (number, page) in (1..).zip(&mut done) {
        let text = fill(&words.page, &[("n", &format!("{number}")), ("of", &of)]);
        page.centre_at(size.0 / 2.0, size.1 - 36.0, small, &text);
    }

    let mut facts = Facts::default();
    facts.say("party", json!([first.name, second.name]));
    facts.say_as("effective_date", effective.to_string(), date.as_str());
    facts.say("jurisdiction", jurisdiction.as_str());
    facts.say_as("term", term_short, term.as_str());
    Ok(Content {
        kind: SampleKind::Contract,
        language,
        title: format!("{}: {} / {}", texts.title, first.short, second.short),
        date: effective,
        vendor: None,
        layout: setting.name.into(),
        schema: Some("nda"),
        facts,
        pages: done,
    })
}
