//! The rows of one table, chunk by chunk; each is stored together with how far the table is.

use docmill_core::ports::transfer::{Mark, Row, Table, Value};
use docmill_core::{Error, Result};

use super::state::State;
use super::{Progress, Side, Watch};

/// What is counted.
const ROWS: &str = "rows";

/// Copies what `mark` says is still to be copied.
pub(super) async fn copy(
    from: &Side,
    to: &Side,
    table: &'static Table,
    mut mark: Mark,
    state: &State,
    watch: Watch<'_>,
) -> Result<()> {
    if mark.done {
        return Ok(());
    }
    let of = state.rows_of(table.name);
    let mut pieces = from.transfer.rows(table, mark.after.as_deref()).await?;
    while let Some(rows) = pieces.recv().await {
        let mut rows = rows?;
        let Some(last) = rows.last() else { continue };
        mark.after = Some(key(table, last)?);
        for row in &mut rows {
            to.transfer.fit(row);
        }
        let count = mark.counts.entry(ROWS.to_owned()).or_default();
        *count += rows.len() as u64;
        let done = *count;
        to.transfer.import(table, rows, &mark).await?;
        watch(Progress { doing: format!("copying rows: {}", table.name), done, of });
    }
    mark.done = true;
    to.transfer.mark(table.name, &mark).await
}

/// The key of a row, as the source has it.
fn key(table: &Table, row: &Row) -> Result<Vec<Value>> {
    let value = |name: &&str| {
        table
            .place(name)
            .and_then(|place| row.get(place))
            .cloned()
            .ok_or_else(|| Error::bug(format!("a row of `{}` has no `{name}`", table.name)))
    };
    table.key.iter().map(value).collect()
}
