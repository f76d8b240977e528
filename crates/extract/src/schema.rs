//! Schemas: JSON Schemas of records, with `x-docmill` annotations that say what matters and what must hold.
//!
//! The built-in ones lie in `data/schemas`. A schema of a user is read with every mistake told by its place: a misspelt
//! annotation that was passed over would be a check that silently never runs.

use std::fmt;

use docmill_core::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::layout::folded;

/// Fields of a schema beyond are refused.
const MAX_FIELDS: usize = 200;

const BUILT_IN: &[(&str, &str)] = &[
    ("receipt", include_str!("../data/schemas/receipt.json")),
    ("invoice", include_str!("../data/schemas/invoice.json")),
    ("nda", include_str!("../data/schemas/nda.json")),
    ("letter", include_str!("../data/schemas/letter.json")),
    ("bank_statement", include_str!("../data/schemas/bank_statement.json")),
];

/// What is extracted, and what must hold of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// Of its meaning; a changed schema has another.
    pub version: u64,
    /// The finders that know documents of its kind, if there are any.
    pub finder: Option<String>,
    /// In the order given.
    pub fields: Vec<FieldRule>,
    /// What must hold between fields.
    pub checks: Vec<Check>,
}

/// One field.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldRule {
    /// Its name in the record.
    pub name: String,
    /// Its form.
    pub shape: Shape,
    /// Whether a record without it is of no use.
    pub critical: bool,
    /// How it is brought to one notation.
    pub normalise: Option<Normalise>,
    /// Words beside it on pages, folded.
    pub labels: Vec<String>,
}

/// The form of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// One text.
    Text,
    /// Several texts.
    List,
    /// Several rows with these fields.
    Rows(Vec<FieldRule>),
}

/// Notations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Normalise {
    /// Decimal with at least two places.
    Money,
    /// Decimal.
    Number,
    /// ISO 8601.
    Date,
    /// ISO 3166, two letters.
    Country,
    /// Without blanks, check digits hold.
    Iban,
    /// Number of a taxpayer, without blanks.
    Vat,
    /// ISO 4217.
    Currency,
}

impl Normalise {
    /// Every notation, with its name in schemas and a value in it.
    const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Money, "money", "write it as `1234.50`"),
        (Self::Number, "number", "write it as `2.5`"),
        (Self::Date, "date", "write it as `2024-03-09`"),
        (Self::Country, "country", "write it as `DE` or by its name"),
        (Self::Iban, "iban", "an IBAN has a country, two check digits that hold, and an account"),
        (Self::Vat, "vat", "write it as `DE123456789`"),
        (Self::Currency, "currency", "write it as `EUR`"),
    ];

    /// In schemas.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(one, ..)| *one == self).map_or("", |(_, name, _)| name)
    }

    /// How a value is written.
    pub fn example(self) -> &'static str {
        Self::ALL.iter().find(|(one, ..)| *one == self).map_or("", |(.., example)| example)
    }
}

/// What must hold between fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// For whom it may concern.
    pub name: String,
    /// What.
    pub kind: CheckKind,
}

/// Kinds of checks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckKind {
    /// The terms add up to the total. A term `items[].net_amount` is all of them.
    Sum {
        /// Paths.
        terms: Vec<String>,
        /// Path.
        total: String,
    },
    /// One date is not after another.
    Order {
        /// Path.
        before: String,
        /// Path.
        after: String,
    },
}

impl Schema {
    /// Names of the built-in ones.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The built-in ones: names and texts.
    pub fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
        BUILT_IN.iter().copied()
    }

    /// A built-in one.
    pub fn built_in(name: &str) -> Result<Self> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| {
            Error::invalid_request(format!("there is no schema `{name}`")).with_hint(format!(
                "built in are {}; a schema of your own is a file that ends in .json",
                names_told()
            ))
        })?;
        Self::parse(text)
    }

    /// Reads a schema.
    pub fn parse(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)
            .map_err(|e| Error::invalid_config(format!("the schema is no JSON: {e}")))?;
        let top = value.as_object().ok_or_else(|| wrong("", "is no object"))?;
        let notes = annotations(top, "", &["version", "finder", "checks"])?;
        let name = top
            .get("title")
            .and_then(Value::as_str)
            .ok_or_else(|| wrong("title", "is missing: it names the schema"))?;
        let mut fields = fields(top, "properties", true)?;
        // A map of JSON has forgotten which came first.
        let order: Order = serde_json::from_str(text).unwrap_or_default();
        order.sort(&mut fields);
        let finder = notes.get("finder").map(|finder| text_of(finder, "x-docmill.finder")).transpose()?;
        if let Some(finder) =
            finder.as_deref().filter(|finder| !BUILT_IN.iter().any(|(known, _)| known == finder))
        {
            return Err(wrong(
                "x-docmill.finder",
                &format!("`{finder}` is not known; there are {}", names_told()),
            ));
        }
        let mut checks = Vec::new();
        for (at, check) in notes.get("checks").and_then(Value::as_array).into_iter().flatten().enumerate() {
            checks.push(parse_check(check, &format!("x-docmill.checks[{at}]"), &fields)?);
        }
        let version = notes.get("version").and_then(Value::as_u64).unwrap_or(1);
        Ok(Self { name: name.to_owned(), version, finder, fields, checks })
    }
}

/// The names of properties in the order of a text, and of those inside them.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Order {
    properties: Names,
    items: Option<Box<Self>>,
}

#[derive(Default)]
struct Names(Vec<(String, Order)>);

impl Order {
    fn sort(&self, fields: &mut [FieldRule]) {
        let place = |name: &str| self.properties.0.iter().position(|(known, _)| known == name);
        fields.sort_by_key(|field| place(&field.name));
        for field in fields {
            let inside = place(&field.name).and_then(|at| self.properties.0.get(at)?.1.items.as_deref());
            if let (Shape::Rows(rows), Some(order)) = (&mut field.shape, inside) {
                order.sort(rows);
            }
        }
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("properties")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    names.push(entry);
                }
                Ok(Names(names))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

fn names_told() -> String {
    Schema::names().collect::<Vec<_>>().join(", ")
}

fn wrong(place: &str, what: &str) -> Error {
    let place = if place.is_empty() { "the schema".to_owned() } else { format!("`{place}` of the schema") };
    Error::invalid_config(format!("{place} {what}"))
}

fn text_of(value: &Value, place: &str) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(place, "is no text"))
}

/// The annotations of an object, refused if there is one that nobody knows.
fn annotations<'a>(
    object: &'a Map<String, Value>,
    place: &str,
    known: &[&str],
) -> Result<&'a Map<String, Value>> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    let Some(notes) = object.get("x-docmill") else { return Ok(&NONE) };
    let place = if place.is_empty() { "x-docmill".to_owned() } else { format!("{place}.x-docmill") };
    let notes = notes.as_object().ok_or_else(|| wrong(&place, "is no object"))?;
    if let Some(unknown) = notes.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(wrong(
            &format!("{place}.{unknown}"),
            &format!("is no annotation; there are {}", known.join(", ")),
        ));
    }
    Ok(notes)
}

fn fields(object: &Map<String, Value>, place: &str, nested: bool) -> Result<Vec<FieldRule>> {
    let properties = object.get("properties").and_then(Value::as_object);
    let properties = properties.ok_or_else(|| wrong(place, "is missing or no object"))?;
    if properties.is_empty() || properties.len() > MAX_FIELDS {
        return Err(wrong(place, &format!("has {} fields, not 1 to {MAX_FIELDS}", properties.len())));
    }
    properties.iter().map(|(name, value)| field(name, value, &format!("{place}.{name}"), nested)).collect()
}

fn field(name: &str, value: &Value, place: &str, nested: bool) -> Result<FieldRule> {
    let object = value.as_object().ok_or_else(|| wrong(place, "is no object"))?;
    let notes = annotations(object, place, &["critical", "normalise", "labels"])?;
    let shape = match object.get("type").and_then(Value::as_str) {
        Some("string" | "number" | "integer") | None => Shape::Text,
        Some("array") if nested => {
            let items = object.get("items").and_then(Value::as_object);
            let items = items.ok_or_else(|| wrong(&format!("{place}.items"), "is missing"))?;
            match items.get("type").and_then(Value::as_str) {
                Some("object") => Shape::Rows(fields(items, &format!("{place}.items.properties"), false)?),
                _ => Shape::List,
            }
        }
        Some(other) => {
            return Err(wrong(&format!("{place}.type"), &format!("`{other}` cannot be extracted here")));
        }
    };
    let normalise = notes.get("normalise").map(|value| normalise(value, place)).transpose()?;
    let critical = match notes.get("critical") {
        None => false,
        Some(value) => value
            .as_bool()
            .ok_or_else(|| wrong(&format!("{place}.x-docmill.critical"), "is neither true nor false"))?,
    };
    let mut labels = Vec::new();
    for label in notes.get("labels").and_then(Value::as_array).into_iter().flatten() {
        labels.push(folded(&text_of(label, &format!("{place}.x-docmill.labels"))?));
    }
    labels.retain(|label| !label.is_empty());
    Ok(FieldRule { name: name.to_owned(), shape, critical, normalise, labels })
}

fn normalise(value: &Value, place: &str) -> Result<Normalise> {
    let place = format!("{place}.x-docmill.normalise");
    let name = text_of(value, &place)?;
    let found = Normalise::ALL.iter().find(|(_, known, _)| *known == name).map(|(normalise, ..)| *normalise);
    found.ok_or_else(|| {
        let names: Vec<&str> = Normalise::ALL.iter().map(|(_, name, _)| *name).collect();
        wrong(&place, &format!("`{name}` is not known; there are {}", names.join(", ")))
    })
}

fn parse_check(value: &Value, place: &str, fields: &[FieldRule]) -> Result<Check> {
    let object = value.as_object().ok_or_else(|| wrong(place, "is no object"))?;
    let path = |key: &str| -> Result<String> {
        let place = format!("{place}.{key}");
        let path = text_of(object.get(key).ok_or_else(|| wrong(&place, "is missing"))?, &place)?;
        known_path(&path, fields, &place)?;
        Ok(path)
    };
    let kind = match object.get("kind").and_then(Value::as_str) {
        Some("sum") => {
            let place = format!("{place}.terms");
            let terms =
                object.get("terms").and_then(Value::as_array).ok_or_else(|| wrong(&place, "is no list"))?;
            let terms = terms.iter().map(|term| text_of(term, &place)).collect::<Result<Vec<_>>>()?;
            terms.iter().try_for_each(|term| known_path(term, fields, &place))?;
            CheckKind::Sum { terms, total: path("total")? }
        }
        Some("order") => CheckKind::Order { before: path("before")?, after: path("after")? },
        other => {
            let said = other.unwrap_or("nothing");
            return Err(wrong(
                &format!("{place}.kind"),
                &format!("`{said}` is no check; there are sum and order"),
            ));
        }
    };
    let name = object.get("name").and_then(Value::as_str).unwrap_or(place).to_owned();
    Ok(Check { name, kind })
}

fn known_path(path: &str, fields: &[FieldRule], place: &str) -> Result<()> {
    let (head, tail) = path.split_once("[].").map_or((path, None), |(head, tail)| (head, Some(tail)));
    let found = fields.iter().find(|field| field.name == head);
    let inner = match (found.map(|field| &field.shape), tail) {
        (Some(Shape::Rows(rows)), Some(tail)) => rows.iter().any(|field| field.name == tail),
        (Some(_), None) => true,
        _ => false,
    };
    if inner { Ok(()) } else { Err(wrong(place, &format!("names `{path}`, which is no field"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_schemas_are_read() {
        for name in Schema::names() {
            assert_eq!(Schema::built_in(name).unwrap().name, name);
        }
        assert!(Schema::built_in("recipe").unwrap_err().message().contains("recipe"));
    }

    #[test]
    fn fields_keep_the_order_of_the_text() {
        let receipt = Schema::built_in("receipt").unwrap();
        let names: Vec<&str> = receipt.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["company", "address", "date", "total", "currency", "tax_total", "items"]);
        let Shape::Rows(rows) = &receipt.fields[6].shape else { panic!("rows") };
        assert_eq!((rows[0].name.as_str(), rows[1].name.as_str()), ("description", "quantity"));
    }

    #[test]
    fn mistakes_are_told_by_their_place() {
        let cases = [
            ("{", "no JSON"),
            ("[]", "no object"),
            (r#"{"title": "a"}"#, "properties"),
            (
                r#"{"title": "a", "properties": {"b": {"x-docmill": {"critcal": true}}}}"#,
                "properties.b.x-docmill.critcal",
            ),
            (
                r#"{"title": "a", "properties": {"b": {"x-docmill": {"normalise": "euro"}}}}"#,
                "`euro` is not known",
            ),
            (
                r#"{"title": "a", "properties": {"b": {}}, "x-docmill": {"checks": [{"kind": "product"}]}}"#,
                "`product` is no check",
            ),
            (
                r#"{"title": "a", "properties": {"b": {}}, "x-docmill": {"checks": [{"kind": "order", "before": "b", "after": "c"}]}}"#,
                "names `c`",
            ),
        ];
        for (text, said) in cases {
            let error = Schema::parse(text).unwrap_err();
            assert!(error.message().contains(said), "{text}: {}", error.message());
        }
    }
}
