//! Everything about the sender in a tinted column at the left.

use super::Design;
use super::bill::Bill;
use super::table::{Columns, Look};
use crate::paper::{Colour, Page, Size, Style, draw_mark};

const BAR: f32 = 148.0;
const LEFT: f32 = 170.0;
const MARGIN: f32 = 34.0;

pub(super) struct Sidebar;

impl Design for Sidebar {
    fn look(&self, bill: &Bill<'_>) -> Look {
        let face = bill.vendor.face;
        Look {
            plain: Style::new(face.plain(), 8.0),
            bold: Style::new(face.bold(), 8.0),
            accent: bill.vendor.colour,
            filled_head: false,
            striped: false,
            grid: false,
            row: 19.0,
        }
    }

    fn columns(&self, size: Size) -> Columns {
        let right = size.0 - MARGIN;
        Columns {
            left: LEFT,
            description: LEFT + 24.0,
            quantity: right - 160.0,
            price: right - 100.0,
            rate: right - 62.0,
            amount: right - 5.0,
        }
    }

    fn opening(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let (vendor, words, face) = (bill.vendor, bill.words, bill.vendor.face);
        bar(page, bill);
        let right = page.size.0 - MARGIN;
        page.text_at(LEFT, 78.0, Style::new(face.bold(), 26.0).in_colour(vendor.colour), &words.invoice);
        page.text_at(LEFT, 96.0, Style::new(face.plain(), 11.0).in_colour(Colour::GREY), &bill.number);
        let label = Style::new(face.bold(), 8.0).in_colour(vendor.colour);
        page.text_at(LEFT, 132.0, label, &words.bill_to);
        let mut addressed = bill.addressed();
        if let Some(id) = &bill.buyer_tax_id {
            addressed.push(format!("{} {id}", words.customer_tax_id));
        }
        page.lines(LEFT, 147.0, Style::new(face.plain(), 9.5), 13.0, &addressed);
        let mut at = 132.0;
        for (name, value) in bill.head().into_iter().skip(1) {
            page.text_at(right - 150.0, at, Style::new(face.plain(), 8.5).in_colour(Colour::GREY), name);
            page.right_at(right, at, Style::new(face.bold(), 9.0), &value);
            page.rule(right - 150.0, at + 4.5, right, 0.3, Colour::LIGHT);
            at += 17.0;
        }
        232.0
    }

    fn again(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        bar(page, bill);
        let face = bill.vendor.face;
        let text = format!("{} {}", bill.words.invoice, bill.number);
        page.text_at(LEFT, 56.0, Style::new(face.bold(), 11.0).in_colour(bill.vendor.colour), &text);
        72.0
    }

    fn closing(&self, page: &mut Page<'_>, bill: &Bill<'_>, y: f32) {
        let face = bill.vendor.face;
        let width = page.size.0 - MARGIN - LEFT;
        let style = Style::new(face.plain(), 9.0);
        let next = page.paragraph(LEFT, y + 28.0, width, style, 13.0, &bill.payment());
        page.text_at(
            LEFT,
            next + 4.0,
            Style::new(face.italic(), 9.0).in_colour(Colour::GREY),
            &bill.words.thanks,
        );
    }

    fn foot(&self, _: &mut Page<'_>, _: &Bill<'_>) {}

    fn bottom(&self, size: Size) -> f32 {
        size.1 - 70.0
    }
}

fn bar(page: &mut Page<'_>, bill: &Bill<'_>) {
    let (vendor, words, face) = (bill.vendor, bill.words, bill.vendor.face);
    let height = page.size.1;
    page.area(0.0, 0.0, BAR, height, vendor.colour.tint(0.12));
    page.area(BAR, 0.0, 2.0, height, vendor.colour);
    draw_mark(page, vendor.mark, 22.0, 40.0, 40.0, vendor.colour);
    let name = Style::new(face.bold(), 12.0);
    let mut at = page.paragraph(22.0, 106.0, BAR - 34.0, name, 15.0, &vendor.name);
    let small = Style::new(face.plain(), 8.0);
    at = page.paragraph(22.0, at + 2.0, BAR - 34.0, Style::new(face.italic(), 8.0), 11.0, &vendor.tagline);
    let contact = [&vendor.street, &vendor.city, &vendor.phone, &vendor.domain];
    for line in contact {
        at = page.paragraph(22.0, at + 4.0, BAR - 30.0, small, 11.0, line);
    }
    at = height - 190.0;
    let label = Style::new(face.bold(), 7.5).in_colour(vendor.colour);
    let mut facts = bill.bank();
    facts.push((bill.tax_id_word(), bill.tax_id.clone()));
    for (title, value) in facts {
        page.text_at(22.0, at, label, title);
        at = page.paragraph(22.0, at + 11.0, BAR - 30.0, small, 11.0, &value) + 8.0;
    }
    page.text_at(
        22.0,
        height - 30.0,
        small.in_colour(Colour::GREY),
        &format!("{} {}", words.phone, vendor.phone),
    );
}
