//! Boxes and lines everywhere, as older programs print it.

use super::Design;
use super::bill::Bill;
use super::table::{Columns, Look};
use crate::paper::{Colour, Page, Size, Style, draw_mark};

const LEFT: f32 = 42.0;

pub(super) struct Ledger;

impl Design for Ledger {
    fn look(&self, bill: &Bill<'_>) -> Look {
        let face = bill.vendor.face;
        Look {
            plain: Style::new(face.plain(), 9.0),
            bold: Style::new(face.bold(), 8.5),
            accent: Colour([0.25, 0.25, 0.25]),
            filled_head: false,
            striped: false,
            grid: true,
            row: 17.0,
        }
    }

    fn columns(&self, size: Size) -> Columns {
        Columns::between(LEFT, size.0 - LEFT)
    }

    fn opening(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let (vendor, words, face) = (bill.vendor, bill.words, bill.vendor.face);
        let right = page.size.0 - LEFT;
        draw_mark(page, vendor.mark, LEFT, 40.0, 40.0, vendor.colour);
        page.text_at(LEFT + 52.0, 56.0, Style::new(face.bold(), 15.0), &vendor.name);
        let small = Style::new(face.plain(), 8.5);
        page.text_at(LEFT + 52.0, 69.0, small, &format!("{}, {}", vendor.street, vendor.city));
        let contact = format!("{} {} · {}", words.phone, vendor.phone, vendor.domain);
        page.text_at(LEFT + 52.0, 80.0, small, &contact);
        let title = Style::new(face.bold(), 20.0);
        page.right_at(right, 62.0, title, &words.invoice.to_uppercase());
        page.right_at(right, 80.0, small, &format!("{} {}", bill.tax_id_word(), bill.tax_id));
        let half = (right - LEFT - 12.0) / 2.0;
        let top = 104.0;
        page.frame(LEFT, top, half, 100.0, 0.8, Colour::BLACK);
        page.area(LEFT, top, half, 16.0, Colour::PALE);
        let label = Style::new(face.bold(), 8.0);
        page.text_at(LEFT + 7.0, top + 11.5, label, &words.bill_to);
        let mut addressed = bill.addressed();
        if let Some(id) = &bill.buyer_tax_id {
            addressed.push(format!("{} {id}", words.customer_tax_id));
        }
        page.lines(LEFT + 7.0, top + 32.0, Style::new(face.plain(), 9.5), 14.0, &addressed);
        let x = LEFT + half + 12.0;
        let mut at = top;
        for (name, value) in bill.head() {
            page.frame(x, at, half, 20.0, 0.8, Colour::BLACK);
            page.area(x, at, half * 0.45, 20.0, Colour::PALE);
            page.frame(x, at, half * 0.45, 20.0, 0.8, Colour::BLACK);
            page.text_at(x + 6.0, at + 13.5, label, name);
            page.text_at(x + half * 0.45 + 7.0, at + 13.5, Style::new(face.plain(), 9.5), &value);
            at += 20.0;
        }
        top + 118.0
    }

    fn again(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let face = bill.vendor.face;
        page.text_at(LEFT, 54.0, Style::new(face.bold(), 10.0), &bill.vendor.name);
        let text = format!("{} {}", bill.words.invoice_number, bill.number);
        page.right_at(page.size.0 - LEFT, 54.0, Style::new(face.plain(), 9.0), &text);
        66.0
    }

    fn closing(&self, page: &mut Page<'_>, bill: &Bill<'_>, y: f32) {
        let face = bill.vendor.face;
        let right = page.size.0 - LEFT;
        let top = y + 16.0;
        page.frame(LEFT, top, right - LEFT, 56.0, 0.8, Colour::BLACK);
        page.text_at(LEFT + 8.0, top + 16.0, Style::new(face.plain(), 9.0), &bill.payment());
        let lines: Vec<String> =
            bill.bank().into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        page.text_at(LEFT + 8.0, top + 32.0, Style::new(face.bold(), 9.0), &lines.join("   "));
        page.text_at(LEFT + 8.0, top + 47.0, Style::new(face.italic(), 9.0), &bill.words.thanks);
    }

    fn foot(&self, page: &mut Page<'_>, bill: &Bill<'_>) {
        let (width, height) = page.size;
        let style = Style::new(bill.vendor.face.plain(), 7.5).in_colour(Colour::GREY);
        page.centre_at(
            width / 2.0,
            height - 30.0,
            style,
            &format!("{} · {}", bill.vendor.name, bill.vendor.tagline),
        );
    }

    fn bottom(&self, size: Size) -> f32 {
        size.1 - 70.0
    }
}
