//! Everything a store holds, row by row: out of one and into another.
//!
//! `tables` says once, for every store, which tables and columns there are and in which order they go. A row is a list
//! of [`Value`]s, so two stores can be compared without knowing each other. Nothing is interpreted on the way: ids,
//! numbers and times arrive as they left.
//!
//! The side that takes is *half done* from [`Transfer::begin`] to [`Transfer::finish`]: it says so to everyone who opens
//! it as a [`Store`](super::Store), and is refused. How far it is stands in the same database and is written together
//! with the rows, so whoever goes on after a kill repeats nothing.

mod tables;

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::id::{BlobKey, ContentHash, WorkerId};

pub use tables::{Column, Kind, LEFT_OUT, MARKER, TABLES, Table};

/// One value of a row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number or a time.
    Integer(i64),
    /// Yes or no.
    Flag(bool),
    /// Any number.
    Real(f64),
    /// Text, among it JSON: both databases keep it as text.
    Text(String),
    /// A hash or a key.
    Bytes(Vec<u8>),
    /// A UUID.
    Id(Uuid),
}

impl Value {
    /// About how much memory it takes.
    pub fn size(&self) -> usize {
        let more = match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Null | Self::Integer(_) | Self::Flag(_) | Self::Real(_) | Self::Id(_) => 0,
        };
        size_of::<Self>() + more
    }
}

/// The values of one row, in the order of the table's columns.
pub type Row = Vec<Value>;

/// Rows, or whatever else there is much of, on their way in pieces. It ends early with an `Err` if reading fails.
pub type Pieces<T> = mpsc::Receiver<Result<Vec<T>>>;

/// A blob as the rows name it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedBlob {
    /// Where it lies.
    pub key: BlobKey,
    /// How long it is.
    pub bytes: u64,
    /// SHA-256.
    pub hash: ContentHash,
}

/// Who has work of a store, or says that they live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Which worker.
    pub worker_id: WorkerId,
    /// Where it runs, in words.
    pub place: String,
    /// It may come back and report; otherwise it is known to be dead.
    pub lives: bool,
}

/// What a copy was made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The store it comes from, in words.
    pub from: String,
    /// All that store held when the copy was begun: a store that holds anything else is another one, or has been used
    /// since.
    pub state: ContentHash,
    /// Where the blobs go, in words.
    pub blobs: String,
    /// When it was begun.
    pub at: Timestamp,
}

/// How far one step of a copy is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Mark {
    /// The key of the last row or blob that is there; none is before the first.
    pub after: Option<Vec<Value>>,
    /// Nothing of this step is left to do.
    pub done: bool,
    /// What has been counted so far, under the step's own names.
    pub counts: BTreeMap<String, u64>,
}

/// What the side that takes holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    /// Nothing, or what a mere start leaves.
    Empty,
    /// An unfinished copy, and how far its steps are.
    HalfDone(Origin, BTreeMap<String, Mark>),
    /// Somebody's documents; the table that shows it.
    InUse(&'static str),
}

/// The whole of a store, to be given or taken. Whoever opens it has made sure that this process may.
#[async_trait]
pub trait Transfer: Send + Sync {
    /// The store in words, without anything secret.
    fn place(&self) -> &str;

    // Both sides.

    /// The rows of a table in the order of its key, those after the key `after`.
    async fn rows(&self, table: &'static Table, after: Option<&[Value]>) -> Result<Pieces<Row>>;
    /// Every blob that a row names, once, in order of the keys: those after `after`.
    async fn blobs(&self, after: Option<&BlobKey>) -> Result<Pieces<NamedBlob>>;

    // The side that gives.

    /// Who has work, or says that they live.
    async fn holders(&self) -> Result<Vec<Holder>>;
    /// Keeps everybody from changing anything for as long as this value lives. Refuses while somebody works.
    async fn freeze(&self) -> Result<()>;

    // The side that takes.

    /// What is there.
    async fn found(&self) -> Result<Found>;
    /// Replaces what this store cannot hold by what comes closest to it. Answers how many values that were.
    fn fit(&self, row: &mut Row) -> u64;
    /// Empties a store that is empty or half done, and marks it as a half-done copy. Refuses one that is in use.
    async fn begin(&self, origin: &Origin) -> Result<()>;
    /// Adds rows and stores how far their step is, in one transaction.
    async fn import(&self, table: &'static Table, rows: Vec<Row>, mark: &Mark) -> Result<()>;
    /// Stores how far a step is.
    async fn mark(&self, step: &str, mark: &Mark) -> Result<()>;
    /// Makes it a store like any other: numbers go on after the last, and the mark is gone.
    async fn finish(&self) -> Result<()>;
}

/// The refusal of a store that is half done.
pub fn half_done(place: &str, origin: &Origin) -> Error {
    Error::conflict(format!("{place} holds a half-done copy of {}, begun {}", origin.from, origin.at)).with_hint(
        "finish it with the same `docmill migrate` as before, begin again with `--restart`, or throw it away \
         (remove the data directory, drop the database)",
    )
}

/// The refusal of a target in which something is.
pub fn in_use(place: &str, table: &str) -> Error {
    Error::conflict(format!("{place} is in use: its table `{table}` is not empty"))
        .with_hint("name an empty database or a new data directory")
}
