use docmill_core::extraction::Evidence;
use docmill_core::ports::llm::Ending;
use docmill_core::words::PageWords;

use super::weigh::agreed;
use super::*;
use crate::layout::tests::page;
use crate::{Sources, by_sight, extract};

const LINES: [&str; 4] = ["Corner Shop", "12 High Street", "Date 09/03/2024", "Grand sum of it all 12.50"];
const TEXT: &str = "Corner Shop\n12 High Street\nDate 09/03/2024\nGrand sum of it all 12.50\n";

fn answer(text: &str, ending: Ending) -> Answer {
    Answer { text: text.into(), ending, model: "m-1".into(), tokens_in: 100, tokens_out: 5, cost: None }
}

/// Asks with these answers, one after the other, and says how many were wanted.
fn interview(answers: &[Result<Answer>]) -> (Interviewed, usize) {
    asked_for(answers, Asking { all: true, max_bytes: 8_000, ..Asking::default() })
}

fn asked_for(answers: &[Result<Answer>], asking: Asking) -> (Interviewed, usize) {
    asked_about(&[page(&LINES)], &[(1, TEXT)], answers, asking)
}

fn asked_about(
    pages: &[PageWords],
    texts: &[(u32, &str)],
    answers: &[Result<Answer>],
    asking: Asking,
) -> (Interviewed, usize) {
    let schema = Schema::built_in("receipt").unwrap();
    let nothing = BTreeMap::new();
    let material = Material {
        pages,
        texts: texts.to_vec(),
        data: Vec::new(),
        metadata: &nothing,
        media_type: "image/png",
    };
    let local = extract(&schema, &material, Sources::Page);
    let mut interview = Interview::new(&schema, &material, local, asking);
    let mut asked = 0;
    while let Some(question) = interview.question() {
        assert!(question.task.contains("total") || question.task.contains("items"));
        let next = answers.get(asked).or(answers.last());
        let answer = match next {
            Some(Ok(answer)) => Ok(answer.clone()),
            Some(Err(error)) => Err(Error::new(error.kind(), error.message().to_owned())),
            None => Err(Error::bug("asked too often")),
        };
        interview.take(answer);
        asked += 1;
    }
    (interview.finish(), asked)
}

fn said(total: &str) -> String {
    format!(
        r#"{{"company": "Corner Shop", "address": null, "date": "2024-03-09", "total": {total}, "currency": null,
            "tax_total": null, "items": []}}"#
    )
}

#[test]
fn value_that_the_page_vouches_for_is_taken_with_its_box() {
    let local = by_sight(&Schema::built_in("receipt").unwrap(), &[page(&LINES)]);
    assert!(!local.fields.contains_key("total"), "rules do not know this label: {local:?}");
    let (outcome, asked) = interview(&[Ok(answer(&said("\"12.50\""), Ending::Complete))]);
    let total = &outcome.extraction.fields["total"];
    assert_eq!((total.value.as_str(), total.method.as_str(), asked), (Some("12.50"), "llm", 1));
    assert!(total.evidence[0].frame.is_some() && outcome.extraction.valid, "{outcome:?}");
    let told = &outcome.extraction;
    assert_eq!((told.model.as_deref(), told.tokens_in, told.tokens_out), (Some("m-1"), 100, 5));
    assert!(outcome.problem.is_none());
}

#[test]
fn invented_value_is_asked_for_once_more_and_then_told_as_ungrounded() {
    let invented = answer(&said("\"99.99\""), Ending::Complete);
    let only = answer(r#"{"total": "99.99"}"#, Ending::Complete);
    let (outcome, asked) = interview(&[Ok(invented), Ok(only)]);
    assert_eq!(asked, 2);
    let extraction = outcome.extraction;
    assert!(!extraction.valid && extraction.fields["total"].confidence < f32::EPSILON);
    assert!(extraction.violations.iter().any(|v| v.field == "total" && v.rule == "ungrounded"));
    // What rules found is not given up for what stands nowhere.
    let other = said("\"12.50\"").replace("2024-03-09", "2021-01-01");
    let (outcome, _) = interview(&[Ok(answer(&other, Ending::Complete))]);
    assert_eq!(outcome.extraction.fields["date"].value, "2024-03-09");
}

#[test]
fn field_that_was_left_out_is_asked_for_by_itself() {
    let answers =
        [Ok(answer(&said("null"), Ending::Complete)), Ok(answer(r#"{"total": "12.50"}"#, Ending::Complete))];
    let (outcome, asked) = interview(&answers);
    assert_eq!((asked, outcome.extraction.data["total"].as_str()), (2, Some("12.50")));
    assert_eq!((outcome.extraction.tokens_in, outcome.extraction.valid), (200, true));
}

#[test]
fn malformed_answer_is_asked_for_once_more() {
    let answers = [
        Ok(answer("The total is 12.50.", Ending::Complete)),
        Ok(answer(&said("\"12.50\""), Ending::Complete)),
    ];
    let (outcome, asked) = interview(&answers);
    assert_eq!((asked, outcome.extraction.valid), (2, true));
    let (outcome, asked) = interview(&[Ok(answer("{", Ending::Complete))]);
    assert_eq!((asked, outcome.extraction.tokens_in), (2, 200));
    assert_eq!(outcome.problem.map(|e| e.kind()), Some(ErrorKind::SchemaMismatch));
    assert_eq!(outcome.extraction.data["date"], "2024-03-09");
}

#[test]
fn refusal_and_silence_leave_what_rules_found() {
    for (answer, kind) in [
        (Ok(answer("no", Ending::Refused)), ErrorKind::ContentBlocked),
        (Err(Error::timeout("nobody answered")), ErrorKind::Timeout),
    ] {
        let (outcome, asked) = interview(&[answer]);
        assert_eq!((asked, outcome.problem.map(|e| e.kind())), (1, Some(kind)));
        assert_eq!(outcome.extraction.data["company"], "Corner Shop");
        assert!(outcome.extraction.violations.iter().any(|v| v.field == "total" && v.rule == "missing"));
    }
}

#[test]
fn only_what_is_doubtful_is_asked_for() {
    let schema = Schema::built_in("receipt").unwrap();
    let local = Extraction { schema: "receipt".into(), ..gate::pass(&schema, BTreeMap::new()) };
    let nothing = BTreeMap::new();
    let material = Material {
        pages: &[],
        texts: vec![(1, TEXT)],
        data: Vec::new(),
        metadata: &nothing,
        media_type: "text/plain",
    };
    let asking = Asking { max_bytes: 8_000, ..Asking::default() };
    let interview = Interview::new(&schema, &material, local, asking.clone());
    let asked = interview.planned();
    let [question] = asked.as_slice() else { panic!("one piece: {asked:?}") };
    let names: Vec<&str> =
        question.schema.body["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["company", "date", "total"]);
    let (outcome, asked) = asked_for(&[Ok(answer(r#"{"total": "12.50"}"#, Ending::Complete))], asking);
    assert_eq!((asked, outcome.extraction.valid), (1, true), "the total alone: {outcome:?}");
}

#[test]
fn what_stands_only_in_words_to_the_model_vouches_for_nothing() {
    let distrusted = Asking::words("all 12.50").collect();
    let asking = Asking { max_bytes: 8_000, distrusted, ..Asking::default() };
    let (outcome, _) = asked_for(&[Ok(answer(r#"{"total": "12.50"}"#, Ending::Complete))], asking);
    let told = &outcome.extraction.violations;
    assert!(told.iter().any(|v| v.field == "total" && v.rule == "ungrounded"), "{outcome:?}");
}

#[test]
fn model_that_repeats_what_was_badly_read_makes_it_no_surer() {
    let lines = ["Corner Shop", "12 High Street", "Date 09/03/2024", "Total 57.86"];
    let text = lines.join("\n");
    let total = |sure: f32| {
        let mut read = page(&lines);
        for word in &mut read.words {
            word.confidence = Some(sure);
        }
        let local = by_sight(&Schema::built_in("receipt").unwrap(), &[read.clone()]);
        let answers = [Ok(answer(&said("\"57.86\""), Ending::Complete))];
        let asking = Asking { all: true, max_bytes: 8_000, ..Asking::default() };
        let (outcome, _) = asked_about(&[read], &[(1, text.as_str())], &answers, asking);
        let of = |found: &Extraction| found.fields["total"].confidence;
        (of(&local), of(&outcome.extraction))
    };
    let (local, both) = total(0.3);
    assert!(local < gate::ACCEPTED && (both - local).abs() < 1e-6, "{local} became {both}");
    let boxed = vec![Evidence { frame: Some([0.0; 4]), ..Evidence::default() }];
    let field = |confidence: f32| Field {
        value: "57.86".into(),
        confidence,
        method: METHOD.to_owned(),
        evidence: boxed.clone(),
    };
    for (local, read, both) in [(0.55, 0.3, 0.55), (0.55, 0.7, 0.7), (0.55, 1.0, 0.91), (0.9, 0.3, 0.9)] {
        let found = agreed(field(local), &field(GROUNDED * read)).confidence;
        assert!((found - both).abs() < 1e-3, "{local} and {read} became {found}");
    }
}

#[test]
fn value_without_a_box_is_accepted_only_where_nothing_has_one() {
    let answers = [Ok(answer(&said("\"99.00\""), Ending::Complete))];
    let texts = [(1, "Corner Shop\n9 March 2024\nIt comes to 99.00\n")];
    let asking = Asking { all: true, max_bytes: 8_000, ..Asking::default() };
    let sure = |pages: &[PageWords], asking: Asking| {
        let (outcome, _) = asked_about(pages, &texts, &answers, asking);
        let field = &outcome.extraction.fields["total"];
        assert!(field.evidence[0].frame.is_none() && field.evidence[0].span.is_some(), "{field:?}");
        field.confidence
    };
    assert!(sure(&[page(&LINES)], asking.clone()) < gate::ACCEPTED);
    assert!(sure(&[], asking.clone()) >= gate::ACCEPTED, "a mail");
    let unplaced = Asking { unplaced: true, ..asking };
    assert!(sure(&[page(&LINES)], unplaced) >= gate::ACCEPTED, "words of a plain text");
}

#[test]
fn page_that_is_shown_vouches_by_its_recognised_words_alone() {
    let pictures = vec![(1, bytes::Bytes::from_static(b"\x89PNG"))];
    let asking = Asking { max_bytes: 8_000, pictures, ..Asking::default() };
    let only = |total: &str| Ok(answer(&format!(r#"{{"total": "{total}"}}"#), Ending::Complete));
    let (outcome, asked) = asked_for(&[only("12.50")], asking.clone());
    let total = &outcome.extraction.fields["total"];
    assert!(asked == 1 && total.evidence[0].frame.is_some() && outcome.extraction.valid, "{outcome:?}");
    let (outcome, asked) = asked_for(&[only("72.50")], asking.clone());
    let extraction = outcome.extraction;
    assert!(asked == 1 && extraction.fields["total"].confidence < f32::EPSILON, "{extraction:?}");
    assert!(extraction.violations.iter().any(|v| v.field == "total" && v.rule == "ungrounded"));
    // A page on which nobody could recognise anything.
    let critical = r#"{"company": "Corner Shop", "date": "2024-03-09", "total": "12.50"}"#;
    let (outcome, _) = asked_about(&[], &[(1, "")], &[Ok(answer(critical, Ending::Complete))], asking);
    assert_eq!(outcome.extraction.fields.len(), 3);
    let unsure = |field: &Field| field.evidence.is_empty() && field.confidence < f32::EPSILON;
    assert!(outcome.extraction.fields.values().all(unsure) && !outcome.extraction.valid, "{outcome:?}");
}

/// An answer that was cut in its rows.
const CUT: &str = r#"{"company": "Corner Shop", "total": "12.50", "items": [{"description": "Goods of"#;
/// What was not in it, without rows.
const REST: &str = r#"{"address": null, "currency": null, "date": "2024-03-09", "tax_total": null}"#;

fn long_text() -> String {
    let goods = (0..60).map(|n| format!("Goods of the kind {n} were delivered as agreed\n"));
    TEXT.to_owned() + &goods.collect::<String>()
}

#[test]
fn answer_that_is_cut_short_keeps_what_was_complete_and_is_asked_for_in_halves() {
    let text = long_text();
    let half = |n: u8| format!(r#"{{"items": [{{"description": "Goods of the kind {n}"}}]}}"#);
    let answers = [
        Ok(answer(CUT, Ending::CutShort)),
        Ok(answer(REST, Ending::Complete)),
        Ok(answer(&half(1), Ending::Complete)),
        Ok(answer(&half(40), Ending::Complete)),
    ];
    let asking = Asking { all: true, max_bytes: 8_000, ..Asking::default() };
    let (outcome, asked) = asked_about(&[page(&LINES[..3])], &[(1, &text)], &answers, asking);
    assert!(asked == 4 && outcome.problem.is_none(), "{asked}: {:?}", outcome.problem);
    let data = &outcome.extraction.data;
    assert_eq!((data["total"].as_str(), data["date"].as_str()), (Some("12.50"), Some("2024-03-09")));
    let goods: Vec<&str> =
        data["items"].as_array().unwrap().iter().filter_map(|row| row["description"].as_str()).collect();
    assert_eq!(goods, ["Goods of the kind 1", "Goods of the kind 40"]);
}

#[test]
fn piece_whose_answer_cannot_be_had_whole_does_not_end_the_others() {
    let text = long_text();
    let rest =
        said("null").replace(r#""items": []"#, r#""items": [{"description": "Goods of the kind 40"}]"#);
    let answers = [
        Ok(answer(CUT, Ending::CutShort)),
        Ok(answer("{", Ending::CutShort)),
        Ok(answer(&rest, Ending::Complete)),
    ];
    let asking = Asking { all: true, max_bytes: 1_000, ..Asking::default() };
    let (outcome, asked) = asked_about(&[page(&LINES[..3])], &[(1, &text)], &answers, asking);
    // Three pieces and one further question: the one about rows would be about too little.
    assert_eq!((asked, outcome.problem.map(|e| e.kind())), (4, Some(ErrorKind::SchemaMismatch)));
    assert_eq!(outcome.extraction.data["total"], "12.50");
    assert!(
        !outcome.extraction.data.contains_key("items"),
        "some rows are not all: {:?}",
        outcome.extraction.data
    );
    // Nothing complete in it: the same is not paid for again.
    let (outcome, asked) = interview(&[Ok(answer("{", Ending::CutShort))]);
    assert_eq!(asked, 3, "the same without rows, and what is missing by itself");
    assert!(outcome.problem.is_some() && outcome.extraction.data["date"] == "2024-03-09");
}

#[test]
fn one_more_try_is_foreseen() {
    let schema = Schema::built_in("receipt").unwrap();
    let nothing = BTreeMap::new();
    let text = long_text();
    let material = Material {
        pages: &[],
        texts: vec![(1, &text)],
        data: Vec::new(),
        metadata: &nothing,
        media_type: "text/plain",
    };
    let local = gate::pass(&schema, BTreeMap::new());
    let asking = Asking { all: true, max_bytes: 1_000, ..Asking::default() };
    let interview = Interview::new(&schema, &material, local, asking);
    let (planned, more) = (interview.planned(), interview.once_more());
    assert!(planned.len() > 1 && more.len() == planned.len(), "{} and {}", planned.len(), more.len());
    assert!(more.iter().all(|q| q.task.contains("total") && !q.task.contains("items")));
}
