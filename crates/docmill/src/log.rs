//! Logs go to stderr: warnings by default, more with `-v`, as JSON where stdout speaks JSON too.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::terminal::complain;

/// Starts logging. `filter` is `DOCMILL_LOG`, in the syntax of `tracing`.
pub(crate) fn start(verbose: u8, quiet: bool, json: bool, filter: Option<&str>) {
    let level = match (quiet, verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "warn,docmill=info,docmill_pipeline=info,docmill_backends=info,docmill_server=info",
        (false, 2) => "info,docmill=debug,docmill_pipeline=debug,docmill_backends=debug,docmill_server=debug",
        (false, _) => "trace",
    };
    let filter = filter.map(EnvFilter::try_new).and_then(|parsed| match parsed {
        Ok(filter) => Some(filter),
        Err(error) => {
            complain(&format!("warning: DOCMILL_LOG is not understood: {error}"));
            None
        }
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|| EnvFilter::new(level)))
        .with_writer(io::stderr);
    let started = if json { builder.json().try_init() } else { builder.with_ansi(false).try_init() };
    if started.is_err() {
        complain("warning: logging was started before");
    }
}
