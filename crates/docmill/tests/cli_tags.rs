//! Tags, near duplicates and label sets of the real binary, without a model.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use serde_json::{Value, json};
use support::Mill;

const CHAIRS: &str = "Subject: Delivery of office chairs\n\nDear Mr Jones,\n\nThank you for your order of twelve office chairs. \
    The office chairs leave our warehouse in Leeds on Monday. Our driver will call you before the delivery of the office \
    chairs, and the delivery takes an hour.\n\nYours sincerely\nAnn Smith\n";

fn ingested() -> Mill {
    let mill = Mill::new();
    mill.write("a.txt", CHAIRS);
    mill.write("b.txt", CHAIRS.replace("Mr Jones", "Mrs Brown"));
    mill.write(
        "c.txt",
        "Subject: Apple harvest\n\nThe apple harvest was good. The apple harvest ends in October.\n",
    );
    mill.run(&["ingest", "in"]).expect(0);
    mill
}

fn tags(mill: &Mill) -> Vec<(String, u64)> {
    let answer = mill.run(&["tags", "--json"]).expect(0).json();
    let line = |line: &Value| (line["tag"].as_str().unwrap().to_owned(), line["documents"].as_u64().unwrap());
    answer["items"].as_array().unwrap().iter().map(line).collect()
}

fn names(mill: &Mill, tag: &str) -> Vec<String> {
    let list = mill.run(&["list", "--tag", tag, "--json"]).expect(0).json();
    let mut names: Vec<String> = list["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

fn id_of(mill: &Mill, name: &str) -> String {
    let list = mill.run(&["list", "--json"]).expect(0).json();
    let found = list["documents"].as_array().unwrap().iter().find(|d| d["name"] == name).unwrap();
    found["document_id"].as_str().unwrap().to_owned()
}

#[test]
fn tags_are_counted_listed_merged_and_forgotten() {
    let mill = ingested();
    let chairs = tags(&mill).into_iter().find(|(tag, _)| tag.to_lowercase() == "office chairs");
    assert_eq!(chairs.map(|(_, documents)| documents), Some(2), "{:?}", tags(&mill));
    assert_eq!(names(&mill, "OFFICE chairs"), ["a.txt", "b.txt"]);
    let merged = mill.run(&["tags", "merge", "office chairs", "Furniture", "--json"]).expect(0).json();
    assert_eq!(merged, json!({ "tag": { "tag": "Furniture", "documents": 2 }, "moved": 2 }));
    // A document that comes later is found under the new name, and so are those who ask for the old one.
    mill.write("d.txt", CHAIRS.replace("twelve", "twenty"));
    mill.run(&["ingest", "in"]).expect(0);
    assert_eq!(names(&mill, "furniture"), ["a.txt", "b.txt", "d.txt"]);
    assert_eq!(names(&mill, "office chairs"), names(&mill, "furniture"));
    let shown = mill.run(&["show", &id_of(&mill, "d.txt"), "--json"]).expect(0).json();
    let shown: Vec<&str> =
        shown["tags"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap()).collect();
    assert!(
        shown.contains(&"Furniture") && !shown.iter().any(|tag| tag.eq_ignore_ascii_case("office chairs")),
        "{shown:?}"
    );
    let listed = mill.run(&["tags", "furn"]).expect(0).stdout;
    assert!(listed.contains("Furniture") && listed.contains('3'), "{listed}");
    mill.run(&["tags", "merge", "no such tag", "x"]).expect(3).says(&["no such tag", "docmill tags"]);
    mill.run(&["list", "--tag", " "]).expect(2).says(&["needs a name"]);
}

#[test]
fn similar_tags_are_told_by_spelling_where_there_is_no_model() {
    let mill = Mill::new();
    for (name, what) in [("a.txt", "copper kettle"), ("b.txt", "copper kettles")] {
        let text = format!(
            "We like the {what}. Nobody wants the {what}. Somebody asked for the {what}. They sold the {what}.\n"
        );
        mill.write(name, text);
    }
    mill.run(&["ingest", "in"]).expect(0);
    let similar = mill.run(&["tags", "similar", "--json"]).expect(0).json();
    let pair = |pair: &Value| {
        let mut both = [pair["from"]["tag"].as_str().unwrap(), pair["into"]["tag"].as_str().unwrap()]
            .map(str::to_lowercase);
        both.sort();
        both == ["copper kettle", "copper kettles"] && pair["method"] == "spelling"
    };
    assert!(similar["items"].as_array().unwrap().iter().any(pair), "{similar}");
    assert!(similar["note"].as_str().unwrap().contains("spelling"), "{similar}");
}

#[test]
fn near_duplicates_are_named_with_what_they_share() {
    let mill = ingested();
    let id = id_of(&mill, "a.txt");
    let shown = mill.run(&["show", &id]).expect(0).stdout;
    assert!(shown.contains("NEARLY THE SAME") && shown.contains("b.txt"), "{shown}");
    let apples = mill.run(&["show", &id_of(&mill, "c.txt")]).expect(0);
    assert!(!apples.stdout.contains("NEARLY THE SAME"), "{}", apples.stdout);
}

#[test]
fn documents_are_sorted_by_the_label_sets_of_the_settings() {
    let mill = Mill::new();
    let file = mill.path("rooms.toml");
    std::fs::write(
        &file,
        "name = \"rooms\"\nmode = \"rules\"\n[[label]]\nname = \"cellar\"\n[label.keywords]\nboiler = 2\n\
         [[label]]\nname = \"attic\"\n[label.keywords]\nroof = 2\n",
    )
    .unwrap();
    let mill = mill.with_settings(&[("DOCMILL_UNDERSTAND_LABELS", file.to_str().unwrap())]);
    mill.write("a.txt", "The boiler is warm, and the boiler is old.\n");
    mill.run(&["ingest", "in"]).expect(0);
    let shown = mill.run(&["show", &id_of(&mill, "a.txt"), "--json"]).expect(0).json();
    assert_eq!(shown["labels"]["rooms"]["labels"], json!(["cellar"]));
    assert!(shown["labels"]["privacy"]["labels"].is_array(), "the built-in sets are still there: {shown}");
    // A mistake in it is told before anything is done.
    std::fs::write(&file, "name = \"rooms\"\nmode = \"guess\"\n").unwrap();
    mill.run(&["list"]).says(&["rooms.toml", "mode"]);
}
