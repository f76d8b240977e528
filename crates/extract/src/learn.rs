//! What one correction teaches about the documents of the same sender: "this vendor's total is here".
//!
//! A rule is bound to a layout by two keys, and both must fit: something that only this sender has (an account, a domain,
//! its name), and most of the words that stand at the head and the foot of its pages. So a rule never touches documents
//! of others, not even of those who use the same form.

use std::collections::{BTreeMap, BTreeSet};

use docmill_core::extraction::{Evidence, Extraction, Field};
use docmill_core::words::PageWords;
use serde::{Deserialize, Serialize};

use crate::find::Reading;
use crate::gate;
use crate::ground::Ground;
use crate::layout::{Row, Sheet, Span};
use crate::normalise::{codes, notation};
use crate::schema::{FieldRule, Schema, Shape};

/// How the evidence names this, and how sure such a value is.
const METHOD: &str = "learnt";
const CONFIDENCE: f32 = 0.95;

/// So much of the first page is its head, and so much its foot, where what is printed on every document stands.
const HEAD: f32 = 0.25;
const FOOT: f32 = 0.88;

/// A sender has an account or two and a domain; a list of addresses is none.
const MAX_MARKS: usize = 50;

/// Of the words that a layout has at head and foot, so many must be there again.
const ALIKE: f32 = 0.5;

/// Mail of everybody: says nothing about a sender.
const PUBLIC: &[&str] =
    &["gmail.com", "outlook.com", "hotmail.com", "yahoo.com", "gmx.de", "gmx.net", "web.de", "t-online.de"];

/// Fields that are the same on all documents of a sender.
const CONSTANT: &[&str] =
    &["seller_name", "seller_address", "seller_tax_id", "iban", "bic", "company", "address", "currency"];

/// A value that a person put right.
#[derive(Clone, Copy, Debug)]
pub struct Correction<'a> {
    /// By which schema.
    pub schema: &'a Schema,
    /// Which field.
    pub field: &'a str,
    /// What is right, in the notation of records.
    pub value: &'a str,
    /// The words of the document.
    pub pages: &'a [PageWords],
    /// Where the person saw it, if that was said; otherwise it is looked for.
    pub place: Option<&'a Evidence>,
}

/// What was learnt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// The schema that it is for.
    pub schema: String,
    /// The field.
    pub field: String,
    /// Whose documents.
    pub sender: Sender,
    /// Where the value is.
    pub lies: Lies,
}

/// By what the documents of a sender are known.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sender {
    /// What nobody else has: accounts, domains.
    pub marks: BTreeSet<String>,
    /// Words at the head and the foot, folded.
    pub words: BTreeSet<String>,
}

/// Where a value lies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lies {
    /// It is always the same, and must stand on the page.
    Same(String),
    /// Right of these words, folded.
    Beside(String),
    /// Under these words.
    Under(String),
    /// At a place of a page: its number, left and upper edge in parts of it.
    At(u32, f32, f32),
}

impl Sender {
    /// Of the pages of a document.
    fn of(reading: &Reading<'_>) -> Self {
        let (mut marks, mut words) = (BTreeSet::new(), BTreeSet::new());
        for row in &reading.sheet.rows {
            marks.extend(row.tokens.iter().filter_map(|token| domain(&token.text)));
            for from in 0..row.tokens.len() {
                let to = row.tokens.len().min(from + 8);
                let account = (from + 1..=to).find_map(|to| {
                    let text: String = row.tokens[from..to].iter().map(|token| token.text.as_str()).collect();
                    codes::iban(text.trim_end_matches(['.', ',', ';']))
                });
                marks.extend(account);
            }
            let down = row.top / reading.sheet.page_height(row);
            if row.page == 0 && !(HEAD..FOOT).contains(&down) {
                let plain = |fold: &&String| fold.len() > 2 && !fold.bytes().any(|b| b.is_ascii_digit());
                words.extend(row.tokens.iter().map(|token| &token.fold).filter(plain).cloned());
            }
        }
        Self { marks, words }
    }

    /// Whether another document is of the same sender and layout.
    fn is(&self, other: &Self) -> bool {
        let again = self.words.intersection(&other.words).count() as f32;
        !self.marks.is_disjoint(&other.marks) && again >= self.words.len() as f32 * ALIKE
    }
}

/// The domain of an address of mail or web.
fn domain(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    let bare = text.rsplit_once('@').map(|(_, host)| host).or_else(|| text.strip_prefix("www."))?;
    let host = bare.split('/').next().unwrap_or(bare);
    (host.contains('.') && host.len() > 4 && !PUBLIC.contains(&host)).then(|| host.to_owned())
}

/// By what the sender of a document is known.
pub fn marks(pages: &[PageWords]) -> Vec<String> {
    let sheet = Sheet::new(pages);
    Sender::of(&Reading::new(&sheet)).marks.into_iter().take(MAX_MARKS).collect()
}

/// Makes a rule of a correction; nothing if the value stands nowhere, or nothing on the pages tells the sender.
pub fn learn(correction: &Correction<'_>) -> Option<Rule> {
    let rule = field_of(correction.schema, correction.field)?;
    let sheet = Sheet::new(correction.pages);
    let reading = Reading::new(&sheet);
    let sender = Sender::of(&reading);
    if sender.marks.is_empty() {
        return None;
    }
    let ground = Ground { reading: &reading, texts: &[] };
    let places = ground.places(rule, correction.value);
    let spans = correction
        .place
        .and_then(|place| places.iter().find(|spans| spans.iter().any(|span| covers(&sheet, span, place))))
        .or_else(|| places.last())?;
    let lies = if CONSTANT.contains(&correction.field) {
        Lies::Same(correction.value.to_owned())
    } else {
        lies(&sheet, spans.first()?)?
    };
    let (schema, field) = (correction.schema.name.clone(), correction.field.to_owned());
    Some(Rule { schema, field, sender, lies })
}

fn field_of<'a>(schema: &'a Schema, name: &str) -> Option<&'a FieldRule> {
    schema.fields.iter().find(|rule| rule.name == name && rule.shape == Shape::Text)
}

/// Whether a span stands where a person pointed.
fn covers(sheet: &Sheet, span: &Span, place: &Evidence) -> bool {
    let Some(at) = sheet.evidence(span) else { return false };
    let (Some([left, top, width, height]), Some([x, y, w, h])) = (at.frame, place.frame) else {
        return false;
    };
    at.page == place.page && left < x + w && x < left + width && top < y + h && y < top + height
}

/// By what a place is found again: the words before it, those above it, or where it is on the page.
fn lies(sheet: &Sheet, span: &Span) -> Option<Lies> {
    let row = &sheet.rows[span.row];
    let cell = row.tokens.get(span.tokens.start)?.cell;
    let before = &row.tokens[..span.tokens.start];
    // The words of its own cell, or else of the one before it.
    let near = before.last().map_or(cell, |token| token.cell);
    let label: Vec<&str> =
        before.iter().filter(|token| token.cell == near).map(|token| token.fold.as_str()).collect();
    if let Some(label) = named(&label) {
        return Some(Lies::Beside(label));
    }
    let (left, right) = row.edges(&span.tokens);
    let above = sheet.rows[..span.row].iter().rev().take(2).find(|above| {
        above.page == row.page
            && row.top - above.bottom < row.height * 2.5
            && over(above, left, right).is_some()
    });
    if let Some(above) = above
        && let Some(cell) = over(above, left, right)
    {
        let label: Vec<&str> = above.tokens[cell].iter().map(|token| token.fold.as_str()).collect();
        if let Some(label) = named(&label) {
            return Some(Lies::Under(label));
        }
    }
    let at = sheet.evidence(span)?;
    let [x, y, ..] = at.frame?;
    Some(Lies::At(at.page?, x, y))
}

/// Words without digits, as one text.
fn named(words: &[&str]) -> Option<String> {
    let label: String = words.concat();
    let letters = label.chars().filter(|c| c.is_alphabetic()).count();
    (letters >= 2 && !label.bytes().any(|b| b.is_ascii_digit())).then_some(label)
}

fn over(row: &Row, left: f32, right: f32) -> Option<std::ops::Range<usize>> {
    row.cells().into_iter().find(|cell| {
        let (from, to) = row.edges(cell);
        from < right && to > left
    })
}

/// Takes what rules know into a record. One to which none applies comes back as it is.
pub fn apply(rules: &[Rule], schema: &Schema, pages: &[PageWords], extraction: Extraction) -> Extraction {
    let of_schema: Vec<&Rule> = rules.iter().filter(|rule| rule.schema == schema.name).collect();
    if of_schema.is_empty() {
        return extraction;
    }
    let sheet = Sheet::new(pages);
    let reading = Reading::new(&sheet);
    let sender = Sender::of(&reading);
    let mut learnt: BTreeMap<String, Field> = BTreeMap::new();
    // Later corrections are better ones.
    for rule in of_schema.into_iter().filter(|rule| rule.sender.is(&sender)) {
        if let Some(found) = field_of(schema, &rule.field).and_then(|field| follow(&reading, rule, field)) {
            learnt.insert(rule.field.clone(), found);
        }
    }
    if learnt.is_empty() {
        return extraction;
    }
    let (model, tokens) = (extraction.model, (extraction.tokens_in, extraction.tokens_out));
    let mut fields = extraction.fields;
    fields.extend(learnt);
    Extraction { model, tokens_in: tokens.0, tokens_out: tokens.1, ..gate::pass(schema, fields) }
}

/// The value that a rule leads to.
fn follow(reading: &Reading<'_>, rule: &Rule, field: &FieldRule) -> Option<Field> {
    let sheet = reading.sheet;
    let told = |value: String, spans: &[Span]| {
        let evidence: Vec<Evidence> = spans.iter().filter_map(|span| sheet.evidence(span)).collect();
        let read = spans.iter().map(|span| sheet.confidence(span)).fold(1.0, f32::min);
        let confidence = CONFIDENCE * read.max(0.5);
        (!evidence.is_empty()).then(|| Field {
            value: value.into(),
            confidence,
            method: METHOD.into(),
            evidence,
        })
    };
    match &rule.lies {
        Lies::Same(value) => {
            let spans = Ground { reading, texts: &[] }.places(field, value).into_iter().next()?;
            told(value.clone(), &spans)
        }
        Lies::Beside(label) => sheet.rows.iter().enumerate().find_map(|(index, row)| {
            let end = label_end(row, label)?;
            let (value, span) = value_in(reading, field, index, end..row.tokens.len())?;
            told(value, &[span])
        }),
        Lies::Under(label) => sheet.rows.iter().enumerate().find_map(|(index, row)| {
            let end = label_end(row, label)?;
            let (left, right) = row.edges(&(end.saturating_sub(1)..end));
            (index + 1..sheet.rows.len().min(index + 3)).find_map(|below| {
                let cell = over(&sheet.rows[below], left, right)?;
                let (value, span) = value_in(reading, field, below, cell)?;
                told(value, &[span])
            })
        }),
        Lies::At(page, x, y) => sheet.rows.iter().enumerate().find_map(|(index, row)| {
            let cell = row.cells().into_iter().find(|cell| {
                let at = sheet.evidence(&Span { row: index, tokens: cell.clone() });
                let frame = at.filter(|at| at.page == Some(*page)).and_then(|at| at.frame);
                frame.is_some_and(|[left, top, width, height]| {
                    (left - 0.01..left + width).contains(x)
                        && (top - height / 2.0..top + height / 2.0).contains(y)
                })
            })?;
            let (value, span) = value_in(reading, field, index, cell)?;
            told(value, &[span])
        }),
    }
}

/// Where a label ends in a row that has it.
fn label_end(row: &Row, label: &str) -> Option<usize> {
    (0..row.tokens.len()).find_map(|from| {
        let mut said = String::new();
        (from..row.tokens.len()).find_map(|at| {
            said.push_str(&row.tokens[at].fold);
            (said == label).then_some(at + 1)
        })
    })
}

/// The first value of the field's notation among words of a row; for plain text all words of a cell.
fn value_in(
    reading: &Reading<'_>,
    field: &FieldRule,
    row: usize,
    tokens: std::ops::Range<usize>,
) -> Option<(String, Span)> {
    let line = &reading.sheet.rows[row];
    let from = tokens.clone().find(|&at| !line.tokens[at].fold.is_empty())?;
    let end = tokens.end;
    let Some(kind) = field.normalise else {
        let cell = line.tokens[from].cell;
        let to = (from..end).take_while(|&at| line.tokens[at].cell == cell).last()? + 1;
        let span = Span { row, tokens: from..to };
        let text = reading.sheet.text(&span);
        return Some((text.trim_matches([':', ',', ';', ' ']).to_owned(), span));
    };
    (from..end).find_map(|start| {
        (start + 1..=end.min(start + 8)).rev().find_map(|to| {
            let span = Span { row, tokens: start..to };
            let text = reading.sheet.text(&span);
            notation(kind, text.trim_matches([':', ';', ',']), reading.order).map(|value| (value, span))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_sight;
    use crate::layout::tests::page;

    /// A bill of an invented vendor, whose words for number and total nobody else uses.
    fn bill(vendor: &str, host: &str, number: u32, items: usize, buyer: &str) -> (PageWords, String, String) {
        let code = format!("Q{}/{}", 1000 + number * 37, 20 + number);
        let total = format!("{}.{:02}", 200 + number * 13, number * 7 % 100);
        let mut lines = vec![
            format!("{vendor}                         www.{host}"),
            "Fine boats since 1888".to_owned(),
            String::new(),
            buyer.to_owned(),
            format!("{number} Dock Road"),
            "Leeds LS1 4QP".to_owned(),
            String::new(),
            format!("Sailing code  {code}          Launched  {:02}/03/2024", 10 + number),
            "Voucher  V-77".to_owned(),
        ];
        for item in 0..items {
            lines.push(format!("Plank of oak {item}                    {}.00", 5 + item));
        }
        lines.push(format!("All in all, and no more     {total}"));
        lines.push(format!("Total weight of goods       {}.50", 90 + number));
        lines.resize(58, String::new());
        lines.push(format!("{vendor} builds boats, mail@{host}"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        (page(&lines), code, total)
    }

    fn corrected(field: &str, value: &str, page: &PageWords) -> Rule {
        let schema = Schema::built_in("invoice").unwrap();
        let pages = std::slice::from_ref(page);
        learn(&Correction { schema: &schema, field, value, pages, place: None }).unwrap()
    }

    #[test]
    fn after_one_correction_unseen_documents_of_the_vendor_are_right() {
        let schema = Schema::built_in("invoice").unwrap();
        let (first, code, total) = bill("Halyard Yard", "halyard.example", 1, 3, "Jones Ltd");
        let rules = [
            corrected("invoice_number", &code, &first),
            corrected("total_amount", &total, &first),
            corrected("seller_name", "Halyard Yard", &first),
        ];
        let (mut before, mut after) = (0, 0);
        for number in 2..12 {
            let buyer = if number % 2 == 0 { "Corner Shop GmbH" } else { "Mills & Sons" };
            let (page, code, total) = bill("Halyard Yard", "halyard.example", number, number as usize, buyer);
            let pages = [page];
            let right = |record: &Extraction| {
                record.data.get("invoice_number").is_some_and(|v| *v == code)
                    && record.data.get("total_amount").is_some_and(|v| *v == total)
                    && record.data.get("seller_name").is_some_and(|v| v == "Halyard Yard")
            };
            let plain = by_sight(&schema, &pages);
            before += usize::from(right(&plain));
            let taught = apply(&rules, &schema, &pages, plain);
            after += usize::from(right(&taught));
            assert!(taught.fields.values().all(|field| !field.evidence.is_empty()));
        }
        assert!(before <= 1 && after >= 9, "{before} before, {after} after");
    }

    #[test]
    fn documents_of_others_come_back_as_they_are() {
        let schema = Schema::built_in("invoice").unwrap();
        let (first, code, _) = bill("Halyard Yard", "halyard.example", 1, 3, "Jones Ltd");
        let rules = [corrected("invoice_number", &code, &first)];
        // The same form, another vendor; and the same buyer.
        let (other, ..) = bill("Cleat Works", "cleat.example", 4, 3, "Jones Ltd");
        let bytes = |record: &Extraction| serde_json::to_vec(record).unwrap();
        let plain = by_sight(&schema, std::slice::from_ref(&other));
        let same = apply(&rules, &schema, &[other], plain.clone());
        assert_eq!(bytes(&plain), bytes(&same));
        // Another layout that names the vendor's domain.
        let letter = page(&["Dear Sir", "please see www.halyard.example", "Sailing code Q1/2"]);
        let plain = by_sight(&schema, std::slice::from_ref(&letter));
        assert_eq!(bytes(&plain), bytes(&apply(&rules, &schema, &[letter], plain.clone())));
    }

    #[test]
    fn sender_is_known_by_what_nobody_else_has() {
        let (bill, ..) = bill("Halyard Yard", "halyard.example", 1, 3, "Jones Ltd");
        assert_eq!(marks(&[bill]), ["halyard.example"]);
        assert!(marks(&[page(&["Dear Sir", "mail me at a@gmail.com"])]).is_empty());
    }

    #[test]
    fn rules_are_kept_as_json_and_need_a_sender_and_a_place() {
        let schema = Schema::built_in("invoice").unwrap();
        let (first, code, _) = bill("Halyard Yard", "halyard.example", 1, 3, "Jones Ltd");
        let rule = corrected("invoice_number", &code, &first);
        assert_eq!(rule.lies, Lies::Beside("sailingcode".into()));
        let again: Rule = serde_json::from_str(&serde_json::to_string(&rule).unwrap()).unwrap();
        assert_eq!(rule, again);
        let nobody = page(&["Sailing code Q1037/21"]);
        let try_to = |page: &PageWords, value: &str| {
            let pages = std::slice::from_ref(page);
            learn(&Correction { schema: &schema, field: "invoice_number", value, pages, place: None })
        };
        assert_eq!(try_to(&nobody, "Q1037/21"), None);
        assert_eq!(try_to(&first, "nowhere-1"), None);
    }
}
