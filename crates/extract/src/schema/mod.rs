//! Schemas: JSON Schemas of records, with `x-docmill` annotations that say what matters and what must hold.
//!
//! The built-in ones lie in `data/schemas`. A schema of a user is read with every mistake told by its place: a misspelt
//! annotation that was passed over would be a check that silently never runs.

mod checks;
mod order;

use std::collections::BTreeMap;

use docmill_core::text::shown;
use docmill_core::{Error, Result};
use serde_json::{Map, Value};

use crate::keywords::{self, Count, Keywords};
use crate::layout::folded;
use checks::parse_check;
use order::Order;

/// Fields of a schema beyond are refused.
const MAX_FIELDS: usize = 200;

const BUILT_IN: &[(&str, &str)] = &[
    ("receipt", include_str!("../../data/schemas/receipt.json")),
    ("invoice", include_str!("../../data/schemas/invoice.json")),
    ("nda", include_str!("../../data/schemas/nda.json")),
    ("letter", include_str!("../../data/schemas/letter.json")),
    ("bank_statement", include_str!("../../data/schemas/bank_statement.json")),
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
    /// What values must be there and keep to, as JSON Schema says it.
    pub rules: Rules,
}

/// What JSON Schema says of values, by their paths in the schema: `total`, `party[]`, `items[].quantity`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rules {
    /// Those that must be there; of rows in each of them.
    pub required: Vec<String>,
    /// What each keeps to.
    pub values: BTreeMap<String, Keywords>,
    /// How many values lists have.
    pub counts: BTreeMap<String, Count>,
}

impl Rules {
    /// Of a value of a record, by its path there: `items[3].quantity`.
    pub fn of(&self, path: &str) -> Option<&Keywords> {
        let Some((name, rest)) = path.split_once('[') else { return self.values.get(path) };
        let (_, column) = rest.split_once(']')?;
        self.values.get(&format!("{name}[]{column}"))
    }
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
        keywords::only(top, "", keywords::TOP)?;
        if let Some(kind) = top.get("type").filter(|kind| *kind != "object") {
            return Err(wrong("type", &format!("is {kind}, and a record is an `object`")));
        }
        let notes = annotations(top, "", &["version", "finder", "checks"])?;
        let name = top.get("title").ok_or_else(|| wrong("title", "is missing: it names the schema"))?;
        let name = text_of(name, "title")?;
        let mut rules = Rules::default();
        let mut fields = Reader { rules: &mut rules, inside: None }.fields(top, "properties")?;
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
        for (at, check) in list_of(notes, "checks", "x-docmill.checks")?.iter().enumerate() {
            checks.push(parse_check(check, &format!("x-docmill.checks[{at}]"), &fields)?);
        }
        let version = match notes.get("version") {
            None => 1,
            Some(value) => value.as_u64().ok_or_else(|| {
                wrong("x-docmill.version", &format!("is {value}; give a whole number, as `2`"))
            })?,
        };
        Ok(Self { name, version, finder, fields, checks, rules })
    }
}

fn names_told() -> String {
    Schema::names().collect::<Vec<_>>().join(", ")
}

pub(crate) fn wrong(place: &str, what: &str) -> Error {
    let place = if place.is_empty() { "the schema".to_owned() } else { format!("`{place}` of the schema") };
    Error::invalid_config(format!("{place} {what}"))
}

fn text_of(value: &Value, place: &str) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(place, &format!("is {}, no text", told(value))))
}

fn told(value: &Value) -> String {
    shown(&value.to_string())
}

/// The values under a key; none where it is not there.
fn list_of<'a>(notes: &'a Map<String, Value>, key: &str, place: &str) -> Result<&'a [Value]> {
    let Some(value) = notes.get(key) else { return Ok(&[]) };
    let all = value.as_array();
    all.map(Vec::as_slice)
        .ok_or_else(|| wrong(place, &format!("is {}, no list; write it in brackets, as `[…]`", told(value))))
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

/// Reads fields, and what is said of their values.
struct Reader<'a> {
    rules: &'a mut Rules,
    /// The list whose rows they are of.
    inside: Option<&'a str>,
}

impl Reader<'_> {
    /// The fields of an object, whose properties stand at this place.
    fn fields(&mut self, object: &Map<String, Value>, place: &str) -> Result<Vec<FieldRule>> {
        let properties = object.get("properties").and_then(Value::as_object);
        let properties = properties.ok_or_else(|| wrong(place, "is missing or no object"))?;
        if properties.is_empty() || properties.len() > MAX_FIELDS {
            return Err(wrong(place, &format!("has {} fields, not 1 to {MAX_FIELDS}", properties.len())));
        }
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        let above = place.strip_suffix("properties").unwrap_or(place).trim_end_matches('.');
        for name in keywords::required(object, above, &names)? {
            let path = self.path(name);
            self.rules.required.push(path);
        }
        let read = |(name, value): (&String, &Value)| self.field(name, value, &format!("{place}.{name}"));
        properties.iter().map(read).collect()
    }

    fn path(&self, name: &str) -> String {
        self.inside.map_or_else(|| name.to_owned(), |list| format!("{list}[].{name}"))
    }

    fn field(&mut self, name: &str, value: &Value, place: &str) -> Result<FieldRule> {
        // They part names from places in paths.
        if name.is_empty() || name.contains(['[', ']']) {
            return Err(wrong(place, "is no name of a field: it is empty, or has a bracket"));
        }
        let object = value.as_object().ok_or_else(|| wrong(place, "is no object"))?;
        let notes = annotations(object, place, &["critical", "normalise", "labels"])?;
        let mut normalise = notes.get("normalise").map(|value| normalise(value, place)).transpose()?;
        let path = self.path(name);
        let shape = if object.get("type").is_some_and(|kind| kind == "array") {
            if self.inside.is_some() {
                return Err(wrong(
                    &format!("{place}.type"),
                    "`array` cannot be extracted here: rows have no lists",
                ));
            }
            self.list(object, place, &path, &mut normalise)?
        } else {
            let (keywords, notation) = Keywords::read(object, place, normalise)?;
            normalise = notation;
            self.rules.values.insert(path, keywords);
            Shape::Text
        };
        let critical = match notes.get("critical") {
            None => false,
            Some(value) => value.as_bool().ok_or_else(|| {
                let what = format!("is {}, neither true nor false", told(value));
                wrong(&format!("{place}.x-docmill.critical"), &what)
            })?,
        };
        if critical && self.inside.is_some() {
            let what =
                "is for fields of the record; name what each row must have under `required` of `items`";
            return Err(wrong(&format!("{place}.x-docmill.critical"), what));
        }
        let at = format!("{place}.x-docmill.labels");
        let mut labels = Vec::new();
        for label in list_of(notes, "labels", &at)? {
            labels.push(folded(&text_of(label, &at)?));
        }
        labels.retain(|label| !label.is_empty());
        if !labels.is_empty() && (shape != Shape::Text || self.inside.is_some()) {
            return Err(wrong(
                &at,
                "are looked for only for single values, not for lists and rows; leave them out",
            ));
        }
        Ok(FieldRule { name: name.to_owned(), shape, critical, normalise, labels })
    }

    fn list(
        &mut self,
        object: &Map<String, Value>,
        place: &str,
        path: &str,
        normalise: &mut Option<Normalise>,
    ) -> Result<Shape> {
        self.rules.counts.insert(path.to_owned(), Count::read(object, place)?);
        let at = format!("{place}.items");
        let items = object.get("items").and_then(Value::as_object);
        let items = items.ok_or_else(|| wrong(&at, "is missing, or no object"))?;
        if items.contains_key("x-docmill") {
            let what =
                "is never looked at; annotations stand at the list itself, or at the properties of its rows";
            return Err(wrong(&format!("{at}.x-docmill"), what));
        }
        if items.get("type").is_some_and(|kind| kind == "object") {
            keywords::only(items, &at, keywords::ROW)?;
            if normalise.is_some() {
                let what = "is for values; give it to the properties of the rows";
                return Err(wrong(&format!("{place}.x-docmill.normalise"), what));
            }
            let mut rows = Reader { rules: &mut *self.rules, inside: Some(path) };
            return Ok(Shape::Rows(rows.fields(items, &format!("{at}.properties"))?));
        }
        let (keywords, notation) = Keywords::read(items, &at, *normalise)?;
        *normalise = notation;
        self.rules.values.insert(format!("{path}[]"), keywords);
        Ok(Shape::List)
    }
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
                r#"{"title": "a", "properties": {"b": {"format": "date"}}, "x-docmill": {"checks": [{"kind": "order", "before": "b", "after": "c"}]}}"#,
                "names `c`",
            ),
        ];
        for (text, said) in cases {
            let error = Schema::parse(text).unwrap_err();
            assert!(error.message().contains(said), "{text}: {}", error.message());
        }
    }

    #[test]
    fn what_would_never_be_looked_at_is_refused() {
        let of = |properties: &str, notes: &str| {
            format!(r#"{{"title": "a", "properties": {{{properties}}}, "x-docmill": {{{notes}}}}}"#)
        };
        let lists = r#""p": {"type": "array", "items": {"type": "string"}}, "t": {"x-docmill": {"normalise": "money"}},
            "d": {"format": "date"}, "x": {}, "i": {"type": "array", "items": {"type": "object", "properties":
            {"n": {"type": "number"}, "d": {"format": "date"}}}}"#;
        let check = |check: &str| of(lists, &format!(r#""checks": [{check}]"#));
        let row = |column: &str, of_row: &str| {
            of(
                &format!(
                    r#""i": {{"type": "array", "items": {{"type": "object", {of_row} "properties": {{"n": {column}}}}}}}"#
                ),
                "",
            )
        };
        let cases = [
            (of(r#""b": {}"#, r#""checks": {}"#), "`x-docmill.checks` of the schema is {}, no list"),
            (of(r#""b": {}"#, r#""version": "2""#), "`x-docmill.version` of the schema is \"2\""),
            (
                of(r#""b": {"x-docmill": {"labels": "x"}}"#, ""),
                "`properties.b.x-docmill.labels` of the schema is \"x\", no list",
            ),
            (of(r#""b": {"x-docmill": {"critical": "yes"}}"#, ""), "neither true nor false"),
            (of(r#""b[c]": {}"#, ""), "no name of a field"),
            (
                of(r#""b": {"type": "array", "items": {"x-docmill": {"normalise": "money"}}}"#, ""),
                "properties.b.items.x-docmill",
            ),
            (of(r#""b": {"type": "array", "items": {"type": "array"}}"#, ""), "properties.b.items.type"),
            (
                of(r#""b": {"type": "array", "items": {}, "x-docmill": {"labels": ["x"]}}"#, ""),
                "single values",
            ),
            (
                of(r#""b": {"type": "array", "items": {}, "uniqueItems": true}"#, ""),
                "properties.b.uniqueItems",
            ),
            (row("{}", r#""x-docmill": {"critical": true},"#), "properties.i.items.x-docmill"),
            (row("{}", r#""minProperties": 1,"#), "properties.i.items.minProperties"),
            (row("{}", r#""required": ["m"],"#), "`properties.i.items.required` of the schema names \"m\""),
            (row(r#"{"x-docmill": {"critical": true}}"#, ""), "under `required` of `items`"),
            (row(r#"{"x-docmill": {"labels": ["x"]}}"#, ""), "single values"),
            (check(r#"{"kind": "sum", "terms": ["p"], "total": "t"}"#), "names `p`, which is a list"),
            (check(r#"{"kind": "sum", "terms": ["i"], "total": "t"}"#), "names `i`, which is a list"),
            (check(r#"{"kind": "sum", "terms": ["x"], "total": "t"}"#), "names `x`, which is no amount"),
            (check(r#"{"kind": "sum", "terms": ["i[].n"], "total": "i[].n"}"#), "which is a column"),
            (check(r#"{"kind": "sum", "terms": [], "total": "t"}"#), "nothing to add up"),
            (
                check(r#"{"kind": "sum", "terms": ["t"], "total": "t", "tolerance": 1}"#),
                "x-docmill.checks[0].tolerance",
            ),
            (
                check(r#"{"kind": "order", "before": "i[].d", "after": "d"}"#),
                "dates of rows are not compared",
            ),
            (check(r#"{"kind": "order", "before": "d", "after": "t"}"#), "names `t`, which is no date"),
            (
                check(r#"{"kind": "order", "before": "d", "after": "d", "name": 7}"#),
                "x-docmill.checks[0].name",
            ),
            (
                r#"{"title": "a", "type": "array", "properties": {"b": {}}}"#.to_owned(),
                "a record is an `object`",
            ),
            (r#"{"title": 7, "properties": {"b": {}}}"#.to_owned(), "`title` of the schema is 7"),
            (r#"{"title": "a", "properties": {"b": {}}, "required": ["c"]}"#.to_owned(), "names \"c\""),
            (
                r#"{"title": "a", "properties": {"b": {}}, "allOf": []}"#.to_owned(),
                "`allOf` of the schema is a keyword",
            ),
            (
                r#"{"title": "a", "properties": {"b": {}}, "additionalProperties": {}}"#.to_owned(),
                "neither true nor false",
            ),
        ];
        for (text, said) in cases {
            let error = Schema::parse(&text).unwrap_err();
            assert!(error.message().contains(said), "{text}: {}", error.message());
        }
        let sum = check(
            r#"{"kind": "sum", "terms": ["i[].n"], "total": "t"}, {"kind": "order", "before": "d", "after": "d"}"#,
        );
        assert_eq!(Schema::parse(&sum).unwrap().checks.len(), 2);
    }
}
