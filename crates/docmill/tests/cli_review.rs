//! `docmill schema`, `review` and `export`, and records of documents that came in.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use serde_json::Value;
use support::{Mill, Run};

const DOUBTFUL: &str = "INVOICE\n\nInvoice number: R-2024-17\nInvoice date: 2024-03-09\nDue date: 2024-04-09\n\
    Bill to: Jones GmbH\nPayment terms: 30 days\nSubtotal and VAT follow\n";

/// A mill with one doubtful invoice, and the ids of its document and its review.
fn doubtful() -> (Mill, String, String) {
    let mill = Mill::new();
    mill.write("bill.txt", DOUBTFUL);
    mill.write("letter.txt", "Dear Ada, all is well here. Yours, Bob");
    mill.run(&["ingest", "in"]).expect(0);
    let listed = mill.run(&["list", "--state", "needs_review", "--json"]).expect(0).json();
    let id = listed["documents"][0]["document_id"].as_str().unwrap().to_owned();
    let review =
        mill.run(&["show", &id, "--json"]).expect(0).json()["review_id"].as_str().unwrap().to_owned();
    (mill, id, review)
}

/// Insists that stdout has all of this.
#[track_caller]
fn prints(run: &Run, parts: &[&str]) {
    for part in parts {
        assert!(run.stdout.contains(part), "`{part}` is missing in stdout:\n{}", run.stdout);
    }
}

#[test]
fn doubtful_record_is_shown_corrected_and_exported() {
    let (mill, id, review) = doubtful();
    let shown = mill.run(&["show", &id, "--json"]).expect(0).json();
    assert_eq!(shown["record"]["data"]["invoice_number"], "R-2024-17", "{shown}");
    assert_eq!((&shown["record"]["schema"], &shown["record"]["tokens_in"]), (&"invoice".into(), &0.into()));
    prints(&mill.run(&["review", "list"]).expect(0), &[&review, "invoice", "bill.txt"]);
    prints(&mill.run(&["review", "show", &review]).expect(0), &["total_amount", "R-2024-17"]);
    mill.run(&["review", "correct", &review, "--set", "total_amount=lots"]).expect(2).says(&[
        "`lots`",
        "total_amount",
        "money",
    ]);
    let decided = mill
        .run(&[
            "review",
            "correct",
            &review,
            "--set",
            "total_amount=1.190,00",
            "--set",
            "seller_name==Kestrel",
            "--reason",
            "as on paper",
            "--json",
        ])
        .expect(0)
        .json();
    assert_eq!((&decided["state"], &decided["next"]), (&"corrected".into(), &Value::Null));
    mill.run(&["review", "accept", &review]).expect(1).says(&["corrected already"]);
    prints(&mill.run(&["review", "show", &review]).expect(0), &["by local: as on paper", "1190.00"]);
    let exported = mill.run(&["review", "export"]).expect(0).stdout;
    assert_eq!(exported.lines().count(), 2, "{exported}");
    let csv = mill.run(&["export", "--schema", "invoice", "-o", "-"]).expect(0).stdout;
    assert!(csv.contains("1190.00") && csv.contains("'=Kestrel") && csv.contains("corrected"), "{csv}");
    mill.run(&["export", "--schema", "invoice", "--format", "xlsx", "-o", "r.xlsx"]).expect(0);
    // What was written is a spreadsheet that docmill itself reads.
    let read = mill.run(&["read", "r.xlsx", "--text"]).expect(0).stdout;
    assert!(read.contains("1190.00") && read.contains("'=Kestrel"), "{read}");
    let none =
        mill.run(&["export", "--schema", "invoice", "--filter", "state=open", "-o", "-"]).expect(0).stdout;
    assert_eq!(none.lines().count(), 1, "{none}");
    mill.run(&["export", "--schema", "bill", "-o", "-"]).expect(3).says(&["no schema `bill`"]);
}

#[test]
fn documents_are_extracted_again_and_counted_before() {
    let (mill, id, review) = doubtful();
    let dry =
        mill.run(&["reprocess", "--all", "--from", "extracting", "--dry-run", "--json"]).expect(0).json();
    assert_eq!((&dry["count"], &dry["reasons"]["no_schema"]), (&1.into(), &1.into()), "{dry}");
    mill.run(&["reprocess", &id, "--from", "extracting"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let shown = mill.run(&["show", &id, "--json"]).expect(0).json();
    let newer = shown["review_id"].as_str().unwrap();
    assert_ne!(newer, review, "{shown}");
    assert_eq!((&shown["page_count"], &shown["type"]), (&1.into(), &"invoice".into()), "{shown}");
    // The older one is told to be out of date, and nothing of it is lost.
    mill.run(&["review", "accept", &review]).expect(1).says(&["superseded"]);
    let listed = mill.run(&["review", "list", "--json"]).expect(0).json();
    assert_eq!(listed["open"], 1, "{listed}");
    // With records off a pile pays nothing for them.
    let mill = Mill::new();
    mill.write("bill.txt", DOUBTFUL);
    let off = mill.with_data("data").with_settings(&[("DOCMILL_EXTRACT_SCHEMAS", "off")]);
    off.run(&["ingest", "in"]).expect(0);
    assert_eq!(mill.run(&["review", "list", "--json"]).expect(0).json()["open"], 0);
}

#[test]
fn schema_of_a_user_is_tried_added_and_used() {
    let mill = Mill::new();
    mill.write("bill.txt", DOUBTFUL);
    let schema = r#"{"title": "my_bill", "type": "object", "properties": {
        "number": {"type": "string", "x-docmill": {"critical": true, "labels": ["invoice number"]}}}}"#;
    mill.write("schema.json", schema);
    let mill = mill.with_settings(&[("DOCMILL_EXTRACT_SCHEMAS", "invoice=my_bill")]);
    mill.run(&["ingest", "in/bill.txt"]).expect(0);
    let listed = mill.run(&["list", "--json"]).expect(0).json();
    let id = listed["documents"][0]["document_id"].as_str().unwrap();
    let problems = mill.run(&["show", id, "--json"]).expect(0).json()["problems"].to_string();
    assert!(problems.contains("NOT_EXTRACTED") && problems.contains("my_bill"), "{problems}");
    let tried = mill.run(&["schema", "test", "in/schema.json", id, "--json"]).expect(0).json();
    assert_eq!(tried["data"]["number"], "R-2024-17", "{tried}");
    prints(&mill.run(&["schema", "add", "in/schema.json"]).expect(0), &["my_bill", "version 1"]);
    prints(&mill.run(&["schema", "list"]).expect(0), &["my_bill", "yours", "bank_statement"]);
    prints(&mill.run(&["schema", "show", "my_bill"]).expect(0), &["invoice number"]);
    mill.run(&["reprocess", id, "--from", "extracting"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let shown = mill.run(&["show", id, "--json"]).expect(0).json();
    assert_eq!(
        (&shown["record"]["schema"], &shown["record"]["data"]["number"]),
        (&"my_bill".into(), &"R-2024-17".into())
    );
    mill.write("odd.json", r#"{"title": "odd", "properties": {"a": {"x-docmill": {"colour": "red"}}}}"#);
    mill.run(&["schema", "add", "in/odd.json"]).expect(2).says(&["properties.a.x-docmill.colour"]);
    mill.write("broken.json", "{");
    mill.run(&["schema", "add", "in/broken.json"]).expect(2).says(&["broken.json", "no JSON"]);
    mill.run(&["schema", "add", "in/schema.json", "--name", "invoice"]).expect(2).says(&["built in"]);
}

/// A bill of one sender, who has a word of its own for what is to be paid.
fn bill_of_kestrel(number: u32, items: u32, total: &str) -> String {
    let items: Vec<String> = (1..=items).map(|n| format!("Office chairs of model {n}\n")).collect();
    format!(
        "KESTREL LTD\nHarbour Lane 4, Leeds\n\nINVOICE\n\nInvoice number: K-{number}\nInvoice date: 2024-03-09\n\
         Bill to: Jones GmbH\n\n{}\nKindly remit   {total}\n\n\
         IBAN DE89370400440532013000\nwww.kestrel.example\n",
        items.concat()
    )
}

/// The record of the document that was brought in under this name.
fn record_of(mill: &Mill, name: &str) -> Value {
    let listed = mill.run(&["list", "--json"]).expect(0).json();
    let found = listed["documents"].as_array().unwrap().iter().find(|d| d["name"] == name).unwrap();
    mill.run(&["show", found["document_id"].as_str().unwrap(), "--json"]).expect(0).json()["record"].clone()
}

#[test]
fn one_correction_is_learnt_for_ten_more_of_the_same_sender_and_changes_nothing_for_others() {
    let mill = Mill::new();
    let heron = bill_of_kestrel(3, 2, "88.10")
        .replace("KESTREL LTD", "HERON INC")
        .replace("Harbour Lane 4, Leeds", "Mill Road 9, York")
        .replace("DE89370400440532013000", "GB29NWBK60161331926819")
        .replace("www.kestrel.example", "www.heron.example");
    mill.write("kestrel.txt", bill_of_kestrel(1, 1, "57.36"));
    mill.write("others/heron.txt", &heron);
    mill.write("others/teal.txt", heron.replace("HERON INC", "TEAL BV").replace("Kindly remit", "Total due"));
    mill.write(
        "others/wren.txt",
        "WREN SARL\n\nFACTURE N° F-88\n\nDate : 13/11/2017\nTotal TTC   39,00 EUR\n",
    );
    mill.run(&["ingest", "in"]).expect(0);
    let others =
        || ["heron.txt", "teal.txt", "wren.txt"].map(|name| record_of(&mill, name)["fields"].clone());
    let (before, kestrel) = (others(), record_of(&mill, "kestrel.txt"));
    assert_ne!(kestrel["data"]["total_amount"], "57.36", "there is nothing to be learnt: {kestrel}");

    let review = mill.run(&["review", "list", "--json"]).expect(0).json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["name"] == "kestrel.txt")
        .unwrap()["review_id"]
        .clone();
    mill.run(&["review", "correct", review.as_str().unwrap(), "--set", "total_amount=57.36"]).expect(0);

    let unseen: Vec<(String, String)> = (2..12)
        .map(|n| (format!("more/{n}.txt"), format!("{}.{:02}", 137 * n % 1000, 11 * n % 100)))
        .collect();
    for (n, (name, total)) in (2..).zip(&unseen) {
        mill.write(name, bill_of_kestrel(n, n % 7, total));
    }
    mill.run(&["ingest", "in/more"]).expect(0);
    for (name, total) in &unseen {
        let learnt = &record_of(&mill, &name["more/".len()..])["fields"]["total_amount"];
        assert_eq!(
            (&learnt["value"], &learnt["method"]),
            (&total.as_str().into(), &"learnt".into()),
            "{name}"
        );
    }
    mill.run(&["reprocess", "--all", "--from", "extracting"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!(others(), before);
}
