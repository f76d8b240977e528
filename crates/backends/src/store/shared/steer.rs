//! Words for what a person does to single items.

use docmill_core::Error;
use docmill_core::id::TaskId;
use docmill_core::ingestion::IngestionStatus;

/// Why a retry found nothing to start again.
pub(in crate::store) fn nothing_to_retry(status: IngestionStatus, has_document: bool) -> &'static str {
    match status {
        IngestionStatus::InProgress => "in progress",
        IngestionStatus::Failed if !has_document => "never received: ingest its path again",
        IngestionStatus::Failed => "nothing to retry: use reprocess",
        IngestionStatus::Completed => "completed: use reprocess",
        IngestionStatus::Skipped => "skipped: use reprocess",
        IngestionStatus::Cancelled => "cancelled: use reprocess",
    }
}

/// No dead letter has this number.
pub(in crate::store) fn no_dead_letter(id: TaskId) -> Error {
    Error::not_found(format!("there is no dead letter {id}"))
        .with_hint("`docmill dead list` shows those that are there")
}
