//! Who sells and who buys: blocks of name and address, under a label or where letters have them.

mod blocks;
mod labelled;
mod sender;
mod tax;

use super::{Found, Reading, Record, misread};
use crate::layout::{Span, folded};
use blocks::address_blocks;
pub(crate) use blocks::postal;
pub use blocks::{is_state, is_zip};
use labelled::labelled;
use sender::{is_sender_line, on_one_line, sender};
use tax::tax_ids;

/// Lines of a block beyond are not part of it.
const MAX_LINES: usize = 9;

const STATES: &str = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AE AP AA PR GU VI MP FM";

/// A name and an address.
#[derive(Clone, Debug, Default)]
struct Party {
    /// In one line or in several.
    name: Vec<Span>,
    address: Vec<Span>,
    tax_id: Option<(String, Span)>,
    /// Whether nothing but its place says that this is the name.
    is_guess: bool,
}

/// Seller and buyer.
pub fn find(reading: &Reading<'_>) -> Record {
    let mut record = Record::new();
    let seller = labelled(reading, "seller");
    let buyer = labelled(reading, "buyer");
    let blocks = if seller.is_some() && buyer.is_some() { Vec::new() } else { address_blocks(reading) };
    let said =
        |lines: &[Span]| folded(&lines.iter().map(|line| reading.sheet.text(line)).collect::<String>());
    let taken = |party: Option<&Party>, block: &Party| {
        party.is_some_and(|party| {
            party.address.iter().any(|line| block.address.contains(line))
                || !party.name.is_empty() && said(&party.name) == said(&block.name)
        })
    };
    let seller_given = seller.is_some();
    let seller = seller.or_else(|| on_one_line(reading));
    // Below who writes stands who is written to, wherever that is on the page.
    let next = |seller: &Party| {
        let below = seller.name.first()?.row;
        let after = |block: &&Party| block.name.first().is_some_and(|name| name.row > below);
        let others = blocks.iter().filter(|block| !taken(Some(seller), block));
        others.into_iter().find(after).map(|block| Party { is_guess: true, ..block.clone() })
    };
    let buyer_given = buyer.is_some();
    let buyer = buyer.or_else(|| {
        if reading.sheet.is_typed() {
            // Texts have no envelopes: who writes comes first, and who is written to after that.
            let others = blocks.iter().filter(|block| !taken(seller.as_ref(), block));
            return others.skip(usize::from(seller.is_none())).find(|block| !block.name.is_empty()).cloned();
        }
        // The window of an envelope is on the left, in the upper third.
        let window = |block: &&Party| {
            block.address.first().is_some_and(|line| {
                let row = &reading.sheet.rows[line.row];
                let (left, _) = row.edges(&line.tokens);
                let down = row.top / reading.sheet.page_height(row);
                row.page == 0 && left < reading.sheet.page_width(row) * 0.3 && (0.1..0.42).contains(&down)
            })
        };
        let mut others = blocks.iter().filter(|block| !taken(seller.as_ref(), block));
        others.find(window).cloned().or_else(|| next(seller.as_ref()?))
    });
    let seller = seller.or_else(|| {
        let block = blocks.iter().find(|block| !taken(buyer.as_ref(), block)).cloned();
        sender(reading, block, buyer.as_ref())
    });
    let buyer = buyer.or_else(|| next(seller.as_ref()?));
    for (party, side, given) in [(&seller, "seller", seller_given), (&buyer, "buyer", buyer_given)] {
        let Some(party) = party else { continue };
        let (confidence, method) = match (given, party.is_guess) {
            (true, _) => (0.93, "label"),
            (false, false) => (0.82, "place"),
            (false, true) => (0.7, "place"),
        };
        if !party.name.is_empty() {
            let lines: Vec<String> = party.name.iter().map(|line| reading.sheet.text(line)).collect();
            let value = name_of(&lines.join(" ")).into();
            let found = Found { value, confidence, method, spans: party.name.clone() };
            record.insert(format!("{side}_name"), found);
        }
        if !party.address.is_empty() {
            let value = joined(reading, &party.address);
            let found = Found { value: value.into(), confidence, method, spans: party.address.clone() };
            record.insert(format!("{side}_address"), found);
        }
        if let Some((id, span)) = &party.tax_id {
            record.insert(format!("{side}_tax_id"), Found::text(id, 0.95, "label", span.clone()));
        }
    }
    tax_ids(reading, &mut record);
    record
}

/// Lines of an address as one text. Whoever wrote commas between its parts wrote all of them: then a blank is enough.
pub(crate) fn joined(reading: &Reading<'_>, lines: &[Span]) -> String {
    let last = lines.len().saturating_sub(1);
    let text = |(at, line)| misread::in_address(reading.sheet, line, at == last);
    let texts: Vec<String> = lines.iter().enumerate().map(text).collect();
    let commas = texts.iter().rev().skip(1).any(|text| text.ends_with(','))
        || texts.iter().any(|text| text.matches(',').count() > 1);
    texts.join(if commas { " " } else { ", " })
}

/// Without what belongs to the label before it.
fn name_of(text: &str) -> String {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || ":|•●·,;".contains(c));
    text.trim_start_matches(|c: char| !c.is_alphanumeric() && !"\"('„“".contains(c)).to_owned()
}

#[cfg(test)]
mod tests {
    use docmill_core::words::PageWords;

    use super::*;
    use crate::layout::Sheet;

    fn parties(text: &str) -> Record {
        let sheet = Sheet::new(&[PageWords::typed(1, text)]);
        find(&Reading::new(&sheet))
    }

    fn named<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
        record.get(name).and_then(|found| found.value.as_str())
    }

    #[test]
    fn only_party_of_a_text_is_who_sells_and_no_title_is_a_party() {
        let found = parties("Invoice 4711\n\nACME GmbH\nMusterstr. 1\n12345 Berlin\n\nTotal: 119,00 EUR\n");
        assert_eq!(named(&found, "seller_name"), Some("ACME GmbH"), "{found:?}");
        assert_eq!(named(&found, "seller_address"), Some("Musterstr. 1, 12345 Berlin"));
        assert_eq!(named(&found, "buyer_name"), None);
    }

    #[test]
    fn who_writes_comes_before_who_is_written_to() {
        let found = parties(
            "Nord Handel AG\nHafenweg 3\n20457 Hamburg\n\nRechnung Nr. 17\n\nMaria Klein\nTorstr. 9\n10119 Berlin\n",
        );
        assert_eq!(named(&found, "seller_name"), Some("Nord Handel AG"), "{found:?}");
        assert_eq!(named(&found, "buyer_name"), Some("Maria Klein"), "{found:?}");
    }

    #[test]
    fn name_behind_its_label_is_the_party_and_a_number_of_theirs_is_not() {
        let found = parties(
            "Sold by: Brook Mill Ltd\nCustomer: 2\nDate of delivery 2020-11-10\n\nBill to: Maria Klein\nTorstr. 9\n10119 Berlin\n",
        );
        assert_eq!(named(&found, "seller_name"), Some("Brook Mill Ltd"), "{found:?}");
        assert_eq!(named(&found, "buyer_name"), Some("Maria Klein"), "{found:?}");
        assert_eq!(named(&found, "buyer_address"), Some("Torstr. 9, 10119 Berlin"), "{found:?}");
    }

    #[test]
    fn motto_is_not_the_sender_where_a_company_or_its_address_in_the_web_stands_beside_it() {
        let mut page = crate::layout::tests::page(&[
            "We love bread          Oven & Sons Ltd",
            "",
            "info@brookmill.co.uk",
        ]);
        for word in page.words.iter_mut().take(3) {
            word.height *= 1.6;
        }
        let sender = |page: &PageWords| {
            let sheet = Sheet::new(std::slice::from_ref(page));
            find(&Reading::new(&sheet))
                .get("seller_name")
                .map(|found| (found.value.clone(), found.confidence))
        };
        assert_eq!(sender(&page), Some(("Oven & Sons Ltd".into(), 0.82)));
        for (word, text) in page.words.iter_mut().skip(3).zip(["Brookmill", "and", "good", "Friends"]) {
            word.text = text.to_owned();
        }
        assert_eq!(sender(&page), Some(("Brookmill and good Friends".into(), 0.82)));
        page.words.retain(|word| !word.text.contains('@'));
        assert_eq!(sender(&page), Some(("We love bread".into(), 0.7)));
    }

    #[test]
    fn line_of_name_street_and_place_names_who_writes_and_below_is_who_is_written_to() {
        for line in [
            "Oak Joinery | Wood Lane 3 | 99084 Erfurt",
            "Oak Joinery - Wood Lane 3 - 99084 Erfurt",
            "Oak Joinery, Wood Lane 3, 99084 Erfurt",
        ] {
            let page =
                crate::layout::tests::page(&[line, "", "Herrn", "Peter Miller", "Torstr. 9", "10119 Berlin"]);
            let sheet = Sheet::new(&[page]);
            let found = find(&Reading::new(&sheet));
            assert_eq!(
                named(&found, "seller_name").map(|name| name.trim_end_matches(',')),
                Some("Oak Joinery")
            );
            assert_eq!(named(&found, "buyer_name"), Some("Peter Miller"), "{found:?}");
            assert!(found["seller_name"].confidence > 0.8 && found["buyer_name"].confidence < 0.8);
        }
    }

    #[test]
    fn only_what_is_set_large_is_broken_over_lines() {
        let mut page = crate::layout::tests::page(&[
            "Oak Joinery SARL            Invoice number   17",
            "We like oak                 Date of issue    2.3.2020",
            "Wood Lane 3",
            "99084 Erfurt",
            "Phone 12 34 56",
        ]);
        let seller = |page: &PageWords| {
            let sheet = Sheet::new(std::slice::from_ref(page));
            find(&Reading::new(&sheet)).remove("seller_name").map(|found| found.value)
        };
        assert_eq!(seller(&page), Some("Oak Joinery SARL".into()));
        for word in page.words.iter_mut().filter(|word| word.line < 2 && word.x < 0.3) {
            word.height *= 1.3;
        }
        assert_eq!(seller(&page), Some("Oak Joinery SARL".into()));
        page.words.retain(|word| word.text != "SARL");
        assert_eq!(seller(&page), Some("Oak Joinery We like oak".into()));
    }

    #[test]
    fn phrase_for_who_sells_needs_no_colon() {
        let found = parties("Verkauft von Brook Mill S.à r.l.\n\nRechnung 17\n");
        assert_eq!(named(&found, "seller_name"), Some("Brook Mill S.à r.l."), "{found:?}");
    }
}
