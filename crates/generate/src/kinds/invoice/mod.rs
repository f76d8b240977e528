//! Bills. `bill` decides what they say, `table` draws their lines and sums, and each look has a file of its own.

mod band;
pub(crate) mod bill;
mod classic;
mod ledger;
mod sidebar;
mod slim;
mod table;

use docmill_core::Result;
use docmill_core::generate::SampleKind;

use self::bill::Bill;
use self::table::{Columns, Look};
use super::paper_of;
use crate::cast::{Cast, Layout};
use crate::chance::Chance;
use crate::content::Content;
use crate::language::fill;
use crate::paper::{Colour, Fonts, Page, Size, Style};

/// Sums and the way to pay need so much room on the last page.
const CLOSING: f32 = 190.0;

/// How a vendor's bills look.
trait Design {
    fn look(&self, bill: &Bill<'_>) -> Look;

    fn columns(&self, size: Size) -> Columns;

    /// The head of the first page; gives where the table begins.
    fn opening(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32;

    /// The head of a page that follows.
    fn again(&self, page: &mut Page<'_>, bill: &Bill<'_>) -> f32;

    /// How to pay, below the sums.
    fn closing(&self, page: &mut Page<'_>, bill: &Bill<'_>, y: f32);

    /// What stands at the foot of every page.
    fn foot(&self, page: &mut Page<'_>, bill: &Bill<'_>);

    /// Lines end here.
    fn bottom(&self, size: Size) -> f32 {
        size.1 - 120.0
    }
}

/// A bill of one of the vendors.
pub(crate) fn make<'f>(cast: &Cast, fonts: &'f Fonts, chance: &mut Chance) -> Result<Content<'f>> {
    Ok(draw(&Bill::make(cast, chance)?, fonts))
}

/// A bill on paper.
pub(crate) fn draw<'f>(bill: &Bill<'_>, fonts: &'f Fonts) -> Content<'f> {
    let layout = bill.vendor.layout;
    let design: &dyn Design = match layout {
        Layout::Band => &band::Band,
        Layout::Classic => &classic::Classic,
        Layout::Ledger => &ledger::Ledger,
        Layout::Sidebar => &sidebar::Sidebar,
        Layout::Slim => &slim::Slim,
    };
    let mut facts = bill.facts();
    if bill.buyer_tax_id.is_some() && !shows_buyer_tax_id(layout) {
        facts.fields.remove("buyer_tax_id");
        facts.shown.remove("buyer_tax_id");
    }
    Content {
        kind: SampleKind::Invoice,
        language: bill.vendor.country.language(),
        title: format!("{} {}, {}", bill.words.invoice, bill.number, bill.vendor.name),
        date: bill.date,
        vendor: Some(bill.vendor.name.clone()),
        layout: format!("invoice-{}", layout.name()),
        schema: Some("invoice"),
        facts,
        pages: pages(bill, fonts, design),
    }
}

/// Whether the look has a place for it.
fn shows_buyer_tax_id(layout: Layout) -> bool {
    !matches!(layout, Layout::Slim)
}

fn pages<'f>(bill: &Bill<'_>, fonts: &'f Fonts, design: &dyn Design) -> Vec<Page<'f>> {
    let size = paper_of(bill.vendor.country);
    let (look, columns) = (design.look(bill), design.columns(size));
    let mut page = Page::new(fonts, size);
    let mut at = design.opening(&mut page, bill);
    at = table::head(&mut page, bill, &look, &columns, at);
    let mut done = Vec::new();
    let mut carried = 0;
    for (place, item) in (1..).zip(&bill.items) {
        if at + look.row * 2.0 > design.bottom(size) {
            let text = format!("{} {}", bill.words.carried, bill.money(carried));
            page.right_at(columns.amount, at + look.row, look.plain, &text);
            done.push(std::mem::replace(&mut page, Page::new(fonts, size)));
            at = design.again(&mut page, bill);
            at = table::head(&mut page, bill, &look, &columns, at);
        }
        at = table::line(&mut page, bill, &look, &columns, at, (place, item));
        carried += item.net;
    }
    if at + CLOSING > size.1 - 80.0 {
        done.push(std::mem::replace(&mut page, Page::new(fonts, size)));
        at = design.again(&mut page, bill);
    }
    at = table::sums(&mut page, bill, &look, &columns, at);
    design.closing(&mut page, bill, at);
    done.push(page);
    let of = done.len();
    for (number, page) in (1..).zip(&mut done) {
        design.foot(page, bill);
        if of > 1 {
            let numbers = [("n", number.to_string()), ("of", of.to_string())];
            let text =
                fill(&bill.words.page, &numbers.each_ref().map(|(name, value)| (*name, value.as_str())));
            let style = Style::new(bill.vendor.face.plain(), 7.5).in_colour(Colour::GREY);
            page.right_at(size.0 - 50.0, size.1 - 18.0, style, &text);
        }
    }
    done
}

/// Labels with their values below each other; the values begin at `x + indent`.
fn pairs(
    page: &mut Page<'_>,
    (x, y): (f32, f32),
    indent: f32,
    (label, value): (Style, Style),
    leading: f32,
    lines: &[(&str, String)],
) -> f32 {
    let mut at = y;
    for (name, text) in lines {
        page.text_at(x, at, label, name);
        page.text_at(x + indent, at, value, text);
        at += leading;
    }
    at
}
