//! Between SQL values and words. Driver errors are translated here, once, into kinds.

use std::borrow::Cow;

use docmill_core::clock::Timestamp;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, ContentHash, DocumentId, IngestionId, TaskId, TenantId, WorkerId};
use docmill_core::{Error, ErrorKind, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx_core::decode::Decode;
use sqlx_core::error::DatabaseError;
use sqlx_core::row::Row as _;
use sqlx_core::types::Type;
use sqlx_postgres::{PgRow, Postgres};
use uuid::Uuid;

/// The server's own code of an error (SQLSTATE), if it came from the server.
pub(super) fn code(error: &sqlx_core::Error) -> Option<String> {
    error.as_database_error().and_then(DatabaseError::code).map(Cow::into_owned)
}

/// Whether the connection, not the statement, is at fault.
pub(super) fn is_connection_lost(error: &sqlx_core::Error) -> bool {
    use sqlx_core::Error as E;
    match error {
        E::Io(_) | E::Tls(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed | E::Protocol(_) => true,
        // 57P01–57P05: the server ends or begins; class 08: the connection itself.
        _ => code(error).is_some_and(|c| c.starts_with("57P0") || c.starts_with("08")),
    }
}

/// Whether the transaction lost against another one and would succeed if it were repeated.
pub(super) fn is_collision(error: &sqlx_core::Error) -> bool {
    // Serialization failure, deadlock, and a unique key that another transaction took first: whoever looks again
    // finds that row.
    code(error).is_some_and(|c| matches!(c.as_str(), "40001" | "40P01" | "23505"))
}

/// Translates a driver error; `doing` says what was being done.
pub(super) fn sql_error(doing: &str) -> impl FnOnce(sqlx_core::Error) -> Error + '_ {
    move |e| {
        let code = code(&e).unwrap_or_default();
        let (kind, hint) = judge(&code, is_connection_lost(&e));
        let mut error = Error::new(kind, format!("the store cannot {doing}"));
        if let Some(hint) = hint {
            error = error.with_hint(hint);
        }
        error.with_source(e)
    }
}

fn judge(code: &str, connection_lost: bool) -> (ErrorKind, Option<&'static str>) {
    match code {
        "53100" => (
            ErrorKind::DiskFull,
            Some("free some disk space on the database server; work goes on by itself then"),
        ),
        "25006" => (
            ErrorKind::Unavailable,
            Some(
                "the database takes no writes: point `store` at the primary server, or make it writable again",
            ),
        ),
        "57014" | "55P03" => (
            ErrorKind::Unavailable,
            Some("the database did not answer in time; look for long transactions and locks on it"),
        ),
        "53300" => (
            ErrorKind::Unavailable,
            Some("let the database server take more connections, or run fewer workers"),
        ),
        "42501" => (
            ErrorKind::Unavailable,
            Some("the database user may not do this: make it the owner of docmill's tables"),
        ),
        "54000" | "22001" => (ErrorKind::InvalidRequest, Some("a name or key is too long for the database")),
        "XX001" | "XX002" => (ErrorKind::Corrupt, Some("restore a backup of the database")),
        _ if connection_lost => (ErrorKind::Unavailable, None),
        // 53: resources; 58: the server's own files; 28 and 3D: it refuses us; 40: collisions that did not end.
        _ if ["53", "58", "28", "3D", "40"].iter().any(|class| code.starts_with(class)) => {
            (ErrorKind::Unavailable, None)
        }
        _ => (ErrorKind::Bug, None),
    }
}

/// Text as the database can hold it: everything but NUL, which hostile names contain.
pub(super) fn text(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

/// Text or nothing, as the database can hold it.
pub(super) fn text_opt(value: Option<&str>) -> Option<String> {
    value.map(text)
}

/// Reads typed values out of a row, by position, in the order of the SELECT list.
pub(super) struct Columns<'r> {
    row: &'r PgRow,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn new(row: &'r PgRow) -> Self {
        Self { row, next: 0 }
    }

    pub(super) fn get<T>(&mut self) -> Result<T>
    where
        T: Decode<'r, Postgres> + Type<Postgres>,
    {
        self.next += 1;
        self.row.try_get(self.next - 1).map_err(|e| self.unexpected().with_source(e))
    }

    fn unexpected(&self) -> Error {
        use sqlx_core::column::Column as _;
        let column = self.row.columns().get(self.next - 1).map_or("?", |c| c.name());
        Error::bug(format!("the store holds something unexpected in column `{column}`"))
    }

    /// A whole number of any width.
    pub(super) fn int<T: TryFrom<i64>>(&mut self) -> Result<T> {
        let value: i64 = self.get()?;
        T::try_from(value).ok().ok_or_else(|| self.unexpected())
    }

    pub(super) fn int_opt<T: TryFrom<i64>>(&mut self) -> Result<Option<T>> {
        let value: Option<i64> = self.get()?;
        value.map(|v| T::try_from(v).ok().ok_or_else(|| self.unexpected())).transpose()
    }

    pub(super) fn count(&mut self) -> Result<u64> {
        self.get::<i64>().map(|n| u64::try_from(n).unwrap_or(0))
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        self.get()
    }

    pub(super) fn time(&mut self) -> Result<Timestamp> {
        self.get().map(Timestamp)
    }

    pub(super) fn time_opt(&mut self) -> Result<Option<Timestamp>> {
        self.get::<Option<i64>>().map(|t| t.map(Timestamp))
    }

    pub(super) fn task(&mut self) -> Result<TaskId> {
        self.get().map(TaskId)
    }

    pub(super) fn tenant(&mut self) -> Result<TenantId> {
        self.get().map(TenantId)
    }

    pub(super) fn worker(&mut self) -> Result<WorkerId> {
        self.get().map(WorkerId)
    }

    pub(super) fn ingestion(&mut self) -> Result<IngestionId> {
        self.get().map(IngestionId)
    }

    pub(super) fn document(&mut self) -> Result<DocumentId> {
        self.get().map(DocumentId)
    }

    pub(super) fn batch(&mut self) -> Result<BatchId> {
        self.get().map(BatchId)
    }

    pub(super) fn hash(&mut self) -> Result<ContentHash> {
        let bytes: &[u8] = self.get()?;
        ContentHash::from_slice(bytes)
    }

    pub(super) fn hash_opt(&mut self) -> Result<Option<ContentHash>> {
        let bytes: Option<&[u8]> = self.get()?;
        bytes.map(ContentHash::from_slice).transpose()
    }

    pub(super) fn document_opt(&mut self) -> Result<Option<DocumentId>> {
        self.get::<Option<Uuid>>().map(|id| id.map(DocumentId))
    }

    pub(super) fn batch_opt(&mut self) -> Result<Option<BatchId>> {
        self.get::<Option<Uuid>>().map(|id| id.map(BatchId))
    }

    pub(super) fn worker_opt(&mut self) -> Result<Option<WorkerId>> {
        self.get::<Option<Uuid>>().map(|id| id.map(WorkerId))
    }

    /// A word of one of the core enums.
    pub(super) fn word<T>(&mut self, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let name: &str = self.get()?;
        from_name(name).ok_or_else(|| self.unexpected())
    }

    /// A word of one of the core enums, or null.
    pub(super) fn word_opt<T>(&mut self, from_name: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
        let name: Option<&str> = self.get()?;
        name.map(|n| from_name(n).ok_or_else(|| self.unexpected())).transpose()
    }

    /// A JSON column, or null.
    pub(super) fn json_opt<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let text: Option<&str> = self.get()?;
        text.map(|t| serde_json::from_str(t).map_err(|e| self.unexpected().with_source(e))).transpose()
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
    use super::*;

    #[test]
    fn what_the_server_says_becomes_a_kind() {
        for (code, kind) in [
            ("53100", ErrorKind::DiskFull),
            ("25006", ErrorKind::Unavailable),
            ("57014", ErrorKind::Unavailable),
            ("53300", ErrorKind::Unavailable),
            ("40P01", ErrorKind::Unavailable),
            ("28P01", ErrorKind::Unavailable),
            ("54000", ErrorKind::InvalidRequest),
            ("XX001", ErrorKind::Corrupt),
            ("42601", ErrorKind::Bug),
        ] {
            assert_eq!(judge(code, false).0, kind, "{code}");
        }
        assert_eq!(judge("", true).0, ErrorKind::Unavailable);
    }

    #[test]
    fn nul_is_the_only_character_that_changes() {
        assert_eq!(text("a\0b\u{1}ü"), "a\u{fffd}b\u{1}ü");
    }
}
