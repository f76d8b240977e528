//! `docmill classify`: what files are and say, without storing anything.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use serde_json::json;
use support::Mill;
use support::model::write_hollow_model;

const LETTER: &str = "Kestrel Ltd\n14 Foundry Lane\nLeeds\n\nLeeds, 9 March 2024\n\nSubject: Delivery of office chairs\n\n\
    Dear Mr Jones,\n\nThank you for your order of twelve office chairs. The office chairs leave our warehouse in Leeds on \
    Monday. Our driver will call you before the delivery. This letter is strictly confidential.\n\nYours sincerely\n\
    Ann Smith\n";

#[test]
fn classify_says_what_a_file_is_and_stores_nothing() {
    let mill = Mill::new();
    mill.write("scan0001.txt", LETTER);
    let said = mill.run(&["classify", "in/scan0001.txt", "--json"]).expect(0).json();
    assert_eq!(said["path"], "in/scan0001.txt");
    assert_eq!(said["title"], "Delivery of office chairs");
    assert_eq!(said["type"], "letter");
    assert_eq!(said["date"], "2024-03-09");
    assert!(said["summary"].as_str().unwrap().contains("office chairs"), "{said}");
    assert!(said["tags"].as_array().unwrap().len() > 1, "{said}");
    let privacy = &said["labels"]["privacy"];
    assert_eq!(privacy["labels"], json!(["confidential"]));
    assert_eq!(privacy["method"], "rules");
    assert!(privacy["confidence"].as_f64().unwrap() > 0.0, "{said}");
    assert!(privacy["scores"]["confidential"].as_f64().unwrap() > 0.0, "{said}");
    assert_eq!(privacy["matched"][0]["label"], "confidential");
    // What needs a model says so, and how it is switched on.
    let industries = &said["labels"]["industries"];
    assert_eq!((&industries["method"], &industries["labels"]), (&json!("off"), &json!([])));
    assert!(industries["reason"].is_string(), "{said}");
    assert!(!mill.data().try_exists().unwrap());
    let shown = mill.run(&["classify", "in/scan0001.txt"]).expect(0).stdout;
    assert!(shown.contains("Delivery of office chairs") && shown.contains("2024-03-09"), "{shown}");
}

#[test]
fn classify_tries_label_sets_of_the_user_and_names_every_mistake_in_them() {
    let mill = Mill::new();
    mill.write("note.txt", "The boiler in the cellar leaks again and needs a new valve.\n");
    mill.write("like-this.txt", "The tap drips and the valve must be replaced.\n");
    mill.write(
        "rooms.toml",
        "name = \"rooms\"\nmode = \"rules\"\nchoose = \"many\"\nthreshold = 1\n\
         [[label]]\nname = \"cellar\"\nfiles = [\"like-this.txt\"]\n[label.keywords]\ncellar = 2\n\
         [[label]]\nname = \"attic\"\n[label.keywords]\nattic = 2\n",
    );
    let said = mill.run(&["classify", "in/note.txt", "--labels", "in/rooms.toml", "--json"]).expect(0).json();
    assert_eq!(said["labels"]["rooms"]["labels"], json!(["cellar"]), "{said}");
    assert!(said["labels"]["privacy"].is_null(), "the sets that are built in are not asked: {said}");
    mill.write("broken.toml", "name = \"x\"\nmode = \"guess\"\n[[label]]\ncolour = \"red\"\n");
    mill.run(&["classify", "in/note.txt", "--labels", "in/broken.toml"]).expect(1).says(&[
        "broken.toml",
        "guess",
        "colour",
    ]);
    let many = "\"a.txt\", ".repeat(1_001);
    mill.write(
        "many.toml",
        format!(
            "name = \"x\"\nmode = \"examples\"\n[[label]]\nname = \"a\"\nfiles = [{many}]\n\
             [[label]]\nname = \"b\"\nexamples = [\"b\"]\n"
        ),
    );
    mill.run(&["classify", "in/note.txt", "--labels", "in/many.toml"]).expect(1).says(&[
        "many.toml",
        "1001",
        "1000",
    ]);
    mill.run(&["classify", "in/note.txt", "--labels", "in/none.toml"]).expect(1).says(&["none.toml"]);
    mill.run(&["classify", "in/none.txt"]).expect(1).says(&["none.txt", "does not exist"]);
}

#[test]
fn type_that_only_the_meaning_tells_is_listed_shown_filtered_and_counted() {
    let mill = Mill::new();
    write_hollow_model(&mill.data().join("models/all-minilm-l6-v2"));
    mill.write("note.txt", "The heron stood in the river and looked at the reeds for a long time.\n");
    mill.write("invoice.txt", "INVOICE\n\nInvoice number: 17\nAmount due: 12.00\nPayment terms: 30 days\n");
    // To this model every kind is as near as every other; which it takes is the same each time.
    let said = mill.run(&["classify", "in/note.txt", "--json"]).expect(0).json();
    assert_eq!(said["evidence"]["type"]["method"], "semantic", "{said}");
    let kind = said["type"].as_str().unwrap();
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let list = mill.run(&["list", "--json"]).expect(0).json();
    let note = list["documents"].as_array().unwrap().iter().find(|d| d["name"] == "note.txt").unwrap();
    assert_eq!(note["type"], kind, "{list}");
    let shown = mill.run(&["show", note["document_id"].as_str().unwrap(), "--json"]).expect(0).json();
    assert_eq!((&shown["type"], &shown["evidence"]["type"]["method"]), (&json!(kind), &json!("semantic")));
    let count = |kind: &str| {
        let filter = format!("type={kind}");
        let selected = mill.run(&["reprocess", "--where", &filter, "--dry-run", "--json"]).expect(0).json();
        let found = mill.run(&["search", "heron river", "--mode", "text", "--filter", &filter, "--json"]);
        let found = found.expect(0).json();
        assert_eq!(found["facets"]["type"].get(kind).unwrap_or(&json!(0)), &found["total"], "{found}");
        (selected["count"].as_u64().unwrap(), found["total"].as_u64().unwrap())
    };
    assert_eq!((count(kind), count("other")), ((1, 1), (0, 0)));
}
