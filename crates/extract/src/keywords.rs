//! The keywords of JSON Schema that values are held against, where a value or a list of them stands in a schema.
//!
//! Every other keyword is refused when a schema is read: one that was passed over would be a check that silently never
//! runs, and a record would be called valid that the schema does not allow. What only describes is let through.

use std::cmp::Ordering;

use docmill_core::Result;
use docmill_core::text::shown;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Number, Value};

use crate::normalise::Amount;
use crate::schema::{Normalise, wrong};

/// Describes, and asks for nothing.
const DESCRIBES: &[&str] =
    &["title", "description", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly"];

/// Of the whole schema.
pub(crate) const TOP: &[&str] =
    &["$schema", "$id", "type", "properties", "required", "additionalProperties", "x-docmill"];

/// Of the objects in a list.
pub(crate) const ROW: &[&str] = &["type", "properties", "required", "additionalProperties", "x-docmill"];

/// Of a list.
pub(crate) const LIST: &[&str] = &["type", "items", "minItems", "maxItems", "x-docmill"];

/// Of one value.
pub(crate) const VALUE: &[&str] = &[
    "type",
    "enum",
    "const",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "format",
    "x-docmill",
];

/// A pattern is no longer, in bytes, and takes no more memory than this.
const MAX_PATTERN: usize = 1_000;
const MAX_PATTERN_MEMORY: usize = 1 << 20;

/// Refuses keywords that would be ignored at this place.
pub(crate) fn only(object: &Map<String, Value>, place: &str, known: &[&str]) -> Result<()> {
    let of_others = |key: &str| key.starts_with("x-") && !key.starts_with("x-doc");
    let unknown = object.keys().find(|key| {
        let key = key.as_str();
        !known.contains(&key) && !DESCRIBES.contains(&key) && !of_others(key)
    });
    let Some(key) = unknown else { return additional(object, place) };
    let at = if place.is_empty() { shown(key) } else { format!("{place}.{}", shown(key)) };
    Err(wrong(
        &at,
        &format!("is a keyword that is not checked here; leave it out, or use {}", known.join(", ")),
    ))
}

/// Records have the fields of their schema and no others, so either answer holds; a schema for others would not be looked
/// at.
fn additional(object: &Map<String, Value>, place: &str) -> Result<()> {
    match object.get("additionalProperties") {
        None | Some(Value::Bool(_)) => Ok(()),
        Some(_) => {
            let at = if place.is_empty() { String::new() } else { format!("{place}.") };
            Err(wrong(
                &format!("{at}additionalProperties"),
                "is neither true nor false; name the fields under `properties`",
            ))
        }
    }
}

/// What a value is in the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// A text, whatever it says.
    #[default]
    Text,
    /// A number of JSON.
    Number,
    /// One without a fraction.
    Integer,
}

/// What one value, or each value of a list, must keep to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Keywords {
    /// What it is in the record.
    pub kind: Kind,
    /// `enum` and `const`: one of these.
    among: Option<Vec<String>>,
    pattern: Option<Pattern>,
    min_length: Option<usize>,
    max_length: Option<usize>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
    format: Option<Format>,
}

#[derive(Clone, Debug)]
struct Pattern {
    given: String,
    regex: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

/// Formats beside dates, which are a notation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Email,
    Uri,
}

impl Keywords {
    /// Reads those of a value, and the notation that they ask for.
    pub(crate) fn read(
        object: &Map<String, Value>,
        place: &str,
        noted: Option<Normalise>,
    ) -> Result<(Self, Option<Normalise>)> {
        only(object, place, VALUE)?;
        let at = |key: &str| format!("{place}.{key}");
        let kind = match object.get("type") {
            None => Kind::Text,
            Some(Value::String(name)) => match name.as_str() {
                "string" => Kind::Text,
                "number" => Kind::Number,
                "integer" => Kind::Integer,
                _ => return Err(wrong(&at("type"), &untaken(name))),
            },
            Some(other) => return Err(wrong(&at("type"), &untaken(&other.to_string()))),
        };
        let is_number = kind != Kind::Text;
        let (format, dated) = match object.get("format").map(|value| (value, value.as_str())) {
            None => (None, false),
            Some((_, Some("date"))) => (None, true),
            Some((_, Some("email"))) => (Some(Format::Email), false),
            Some((_, Some("uri"))) => (Some(Format::Uri), false),
            Some((value, _)) => {
                let said = value.to_string();
                let what = format!(
                    "is {}, which is not checked; there are date, email and uri, and `pattern` for others",
                    shown(&said)
                );
                return Err(wrong(&at("format"), &what));
            }
        };
        let asked = match (dated, is_number) {
            (true, _) => Some(Normalise::Date),
            (false, true) => Some(Normalise::Number),
            (false, false) => None,
        };
        let normalise = match (asked, noted) {
            (Some(Normalise::Number), Some(noted @ (Normalise::Money | Normalise::Number))) => Some(noted),
            (Some(asked), Some(noted)) if asked != noted => {
                let what = format!("is `{}`, and the value is to be a {}", noted.name(), asked.name());
                return Err(wrong(&at("x-docmill.normalise"), &what));
            }
            (asked, noted) => noted.or(asked),
        };
        if is_number && (dated || format.is_some()) {
            return Err(wrong(&at("format"), "is for texts, and this is a number"));
        }
        let counted = matches!(normalise, Some(Normalise::Money | Normalise::Number));
        for key in ["pattern", "minLength", "maxLength"] {
            if is_number && object.contains_key(key) {
                return Err(wrong(
                    &at(key),
                    "is for texts, and this is a number; give it `minimum` or `maximum`",
                ));
            }
        }
        let bound = |key: &str| match object.get(key) {
            None => Ok(None),
            Some(_) if !counted => Err(wrong(
                &at(key),
                "is for numbers; give the field the type `number`, or the notation `money` or `number`",
            )),
            Some(value) => {
                value.as_f64().map(Some).ok_or_else(|| wrong(&at(key), &format!("is {value}, no number")))
            }
        };
        let keywords = Self {
            kind,
            among: among(object, place, kind)?,
            pattern: object.get("pattern").map(|value| Pattern::read(value, &at("pattern"))).transpose()?,
            min_length: count(object, place, "minLength")?,
            max_length: count(object, place, "maxLength")?,
            minimum: bound("minimum")?,
            maximum: bound("maximum")?,
            above: bound("exclusiveMinimum")?,
            below: bound("exclusiveMaximum")?,
            format,
        };
        Ok((keywords, normalise))
    }

    /// What a value does not keep to: the keyword, and that in words.
    pub fn broken(&self, text: &str) -> Vec<(&'static str, String)> {
        let value = shown(text);
        let mut broken = Vec::new();
        let mut say =
            |keyword: &'static str, what: String| broken.push((keyword, format!("`{value}` {what}")));
        let amount = Amount::parse(text).map(number);
        // One that is no number at all does not keep to its notation, which is told apart.
        if let (Kind::Integer, Some(amount)) = (self.kind, amount)
            && amount.fract() != 0.0
        {
            say("type", "is no whole number".to_owned());
        }
        if let Some(among) = &self.among
            && !among.iter().any(|one| same(self.kind, one, text))
        {
            say("enum", format!("is none of {}", shown(&among.join(", "))));
        }
        if let Some(pattern) = self.pattern.as_ref().filter(|pattern| !pattern.regex.is_match(text)) {
            say("pattern", format!("does not match `{}`", shown(&pattern.given)));
        }
        let length = text.chars().count();
        if let Some(least) = self.min_length.filter(|least| length < *least) {
            say("minLength", format!("has {length} characters, fewer than {least}"));
        }
        if let Some(most) = self.max_length.filter(|most| length > *most) {
            say("maxLength", format!("has {length} characters, more than {most}"));
        }
        if let Some(amount) = amount {
            let against = |bound: Option<f64>, wrong: &[Ordering]| {
                bound.filter(|bound| amount.partial_cmp(bound).is_some_and(|order| wrong.contains(&order)))
            };
            if let Some(bound) = against(self.minimum, &[Ordering::Less]) {
                say("minimum", format!("is less than {bound}"));
            }
            if let Some(bound) = against(self.maximum, &[Ordering::Greater]) {
                say("maximum", format!("is more than {bound}"));
            }
            if let Some(bound) = against(self.above, &[Ordering::Less, Ordering::Equal]) {
                say("exclusiveMinimum", format!("is not more than {bound}"));
            }
            if let Some(bound) = against(self.below, &[Ordering::Greater, Ordering::Equal]) {
                say("exclusiveMaximum", format!("is not less than {bound}"));
            }
        }
        match self.format {
            Some(Format::Email) if !is_email(text) => say("format", "is no address of mail".to_owned()),
            Some(Format::Uri) if !is_uri(text) => say("format", "is no URI".to_owned()),
            _ => {}
        }
        broken
    }

    /// A value as it stands in the record.
    pub fn value(&self, value: &Value) -> Value {
        let amount = value.as_str().filter(|_| self.kind != Kind::Text).and_then(Amount::parse).map(number);
        let written = amount.and_then(|amount| {
            let whole = amount.fract() == 0.0;
            if whole { Some(Number::from(amount as i64)) } else { Number::from_f64(amount) }
        });
        written.map_or_else(|| value.clone(), Value::Number)
    }
}

/// How many values a list has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    least: Option<usize>,
    most: Option<usize>,
}

impl Count {
    pub(crate) fn read(object: &Map<String, Value>, place: &str) -> Result<Self> {
        only(object, place, LIST)?;
        Ok(Self { least: count(object, place, "minItems")?, most: count(object, place, "maxItems")? })
    }

    /// What is wrong with so many: the keyword, and that in words.
    pub fn broken(self, many: usize) -> Option<(&'static str, String)> {
        if let Some(least) = self.least.filter(|least| many < *least) {
            return Some(("minItems", format!("has {many} values, fewer than {least}")));
        }
        let most = self.most.filter(|most| many > *most)?;
        Some(("maxItems", format!("has {many} values, more than {most}")))
    }
}

/// The names under `required`, each of a field that there is.
pub(crate) fn required<'a>(
    object: &'a Map<String, Value>,
    place: &str,
    names: &[&str],
) -> Result<Vec<&'a str>> {
    let Some(value) = object.get("required") else { return Ok(Vec::new()) };
    let at = if place.is_empty() { "required".to_owned() } else { format!("{place}.required") };
    let all = value.as_array().ok_or_else(|| wrong(&at, &format!("is {value}, no list of names")))?;
    let name = |value: &'a Value| match value.as_str().filter(|name| names.contains(name)) {
        Some(name) => Ok(name),
        None => Err(wrong(&at, &format!("names {}, which is no field", shown(&value.to_string())))),
    };
    all.iter().map(name).collect()
}

fn untaken(said: &str) -> String {
    format!(
        "`{}` cannot be extracted here; a value is a string, a number or an integer, and a field that may be absent is one \
         that is not `required`",
        shown(said)
    )
}

fn among(object: &Map<String, Value>, place: &str, kind: Kind) -> Result<Option<Vec<String>>> {
    let (key, all) = match (object.get("enum"), object.get("const")) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            return Err(wrong(&format!("{place}.const"), "stands beside `enum`; give one of them"));
        }
        (None, Some(one)) => ("const", std::slice::from_ref(one)),
        (Some(all), None) => {
            let list = all.as_array().filter(|all| !all.is_empty());
            (
                "enum",
                list.ok_or_else(|| wrong(&format!("{place}.enum"), &format!("is {all}, no list of values")))?
                    .as_slice(),
            )
        }
    };
    let one = |value: &Value| match value {
        Value::String(text) if kind == Kind::Text => Ok(text.clone()),
        Value::Number(number) if kind != Kind::Text => Ok(number.to_string()),
        other => Err(wrong(
            &format!("{place}.{key}"),
            &format!("has {}, which is not of the type of the field", shown(&other.to_string())),
        )),
    };
    all.iter().map(one).collect::<Result<_>>().map(Some)
}

fn count(object: &Map<String, Value>, place: &str, key: &str) -> Result<Option<usize>> {
    let Some(value) = object.get(key) else { return Ok(None) };
    let read = value.as_u64().and_then(|count| usize::try_from(count).ok());
    read.map(Some)
        .ok_or_else(|| wrong(&format!("{place}.{key}"), &format!("is {value}, no whole number from 0 on")))
}

fn same(kind: Kind, one: &str, text: &str) -> bool {
    match kind {
        Kind::Text => one == text,
        Kind::Number | Kind::Integer => one.parse().ok() == Amount::parse(text).map(number),
    }
}

/// The nearest number that there is.
fn number(amount: Amount) -> f64 {
    amount.units as f64 / 10_000.0
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let plain = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '@');
    plain(name) && plain(host) && !host.starts_with('.') && !host.ends_with('.')
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(named)
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '{' | '}'))
}

impl Pattern {
    fn read(value: &Value, place: &str) -> Result<Self> {
        let given = value.as_str().ok_or_else(|| wrong(place, &format!("is {value}, no text")))?;
        if given.len() > MAX_PATTERN {
            return Err(wrong(place, &format!("has {} bytes, more than {MAX_PATTERN}", given.len())));
        }
        let built = RegexBuilder::new(&as_in_json(given)).size_limit(MAX_PATTERN_MEMORY).build();
        let regex = built.map_err(|_quotes| {
            let what = format!(
                "is `{}`, which cannot be checked: it is no regular expression, too large, or looks ahead, behind or back",
                shown(given)
            );
            wrong(place, &what)
        })?;
        Ok(Self { given: given.to_owned(), regex })
    }
}

/// Classes of characters are those of ASCII in JSON Schema, and of every script in the library.
fn as_in_json(given: &str) -> String {
    let mut out = String::with_capacity(given.len());
    let mut chars = given.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('w') => out.push_str("[0-9A-Za-z_]"),
            Some('W') => out.push_str("[^0-9A-Za-z_]"),
            Some('b') => out.push_str(r"(?-u:\b)"),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(of: &Value, noted: Option<Normalise>) -> Result<(Keywords, Option<Normalise>)> {
        Keywords::read(of.as_object().unwrap(), "properties.a", noted)
    }

    #[test]
    fn each_keyword_names_itself_where_it_does_not_hold() {
        let money = Some(Normalise::Money);
        for (of, noted, good, bad, keyword) in [
            (json!({ "enum": ["EUR", "USD"] }), None, "EUR", "GBP", "enum"),
            (json!({ "const": "a" }), None, "a", "b", "enum"),
            (json!({ "type": "number", "enum": [10, 20] }), None, "10.00", "11.00", "enum"),
            (json!({ "pattern": "^R-\\d+$" }), None, "R-17", "R-١٧", "pattern"),
            (json!({ "pattern": "\\bno\\b" }), None, "oh no", "know", "pattern"),
            (json!({ "pattern": "^[\\w-]+$" }), None, "a-1", "a b", "pattern"),
            (json!({ "minLength": 2 }), None, "äö", "ä", "minLength"),
            (json!({ "maxLength": 2 }), None, "äö", "äöü", "maxLength"),
            (json!({ "minimum": 57.36 }), money, "57.36", "57.35", "minimum"),
            (json!({ "type": "number", "maximum": 100 }), None, "100.00", "100.01", "maximum"),
            (json!({ "exclusiveMinimum": 0 }), money, "0.01", "0.00", "exclusiveMinimum"),
            (json!({ "exclusiveMaximum": 5 }), money, "4.99", "5.00", "exclusiveMaximum"),
            (json!({ "type": "integer" }), None, "2.00", "2.50", "type"),
            (json!({ "format": "email" }), None, "a@b.example", "a b@c", "format"),
            (json!({ "format": "uri" }), None, "https://a.example/b", "a.example", "format"),
        ] {
            let (keywords, _) = read(&of, noted).unwrap();
            assert!(keywords.broken(good).is_empty(), "{of}: {good}");
            let broken: Vec<&str> = keywords.broken(bad).iter().map(|(keyword, _)| *keyword).collect();
            assert_eq!(broken, [keyword], "{of}: {bad}");
        }
    }

    #[test]
    fn numbers_and_dates_bring_their_notation() {
        for (of, noted, normalise) in [
            (json!({ "type": "number" }), None, Some(Normalise::Number)),
            (json!({ "type": "number" }), Some(Normalise::Money), Some(Normalise::Money)),
            (json!({ "format": "date" }), None, Some(Normalise::Date)),
            (json!({ "type": "string" }), None, None),
        ] {
            assert_eq!(read(&of, noted).unwrap().1, normalise, "{of}");
        }
        let (number, _) = read(&json!({ "type": "number" }), None).unwrap();
        assert_eq!((number.value(&"57.36".into()), number.value(&"12.00".into())), (json!(57.36), json!(12)));
        assert_eq!(number.value(&"twelve".into()), json!("twelve"));
    }

    #[test]
    fn what_cannot_be_checked_is_refused_with_its_place() {
        let long = "a".repeat(MAX_PATTERN + 1);
        for (of, said) in [
            (json!({ "anyOf": [] }), "properties.a.anyOf"),
            (json!({ "multipleOf": 2 }), "properties.a.multipleOf"),
            (json!({ "X-docmill": {} }), "properties.a.X-docmill"),
            (json!({ "x-docmil": {} }), "properties.a.x-docmil"),
            (json!({ "type": ["string", "null"] }), "not `required`"),
            (json!({ "format": "ipv4" }), "properties.a.format"),
            (json!({ "format": "date", "type": "number" }), "properties.a.format"),
            (json!({ "enum": [] }), "properties.a.enum"),
            (json!({ "enum": [1] }), "not of the type"),
            (json!({ "const": "a", "enum": ["a"] }), "properties.a.const"),
            (json!({ "pattern": "(?=a)" }), "properties.a.pattern"),
            (json!({ "pattern": long }), "more than 1000"),
            (json!({ "pattern": "a{1000}{1000}" }), "too large"),
            (json!({ "minLength": -1 }), "properties.a.minLength"),
            (json!({ "minimum": 1 }), "is for numbers"),
            (json!({ "type": "number", "minimum": "1" }), "no number"),
            (json!({ "type": "number", "pattern": "1" }), "is for texts"),
        ] {
            let error = read(&of, None).unwrap_err();
            assert!(error.message().contains(said), "{of}: {}", error.message());
        }
        assert!(read(&json!({ "x-order": 1, "description": "d", "default": "e" }), None).is_ok());
        assert!(read(&json!({ "type": "number" }), Some(Normalise::Date)).is_err());
    }
}
