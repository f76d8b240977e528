//! A business letter as German offices write it: the address behind the window, marks for folding, three columns at the
//! foot.

use super::bill::Bill;
use super::table::{Columns, Look};
use super::{Design, pairs};
use crate::paper::{Colour, Page, Size, Style, draw_mark};

const LEFT: f32 = 71.0;
const RIGHT: f32 = 545.0;

pub(super) struct Classic;

impl Design for Classic {
    fn look(&self, bill: &Bill<'_>) -> Look {
        let face = bill.vendor.face;
        Look {
            plain: Style::new(face.plain(), 9.5),
            bold: Style::new(face.bold(), 9.5),
            accent: Colour::BLACK,
            filled_head: false,
            striped: false,
            grid: false,
            row: 18.0,
        }
    }

    fn columns(&self, _: Size) -> Columns {
        Columns::between(LEFT, RIGHT)
    }

    fn opening(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let (vendor, words, face) = (bill.vendor, bill.words, bill.vendor.face);
        draw_mark(page, vendor.mark, RIGHT - 34.0, 36.0, 34.0, vendor.colour);
        page.text_at(LEFT, 54.0, Style::new(face.bold(), 16.0).in_colour(vendor.colour), &vendor.name);
        page.text_at(LEFT, 69.0, Style::new(face.plain(), 9.0).in_colour(Colour::GREY), &vendor.tagline);
        page.rule(LEFT, 80.0, RIGHT, 1.2, vendor.colour);
        for y in [297.0, 595.0] {
            page.rule(14.0, y, 24.0, 0.4, Colour::GREY);
        }
        let sender = format!("{} · {} · {}", vendor.name, vendor.street, vendor.city);
        let tiny = Style::new(face.plain(), 7.0).in_colour(Colour::GREY);
        page.text_at(LEFT, 136.0, tiny, &sender);
        page.rule(LEFT, 139.0, LEFT + page.width_of(tiny, &sender), 0.3, Colour::GREY);
        page.lines(LEFT, 156.0, Style::new(face.plain(), 10.5), 14.0, &bill.addressed());
        let mut head = bill.head();
        if let Some(id) = &bill.buyer_tax_id {
            head.push((&words.customer_tax_id, id.clone()));
        }
        let label = Style::new(face.plain(), 9.0).in_colour(Colour::GREY);
        pairs(page, (348.0, 150.0), 106.0, (label, Style::new(face.plain(), 9.0)), 14.0, &head);
        let title = format!("{} {}", words.invoice, bill.number);
        page.text_at(LEFT, 290.0, Style::new(face.bold(), 13.0), &title);
        let text = Style::new(face.plain(), 10.0);
        page.text_at(LEFT, 316.0, text, &words.greeting);
        page.text_at(LEFT, 334.0, text, &words.intro);
        350.0
    }

    fn again(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32 {
        let face = bill.vendor.face;
        page.text_at(
            LEFT,
            54.0,
            Style::new(face.bold(), 10.0).in_colour(bill.vendor.colour),
            &bill.vendor.name,
        );
        let text = format!("{} {}", bill.words.invoice, bill.number);
        page.right_at(RIGHT, 54.0, Style::new(face.plain(), 9.0), &text);
        page.rule(LEFT, 62.0, RIGHT, 0.6, bill.vendor.colour);
        78.0
    }

    fn closing(&self, page: &mut Page<'_>, bill: &Bill<'_>, y: f32) {
        let text = Style::new(bill.vendor.face.plain(), 10.0);
        let next = page.paragraph(LEFT, y + 26.0, RIGHT - LEFT, text, 14.0, &bill.payment());
        page.text_at(LEFT, next + 6.0, text, &bill.words.thanks);
    }

    fn foot(&self, page: &mut Page<'_>, bill: &Bill<'_>) {
        let (vendor, words) = (bill.vendor, bill.words);
        let top = page.size.1 - 76.0;
        page.rule(LEFT, top, RIGHT, 0.6, vendor.colour);
        let style = Style::new(vendor.face.plain(), 7.5).in_colour(Colour::GREY);
        let columns = [
            vec![vendor.name.clone(), vendor.street.clone(), vendor.city.clone()],
            vec![
                format!("{} {}", words.phone, vendor.phone),
                format!("info@{}", vendor.domain),
                format!("{} {}", bill.tax_id_word(), bill.tax_id),
            ],
            bill.bank().into_iter().map(|(label, value)| format!("{label} {value}")).collect(),
        ];
        for (x, lines) in [LEFT, 248.0, 398.0].into_iter().zip(&columns) {
            page.lines(x, top + 14.0, style, 11.0, lines);
        }
    }

    fn bottom(&self, size: Size) -> f32 {
        size.1 - 110.0
    }
}
