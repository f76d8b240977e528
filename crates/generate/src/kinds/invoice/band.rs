//! A coloured band over the whole width, with the name in white.

use super::bill::Bill;
use super::table::{Columns, Look};
use super::{Design, pairs};
use crate::paper::{Colour, Page, Size, Style, draw_mark};

const LEFT: f32 = 50.0;

pub(super) struct Band;

impl Design for Band {
    fn look(&self, bill: &Bill<'_>) -> Look {
        let face = bill.vendor.face;
        Look {
            plain: Style::new(face.plain(), 9.0),
            bold: Style::new(face.bold(), 9.0),
            accent: bill.vendor.colour,
            filled_head: true,
            striped: true,
            grid: false,
            row: 19.0,
        }
    }

    fn columns(&self, size: Size) -> Columns {
        Columns::between(LEFT, size.0 - LEFT)
    }

    fn opening(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let (vendor, words, face) = (bill.vendor, bill.words, bill.vendor.face);
        let width = page.size.0;
        page.area(0.0, 0.0, width, 96.0, vendor.colour);
        page.area(0.0, 96.0, width, 4.0, vendor.colour.tint(0.45));
        page.area(LEFT, 28.0, 44.0, 44.0, Colour::WHITE);
        draw_mark(page, vendor.mark, LEFT + 8.0, 36.0, 28.0, vendor.colour);
        let white = |style: Style| style.in_colour(Colour::WHITE);
        page.text_at(LEFT + 58.0, 48.0, white(Style::new(face.bold(), 17.0)), &vendor.name);
        page.text_at(LEFT + 58.0, 65.0, white(Style::new(face.italic(), 10.0)), &vendor.tagline);
        let small = Style::new(face.plain(), 8.5).in_colour(Colour::GREY);
        let contact = [
            vendor.street.clone(),
            vendor.city.clone(),
            format!("{} {}", words.phone, vendor.phone),
            format!("billing@{}", vendor.domain),
        ];
        let column = width - LEFT - 170.0;
        page.lines(column, 128.0, small, 12.0, &contact);
        page.text_at(LEFT, 128.0, Style::new(face.bold(), 8.0).in_colour(vendor.colour), &words.bill_to);
        let mut addressed = bill.addressed();
        if let Some(id) = &bill.buyer_tax_id {
            addressed.push(format!("{} {id}", words.customer_tax_id));
        }
        let (first, rest) = addressed.split_at(1);
        let below = page.lines(LEFT, 144.0, Style::new(face.bold(), 10.5), 14.0, first);
        page.lines(LEFT, below, Style::new(face.plain(), 9.5), 13.0, rest);
        page.text_at(LEFT, 250.0, Style::new(face.bold(), 22.0).in_colour(vendor.colour), &words.invoice);
        let label = Style::new(face.plain(), 9.0).in_colour(Colour::GREY);
        let value = Style::new(face.bold(), 9.0);
        pairs(page, (column, 204.0), 88.0, (label, value), 14.0, &bill.head());
        286.0
    }

    fn again(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let (vendor, face) = (bill.vendor, bill.vendor.face);
        page.area(0.0, 0.0, page.size.0, 40.0, vendor.colour);
        let style = Style::new(face.bold(), 11.0).in_colour(Colour::WHITE);
        page.text_at(LEFT, 25.0, style, &vendor.name);
        let right = page.size.0 - LEFT;
        page.right_at(right, 25.0, style, &format!("{} {}", bill.words.invoice, bill.number));
        64.0
    }

    fn closing(&self, page: &mut Page<'_>, bill: &Bill<'_>, y: f32) {
        let face = bill.vendor.face;
        let at = y + 22.0;
        let width = page.size.0 - 2.0 * LEFT;
        page.area(LEFT, at, width, 58.0, bill.vendor.colour.tint(0.07));
        page.text_at(LEFT + 12.0, at + 17.0, Style::new(face.plain(), 9.0), &bill.payment());
        let mut x = LEFT + 12.0;
        let (label, value) =
            (Style::new(face.plain(), 8.0).in_colour(Colour::GREY), Style::new(face.bold(), 9.0));
        for (name, text) in bill.bank() {
            page.text_at(x, at + 33.0, label, name);
            page.text_at(x, at + 46.0, value, &text);
            x += page.width_of(value, &text).max(70.0) + 26.0;
        }
        page.text_at(LEFT, at + 78.0, Style::new(face.italic(), 9.5), &bill.words.thanks);
    }

    fn foot(&self, page: &mut Page<'_>, bill: &Bill<'_>) {
        let vendor = bill.vendor;
        let (width, height) = page.size;
        page.rule(LEFT, height - 44.0, width - LEFT, 0.6, vendor.colour);
        let style = Style::new(vendor.face.plain(), 7.5).in_colour(Colour::GREY);
        let text =
            format!("{} · {} {} · www.{}", vendor.name, bill.tax_id_word(), bill.tax_id, vendor.domain);
        page.centre_at(width / 2.0, height - 31.0, style, &text);
    }
}
