//! What must hold of a whole record: sums and the order of dates, each about fields that there are.

use docmill_core::Result;
use docmill_core::text::shown;
use serde_json::Value;

use super::{Check, CheckKind, FieldRule, Normalise, Shape, list_of, text_of, told, wrong};

pub(super) fn parse_check(value: &Value, place: &str, fields: &[FieldRule]) -> Result<Check> {
    let object = value.as_object().ok_or_else(|| wrong(place, &format!("is {}, no object", told(value))))?;
    let given = |key: &str| -> Result<String> {
        let place = format!("{place}.{key}");
        text_of(object.get(key).ok_or_else(|| wrong(&place, "is missing"))?, &place)
    };
    let only = |known: &[&str]| match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(wrong(
            &format!("{place}.{}", shown(key)),
            &format!("is nothing of this check; it has {}", known.join(", ")),
        )),
    };
    let kind = match object.get("kind").and_then(Value::as_str) {
        Some("sum") => {
            only(&["kind", "name", "terms", "total"])?;
            let at = format!("{place}.terms");
            let terms = list_of(object, "terms", &at)?;
            if terms.is_empty() {
                return Err(wrong(&at, "has nothing to add up; name the fields, as `[\"net\", \"tax\"]`"));
            }
            let terms = terms.iter().map(|term| text_of(term, &at)).collect::<Result<Vec<_>>>()?;
            terms.iter().try_for_each(|term| amount_at(term, fields, &at, true))?;
            let total = given("total")?;
            amount_at(&total, fields, &format!("{place}.total"), false)?;
            CheckKind::Sum { terms, total }
        }
        Some("order") => {
            only(&["kind", "name", "before", "after"])?;
            let (before, after) = (given("before")?, given("after")?);
            date_at(&before, fields, &format!("{place}.before"))?;
            date_at(&after, fields, &format!("{place}.after"))?;
            CheckKind::Order { before, after }
        }
        _ => {
            let said = object.get("kind").map_or_else(
                || "nothing".to_owned(),
                |kind| match kind {
                    Value::String(name) => shown(name),
                    other => told(other),
                },
            );
            return Err(wrong(
                &format!("{place}.kind"),
                &format!("`{said}` is no check; there are sum and order"),
            ));
        }
    };
    let name = object.get("name").map(|name| text_of(name, &format!("{place}.name"))).transpose()?;
    Ok(Check { name: name.unwrap_or_else(|| place.to_owned()), kind })
}

/// The field of a path, and whether it is a column of rows.
fn known_path<'a>(path: &str, fields: &'a [FieldRule], place: &str) -> Result<(&'a FieldRule, bool)> {
    let unknown = || wrong(place, &format!("names `{}`, which is no field", shown(path)));
    let (head, column) = path.split_once("[].").map_or((path, None), |(head, column)| (head, Some(column)));
    let found = fields.iter().find(|field| field.name == head).ok_or_else(unknown)?;
    match (&found.shape, column) {
        (Shape::Rows(rows), Some(column)) => {
            Ok((rows.iter().find(|field| field.name == column).ok_or_else(unknown)?, true))
        }
        (_, Some(_)) => Err(unknown()),
        (Shape::Text, None) => Ok((found, false)),
        (Shape::List | Shape::Rows(_), None) => {
            let what = format!(
                "names `{}`, which is a list; name one value, or a column as `{0}[].net`",
                shown(path)
            );
            Err(wrong(place, &what))
        }
    }
}

/// What a sum can be made of.
fn amount_at(path: &str, fields: &[FieldRule], place: &str, may_be_column: bool) -> Result<()> {
    let (field, is_column) = known_path(path, fields, place)?;
    if is_column && !may_be_column {
        let what = format!("names `{path}`, which is a column; the total is one value of the record");
        return Err(wrong(place, &what));
    }
    match field.normalise {
        Some(Normalise::Money | Normalise::Number) => Ok(()),
        _ => Err(wrong(
            place,
            &format!(
                "names `{path}`, which is no amount; give that field `\"normalise\": \"money\"` or `\"number\"`"
            ),
        )),
    }
}

/// What can come before or after another.
fn date_at(path: &str, fields: &[FieldRule], place: &str) -> Result<()> {
    let (field, is_column) = known_path(path, fields, place)?;
    if is_column {
        let what = format!("names `{path}`, which is a column; dates of rows are not compared");
        return Err(wrong(place, &what));
    }
    if field.normalise == Some(Normalise::Date) {
        return Ok(());
    }
    Err(wrong(place, &format!("names `{path}`, which is no date; give that field `\"normalise\": \"date\"`")))
}
