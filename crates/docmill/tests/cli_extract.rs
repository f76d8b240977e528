//! `docmill extract`: fields by a schema with the places they were taken from, without storing anything.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use support::Mill;

const INVOICE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
  xmlns:b="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"
  xmlns:a="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2">
  <b:ID>R-2024-17</b:ID><b:IssueDate>2024-03-09</b:IssueDate><b:DocumentCurrencyCode>EUR</b:DocumentCurrencyCode>
  <a:AccountingSupplierParty><a:Party><a:PartyName><b:Name>Kestrel Ltd</b:Name></a:PartyName></a:Party></a:AccountingSupplierParty>
  <a:AccountingCustomerParty><a:Party><a:PartyName><b:Name>Jones GmbH</b:Name></a:PartyName></a:Party></a:AccountingCustomerParty>
  <a:TaxTotal><b:TaxAmount currencyID="EUR">19.00</b:TaxAmount></a:TaxTotal>
  <a:LegalMonetaryTotal><b:TaxExclusiveAmount currencyID="EUR">100.00</b:TaxExclusiveAmount>
    <b:TaxInclusiveAmount currencyID="EUR">119.00</b:TaxInclusiveAmount>
    <b:PayableAmount currencyID="EUR">119.00</b:PayableAmount></a:LegalMonetaryTotal>
</Invoice>
"#;

#[test]
fn extract_reads_data_inside_with_its_path_and_stores_nothing() {
    let mill = Mill::new();
    mill.write("r.xml", INVOICE);
    let said = mill.run(&["extract", "in/r.xml", "--schema", "invoice", "--json"]).expect(0).json();
    assert_eq!((&said["path"], &said["schema"]), (&"in/r.xml".into(), &"invoice".into()));
    assert_eq!(said["data"]["invoice_number"], "R-2024-17");
    assert_eq!(said["data"]["total_amount"], "119.00");
    assert_eq!(said["data"]["seller_name"], "Kestrel Ltd");
    assert_eq!((&said["valid"], &said["tokens_in"]), (&true.into(), &0.into()), "{said}");
    let evidence = &said["fields"]["total_amount"]["evidence"][0];
    assert_eq!(evidence["source"], "embedded");
    assert!(evidence["path"].as_str().unwrap().contains("LegalMonetaryTotal"), "{evidence}");
    assert!(evidence["box"].is_null(), "{evidence}");
    assert!(!mill.data().try_exists().unwrap());
    let shown = mill.run(&["extract", "in/r.xml", "--schema", "invoice"]).expect(0).stdout;
    assert!(shown.contains("119.00") && shown.contains("data inside"), "{shown}");
}

#[test]
fn values_on_pages_have_a_box_that_holds_their_words() {
    let mill = Mill::new();
    mill.run(&[
        "generate", "--count", "1", "--kinds", "invoice", "--scans", "0", "--seed", "7", "--out", "in",
    ])
    .expect(0);
    let made = std::fs::read_dir(mill.path("in/docs")).unwrap().map(|entry| entry.unwrap().path());
    let pdf = made.into_iter().find(|path| path.extension().is_some_and(|ext| ext == "pdf")).unwrap();
    let said = mill
        .run(&["extract", pdf.to_str().unwrap(), "--schema", "invoice", "--sources", "page", "--json"])
        .expect(0)
        .json();
    let fields = said["fields"].as_object().unwrap();
    assert!(fields.contains_key("total_amount"), "{said}");
    for (name, field) in fields {
        let evidence = field["evidence"].as_array().unwrap();
        assert!(!evidence.is_empty(), "{name} stands nowhere: {field}");
        for at in evidence {
            assert_eq!(at["source"], "page", "{name}: {at}");
            let frame: Vec<f64> = at["box"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
            let [left, top, width, height] = frame.as_slice() else { panic!("{name}: {at}") };
            assert!(*left >= 0.0 && *top >= 0.0 && *width > 0.0 && *height > 0.0, "{name}: {at}");
            assert!(left + width <= 1.001 && top + height <= 1.001, "{name}: {at}");
        }
    }
}

#[test]
fn mistakes_in_a_schema_are_named_before_anything_is_read() {
    let mill = Mill::new();
    mill.write("r.xml", INVOICE);
    let refused = |code: i32, schema: &str, words: &[&str]| {
        mill.run(&["extract", "in/r.xml", "--schema", schema]).expect(code).says(words);
    };
    refused(2, "bill", &["bill", "invoice, "]);
    refused(1, "in/none.json", &["none.json", "cannot be read"]);
    mill.write("broken.json", "{");
    refused(2, "in/broken.json", &["broken.json", "JSON"]);
    mill.write(
        "odd.json",
        r#"{"title": "odd", "properties": {"total": {"type": "string", "x-docmill": {"colour": "red"}}}}"#,
    );
    refused(2, "in/odd.json", &["odd.json", "colour", "normalise"]);
}
