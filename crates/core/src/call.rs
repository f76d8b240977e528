//! What the command line asks of whoever owns the data directory. The same request is answered in-process or,
//! through the owner's Unix socket, by the server that runs.

use serde::{Deserialize, Serialize};

use crate::access::Role;
use crate::batch::{BatchChange, NewBatch, Walk};
use crate::clock::Timestamp;
use crate::error::ErrorKind;
use crate::event::EventFilter;
use crate::id::{BatchId, IngestionId, KeyId, TaskId};
use crate::ingestion::Stage;
use crate::record::{RecordQuery, SchemaRef};
use crate::review::{ReviewId, Verdict};

/// One request. The answers are the types of `answer` (and `batch`) with the matching name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// -> `BatchRun`
    OpenBatch {
        /// The tenant id inside is replaced by the caller's tenant.
        batch: NewBatch,
    },
    /// -> `BatchTotals`
    SealBatch {
        /// Which.
        batch_id: BatchId,
        /// What the walker counted.
        walk: Walk,
    },
    /// -> `BatchTotals`, by id or name
    Batch {
        /// Id or name.
        batch: String,
    },
    /// -> `BatchTotals`, when the batch has ended and the index holds all of it, or after `wait_ms`.
    WaitBatch {
        /// Which.
        batch_id: BatchId,
        /// At most so long.
        wait_ms: u64,
    },
    /// -> `ListAnswer`
    List {
        /// Only this state.
        state: Option<String>,
        /// Only what is this: a type of document (`invoice`) or, with a slash, a media type; `image/*` is every image.
        #[serde(default)]
        kind: Option<String>,
        /// Only in this language.
        #[serde(default)]
        language: Option<String>,
        /// Only what first came in then or later.
        #[serde(default)]
        since: Option<Timestamp>,
        /// Only what first came in before.
        #[serde(default)]
        until: Option<Timestamp>,
        /// Only what came in with this batch.
        #[serde(default)]
        batch: Option<BatchId>,
        /// Only what has this tag.
        #[serde(default)]
        tag: Option<String>,
        /// Only what this query finds; the best thousand.
        #[serde(default)]
        text: Option<String>,
        /// At most so many.
        limit: usize,
        /// From the page before.
        cursor: Option<String>,
    },
    /// -> `ShowAnswer`
    Show {
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `TextAnswer` (a JSON object `{"text": …}`)
    Text {
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `PagesAnswer`
    Pages {
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `IngestionAnswer`
    Ingestion {
        /// Which.
        id: IngestionId,
    },
    /// -> `CountAnswer`
    Remove {
        /// Of a document or an ingestion of it.
        id: String,
    },
    /// -> `BatchesAnswer`
    Batches {
        /// At most so many.
        limit: usize,
        /// From the page before.
        cursor: Option<String>,
    },
    /// -> `FacetsAnswer`
    Facets,
    /// -> `WorkAnswer`
    Work {
        /// All of this one; none means what waits and runs.
        batch: Option<BatchId>,
    },
    /// -> `ProblemsAnswer`
    Problems,
    /// -> `CountAnswer`: everything with this problem is tried again.
    RetryProblem {
        /// Which.
        cause: ErrorKind,
    },
    /// -> `WorkersAnswer`
    Workers,
    /// -> `SearchAnswer`
    Search {
        /// As typed.
        query: String,
        /// `text`, `semantic` or `hybrid`.
        mode: String,
        /// At most so many.
        limit: usize,
        /// What to insist on, as [`Filter`](crate::ports::filter::Filter) reads it.
        filters: Vec<(String, String)>,
    },
    /// -> `SearchAnswer`: documents that mean something alike
    Similar {
        /// Like which document.
        id: String,
        /// At most so many.
        limit: usize,
    },
    /// -> `NearAnswer`: documents whose text is nearly the same
    Near {
        /// As that of which document.
        id: String,
    },
    /// -> `TagsAnswer`
    Tags {
        /// Only those in which this occurs.
        containing: Option<String>,
        /// At most so many.
        limit: usize,
        /// From the page before.
        cursor: Option<String>,
    },
    /// -> `MergeAnswer`
    MergeTags {
        /// The tag that goes.
        from: String,
        /// The tag that stays.
        into: String,
    },
    /// -> `SimilarTagsAnswer`
    SimilarTags {
        /// At most so many pairs.
        limit: usize,
    },
    /// -> `StatusAnswer`
    Status,
    /// -> `WhyAnswer`
    Why {
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `AuditAnswer`
    Audit {
        /// Id or name.
        batch: Option<String>,
    },
    /// -> `LedgerAnswer`
    Ledger {
        /// Id or name.
        batch: Option<String>,
    },
    /// -> `CountAnswer`
    Retry {
        /// Of a document or an ingestion; none means all that failed.
        id: Option<String>,
    },
    /// -> `CountAnswer`
    Reprocess {
        /// Documents; empty means all that match.
        ids: Vec<String>,
        /// `state=failed`, `type=application/pdf`, …
        filter: Option<String>,
        /// Where to begin; from the start if none.
        from: Option<Stage>,
        /// Only count.
        dry_run: bool,
    },
    /// -> `CountAnswer`
    ChangeBatch {
        /// Id or name.
        batch: String,
        /// What to do.
        change: BatchChange,
    },
    /// -> `CountAnswer`
    PauseKind {
        /// Which.
        kind: String,
        /// Pause, or go on.
        paused: bool,
    },
    /// -> `DeadAnswer`
    DeadList {
        /// At most so many.
        limit: usize,
    },
    /// -> `CountAnswer`
    DeadReplay {
        /// Which; none means all.
        ids: Option<Vec<TaskId>>,
    },
    /// -> `CountAnswer`
    DeadDrop {
        /// Which; none means all.
        ids: Option<Vec<TaskId>>,
    },
    /// -> `EventsAnswer`
    Events {
        /// Which.
        filter: EventFilter,
    },
    /// -> `CountAnswer`, made while everything runs
    Backup {
        /// A directory that does not exist yet, or is empty.
        to: String,
    },
    /// -> `KeyAnswer`, the only one that has the key
    KeyCreate {
        /// What it is for.
        name: String,
        /// What it allows.
        role: Role,
    },
    /// -> `KeysAnswer`
    Keys,
    /// -> `CountAnswer`
    KeyRevoke {
        /// Which.
        id: KeyId,
    },
    /// -> `TenantsAnswer`
    Tenants,
    /// -> `TenantsAnswer` with the one, which is made if there is none
    TenantCreate {
        /// Its name.
        name: String,
    },
    /// -> `AuditLogAnswer`
    AuditLog {
        /// Only later entries.
        after: i64,
        /// At most so many.
        limit: usize,
    },
    /// -> `SchemasAnswer`
    Schemas,
    /// -> `SchemaAnswer`
    Schema {
        /// Which.
        name: String,
    },
    /// -> `SchemaAdded`
    SchemaAdd {
        /// Which.
        name: String,
        /// A JSON Schema with annotations, as a text: a map of JSON forgets the order of the fields.
        schema: String,
    },
    /// -> `ExtractAnswer`; nothing is stored
    SchemaTest {
        /// By which.
        schema: SchemaRef,
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `RecordsAnswer`
    Records {
        /// Which.
        query: RecordQuery,
    },
    /// -> `ReviewsAnswer`
    Reviews {
        /// Only of this schema.
        schema: Option<String>,
        /// Those that are decided instead of those that are open.
        done: bool,
        /// At most so many.
        limit: usize,
        /// From the page before.
        cursor: Option<String>,
    },
    /// -> `ReviewAnswer`
    Review {
        /// Which.
        id: ReviewId,
    },
    /// -> `LockAnswer`
    ReviewLock {
        /// Which.
        id: ReviewId,
        /// Look at it alone, or let others.
        locked: bool,
    },
    /// -> `DecidedAnswer`
    ReviewDecide {
        /// Which.
        id: ReviewId,
        /// What is said of it.
        verdict: Verdict,
    },
    /// -> `CorrectionsAnswer`
    Corrections {
        /// At most so many decisions.
        limit: usize,
        /// From the page before.
        cursor: Option<String>,
    },
    /// -> `DoctorAnswer`
    Doctor,
    /// -> `CountAnswer`: how many documents are to be indexed again
    IndexRebuild {
        /// What documents mean, too.
        meanings: bool,
    },
    /// -> `CountAnswer`: how many blobs and events were removed
    Prune,
}

impl Call {
    /// What the audit log says of this call: the action, and what it is done to. Nothing for a call that changes nothing,
    /// and for those whose entry is written with the change itself.
    pub fn audited(&self) -> Option<(&'static str, Option<String>)> {
        let all = |ids: &Option<Vec<TaskId>>| {
            ids.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
        };
        Some(match self {
            Self::OpenBatch { batch } => {
                ("batch.open", Some(batch.name.clone().unwrap_or_else(|| batch.batch_id.to_string())))
            }
            Self::SealBatch { batch_id, .. } => ("batch.seal", Some(batch_id.to_string())),
            Self::ChangeBatch { batch, change } => {
                let action = match change {
                    BatchChange::Pause => "batch.pause",
                    BatchChange::Resume => "batch.resume",
                    BatchChange::Cancel => "batch.cancel",
                    BatchChange::Priority(_) => "batch.priority",
                };
                (action, Some(batch.clone()))
            }
            Self::Remove { id } => ("document.remove", Some(id.clone())),
            Self::Retry { id } => ("document.retry", id.clone()),
            Self::Reprocess { ids, filter, dry_run: false, .. } => {
                ("document.reprocess", if ids.is_empty() { filter.clone() } else { Some(ids.join(",")) })
            }
            Self::RetryProblem { cause } => ("problem.retry", Some(cause.name().to_owned())),
            Self::PauseKind { kind, paused } => {
                (if *paused { "kind.pause" } else { "kind.resume" }, Some(kind.clone()))
            }
            Self::DeadReplay { ids } => ("dead.replay", all(ids)),
            Self::DeadDrop { ids } => ("dead.drop", all(ids)),
            Self::MergeTags { from, into } => ("tag.merge", Some(format!("{from} into {into}"))),
            Self::TenantCreate { name } => ("tenant.create", Some(name.clone())),
            Self::SchemaAdd { name, .. } => ("schema.add", Some(name.clone())),
            Self::ReviewDecide { id, verdict } => {
                let action = match verdict {
                    Verdict::Accept { .. } => "review.accept",
                    Verdict::Correct { .. } => "review.correct",
                    Verdict::Reject { .. } => "review.reject",
                };
                (action, Some(id.to_string()))
            }
            Self::IndexRebuild { .. } => ("index.rebuild", None),
            Self::Prune => ("prune", None),
            Self::Reprocess { .. }
            | Self::KeyCreate { .. }
            | Self::KeyRevoke { .. }
            | Self::Batch { .. }
            | Self::WaitBatch { .. }
            | Self::List { .. }
            | Self::Show { .. }
            | Self::Text { .. }
            | Self::Pages { .. }
            | Self::Ingestion { .. }
            | Self::Batches { .. }
            | Self::Facets
            | Self::Work { .. }
            | Self::Problems
            | Self::Workers
            | Self::Search { .. }
            | Self::Similar { .. }
            | Self::Near { .. }
            | Self::Tags { .. }
            | Self::SimilarTags { .. }
            | Self::Status
            | Self::Why { .. }
            | Self::Audit { .. }
            | Self::Ledger { .. }
            | Self::DeadList { .. }
            | Self::Events { .. }
            | Self::Backup { .. }
            | Self::Keys
            | Self::Tenants
            | Self::AuditLog { .. }
            | Self::Schemas
            | Self::Schema { .. }
            | Self::SchemaTest { .. }
            | Self::Records { .. }
            | Self::Reviews { .. }
            | Self::Review { .. }
            | Self::ReviewLock { .. }
            | Self::Corrections { .. }
            | Self::Doctor => return None,
        })
    }
}
