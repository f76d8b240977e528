//! Business letters, on the paper of one of the vendors.

use docmill_core::Result;
use docmill_core::generate::SampleKind;
use serde_json::json;

use super::{paper_of, reference, sign, some_day};
use crate::cast::{Cast, Vendor};
use crate::chance::Chance;
use crate::content::{Content, Facts};
use crate::language::{after, fill};
use crate::paper::{Colour, Fonts, Page, Style, draw_mark};
use crate::people;

const LEFT: f32 = 72.0;

/// A letter.
pub(crate) fn make<'f>(cast: &Cast, fonts: &'f Fonts, chance: &mut Chance) -> Result<Content<'f>> {
    let vendor = chance.pick(&cast.vendors);
    let country = vendor.country;
    let language = country.language();
    let (words, texts) = (cast.words.of(language), cast.letters.of(language));
    let letter = chance.pick(&texts.letters);
    let date = some_day(chance);
    let to = people::company(cast, chance, country);
    let writer = people::person(cast, chance, language);
    let number = reference(chance);
    let earlier = words.long_date(after(date, -chance.between(20, 400))?, country);
    let later = words.long_date(after(date, chance.between(14, 90))?, country);
    let values = [("ref", number.as_str()), ("earlier", &earlier), ("later", &later)];
    let (subject, day) = (fill(&letter.subject, &values), words.long_date(date, country));

    let mut page = Page::new(fonts, paper_of(country));
    let right = page.size.0 - LEFT;
    let plain = Style::new(vendor.face.plain(), 10.5);
    letterhead(&mut page, vendor, &words.phone);
    let address = [&to.name, &to.contact, &to.street, &to.city];
    page.lines(LEFT, 156.0, plain, 14.5, &address);
    page.right_at(right, 240.0, plain, &day);
    let bold = Style::new(vendor.face.bold(), 11.0);
    page.text_at(LEFT, 280.0, bold, &format!("{} {subject}", words.subject));
    let mut at = 312.0;
    page.text_at(LEFT, at, plain, &fill(&texts.salutation, &[("name", &to.contact)]));
    at += 24.0;
    for paragraph in &letter.body {
        at = page.paragraph(LEFT, at, right - LEFT, plain, 15.5, &fill(paragraph, &values)) + 8.0;
    }
    page.text_at(LEFT, at + 8.0, plain, &texts.closing);
    sign(&mut page, chance, LEFT + 4.0, at + 46.0, 110.0);
    page.text_at(LEFT, at + 70.0, plain, &writer);
    page.text_at(LEFT, at + 84.0, plain.in_colour(Colour::GREY), &vendor.name);

    let mut facts = Facts::default();
    facts.say("sender", vendor.name.as_str());
    facts.say("sender_person", writer);
    facts.say("recipient", to.name.as_str());
    facts.say_as("recipient_address", to.address(), json!([to.street, to.city]));
    facts.say_as("date", date.to_string(), day);
    facts.say("subject", subject.as_str());
    Ok(Content {
        kind: SampleKind::Letter,
        language,
        title: subject,
        date,
        vendor: Some(vendor.name.clone()),
        layout: format!("letter-{}", if centred(vendor) { "centred" } else { "left" }),
        schema: None,
        facts,
        pages: vec![page],
    })
}

/// Vendors with a serif face have their head in the middle.
fn centred(vendor: &Vendor) -> bool {
    vendor.face == crate::paper::Family::Serif
}

fn letterhead(page: &mut Page<'_>, vendor: &Vendor, phone: &str) {
    let (width, height) = page.size;
    let small = Style::new(vendor.face.plain(), 8.0).in_colour(Colour::GREY);
    let name = Style::new(vendor.face.bold(), 16.0).in_colour(vendor.colour);
    if centred(vendor) {
        draw_mark(page, vendor.mark, width / 2.0 - 15.0, 34.0, 30.0, vendor.colour);
        page.centre_at(width / 2.0, 84.0, name, &vendor.name);
        page.centre_at(width / 2.0, 97.0, small, &vendor.tagline);
        page.rule(width / 2.0 - 60.0, 106.0, width / 2.0 + 60.0, 0.6, vendor.colour);
    } else {
        draw_mark(page, vendor.mark, LEFT, 42.0, 34.0, vendor.colour);
        page.text_at(LEFT + 46.0, 60.0, name, &vendor.name);
        page.text_at(LEFT + 46.0, 74.0, small, &vendor.tagline);
        page.rule(LEFT, 90.0, width - LEFT, 1.5, vendor.colour);
    }
    let foot = format!(
        "{} · {} · {} · {phone} {} · {}",
        vendor.name, vendor.street, vendor.city, vendor.phone, vendor.domain
    );
    page.rule(LEFT, height - 52.0, width - LEFT, 0.4, vendor.colour);
    page.centre_at(
        width / 2.0,
        height - 38.0,
        Style::new(vendor.face.plain(), 7.0).in_colour(Colour::GREY),
        &foot,
    );
}
