//! One unit of queued work of one ingestion, and the lease under which a worker holds it.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{BatchId, BlobKey, ContentHash, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use crate::ingestion::Stage;

/// What kind of work: a text owned by the file that does it (see `docs/reference/kinds.md`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct TaskKind(Cow<'static, str>);

impl TaskKind {
    /// Names a kind in the file that owns it.
    pub const fn named(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// A kind read from the database or the command line.
    pub fn stored(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How much room a task gets. Work that fails on small is tried once more on large.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// The usual.
    #[default]
    Small,
    /// More memory, more time, fewer beside it.
    Large,
}

impl Size {
    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }

    /// The size of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "small" => Some(Self::Small),
            "large" => Some(Self::Large),
            _ => None,
        }
    }
}

/// A slot is divided into so many units, because up to 32 tiny documents travel in one frame to one child:
/// a tiny task takes one unit, an ordinary one a slot, a large one five slots.
pub const UNITS_PER_SLOT: u32 = 32;

/// Input up to this many bytes is tiny.
pub const TINY_BYTES: u64 = 64 << 10;

/// The capacity a task takes while it runs.
pub fn units(size: Size, input_bytes: u64, slots_large: u32) -> u32 {
    match size {
        Size::Small if input_bytes <= TINY_BYTES => 1,
        Size::Small => UNITS_PER_SLOT,
        Size::Large => UNITS_PER_SLOT * slots_large.max(1),
    }
}

/// The default priority; lower runs first.
pub const DEFAULT_PRIORITY: u8 = 50;
/// The lowest priority.
pub const MAX_PRIORITY: u8 = 99;

/// Each step of priority is worth a minute of waiting.
pub const PRIORITY_STEP_MS: i64 = 60_000;

/// Priority with ageing, so that nothing starves.
pub fn order_key(run_at: Timestamp, priority: u8) -> i64 {
    run_at.0.saturating_add(i64::from(priority) * PRIORITY_STEP_MS)
}

/// A task to be queued.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NewTask {
    /// What to do.
    pub kind: TaskKind,
    /// The stage shown while it waits and runs.
    pub stage: Stage,
    /// Where it starts on the ladder.
    pub size: Size,
    /// Capacity it takes.
    pub units: u32,
    /// What the handler needs beside the ingestion, as JSON.
    pub payload: Option<String>,
}

/// What a leased task is about.
#[derive(Clone, PartialEq, Debug)]
pub struct Subject {
    /// Whose.
    pub tenant_id: TenantId,
    /// Of which import, if any.
    pub batch_id: Option<BatchId>,
    /// Of which ingestion.
    pub ingestion_id: IngestionId,
    /// Its content; an ingestion without content has no tasks that need one.
    pub document: Option<SubjectDocument>,
    /// The file name.
    pub name: String,
    /// Containers around it.
    pub depth: u32,
    /// What intake found it to be.
    pub media_type: Option<String>,
    /// The content was there before.
    pub duplicate: bool,
}

/// The content of a [`Subject`].
#[derive(Clone, PartialEq, Debug)]
pub struct SubjectDocument {
    /// Which document.
    pub document_id: DocumentId,
    /// Its content.
    pub content_hash: ContentHash,
    /// Where the original lies.
    pub key: BlobKey,
    /// Its length.
    pub bytes: u64,
}

/// A task that this worker owns until `until`, unless it renews.
#[derive(Clone, PartialEq, Debug)]
pub struct Lease {
    /// Which task.
    pub task_id: TaskId,
    /// The fence: only writes that name it are accepted.
    pub epoch: Epoch,
    /// Who holds it.
    pub worker_id: WorkerId,
    /// When it ends.
    pub until: Timestamp,
    /// What to do.
    pub kind: TaskKind,
    /// The stage shown.
    pub stage: Stage,
    /// Where it is on the ladder.
    pub size: Size,
    /// Capacity it takes.
    pub units: u32,
    /// Lower first.
    pub priority: u8,
    /// Reported failures so far.
    pub attempts: Attempts,
    /// What the handler needs, as JSON.
    pub payload: Option<String>,
    /// When the task first failed since it was queued or replayed; none if it has not.
    pub failing_since: Option<Timestamp>,
    /// How long it was due before it was claimed, by the store's clock; none if it was handed on at once.
    pub waited: Option<Duration>,
    /// What it is about.
    pub subject: Subject,
}

impl Lease {
    /// Whether the task must run by itself, on an otherwise idle worker and in a fresh child, because workers
    /// vanished with it before.
    pub fn alone(&self) -> bool {
        self.attempts.lost >= LOST_BEFORE_ALONE
    }

    /// How long the task has been failing. How long it waited for its first try is none of that: a long queue is no
    /// reason to give up early.
    pub fn failing_for(&self, now: Timestamp) -> Duration {
        self.failing_since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

/// What has been tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Attempts {
    /// Reported failures and child deaths, over all sizes.
    pub total: u32,
    /// Those of the present size.
    pub in_size: u32,
    /// Claims since the last report. A worker that vanishes leaves it raised.
    pub lost: u32,
}

/// From so many losses on, a task runs alone.
pub const LOST_BEFORE_ALONE: u32 = 4;
/// After so many losses it is not tried again. From [`LOST_BEFORE_ALONE`] on each of them happened to this task
/// alone; but processes are killed by operators, deployments and the kernel far more often than by a document,
/// which only ever meets a child.
pub const MAX_LOST: u32 = 25;
