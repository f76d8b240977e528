//! Between SQL values and words. Driver errors are translated here, once, into kinds.

use docmill_core::clock::Timestamp;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, ContentHash, DocumentId, IngestionId, KeyId, TenantId, WorkerId};
use docmill_core::{Error, ErrorKind, Result};
use rusqlite::types::ValueRef;
use rusqlite::{ErrorCode, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Translates a driver error; `doing` says what was being done.
pub(super) fn sql_error(doing: &str) -> impl FnOnce(rusqlite::Error) -> Error + '_ {
    move |e| {
        let code = e.sqlite_error_code();
        let kind = match code {
            Some(ErrorCode::DiskFull) => ErrorKind::DiskFull,
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked,
            ) => ErrorKind::Unavailable,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Corrupt,
            _ => ErrorKind::Bug,
        };
        let error = Error::new(kind, format!("the store cannot {doing}"));
        let error = match kind {
            ErrorKind::DiskFull => error.with_hint("free some disk space; work goes on by itself then"),
            ErrorKind::Corrupt => error.with_hint("restore a backup (`docmill restore`)"),
            _ if matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied)) => error.with_hint(
                "make sure that the data directory is there and that the user who runs docmill may write to it",
            ),
            _ => error,
        };
        error.with_source(e)
    }
}

/// A column by position, decoded by `decode`.
fn column<T>(row: &Row<'_>, index: usize, decode: impl FnOnce(ValueRef<'_>) -> Option<T>) -> Result<T> {
    let value = row.get_ref(index).map_err(sql_error("read a column"))?;
    decode(value).ok_or_else(|| {
        let name = row.as_ref().column_name(index).map(str::to_owned).unwrap_or_default();
        Error::bug(format!("the store holds something unexpected in column `{name}`"))
    })
}

/// Reads typed values out of a row, by position, in the order of the SELECT list.
pub(super) struct Columns<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

impl<'r, 's> Columns<'r, 's> {
    pub(super) fn new(row: &'r Row<'s>) -> Self {
        Self { row, next: 0 }
    }

    fn step(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    pub(super) fn get<T: rusqlite::types::FromSql>(&mut self) -> Result<T> {
        let index = self.step();
        self.row.get(index).map_err(sql_error("read a column"))
    }

    pub(super) fn count(&mut self) -> Result<u64> {
        self.get::<i64>().map(|n| u64::try_from(n).unwrap_or(0))
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        self.get::<i64>().map(|n| n != 0)
    }

    pub(super) fn time(&mut self) -> Result<Timestamp> {
        self.get().map(Timestamp)
    }

    pub(super) fn time_opt(&mut self) -> Result<Option<Timestamp>> {
        self.get::<Option<i64>>().map(|t| t.map(Timestamp))
    }

    pub(super) fn tenant(&mut self) -> Result<TenantId> {
        let index = self.step();
        column(self.row, index, |v| TenantId::from_slice(v.as_blob().ok()?).ok())
    }

    pub(super) fn worker(&mut self) -> Result<WorkerId> {
        let index = self.step();
        column(self.row, index, |v| WorkerId::from_slice(v.as_blob().ok()?).ok())
    }

    pub(super) fn key(&mut self) -> Result<KeyId> {
        let index = self.step();
        column(self.row, index, |v| KeyId::from_slice(v.as_blob().ok()?).ok())
    }

    pub(super) fn key_opt(&mut self) -> Result<Option<KeyId>> {
        self.blob_opt(|b| KeyId::from_slice(b).ok())
    }

    pub(super) fn ingestion(&mut self) -> Result<IngestionId> {
        let index = self.step();
        column(self.row, index, |v| IngestionId::from_slice(v.as_blob().ok()?).ok())
    }

    pub(super) fn document(&mut self) -> Result<DocumentId> {
        let index = self.step();
        column(self.row, index, |v| DocumentId::from_slice(v.as_blob().ok()?).ok())
    }

    pub(super) fn batch(&mut self) -> Result<BatchId> {
        let index = self.step();
        column(self.row, index, |v| BatchId::from_slice(v.as_blob().ok()?).ok())
    }

    pub(super) fn hash(&mut self) -> Result<ContentHash> {
        let index = self.step();
        column(self.row, index, |v| ContentHash::from_slice(v.as_blob().ok()?).ok())
    }

    pub(super) fn document_opt(&mut self) -> Result<Option<DocumentId>> {
        self.blob_opt(|b| DocumentId::from_slice(b).ok())
    }

    pub(super) fn batch_opt(&mut self) -> Result<Option<BatchId>> {
        self.blob_opt(|b| BatchId::from_slice(b).ok())
    }

    pub(super) fn worker_opt(&mut self) -> Result<Option<WorkerId>> {
        self.blob_opt(|b| WorkerId::from_slice(b).ok())
    }

    fn blob_opt<T>(&mut self, decode: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>> {
        let index = self.step();
        column(self.row, index, |v| match v {
            ValueRef::Null => Some(None),
            _ => decode(v.as_blob().ok()?).map(Some),
        })
    }

    /// A word of one of the core enums.
    pub(super) fn word<T>(&mut self, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let index = self.step();
        column(self.row, index, |v| from_name(v.as_str().ok()?))
    }

    /// A word of one of the core enums, or null.
    pub(super) fn word_opt<T>(&mut self, from_name: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
        let index = self.step();
        column(self.row, index, |v| match v {
            ValueRef::Null => Some(None),
            _ => from_name(v.as_str().ok()?).map(Some),
        })
    }

    /// A JSON column, or null.
    pub(super) fn json_opt<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let index = self.step();
        column(self.row, index, |v| match v {
            ValueRef::Null => Some(None),
            _ => serde_json::from_str(v.as_str().ok()?).ok().map(Some),
        })
    }
}

/// A value as JSON text.
pub(super) fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::bug("cannot write a value as JSON").with_source(e))
}

/// An error as JSON text.
pub(super) fn note_json(note: Option<&ErrorNote>) -> Result<Option<String>> {
    note.map(json).transpose()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn database_that_cannot_be_written_says_what_to_look_at() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("PRAGMA query_only = ON").unwrap();
        let refused = conn.execute_batch("CREATE TABLE t (a)").unwrap_err();
        let error = sql_error("make a table")(refused);
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.hint().unwrap().contains("may write to it"));
    }
}
