//! Two readings of one document: when a second is worth its time, and what is taken from which.

use std::collections::BTreeMap;

use docmill_core::extraction::{Extraction, Field};

use crate::gate;
use crate::layout::folded;
use crate::schema::{CheckKind, Schema, Shape};

/// What remains of the doubt in a value that both readings give.
const AGREED: f32 = 0.5;

/// What remains of the confidence in a value that the other reading gives differently.
const DISPUTED: f32 = 0.85;

/// Looking again costs a machine some seconds, and a person nothing: it is done earlier than a person is asked.
const SURE: f32 = 0.85;

/// Whether a record of recognised pages should be taken once more from other pixels or by another engine: it does not
/// pass the gate, or something critical in it is not sure.
pub fn worthwhile(extraction: &Extraction) -> bool {
    !extraction.valid || extraction.confidence < SURE
}

/// The better of two records, field by field. What must add up is taken together; rows are never mixed.
pub fn better(schema: &Schema, first: &Extraction, second: &Extraction) -> Extraction {
    let together = summed(schema);
    let holds = |record: &Extraction| {
        let there = together.iter().filter(|name| record.fields.contains_key(**name)).count();
        let broken = record.violations.iter().any(|violation| violation.rule == "check");
        if broken { 0 } else { there }
    };
    let keep_second = holds(second) > holds(first);
    let keep_first = holds(first) > holds(second);
    let mut fields = BTreeMap::new();
    for rule in &schema.fields {
        if let Shape::Rows(_) | Shape::List = rule.shape {
            let begin = format!("{}[", rule.name);
            let rows = |record: &Extraction| -> BTreeMap<String, Field> {
                let of_rule = record.fields.iter().filter(|(path, _)| path.starts_with(&begin));
                of_rule.map(|(path, field)| (path.clone(), field.clone())).collect()
            };
            let (one, other) = (rows(first), rows(second));
            let sure =
                |rows: &BTreeMap<String, Field>| rows.values().map(|field| field.confidence).sum::<f32>();
            fields.extend(if sure(&other) > sure(&one) { other } else { one });
            continue;
        }
        let (one, other) = (first.fields.get(&rule.name), second.fields.get(&rule.name));
        let field = match (one, other) {
            (Some(one), Some(other)) if same(one, other) => {
                let surer = if other.confidence > one.confidence { other } else { one };
                Some(Field { confidence: 1.0 - (1.0 - surer.confidence) * AGREED, ..surer.clone() })
            }
            (Some(one), Some(other)) => {
                let bound = together.contains(&rule.name.as_str());
                let chosen = match (bound && keep_first, bound && keep_second) {
                    (true, _) => one,
                    (_, true) => other,
                    _ if other.confidence > one.confidence => other,
                    _ => one,
                };
                Some(Field { confidence: chosen.confidence * DISPUTED, ..chosen.clone() })
            }
            (one, other) => one.or(other).cloned(),
        };
        fields.extend(field.map(|field| (rule.name.clone(), field)));
    }
    gate::pass(schema, fields)
}

fn same(one: &Field, other: &Field) -> bool {
    let text = |field: &Field| field.value.as_str().map(folded);
    text(one) == text(other)
}

/// Names of the fields that the sums of a schema speak of.
fn summed(schema: &Schema) -> Vec<&str> {
    let mut names = Vec::new();
    for check in &schema.checks {
        if let CheckKind::Sum { terms, total } = &check.kind {
            names.extend(terms.iter().chain([total]).filter(|name| !name.contains('[')).map(String::as_str));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use docmill_core::extraction::Evidence;

    use super::*;

    fn record(schema: &Schema, values: &[(&str, &str, f32)]) -> Extraction {
        let field = |value: &str, confidence: f32| Field {
            value: value.into(),
            confidence,
            method: "label".into(),
            evidence: vec![Evidence::default()],
        };
        let fields =
            values.iter().map(|(name, value, sure)| ((*name).to_owned(), field(value, *sure))).collect();
        gate::pass(schema, fields)
    }

    #[test]
    fn better_value_of_each_field_is_taken_and_agreement_makes_surer() {
        let schema = Schema::built_in("receipt").unwrap();
        let first = record(&schema, &[("company", "Shop", 0.8), ("date", "2024-01-02", 0.4)]);
        assert!(worthwhile(&first));
        let second = record(
            &schema,
            &[("company", "SHOP.", 0.7), ("date", "2024-01-03", 0.9), ("total", "3.00", 0.9)],
        );
        let merged = better(&schema, &first, &second);
        assert_eq!(
            (merged.data["date"].as_str(), merged.data["total"].as_str()),
            (Some("2024-01-03"), Some("3.00"))
        );
        assert_eq!(merged.data["company"], "Shop");
        assert!((merged.fields["company"].confidence - 0.9).abs() < 1e-5);
        assert!(merged.fields["date"].confidence < 0.9 && merged.valid);
    }

    #[test]
    fn amounts_that_add_up_are_taken_together() {
        let schema = Schema::built_in("invoice").unwrap();
        let amounts = |net, tax, gross, sure| {
            record(
                &schema,
                &[("tax_basis_total", net, sure), ("tax_total", tax, sure), ("total_amount", gross, sure)],
            )
        };
        let merged =
            better(&schema, &amounts("10.00", "2.00", "13.00", 0.9), &amounts("10.00", "2.50", "12.50", 0.6));
        assert_eq!(
            (&merged.data["tax_total"], &merged.data["total_amount"]),
            (&"2.50".into(), &"12.50".into())
        );
    }

    #[test]
    fn sure_and_whole_record_needs_no_second_reading() {
        let schema = Schema::built_in("receipt").unwrap();
        let whole =
            record(&schema, &[("company", "A", 0.9), ("date", "2024-01-02", 0.9), ("total", "3.00", 0.95)]);
        assert!(!worthwhile(&whole));
    }
}
