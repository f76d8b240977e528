//! Rows on their way to another store: cut into pieces that fit one transaction and little memory, and the SQL that
//! both databases understand.

use docmill_core::ports::transfer::{Row, Table, Value};
use docmill_core::{Error, Result};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The most rows of a piece; a kill repeats no more than one.
const PIECE_ROWS: usize = 1_000;
/// Its most bytes, or one row if that has more.
const PIECE_BYTES: usize = 4 << 20;
/// Pieces that wait for whoever takes them.
pub(in crate::store) const PIECES_AHEAD: usize = 2;

/// Gathers rows.
pub(in crate::store) struct Piece<T> {
    rows: Vec<T>,
    bytes: usize,
}

impl<T> Piece<T> {
    pub(in crate::store) fn new() -> Self {
        Self { rows: Vec::new(), bytes: 0 }
    }

    /// Adds one; answers the piece if it is full with it.
    pub(in crate::store) fn push(&mut self, row: T, bytes: usize) -> Option<Vec<T>> {
        self.rows.push(row);
        self.bytes += bytes;
        (self.rows.len() >= PIECE_ROWS || self.bytes >= PIECE_BYTES).then(|| self.take())
    }

    /// What is left at the end.
    pub(in crate::store) fn rest(mut self) -> Option<Vec<T>> {
        if self.rows.is_empty() { None } else { Some(self.take()) }
    }

    fn take(&mut self) -> Vec<T> {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }
}

/// The memory a row takes.
pub(in crate::store) fn row_size(row: &Row) -> usize {
    row.iter().map(Value::size).sum()
}

/// A channel for pieces.
pub(in crate::store) type Sender<T> = mpsc::Sender<Result<Vec<T>>>;

/// Lets whoever takes the pieces know how reading them ended: without this, one that failed or panicked would look like
/// one that came to its end.
pub(in crate::store) fn report_end<T: Send + 'static>(send: Sender<T>, reading: JoinHandle<Result<()>>) {
    tokio::spawn(async move {
        let error = match reading.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(e) => Error::bug("reading rows was cut short").with_source(e),
        };
        if send.send(Err(error)).await.is_err() {
            tracing::debug!("whoever took the rows is gone");
        }
    });
}

/// Selects rows in the order of the key; `placeholder` writes the n-th parameter, from 1. With `after`, only rows behind
/// the key that is bound to them.
pub(in crate::store) fn select(table: &Table, after: bool, placeholder: impl Fn(usize) -> String) -> String {
    let key = names(table.key.iter().copied());
    let behind = if after {
        let bound: Vec<String> = (1..=table.key.len()).map(placeholder).collect();
        format!(" WHERE ({key}) > ({})", bound.join(", "))
    } else {
        String::new()
    };
    let columns = names(table.columns.iter().map(|c| c.name));
    format!("SELECT {columns} FROM {}{behind} ORDER BY {key}", table.name)
}

/// Names of columns, some of which are words of SQL.
pub(in crate::store) fn names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Selects blobs as [`NamedBlob`](docmill_core::ports::transfer::NamedBlob) tells them, those after the key that is the
/// only parameter. The same blob may be named by many rows, and is told once.
pub(in crate::store) fn select_blobs(placeholder: &str) -> String {
    format!(
        "SELECT blob_key, bytes, content_hash FROM document WHERE blob_key > {placeholder}
         UNION SELECT blob_key, bytes, hash FROM artifact WHERE blob_key > {placeholder} ORDER BY 1"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piece_is_full_by_rows_or_by_bytes() {
        let mut piece = Piece::new();
        for n in 1..PIECE_ROWS {
            assert!(piece.push(n, 1).is_none());
        }
        assert_eq!(piece.push(0, 1).map(|p| p.len()), Some(PIECE_ROWS));
        assert_eq!(piece.push(1, PIECE_BYTES), Some(vec![1]));
        assert_eq!(piece.push(1, PIECE_BYTES - 1), None);
        assert_eq!(piece.rest(), Some(vec![1]));
    }

    #[test]
    fn select_goes_on_behind_a_whole_key() {
        let table = Table::named("task_failure").unwrap();
        let sql = select(table, true, |n| format!("?{n}"));
        assert!(sql.ends_with(
            r#""duration_ms", "at" FROM task_failure WHERE ("task_id", "epoch") > (?1, ?2) ORDER BY "task_id", "epoch""#
        ));
        assert!(!select(table, false, |n| format!("?{n}")).contains("WHERE"));
    }
}
