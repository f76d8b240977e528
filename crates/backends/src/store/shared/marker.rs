//! What the marker of a half-done copy holds, and the words about those who have work.

use docmill_core::{Error, Result};
use serde::de::DeserializeOwned;

/// The row of the marker that says what the copy is made of; the others are steps.
pub(in crate::store) const ORIGIN: &str = "";

/// The body of one of its rows.
pub(in crate::store) fn read<T: DeserializeOwned>(body: &str) -> Result<T> {
    serde_json::from_str(body).map_err(|e| {
        Error::corrupt("the mark of a half-done copy cannot be read")
            .with_hint("begin the copy again with `--restart`")
            .with_source(e)
    })
}

/// Where a worker runs, as far as it is listed.
pub(in crate::store) fn place(host: Option<&str>, pid: Option<i64>) -> String {
    match (host, pid) {
        (Some(host), Some(pid)) => format!("process {pid} on {host}"),
        _ => "a process that is not listed".to_owned(),
    }
}
