//! Between SQL values and words. What driver errors mean is said in `crate::postgres`.

use docmill_core::clock::Timestamp;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, ContentHash, DocumentId, IngestionId, TaskId, TenantId, WorkerId};
use docmill_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx_core::decode::Decode;
use sqlx_core::row::Row as _;
use sqlx_core::types::Type;
use sqlx_postgres::{PgRow, Postgres};
use uuid::Uuid;

use crate::postgres::failure;
pub(super) use crate::postgres::{code, is_connection_lost, text};

/// Whether the transaction lost against another one and would succeed if it were repeated.
pub(super) fn is_collision(error: &sqlx_core::Error) -> bool {
    // Serialization failure, deadlock, and a unique key that another transaction took first: whoever looks again
    // finds that row.
    code(error).is_some_and(|c| matches!(c.as_str(), "40001" | "40P01" | "23505"))
}

/// Translates a driver error; `doing` says what was being done.
pub(super) fn sql_error(doing: &str) -> impl FnOnce(sqlx_core::Error) -> Error + '_ {
    move |e| failure("the store", doing, e)
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
