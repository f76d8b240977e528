//! The gate: whether a record keeps to its schema, stands on evidence, and adds up.

use std::collections::{BTreeMap, BTreeSet};

use docmill_core::extraction::{Extraction, Field, Violation};
use serde_json::{Map, Value};

use crate::normalise::{Amount, Date, Order, codes};
use crate::schema::{CheckKind, FieldRule, Normalise, Schema, Shape};

/// Fields this sure are accepted without anybody looking. Of those on the measured sets at least 97 of 100 are right
/// (`docs/quality.md`); a higher level sends people to look at clean documents.
pub const ACCEPTED: f32 = 0.8;

/// What may be lost to rounding, in hundredths.
const ROUNDING: i64 = 2;

/// Makes a record of fields by their paths, and holds it against its schema.
pub fn pass(schema: &Schema, fields: BTreeMap<String, Field>) -> Extraction {
    let data = record(schema, &fields);
    let mut violations = Vec::new();
    for rule in &schema.fields {
        let of_rule = |path: &str| path == rule.name || path.starts_with(&format!("{}[", rule.name));
        let mut any = false;
        for (path, field) in fields.iter().filter(|(path, _)| of_rule(path)) {
            any = true;
            if field.evidence.is_empty() {
                violations.push(violation(
                    path,
                    "ungrounded",
                    format!("`{}` stands nowhere in the document", told(&field.value)),
                ));
            }
            if let Some(wrong) = rule_of(rule, path).and_then(|rule| misfit(rule, &field.value)) {
                violations.push(violation(path, "misfit", wrong));
            }
            let keywords = schema.rules.of(path).zip(field.value.as_str());
            let broken = keywords.map(|(keywords, text)| keywords.broken(text)).unwrap_or_default();
            violations.extend(broken.into_iter().map(|(keyword, wrong)| violation(path, keyword, wrong)));
        }
        if !any && (rule.critical || schema.rules.required.contains(&rule.name)) {
            violations.push(violation(&rule.name, "missing", format!("`{}` was not found", rule.name)));
        }
        let many = data.get(&rule.name).and_then(Value::as_array).map(Vec::len);
        let broken =
            schema.rules.counts.get(&rule.name).zip(many).and_then(|(count, many)| count.broken(many));
        violations.extend(
            broken.map(|(keyword, wrong)| violation(&rule.name, keyword, format!("`{}` {wrong}", rule.name))),
        );
    }
    violations.extend(absent_in_rows(schema, &fields));
    violations.extend(checks(schema, &fields));
    let confidence = whole(schema, &fields);
    Extraction {
        schema: schema.name.clone(),
        data,
        valid: violations.is_empty(),
        violations,
        confidence,
        fields,
        model: None,
        tokens_in: 0,
        tokens_out: 0,
    }
}

/// Columns that each row must have, and that some do not.
fn absent_in_rows(schema: &Schema, fields: &BTreeMap<String, Field>) -> Vec<Violation> {
    let mut absent = Vec::new();
    for (list, column) in schema.rules.required.iter().filter_map(|path| path.split_once("[].")) {
        let begin = format!("{list}[");
        let rows: BTreeSet<&str> = fields
            .keys()
            .filter_map(|path| path.strip_prefix(&begin)?.split_once("].").map(|(index, _)| index))
            .collect();
        for index in rows {
            let path = format!("{list}[{index}].{column}");
            if !fields.contains_key(&path) {
                absent.push(violation(&path, "missing", format!("`{path}` was not found")));
            }
        }
    }
    absent
}

/// Why a person should look at a record: what does not hold, and what matters and is not sure.
pub fn doubts(schema: &Schema, found: &Extraction) -> Vec<String> {
    let mut doubts: Vec<String> =
        found.violations.iter().map(|violation| violation.message.clone()).collect();
    let critical = |path: &str| {
        let name = path.split('[').next().unwrap_or(path);
        schema.fields.iter().any(|rule| rule.critical && rule.name == name)
    };
    for (path, field) in
        found.fields.iter().filter(|(path, field)| critical(path) && field.confidence < ACCEPTED)
    {
        let (value, sure) = (told(&field.value), field.confidence * 100.0);
        doubts.push(format!("`{path}` is `{value}` with {sure:.0} % only"));
    }
    doubts
}

/// The fields that the doubts are about, by their names in the schema.
pub fn doubtful(schema: &Schema, found: &Extraction) -> Vec<String> {
    let root = |path: &str| path.split('[').next().unwrap_or(path).to_owned();
    let mut names = BTreeSet::new();
    for violation in &found.violations {
        match schema.checks.iter().find(|check| violation.rule == "check" && check.name == violation.field) {
            Some(check) => match &check.kind {
                CheckKind::Sum { terms, total } => {
                    names.extend(terms.iter().chain([total]).map(|path| root(path)));
                }
                CheckKind::Order { before, after } => names.extend([root(before), root(after)]),
            },
            None => drop(names.insert(root(&violation.field))),
        }
    }
    let unsure =
        found.fields.iter().filter(|(_, field)| field.confidence < ACCEPTED).map(|(path, _)| root(path));
    let unsure: BTreeSet<String> = unsure.collect();
    let is_doubtful =
        |rule: &&FieldRule| names.contains(&rule.name) || rule.critical && unsure.contains(&rule.name);
    schema.fields.iter().filter(is_doubtful).map(|rule| rule.name.clone()).collect()
}

fn violation(field: &str, rule: &str, message: String) -> Violation {
    Violation { field: field.to_owned(), rule: rule.to_owned(), message }
}

fn told(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The rule of a path: that of the field, or of a field of its rows.
pub(crate) fn rule_of<'a>(rule: &'a FieldRule, path: &str) -> Option<&'a FieldRule> {
    match (&rule.shape, path.split_once("].")) {
        (Shape::Rows(rows), Some((_, name))) => rows.iter().find(|row| row.name == name),
        (Shape::Rows(_), None) => None,
        _ => Some(rule),
    }
}

fn misfit(rule: &FieldRule, value: &Value) -> Option<String> {
    let Some(text) = value.as_str() else { return Some(format!("`{value}` is no text")) };
    let fits = match rule.normalise? {
        Normalise::Money | Normalise::Number => Amount::parse(text).is_some(),
        Normalise::Date => Date::parse(text, Order::DayFirst).is_some_and(|date| date.iso() == text),
        Normalise::Country => codes::country(text) == Some(text),
        Normalise::Iban => codes::iban(text).as_deref() == Some(text),
        Normalise::Vat => codes::tax_id(text).is_some(),
        Normalise::Currency => codes::currency(text) == Some(text),
    };
    (!fits).then(|| format!("`{text}` does not keep to its notation"))
}

fn checks(schema: &Schema, fields: &BTreeMap<String, Field>) -> Vec<Violation> {
    let text = |path: &str| fields.get(path).and_then(|field| field.value.as_str());
    let mut broken = Vec::new();
    for check in &schema.checks {
        match &check.kind {
            CheckKind::Sum { terms, total } => {
                let Some(total) = text(total).and_then(Amount::parse) else { continue };
                let all: Option<Vec<Amount>> = terms.iter().map(|term| sum_of(term, fields)).collect();
                let Some(sum) = all.and_then(|all| all.into_iter().reduce(Amount::plus)) else { continue };
                if !sum.near(total, ROUNDING) {
                    let message = format!(
                        "{} together are {}, not {}",
                        terms.join(" and "),
                        sum.money(),
                        total.money()
                    );
                    broken.push(violation(&check.name, "check", message));
                }
            }
            CheckKind::Order { before, after } => {
                if let (Some(first), Some(second)) = (text(before), text(after)) {
                    // Dates in ISO 8601 are in the order of their letters.
                    if first > second {
                        let message = format!("{before} {first} is after {after} {second}");
                        broken.push(violation(&check.name, "check", message));
                    }
                }
            }
        }
    }
    broken
}

/// One value, or all of a column together.
fn sum_of(path: &str, fields: &BTreeMap<String, Field>) -> Option<Amount> {
    let read = |field: &Field| field.value.as_str().and_then(Amount::parse);
    let Some((head, tail)) = path.split_once("[].") else { return fields.get(path).and_then(read) };
    let (begin, end) = (format!("{head}["), format!("].{tail}"));
    let column = fields.iter().filter(|(path, _)| path.starts_with(&begin) && path.ends_with(&end));
    column.map(|(_, field)| read(field)).collect::<Option<Vec<_>>>()?.into_iter().reduce(Amount::plus)
}

/// As sure as its critical fields are, or as all of them where none is critical.
fn whole(schema: &Schema, fields: &BTreeMap<String, Field>) -> f32 {
    let critical: Vec<&str> =
        schema.fields.iter().filter(|rule| rule.critical).map(|rule| rule.name.as_str()).collect();
    let of = |name: &str| {
        let all = fields.iter().filter(|(path, _)| *path == name || path.starts_with(&format!("{name}[")));
        all.map(|(_, field)| field.confidence).reduce(f32::min).unwrap_or(0.0)
    };
    if critical.is_empty() {
        return fields.values().map(|field| field.confidence).reduce(f32::min).unwrap_or(0.0);
    }
    critical.into_iter().map(of).fold(1.0, f32::min)
}

/// A value of the type that the schema asks for.
fn written(schema: &Schema, path: &str, field: &Field) -> Value {
    schema.rules.of(path).map_or_else(|| field.value.clone(), |keywords| keywords.value(&field.value))
}

/// Values in the form of the schema.
fn record(schema: &Schema, fields: &BTreeMap<String, Field>) -> Map<String, Value> {
    let mut data = Map::new();
    for rule in &schema.fields {
        let begin = format!("{}[", rule.name);
        let mut rows: BTreeMap<usize, Map<String, Value>> = BTreeMap::new();
        let mut list: BTreeMap<usize, Value> = BTreeMap::new();
        for (path, field) in fields.iter().filter(|(path, _)| path.starts_with(&begin)) {
            let Some((index, name)) = path[begin.len()..].split_once(']') else { continue };
            let Ok(index) = index.parse::<usize>() else { continue };
            if let Some(name) = name.strip_prefix('.') {
                rows.entry(index).or_default().insert(name.to_owned(), written(schema, path, field));
            } else {
                list.insert(index, written(schema, path, field));
            }
        }
        let value = match rule.shape {
            Shape::Text => fields.get(&rule.name).map(|field| written(schema, &rule.name, field)),
            Shape::List => (!list.is_empty()).then(|| list.into_values().collect()),
            Shape::Rows(_) => (!rows.is_empty()).then(|| rows.into_values().map(Value::Object).collect()),
        };
        data.extend(value.map(|value| (rule.name.clone(), value)));
    }
    data
}

#[cfg(test)]
mod tests {
    use docmill_core::extraction::Evidence;

    use super::*;

    fn field(value: &str, seen: bool) -> Field {
        let evidence = if seen { vec![Evidence::default()] } else { Vec::new() };
        Field { value: value.into(), confidence: 0.9, method: "label".into(), evidence }
    }

    #[test]
    fn record_that_does_not_add_up_is_not_valid() {
        let schema = Schema::built_in("invoice").unwrap();
        let values = [
            ("invoice_number", "1"),
            ("invoice_date", "2024-02-01"),
            ("seller_name", "A"),
            ("tax_basis_total", "10.00"),
            ("tax_total", "2.00"),
            ("total_amount", "12.00"),
        ];
        let mut fields: BTreeMap<String, Field> =
            values.iter().map(|(name, value)| ((*name).to_owned(), field(value, true))).collect();
        let passed = pass(&schema, fields.clone());
        assert!(passed.valid && doubts(&schema, &passed).is_empty());
        let mut unsure = passed;
        unsure.fields.insert("total_amount".into(), Field { confidence: 0.6, ..field("12.00", true) });
        unsure.fields.insert("iban".into(), Field { confidence: 0.1, ..field("?", true) });
        assert_eq!(doubts(&schema, &unsure), ["`total_amount` is `12.00` with 60 % only"]);
        fields.insert("due_date".into(), field("2024-01-01", true));
        fields.insert("total_amount".into(), field("13.00", true));
        let broken = pass(&schema, fields);
        let mut asked = doubtful(&schema, &broken);
        asked.sort_unstable();
        assert_eq!(asked, ["due_date", "invoice_date", "tax_basis_total", "tax_total", "total_amount"]);
        let told: Vec<String> = broken.violations.into_iter().map(|v| v.field).collect();
        assert_eq!(told, ["net_and_tax_are_gross", "due_after_issued"]);
        assert_eq!(doubtful(&schema, &unsure), ["total_amount"], "what does not matter is not asked for");
    }

    #[test]
    fn record_that_the_schema_does_not_allow_is_not_valid() {
        let text = r#"{"title": "bill", "required": ["number", "items"], "properties": {
            "number": {"type": "string", "pattern": "^R-"},
            "currency": {"enum": ["EUR"]},
            "total": {"type": "number", "maximum": 50},
            "party": {"type": "array", "items": {"minLength": 2}, "maxItems": 1},
            "items": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["count"], "properties":
              {"count": {"type": "integer"}, "what": {}}}}}}"#;
        let schema = Schema::parse(text).unwrap();
        let told = |values: &[(&str, &str)]| {
            let fields =
                values.iter().map(|(path, value)| ((*path).to_owned(), field(value, true))).collect();
            let passed = pass(&schema, fields);
            let rules: Vec<_> = passed.violations.iter().map(|v| format!("{} {}", v.field, v.rule)).collect();
            assert_eq!(passed.valid, rules.is_empty());
            (passed, rules.join(", "))
        };
        let good = [("number", "R-1"), ("total", "49.50"), ("items[0].count", "3"), ("party[0]", "AB")];
        let (passed, rules) = told(&good);
        assert_eq!(rules, "");
        assert_eq!((&passed.data["total"], &passed.data["items"][0]["count"]), (&49.5.into(), &3.into()));
        assert_eq!(passed.data["number"], "R-1");
        let (_, rules) =
            told(&[("number", "1"), ("currency", "USD"), ("total", "57.36"), ("items[0].what", "Tea")]);
        assert_eq!(rules, "number pattern, currency enum, total maximum, items[0].count missing");
        let (_, rules) = told(&[("items[0].count", "2.5"), ("party[0]", "A"), ("party[1]", "BC")]);
        assert_eq!(rules, "number missing, party[0] minLength, party maxItems, items[0].count type");
    }

    #[test]
    fn missing_and_ungrounded_values_are_told() {
        let schema = Schema::built_in("receipt").unwrap();
        let fields = BTreeMap::from([
            ("total".to_owned(), field("twelve", false)),
            ("items[0].quantity".to_owned(), field("2", true)),
        ]);
        let passed = pass(&schema, fields);
        let rules: Vec<&str> = passed.violations.iter().map(|v| v.rule.as_str()).collect();
        assert_eq!(rules, ["missing", "missing", "ungrounded", "misfit"]);
        assert_eq!(passed.data["items"][0]["quantity"], "2");
        assert!(passed.confidence.abs() < f32::EPSILON);
    }
}
