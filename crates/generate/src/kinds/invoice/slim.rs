//! Much white, thin lines, one colour.

use super::Design;
use super::bill::Bill;
use super::table::{Columns, Look};
use crate::paper::{Colour, Page, Size, Style, draw_mark};

const LEFT: f32 = 64.0;

pub(super) struct Slim;

impl Design for Slim {
    fn look(&self, bill: &Bill<'_>) -> Look {
        let face = bill.vendor.face;
        Look {
            plain: Style::new(face.plain(), 9.5),
            bold: Style::new(face.plain(), 8.5).in_colour(bill.vendor.colour),
            accent: bill.vendor.colour,
            filled_head: false,
            striped: false,
            grid: false,
            row: 22.0,
        }
    }

    fn columns(&self, size: Size) -> Columns {
        Columns { left: LEFT - 5.0, description: LEFT + 22.0, ..Columns::between(LEFT, size.0 - LEFT + 5.0) }
    }

    fn opening(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let (vendor, words, face) = (bill.vendor, bill.words, bill.vendor.face);
        let right = page.size.0 - LEFT;
        draw_mark(page, vendor.mark, LEFT, 52.0, 18.0, vendor.colour);
        page.text_at(LEFT + 27.0, 66.0, Style::new(face.plain(), 15.0), &vendor.name);
        let grey = Style::new(face.plain(), 8.5).in_colour(Colour::GREY);
        page.right_at(right, 58.0, grey, &vendor.street);
        page.right_at(right, 70.0, grey, &vendor.city);
        page.rule(LEFT, 88.0, right, 0.4, vendor.colour);
        page.lines(LEFT, 130.0, Style::new(face.plain(), 10.5), 15.0, &bill.addressed());
        page.text_at(LEFT, 230.0, Style::new(face.plain(), 24.0).in_colour(vendor.colour), &words.invoice);
        let columns = (right - LEFT) / 4.0;
        let head = bill.head();
        let shown: Vec<_> = head.iter().take(4).collect();
        for (place, (name, _)) in shown.iter().enumerate() {
            page.text_at(LEFT + columns * place as f32, 256.0, grey, name);
        }
        for (place, (_, value)) in shown.iter().enumerate() {
            page.text_at(LEFT + columns * place as f32, 270.0, Style::new(face.bold(), 10.0), value);
        }
        296.0
    }

    fn again(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let face = bill.vendor.face;
        draw_mark(page, bill.vendor.mark, LEFT, 42.0, 14.0, bill.vendor.colour);
        let text = format!("{} · {} {}", bill.vendor.name, bill.words.invoice, bill.number);
        page.text_at(LEFT + 22.0, 53.0, Style::new(face.plain(), 9.0).in_colour(Colour::GREY), &text);
        72.0
    }

    fn closing(&self, page: &mut Page<'_>, bill: &Bill<'_>, y: f32) {
        let style = Style::new(bill.vendor.face.plain(), 9.5);
        page.paragraph(LEFT, y + 30.0, page.size.0 - 2.0 * LEFT, style, 14.0, &bill.payment());
    }

    fn foot(&self, page: &mut Page<'_>, bill: &Bill<'_>) {
        let (width, height) = page.size;
        let style = Style::new(bill.vendor.face.plain(), 8.0).in_colour(Colour::GREY);
        page.rule(LEFT, height - 68.0, width - LEFT, 0.4, bill.vendor.colour);
        let bank: Vec<String> =
            bill.bank().into_iter().map(|(name, value)| format!("{name} {value}")).collect();
        page.text_at(LEFT, height - 53.0, style, &bank.join(" · "));
        let own = format!(
            "{} {} · {} · hello@{}",
            bill.tax_id_word(),
            bill.tax_id,
            bill.vendor.phone,
            bill.vendor.domain
        );
        page.text_at(LEFT, height - 41.0, style, &own);
    }
}
