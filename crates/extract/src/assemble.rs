//! What data inside a file says, completed by what can be seen, as one record.

use std::collections::BTreeMap;

use docmill_core::extraction::{Extraction, Field};
use docmill_core::words::PageWords;

use crate::schema::Schema;
use crate::{asked, by_sight, embedded, gate, nda};

/// Cards of people.
const CARD: &str = "text/vcard";

/// What a record may be taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sources {
    /// Data inside the file where there is any, and the pages for what it does not say.
    Auto,
    /// Only what can be seen.
    Page,
    /// Only data inside the file.
    Embedded,
}

/// A document, as a record is taken from it.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// Where its words stand.
    pub pages: &'a [PageWords],
    /// The text of its pages, with their numbers.
    pub texts: Vec<(u32, &'a str)>,
    /// Its own bytes if it is data, and the files inside it.
    pub data: Vec<&'a [u8]>,
    /// What it says of itself.
    pub metadata: &'a BTreeMap<String, String>,
    /// What it is.
    pub media_type: &'a str,
}

/// Takes a record from a document.
pub fn extract(schema: &Schema, material: &Material<'_>, sources: Sources) -> Extraction {
    let mut fields = BTreeMap::new();
    if sources != Sources::Page {
        fields = inside(schema, material);
        fields.retain(|path, _| asked(schema, path));
    }
    if sources != Sources::Embedded {
        let said: Vec<String> = fields.keys().map(|path| root(path).to_owned()).collect();
        let mut seen = seen(schema, material);
        // Rows of two sources are never mixed: their order may differ.
        seen.retain(|path, _| asked(schema, path) && !said.iter().any(|said| said == root(path)));
        fields.extend(seen);
    }
    gate::pass(schema, fields)
}

/// `items` of `items[0].quantity`.
fn root(path: &str) -> &str {
    path.split('[').next().unwrap_or(path)
}

/// What data inside the file says. Heads of mails and cards of people are asked by the names of their own fields too.
fn inside(schema: &Schema, material: &Material<'_>) -> BTreeMap<String, Field> {
    if schema.finder.as_deref() == Some("invoice") {
        let invoice = material.data.iter().find_map(|bytes| embedded::invoice(bytes));
        return invoice.map(|found| found.fields).unwrap_or_default();
    }
    if is_mail(material.media_type) {
        let headers = material.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        return embedded::mail(headers).fields;
    }
    let texts = material.data.iter().filter_map(|bytes| std::str::from_utf8(bytes).ok());
    let card = texts.filter(|_| material.media_type == CARD).find_map(embedded::card);
    let mut fields = card.map(|found| found.fields).unwrap_or_default();
    if schema.finder.as_deref() == Some("letter")
        && let Some(name) = fields.remove("name")
    {
        fields.insert("sender".to_owned(), name);
    }
    fields
}

/// What can be seen.
fn seen(schema: &Schema, material: &Material<'_>) -> BTreeMap<String, Field> {
    if schema.finder.as_deref() == Some("nda") {
        let texts: Vec<_> = material.texts.iter().map(|&(number, text)| nda::Page { number, text }).collect();
        return nda::agreement(&texts, material.pages).fields;
    }
    by_sight(schema, material.pages).fields
}

fn is_mail(media_type: &str) -> bool {
    media_type == "message/rfc822" || media_type == "application/vnd.ms-outlook"
}

#[cfg(test)]
mod tests {
    use docmill_core::Result;
    use docmill_core::extraction::EvidenceSource;

    use super::*;

    const XML: &[u8] = br#"<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">
      <ID>R-17</ID><IssueDate>2024-03-09</IssueDate><DocumentCurrencyCode>EUR</DocumentCurrencyCode>
      <AccountingSupplierParty/><LegalMonetaryTotal/></Invoice>"#;

    fn material<'a>(data: &'a [u8], metadata: &'a BTreeMap<String, String>) -> Material<'a> {
        Material { pages: &[], texts: Vec::new(), data: vec![data], metadata, media_type: "text/xml" }
    }

    #[test]
    fn data_inside_is_taken_unless_only_pages_count() -> Result<()> {
        let schema = Schema::built_in("invoice")?;
        let nothing = BTreeMap::new();
        let found = extract(&schema, &material(XML, &nothing), Sources::Auto);
        let number = &found.fields["invoice_number"];
        assert_eq!(number.value, "R-17");
        assert_eq!(number.evidence[0].source, EvidenceSource::Embedded);
        assert!(extract(&schema, &material(XML, &nothing), Sources::Page).fields.is_empty());
        Ok(())
    }

    #[test]
    fn nothing_at_all_lacks_what_is_critical() -> Result<()> {
        let schema = Schema::built_in("receipt")?;
        let nothing = BTreeMap::new();
        let found = extract(&schema, &material(b"", &nothing), Sources::Auto);
        assert!(!found.valid && found.violations.iter().all(|violation| violation.rule == "missing"));
        Ok(())
    }

    #[test]
    fn card_is_asked_by_the_names_of_its_fields() -> Result<()> {
        let card = b"BEGIN:VCARD\r\nFN:Ada Lovelace\r\nEMAIL:ada@example.org\r\nEND:VCARD\r\n";
        let own = Schema::parse(r#"{"title": "person", "properties": {"name": {}, "email": {}}}"#)?;
        let nothing = BTreeMap::new();
        let material = Material { media_type: "text/vcard", ..material(card, &nothing) };
        let found = extract(&own, &material, Sources::Auto);
        assert_eq!(
            (&found.data["name"], &found.data["email"]),
            (&"Ada Lovelace".into(), &"ada@example.org".into())
        );
        let letter = extract(&Schema::built_in("letter")?, &material, Sources::Embedded);
        assert_eq!(letter.data["sender"], "Ada Lovelace");
        Ok(())
    }
}
