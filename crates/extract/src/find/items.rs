//! Lines of tables: what was sold, how much of it, at what price.
//!
//! The heads of columns say what stands below them; a row with an amount begins an item, and rows without one go on
//! with its description.

use std::ops::Range;

use super::{Found, Reading, Record};
use crate::labels;
use crate::layout::{Row, Span};
use crate::normalise::Amount;

/// Items beyond are not listed.
const MAX_ITEMS: usize = 500;

/// Meanings of columns; where two have the same word for a head, the first wins.
const COLUMNS: &[(&str, &str)] = &[
    ("col_gross_amount", "gross_amount"),
    ("col_net_amount", "net_amount"),
    ("col_unit_price", "unit_price"),
    ("col_quantity", "quantity"),
    ("col_tax_rate", "tax_rate"),
    ("col_unit", "unit"),
    ("col_description", "description"),
    ("col_position", "position"),
];

#[derive(Clone, Debug)]
struct Column {
    field: &'static str,
    left: f32,
    right: f32,
}

#[derive(Clone, Debug, Default)]
struct Item {
    description: Vec<Span>,
    numbers: Vec<(&'static str, Amount, Span)>,
}

/// The items of all tables that have the same columns.
pub fn find(reading: &Reading<'_>) -> Record {
    let mut items: Vec<Item> = Vec::new();
    let mut at = 0;
    while at < reading.sheet.rows.len() {
        match heads(reading, at) {
            Some((columns, next)) => at = read(reading, &columns, next, &mut items).max(at + 1),
            None => at += 1,
        }
    }
    let mut record = Record::new();
    for (index, item) in items.iter().take(MAX_ITEMS).enumerate() {
        let sure = adds_up(item);
        let mut put = |field: &str, found: Found| record.insert(format!("items[{index}].{field}"), found);
        if !item.description.is_empty() {
            let text: Vec<String> = item.description.iter().map(|span| reading.sheet.text(span)).collect();
            let found = Found {
                value: text.join(" ").into(),
                confidence: 0.88,
                method: "table",
                spans: item.description.clone(),
            };
            put("description", found);
        }
        for (field, amount, span) in &item.numbers {
            let value =
                if matches!(*field, "quantity" | "tax_rate") { amount.plain() } else { amount.money() };
            put(field, Found::text(value, if sure { 0.96 } else { 0.75 }, "table", span.clone()));
        }
    }
    record
}

/// Whether quantity times price is the amount.
fn adds_up(item: &Item) -> bool {
    let of =
        |name: &str| item.numbers.iter().find(|(field, ..)| *field == name).map(|(_, amount, _)| *amount);
    match (of("quantity"), of("unit_price"), of("net_amount").or_else(|| of("gross_amount"))) {
        (Some(quantity), Some(price), Some(total)) => quantity.times(price).near(total, 1),
        _ => false,
    }
}

/// Columns, if a row is the head of a table: at least three meanings, one of them an amount, another what was sold.
fn heads(reading: &Reading<'_>, index: usize) -> Option<(Vec<Column>, usize)> {
    let row = &reading.sheet.rows[index];
    if !reading.amounts[index].iter().all(|(_, mention)| mention.amount.places == 0) {
        return None;
    }
    let mut columns: Vec<Column> = Vec::new();
    let mut next = index + 1;
    // The words of a head may stand in two rows: `Gross` above `worth`.
    let second = reading.sheet.rows.get(index + 1).filter(|below| {
        below.page == row.page
            && below.top - row.bottom < row.height * 0.9
            && reading.amounts[index + 1].is_empty()
            && below.cells().iter().all(|cell| cell.len() <= 2)
    });
    for cell in row.cells() {
        let mut at = cell.start;
        while at < cell.end {
            let Some((field, tokens)) = meaning(row, at, cell.end) else {
                at += 1;
                continue;
            };
            let (mut left, mut right) = row.edges(&tokens);
            if let Some(under) = second.and_then(|below| {
                below
                    .cells()
                    .into_iter()
                    .find(|under| {
                        let (from, to) = below.edges(under);
                        from < right && to > left
                    })
                    .map(|under| below.edges(&under))
            }) {
                left = left.min(under.0);
                right = right.max(under.1);
                next = index + 2;
            }
            if !columns.iter().any(|column| column.field == field) {
                columns.push(Column { field, left, right });
            }
            at = tokens.end;
        }
    }
    let has = |name: &str| columns.iter().any(|column| column.field == name);
    let amount = has("net_amount") || has("gross_amount");
    (columns.len() >= 3 && amount && has("description") && (has("quantity") || has("unit_price")))
        .then_some((columns, next))
}

fn meaning(row: &Row, at: usize, end: usize) -> Option<(&'static str, Range<usize>)> {
    let mut best: Option<(usize, &'static str, Range<usize>)> = None;
    for (name, field) in COLUMNS {
        let hit = labels::of(name).at(row, at).filter(|(tokens, ..)| tokens.end <= end);
        let Some((tokens, _, letters)) = hit else { continue };
        if best.as_ref().is_none_or(|(most, ..)| letters > *most) {
            best = Some((letters, field, tokens));
        }
    }
    best.map(|(_, field, tokens)| (field, tokens))
}

/// Reads rows until the table ends, and says where that is.
fn read(reading: &Reading<'_>, columns: &[Column], from: usize, items: &mut Vec<Item>) -> usize {
    let page = reading.sheet.rows.get(from).map_or(0, |row| row.page);
    let Some(text) = columns.iter().find(|column| column.field == "description") else { return from };
    let after = columns
        .iter()
        .filter(|column| column.left > text.left)
        .map(|column| column.left)
        .fold(f32::MAX, f32::min);
    let before = columns
        .iter()
        .filter(|column| column.left < text.left)
        .map(|column| column.right)
        .fold(0.0, f32::max);
    let mut bottom = reading.sheet.rows.get(from.saturating_sub(1)).map_or(0.0, |row| row.bottom);
    let mut open = false;
    for (index, row) in reading.sheet.rows.iter().enumerate().skip(from) {
        if row.page != page || row.top - bottom > row.height * 9.0 || heads(reading, index).is_some() {
            return index;
        }
        let numbers = numbers(reading, columns, index, before, text.left);
        let amount = numbers.iter().any(|(field, ..)| matches!(*field, "net_amount" | "gross_amount"));
        let other = numbers.iter().any(|(field, ..)| matches!(*field, "quantity" | "unit_price"));
        let said = description(row, index, &numbers, before, after, text.left)
            .map(|said| without_position(row, said, items.len() + 1));
        if amount && (other || said.is_some()) && !is_total(row) {
            items.push(Item { description: said.into_iter().collect(), numbers });
            (bottom, open) = (row.bottom, true);
        } else if is_total(row) || amount {
            return index;
        } else if let Some(last) = items.last_mut().filter(|_| open && numbers.is_empty()) {
            let close = row.top - bottom < row.height * 1.2;
            match said.filter(|_| close && row.cells().len() == 1) {
                Some(said) if last.description.len() < 6 => {
                    last.description.push(said);
                    bottom = row.bottom;
                }
                _ => open = open && !close,
            }
        }
    }
    reading.sheet.rows.len()
}

/// Whether a row begins with the word for a sum.
fn is_total(row: &Row) -> bool {
    (0..row.tokens.len().min(2)).any(|at| {
        ["net_total", "gross_total", "tax_total", "not_total", "subtotal"].iter().any(|name| {
            let found = labels::of(name).at(row, at);
            found.is_some_and(|(tokens, ..)| {
                row.tokens.get(tokens.end).is_none_or(|next| {
                    next.text.contains(|c: char| c.is_ascii_digit())
                        || next.cell > row.tokens[tokens.start].cell
                        || next.fold.is_empty()
                })
            })
        })
    })
}

/// The numbers of a row, each in the column that it is nearest to.
fn numbers(
    reading: &Reading<'_>,
    columns: &[Column],
    index: usize,
    before: f32,
    text: f32,
) -> Vec<(&'static str, Amount, Span)> {
    let row = &reading.sheet.rows[index];
    let mut found: Vec<(&'static str, Amount, Span)> = Vec::new();
    for (span, mention) in &reading.amounts[index] {
        let (left, right) = row.edges(&span.tokens);
        let cell = row.tokens[span.tokens.start].cell;
        // A number amid words belongs to them.
        let first = row.tokens.iter().position(|token| token.cell == cell).unwrap_or(0);
        let lead = row.tokens[first..span.tokens.start].iter().any(|token| {
            token.fold.chars().filter(|c| c.is_alphabetic()).count() > 2
                && crate::normalise::codes::currency(&token.text).is_none()
        });
        if lead && left < before.max(text) + row.height * 40.0 && mention.amount.places != 2 {
            continue;
        }
        let distance = |column: &&Column| {
            if left < column.right && right > column.left {
                (f32::midpoint(left, right) - f32::midpoint(column.left, column.right)).abs() * 0.2
            } else {
                (left - column.right).max(column.left - right)
            }
        };
        let nearest = columns
            .iter()
            .filter(|column| column.field != "unit")
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let Some(column) = nearest.filter(|column| {
            !matches!(column.field, "description" | "position") && distance(column) < row.height * 6.0
        }) else {
            continue;
        };
        let fits =
            if column.field == "tax_rate" { mention.amount.units < 1_000_000 } else { !mention.percent };
        if fits && !found.iter().any(|(field, ..)| *field == column.field) {
            found.push((column.field, mention.amount, span.clone()));
        }
    }
    found
}

/// Without the number of the line, where it stands too close to the words.
fn without_position(row: &Row, mut said: Span, number: usize) -> Span {
    let first = row.tokens.get(said.tokens.start).map(|token| token.text.trim_end_matches('.'));
    if said.tokens.len() > 1 && first == Some(number.to_string().as_str()) {
        said.tokens.start += 1;
    }
    said
}

/// The words of a row in the column of descriptions.
fn description(
    row: &Row,
    index: usize,
    numbers: &[(&'static str, Amount, Span)],
    before: f32,
    after: f32,
    left: f32,
) -> Option<Span> {
    let taken = |at: usize| numbers.iter().any(|(.., span)| span.tokens.contains(&at));
    let inside = |at: usize| {
        let token = &row.tokens[at];
        let begins = token.edges[0] >= (before + row.height * 0.2).min(left - row.height * 0.5);
        begins && token.edges[0] < after - row.height * 0.3 && !taken(at)
    };
    let from = (0..row.tokens.len()).find(|&at| inside(at))?;
    let to = (from..row.tokens.len()).take_while(|&at| inside(at)).last()? + 1;
    let letters = row.tokens[from..to].iter().any(|token| token.fold.chars().any(char::is_alphabetic));
    letters.then_some(Span { row: index, tokens: from..to })
}
