//! What people are told about one item, once its rows are at hand.

use docmill_core::Error;
use docmill_core::answer::{IngestionLine, LeaseLine, TimelineLine, WhyAnswer};
use docmill_core::clock::Timestamp;
use docmill_core::disposition::MAX_ATTEMPTS;
use docmill_core::document::{DocumentState, Evidence, STALE_AFTER, derive_state};
use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, DocumentId, IngestionId, WorkerId};
use docmill_core::ingestion::{IngestionStatus, Stage};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::state::TaskState;

/// What a document's row says of it.
#[derive(Clone, Copy)]
pub(in crate::store) struct Flags {
    pub(in crate::store) needs_review: bool,
    pub(in crate::store) titled: bool,
    pub(in crate::store) readable: bool,
}

/// The state of a document, and whether a person should look at it.
pub(in crate::store) fn document_state(
    open_since_progress: Option<Timestamp>,
    status: Option<IngestionStatus>,
    result: Option<ResultCode>,
    flags: Flags,
    now: Timestamp,
) -> (DocumentState, bool) {
    let Flags { readable, needs_review, titled } = flags;
    let evidence =
        Evidence { open_since_progress, latest: status.zip(result), readable, needs_review, titled };
    (derive_state(&evidence, now), needs_review)
}

/// Whether an open ingestion has had no progress for too long.
pub(in crate::store) fn is_stale(status: IngestionStatus, progress_at: Timestamp, now: Timestamp) -> bool {
    status == IngestionStatus::InProgress && now.since(progress_at) > STALE_AFTER
}

/// Which media types are wanted: one, or all that begin alike.
#[derive(Default)]
pub(in crate::store) struct Types<'q> {
    pub(in crate::store) exactly: Option<&'q str>,
    pub(in crate::store) prefix: Option<&'q str>,
}

impl<'q> Types<'q> {
    /// `image/*` is every image.
    pub(in crate::store) fn of(wanted: Option<&'q str>) -> Self {
        match wanted {
            None | Some("*/*" | "*" | "") => Self::default(),
            Some(wanted) => match wanted.strip_suffix('*') {
                Some(prefix) => Self { exactly: None, prefix: Some(prefix) },
                None => Self { exactly: Some(wanted), prefix: None },
            },
        }
    }
}

/// A cursor that no page of `list` gave out.
pub(in crate::store) fn bad_cursor(cursor: &str) -> Error {
    Error::invalid_request(format!("`{cursor}` is not a cursor of this list"))
        .with_hint("use the `next_cursor` of the page before")
}

/// The stage of an ingestion: that of its open task, or how it ended.
pub(in crate::store) fn stage(status: IngestionStatus, open_task: Option<Stage>, claimed: bool) -> Stage {
    match status {
        IngestionStatus::InProgress if !claimed => Stage::Queued,
        IngestionStatus::InProgress => open_task.unwrap_or(Stage::Queued),
        IngestionStatus::Completed => Stage::Completed,
        IngestionStatus::Failed => Stage::Failed,
        IngestionStatus::Skipped => Stage::Skipped,
        IngestionStatus::Cancelled => Stage::Cancelled,
    }
}

/// The name of a member: its origin is the container's, `!/`, and its path inside.
pub(in crate::store) fn member_name(origin: &str) -> &str {
    origin.rsplit_once("!/").map_or(origin, |(_, path)| path)
}

/// The lines of a timeline that ingestions give by themselves.
pub(in crate::store) fn receipts_and_ends(ingestions: &[IngestionLine]) -> Vec<TimelineLine> {
    let mut lines = Vec::new();
    for i in ingestions {
        lines.push(entry(i.created_at, i.ingestion_id, "received", "done", Some(i.origin.clone())));
        if let Some(at) = i.completed_at {
            let detail = i.error.as_ref().map(|e| e.message.clone());
            lines.push(entry(at, i.ingestion_id, i.status.name(), "done", detail));
        }
    }
    lines
}

/// How a step that was done is shown.
pub(in crate::store) fn step_outcome(reused: bool, degraded: bool) -> &'static str {
    match (reused, degraded) {
        (true, _) => "reused",
        (_, true) => "degraded",
        _ => "done",
    }
}

/// Puts a timeline in order.
pub(in crate::store) fn sort_timeline(lines: &mut [TimelineLine]) {
    // Stable, so that steps of one millisecond stay in the order in which they were read.
    lines.sort_by_key(|l| (l.at, l.ingestion_id, rank(&l.what)));
}

/// Receipts come first and ends last where all happened in one millisecond.
fn rank(what: &str) -> u8 {
    match what {
        "received" => 0,
        "intake-document" => 1,
        _ if IngestionStatus::from_name(what).is_some() => 9,
        _ => 5,
    }
}

fn entry(
    at: Timestamp,
    ingestion_id: IngestionId,
    what: &str,
    outcome: &str,
    detail: Option<String>,
) -> TimelineLine {
    TimelineLine {
        at,
        ingestion_id,
        what: what.into(),
        outcome: outcome.into(),
        attempt: 1,
        duration_ms: None,
        detail,
    }
}

/// The ingestion that "why is this not done?" is about.
pub(in crate::store) struct Item {
    pub(in crate::store) ingestion_id: IngestionId,
    pub(in crate::store) document_id: Option<DocumentId>,
    pub(in crate::store) batch_id: Option<BatchId>,
    pub(in crate::store) status: IngestionStatus,
    pub(in crate::store) result: Option<ResultCode>,
    pub(in crate::store) attempt: u32,
    pub(in crate::store) error: Option<ErrorNote>,
    pub(in crate::store) problems: Vec<Problem>,
    pub(in crate::store) skip_reason: Option<String>,
}

/// One of its open tasks.
pub(in crate::store) struct OpenTask {
    pub(in crate::store) kind: String,
    pub(in crate::store) stage: Stage,
    pub(in crate::store) state: TaskState,
    pub(in crate::store) run_at: Timestamp,
    pub(in crate::store) owner: Option<WorkerId>,
    pub(in crate::store) lease_until: Option<Timestamp>,
    pub(in crate::store) attempt: u32,
    pub(in crate::store) error: Option<ErrorNote>,
    pub(in crate::store) open_parts: Option<i64>,
    pub(in crate::store) epoch: i64,
}

/// How the engine stands, as far as it explains why a queued task waits.
pub(in crate::store) struct Surroundings {
    /// The kind of the task is paused.
    pub(in crate::store) kind_paused: bool,
    /// A worker is there that takes the kind.
    pub(in crate::store) any_worker: bool,
    /// Tasks of the tenant that are queued.
    pub(in crate::store) queued: i64,
}

/// The task to speak of: one that runs, or the first.
pub(in crate::store) fn foremost(tasks: &[OpenTask]) -> Option<&OpenTask> {
    tasks.iter().find(|t| t.state == TaskState::Running).or_else(|| tasks.first())
}

/// The answer to "why is this not done?". `around` is asked only about a queued task.
pub(in crate::store) fn why(
    id: &str,
    item: &Item,
    tasks: &[OpenTask],
    state: String,
    around: &Surroundings,
    now: Timestamp,
) -> WhyAnswer {
    let task = foremost(tasks);
    let claimed = tasks.iter().any(|t| t.epoch > 0) || item.status != IngestionStatus::InProgress;
    let waiting_for = match (item.status, task) {
        (IngestionStatus::InProgress, Some(task)) => waiting(item, task, around, now),
        (IngestionStatus::InProgress, None) => {
            "nothing: it is open but has no task, which docmill does not expect; `docmill reprocess` starts it again"
                .into()
        }
        _ => ended(item),
    };
    let last_error = task
        .and_then(|t| t.error.clone())
        .or_else(|| item.error.clone())
        .or_else(|| problem_note(item.problems.first()));
    WhyAnswer {
        id: id.to_owned(),
        state,
        stage: stage(item.status, task.map(|t| t.stage), claimed),
        waiting_for,
        attempt: task.map_or(item.attempt, |t| t.attempt),
        max_attempts: MAX_ATTEMPTS,
        last_error,
        next_try_at: task
            .filter(|t| matches!(t.state, TaskState::Queued | TaskState::Held))
            .map(|t| t.run_at),
        lease: task.and_then(|t| Some(LeaseLine { owner: t.owner?, until: t.lease_until? })),
    }
}

fn waiting(item: &Item, task: &OpenTask, around: &Surroundings, now: Timestamp) -> String {
    match task.state {
        TaskState::Running => {
            let owner = task.owner.map(|o| o.to_string()).unwrap_or_default();
            format!("worker {owner}, which is doing {} now", task.kind)
        }
        TaskState::Held => {
            let batch = item.batch_id.map(|b| b.to_string()).unwrap_or_default();
            format!("batch {batch} is paused; `docmill resume {batch}` lets it go on")
        }
        TaskState::Waiting => {
            format!("{} parts of {} to end", task.open_parts.unwrap_or(0), task.kind)
        }
        _ if around.kind_paused => {
            format!("{0} is paused; `docmill resume --kind {0}` lets it go on", task.kind)
        }
        _ if task.run_at > now => format!("the next try of {}", task.kind),
        _ if !around.any_worker => {
            format!(
                "a worker: none that does {} is running; `docmill serve` or `docmill work` starts one",
                task.kind
            )
        }
        _ => format!("a free worker to do {}; {} tasks are queued", task.kind, around.queued),
    }
}

fn ended(item: &Item) -> String {
    match item.status {
        IngestionStatus::Completed | IngestionStatus::InProgress => match item.result {
            Some(ResultCode::Success) | None => "nothing: it is done".into(),
            Some(code) => format!("nothing: it is done, with result {}", code.name()),
        },
        IngestionStatus::Failed if item.document_id.is_none() => {
            "nothing: its content never came in; mend what the last error says, and ingest it again, or process the \
             container it lies in again"
                .into()
        }
        IngestionStatus::Failed => "a person: `docmill retry` starts it again".into(),
        IngestionStatus::Skipped => {
            format!("nothing: it was skipped ({})", item.skip_reason.as_deref().unwrap_or("no reason"))
        }
        IngestionStatus::Cancelled => "nothing: it was cancelled; `docmill reprocess` starts it again".into(),
    }
}

fn problem_note(problem: Option<&Problem>) -> Option<ErrorNote> {
    problem.map(|p| ErrorNote { kind: p.kind, message: p.message.clone(), hint: None })
}
