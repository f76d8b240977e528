//! The form of an answer: what is asked for as a schema, and what is taken for an answer. A provider that promises the
//! form is not believed.

use docmill_core::ports::llm::{Answer, Ending, Schema};
use docmill_core::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// What documents are, as local understanding names it too; see `crates/understand/data/kinds.toml`.
pub(super) const TYPES: &[&str] = &[
    "invoice",
    "receipt",
    "statement",
    "contract",
    "letter",
    "email",
    "report",
    "article",
    "resume",
    "form",
    "manual",
    "offer",
    "order",
    "certificate",
    "minutes",
    "presentation",
    "spreadsheet",
];

/// None of them.
pub(super) use docmill_core::understanding::OTHER;

/// No text of an answer is longer, in bytes: the limits of each are far below.
const MAX_BYTES: usize = 64 << 10;

const FIELDS: [&str; 5] = ["title", "summary", "date", "type", "tags"];

/// What the model says of a document; nothing of it has been held against the document yet.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) date: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) tags: Vec<String>,
}

/// The form that is asked for.
pub(super) fn schema() -> Schema {
    let text_or_null = json!({ "type": ["string", "null"] });
    let types: Vec<&str> = TYPES.iter().copied().chain([OTHER]).collect();
    let body = json!({
        "type": "object",
        "properties": {
            "title": text_or_null,
            "summary": text_or_null,
            "date": text_or_null,
            "type": { "type": "string", "enum": types },
            // A small model that is held to the form would go on with tags for ever.
            "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 8 },
        },
        "required": FIELDS,
        "additionalProperties": false,
    });
    Schema { name: "document", body }
}

/// Reads an answer that has the form; of any other it says what is wrong.
pub(super) fn read(answer: &Answer) -> Result<Said> {
    match answer.ending {
        Ending::Complete => {}
        Ending::Refused => {
            return Err(Error::content_blocked("the language model will not say what this document is"));
        }
        Ending::CutShort => return Err(unfit("it was cut short")),
    }
    let text = unwrapped(&answer.text);
    if text.len() > MAX_BYTES {
        return Err(unfit("it is too long"));
    }
    let value: Value = serde_json::from_str(text).map_err(|_quotes| unfit("it is no JSON"))?;
    if let Some(missing) = FIELDS.iter().find(|field| value.get(field).is_none()) {
        return Err(unfit(&format!("`{missing}` is missing")));
    }
    let said: Said = serde_json::from_value(value).map_err(|_quotes| unfit("a field is of another kind"))?;
    if said.kind != OTHER && !TYPES.contains(&said.kind.as_str()) {
        return Err(unfit("`type` is none of the words"));
    }
    Ok(said)
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
    use super::*;

    fn answer(text: &str, ending: Ending) -> Answer {
        Answer { text: text.into(), ending, model: "m".into(), tokens_in: 1, tokens_out: 1, cost: None }
    }

    const GOOD: &str = r#"{"title":"T","summary":null,"date":null,"type":"letter","tags":["a"]}"#;

    #[test]
    fn answer_of_the_form_is_read_also_in_a_fence() {
        for text in [GOOD.to_owned(), format!("```json\n{GOOD}\n```"), format!(" {GOOD}\n")] {
            let said = read(&answer(&text, Ending::Complete)).unwrap();
            assert_eq!((said.title.as_deref(), said.kind.as_str()), (Some("T"), "letter"));
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_is_wrong_and_without_quoting_it() {
        for (text, what) in [
            ("I think it is a letter.", "no JSON"),
            ("{}", "`title` is missing"),
            (r#"{"title":7,"summary":null,"date":null,"type":"letter","tags":[]}"#, "another kind"),
            (r#"{"title":"T","summary":null,"date":null,"type":"poem","tags":[]}"#, "none of the words"),
            (
                r#"{"title":"T","summary":null,"date":null,"type":"letter","tags":[],"run":"rm"}"#,
                "another kind",
            ),
            ("[1]", "is missing"),
        ] {
            let error = read(&answer(text, Ending::Complete)).unwrap_err();
            assert_eq!(error.kind(), docmill_core::ErrorKind::SchemaMismatch, "{text}");
            assert!(error.message().contains(what), "{error}");
        }
        assert!(read(&answer(GOOD, Ending::CutShort)).is_err());
        let refused = read(&answer("no", Ending::Refused)).unwrap_err();
        assert_eq!(refused.kind(), docmill_core::ErrorKind::ContentBlocked);
    }

    #[test]
    fn schema_asks_for_what_is_read() {
        let body = schema().body;
        let asked: Vec<&str> =
            body["required"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
        assert_eq!(asked, FIELDS);
        assert!(asked.iter().all(|field| body["properties"].get(field).is_some()));
    }
}
