//! Reading the event log by cursor.

use docmill_core::event::{EventBody, EventFilter};
use docmill_core::{Error, Result};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 10_000;

/// A cursor older than what is kept is told so, not silently moved. One beyond the end is of another log, or of a later
/// state of this one that a backup was put in place of: whoever waited there would miss all that comes until then.
pub(in crate::store) fn check_cursor(filter: &EventFilter, floor: i64, last: i64) -> Result<()> {
    if filter.after > last {
        return Err(Error::invalid_request(format!(
            "the last event is {last}, and the cursor is {}",
            filter.after
        ))
        .with_hint("the log is another one than that of the cursor; start again with after=0"));
    }
    if filter.after < floor && filter.after > 0 {
        return Err(Error::invalid_request(format!(
            "events up to {floor} have been pruned, and the cursor is {}",
            filter.after
        ))
        .with_hint("start again with after=0, or keep events longer (`events.retention`)"));
    }
    Ok(())
}

/// How many events an answer holds at most.
pub(in crate::store) fn limit(filter: &EventFilter) -> usize {
    filter.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

/// Whether a subscriber wants this one.
pub(in crate::store) fn matches(filter: &EventFilter, body: &EventBody) -> bool {
    (filter.types.is_empty() || filter.types.contains(&body.kind))
        && filter.batch_id.is_none_or(|b| body.batch_id == Some(b))
        && filter.document_id.is_none_or(|d| body.document_id == Some(d))
}
