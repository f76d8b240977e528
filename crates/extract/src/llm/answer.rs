//! What is taken for an answer: the form that was asked for, and nothing else. A provider that promises the form is not
//! believed.

use std::collections::BTreeMap;

use docmill_core::ports::llm::{Answer, Ending};
use docmill_core::{Error, Result};
use serde_json::{Map, Value};

use crate::schema::{FieldRule, Schema, Shape};

/// No answer is longer, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// No value is.
const MAX_VALUE_BYTES: usize = 4 << 10;

/// Values by their paths, as the model wrote them. Of an answer that has not the form it says what is wrong, without
/// quoting it.
pub(super) fn read(schema: &Schema, names: &[String], answer: &Answer) -> Result<BTreeMap<String, String>> {
    match answer.ending {
        Ending::Complete => {}
        Ending::Refused => {
            return Err(Error::content_blocked("the language model will not read this document"));
        }
        Ending::CutShort => return Err(cut_short()),
    }
    let text = unwrapped(&answer.text);
    if text.len() > MAX_BYTES {
        return Err(unfit("it is too long"));
    }
    let value: Value = serde_json::from_str(text).map_err(|_quotes| unfit("it is no JSON"))?;
    let object = value.as_object().ok_or_else(|| unfit("it is no object"))?;
    let mut said = BTreeMap::new();
    for rule in schema.fields.iter().filter(|rule| names.contains(&rule.name)) {
        let value = object.get(&rule.name).ok_or_else(|| unfit(&format!("`{}` is missing", rule.name)))?;
        take(rule, value, &mut said)?;
    }
    if object.keys().any(|key| !names.contains(key)) {
        return Err(unfit("it has a field that nobody asked for"));
    }
    Ok(said)
}

/// What an answer was cut off from.
pub(super) fn cut_short() -> Error {
    unfit("it was cut short")
}

/// Of an answer that was cut short, the fields that were complete: their values, and their names.
pub(super) fn complete(
    schema: &Schema,
    names: &[String],
    answer: &Answer,
) -> (BTreeMap<String, String>, Vec<String>) {
    let (mut said, mut done) = (BTreeMap::new(), Vec::new());
    let Some(Value::Object(object)) = complete_part(&answer.text) else { return (said, done) };
    for rule in schema.fields.iter().filter(|rule| names.contains(&rule.name)) {
        let mut values = BTreeMap::new();
        let taken = object.get(&rule.name).map(|value| take(rule, value, &mut values));
        if let Some(Ok(())) = taken {
            said.extend(values);
            done.push(rule.name.clone());
        }
    }
    (said, done)
}

/// An object up to its last member that another one follows.
fn complete_part(text: &str) -> Option<Value> {
    let text = text.trim_start();
    let text = text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).unwrap_or(text);
    let (mut depth, mut in_string, mut escaped, mut last) = (0_u32, false, false, None);
    for (at, c) in text.char_indices().take(MAX_BYTES) {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 1 => last = Some(at),
            _ => {}
        }
    }
    serde_json::from_str(&format!("{}}}", text.get(..last?)?)).ok()
}

fn take(rule: &FieldRule, value: &Value, said: &mut BTreeMap<String, String>) -> Result<()> {
    let strange = || unfit(&format!("`{}` is of another kind", rule.name));
    match &rule.shape {
        Shape::Text => said.extend(text_of(value).ok_or_else(strange)?.map(|text| (rule.name.clone(), text))),
        Shape::List => {
            for (at, value) in value.as_array().ok_or_else(strange)?.iter().enumerate() {
                let text = text_of(value).ok_or_else(strange)?;
                said.extend(text.map(|text| (format!("{}[{at}]", rule.name), text)));
            }
        }
        Shape::Rows(rows) => {
            for (at, row) in value.as_array().ok_or_else(strange)?.iter().enumerate() {
                let row: &Map<String, Value> = row.as_object().ok_or_else(strange)?;
                for column in rows {
                    let value = row.get(&column.name).unwrap_or(&Value::Null);
                    let text = text_of(value).ok_or_else(strange)?;
                    said.extend(text.map(|text| (format!("{}[{at}].{}", rule.name, column.name), text)));
                }
            }
        }
    }
    Ok(())
}

/// A text or a number; nothing for null and blanks. None at all for what is neither, or far too long.
#[expect(clippy::option_option, reason = "not there and not of this kind are two answers")]
fn text_of(value: &Value) -> Option<Option<String>> {
    let text = match value {
        Value::Null => return Some(None),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    if text.len() > MAX_VALUE_BYTES {
        return None;
    }
    Some(Some(text).filter(|text| !text.is_empty()))
}

fn unfit(what: &str) -> Error {
    Error::schema_mismatch(format!(
        "the answer of the language model does not have the form that was asked for: {what}"
    ))
}

/// Without the fence that some models put around JSON.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|inside| inside.strip_suffix("```")).map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    fn answer(text: &str, ending: Ending) -> Answer {
        Answer { text: text.into(), ending, model: "m".into(), tokens_in: 1, tokens_out: 1, cost: None }
    }

    #[test]
    fn answer_of_the_form_gives_values_by_their_paths() {
        let schema = Schema::built_in("receipt").unwrap();
        let names = ["total", "items", "date"].map(str::to_owned);
        let text = r#"```json
            {"total": 12.5, "date": null, "items": [{"description": "Tea\n green", "quantity": "2"}]}
            ```"#;
        let said = read(&schema, &names, &answer(text, Ending::Complete)).unwrap();
        let told: Vec<(&str, &str)> = said.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            told,
            [("items[0].description", "Tea green"), ("items[0].quantity", "2"), ("total", "12.5")]
        );
    }

    #[test]
    fn anything_else_is_refused_without_quoting_it() {
        let schema = Schema::built_in("receipt").unwrap();
        let names = ["total".to_owned()];
        for (text, what) in [
            ("The total is 12.", "no JSON"),
            ("[]", "no object"),
            ("{}", "`total` is missing"),
            (r#"{"total": {"a": 1}}"#, "another kind"),
            (r#"{"total": "1", "run": "hunter2"}"#, "nobody asked for"),
        ] {
            let error = read(&schema, &names, &answer(text, Ending::Complete)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{text}");
            assert!(error.message().contains(what) && !error.message().contains("hunter2"), "{error}");
        }
        assert!(read(&schema, &names, &answer(r#"{"total": null}"#, Ending::CutShort)).is_err());
        let refused = read(&schema, &names, &answer("no", Ending::Refused)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ContentBlocked);
    }

    #[test]
    fn fields_before_the_cut_are_complete_and_the_one_in_it_is_not() {
        let schema = Schema::built_in("receipt").unwrap();
        let names = ["total", "items", "date", "company", "currency"].map(str::to_owned);
        for (text, done) in [
            (r#"{"total": "12.5", "company": "A, \"B\" {", "items": [{"description": "Tea"}, {"descr"#, 2),
            (r#"{"items": [{"description": "Tea, green"}], "total": "12"#, 1),
            (r#"```json {"total": {"a": 1}, "currency": null, "date"#, 1),
            (r#"{"total": "12.5"#, 0),
            ("}", 0),
            ("", 0),
            ("The total, as I see it, is 12", 0),
        ] {
            let (said, names) = complete(&schema, &names, &answer(text, Ending::CutShort));
            assert_eq!(names.len(), done, "{text}: {said:?}");
        }
        let text = r#"{"total": "12.5", "company": "A, \"B\" {", "items": ["#;
        let (said, _) = complete(&schema, &names, &answer(text, Ending::CutShort));
        assert_eq!(
            said.into_iter().collect::<Vec<_>>(),
            [("company".to_owned(), "A, \"B\" {".to_owned()), ("total".to_owned(), "12.5".to_owned())]
        );
    }
}
