//! Data inside files that says the truth: invoices as XML (CII and UBL), cards of people, heads of mails.
//!
//! Each value says on which path of the data it stands, and how it reads there. What is no such data gives nothing, soon:
//! the sizes are limited in `tree`. A form of invoices is a file of its own; `card` and `mail` are for letters.

mod card;
mod cii;
mod mail;
mod tree;
mod ubl;
mod value;

use std::collections::BTreeMap;

use docmill_core::extraction::{Evidence, EvidenceSource, Field};
use serde_json::{Map, Value};

use self::tree::{Node, Tree};

pub use self::card::card;
pub use self::mail::mail;

/// Lines of one invoice.
const MAX_ITEMS: usize = 10_000;

/// A file that declares its own values can be wrong in them, but not in how they were read.
const CONFIDENCE: f32 = 0.99;

/// How deep an invoice may stand in an envelope.
const MAX_ENVELOPES: usize = 3;

/// Values and where they stand.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The record.
    pub data: Map<String, Value>,
    /// How each value was found, by its path in the record: `items[0].quantity`.
    pub fields: BTreeMap<String, Field>,
}

/// A form of invoices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// `CrossIndustryInvoice` and the `CrossIndustryDocument` of ZUGFeRD 1.0.
    Cii,
    /// `Invoice` and `CreditNote` of UBL 2.
    Ubl,
}

/// The fields of the schema `invoice`, from an invoice as XML; nothing if it is none.
pub fn invoice(xml: &[u8]) -> Option<Found> {
    let tree = Tree::parse(xml)?;
    let (root, form) = top(&tree)?;
    let found = match form {
        Form::Cii => cii::invoice(root),
        Form::Ubl => ubl::invoice(root),
    };
    (!found.fields.is_empty()).then_some(found)
}

/// Whether this is an invoice as XML that [`invoice`] understands.
pub fn is_invoice(xml: &[u8]) -> bool {
    Tree::parse(xml).is_some_and(|tree| top(&tree).is_some())
}

/// The element that is an invoice: the root, or inside an envelope.
fn top(tree: &Tree) -> Option<(Node<'_>, Form)> {
    // Elements come in the order of the document: inside an envelope the invoice follows a short head.
    tree.nodes().take(1_000).find_map(|node| {
        let form = match node.name() {
            "CrossIndustryInvoice" | "CrossIndustryDocument" => Form::Cii,
            "Invoice" | "CreditNote" if is_ubl(node) => Form::Ubl,
            _ => return None,
        };
        (node.depth() <= MAX_ENVELOPES).then_some((node, form))
    })
}

/// Many forms have an `Invoice`: it is the namespace that tells, or without one what stands in it.
fn is_ubl(node: Node<'_>) -> bool {
    match node.namespace() {
        Some(uri) => uri.starts_with("urn:oasis:names:specification:ubl:schema:xsd:"),
        None => node.find("LegalMonetaryTotal").is_some() && node.find("AccountingSupplierParty").is_some(),
    }
}

impl Found {
    /// Puts the value that `read` makes of the first of these elements that gives one.
    fn put<'t>(
        &mut self,
        name: &str,
        nodes: impl IntoIterator<Item = Option<Node<'t>>>,
        read: impl Fn(&str) -> Option<String>,
    ) {
        let first = nodes.into_iter().flatten().find_map(|node| read(node.text()).map(|value| (node, value)));
        if let Some((node, value)) = first {
            self.set(name, value, vec![evidence(node)]);
        }
    }

    fn set(&mut self, name: &str, value: String, evidence: Vec<Evidence>) {
        self.data.insert(name.to_owned(), Value::String(value.clone()));
        self.fields.insert(name.to_owned(), field(value, evidence, "xml"));
    }

    /// An address of these parts, each on a line of its own; parts that are a list stand on one line.
    fn put_address(&mut self, name: &str, lines: &[Vec<Option<Node<'_>>>]) {
        let mut said = Vec::new();
        let mut parts = Vec::new();
        for nodes in lines {
            let nodes: Vec<Node<'_>> = nodes.iter().copied().flatten().collect();
            let words: Vec<String> = nodes.iter().filter_map(|node| value::line(node.text())).collect();
            if !words.is_empty() {
                parts.push(words.join(" "));
                said.extend(nodes.into_iter().filter(|node| !node.text().is_empty()).map(evidence));
            }
        }
        if !parts.is_empty() {
            self.set(name, parts.join(", "), said);
        }
    }

    /// Adds a line of the invoice.
    fn add_item(&mut self, item: Found) {
        if item.data.is_empty() {
            return;
        }
        let items = self.data.entry("items").or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(items) = items else { return };
        let at = items.len();
        if at >= MAX_ITEMS {
            return;
        }
        items.push(Value::Object(item.data));
        for (name, field) in item.fields {
            self.fields.insert(format!("items[{at}].{name}"), field);
        }
    }
}

/// A tax number among several: the one for value added tax before any other.
fn before_others<'t>(
    nodes: impl Iterator<Item = Node<'t>>,
    first: impl Fn(Node<'t>) -> bool,
) -> Option<Node<'t>> {
    let mut other = None;
    for node in nodes {
        if first(node) {
            return Some(node);
        }
        other = other.or(Some(node));
    }
    other
}

/// An amount in the currency of the invoice before one in another.
fn in_currency<'t>(nodes: impl Iterator<Item = Node<'t>>, currency: Option<&str>) -> Option<Node<'t>> {
    before_others(nodes, |node| currency.is_some() && node.attribute("currencyID") == currency)
}

fn evidence(node: Node<'_>) -> Evidence {
    Evidence {
        source: EvidenceSource::Embedded,
        span: Some(node.text().to_owned()),
        path: Some(node.path()),
        ..Evidence::default()
    }
}

fn field(value: String, evidence: Vec<Evidence>, method: &str) -> Field {
    Field { value: Value::String(value), confidence: CONFIDENCE, method: method.to_owned(), evidence }
}

#[cfg(test)]
mod tests;
