//! What every command is given, and what it answers.

use std::process::ExitCode;
use std::sync::Arc;

use docmill_core::clock::Clock;
use docmill_core::config::Settings;
use docmill_core::{Error, ErrorKind};

use crate::config::Config;
use crate::terminal::{Terminal, complain, is_closed};

/// What every command is given.
pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) settings: Arc<Settings>,
    pub(crate) terminal: Terminal,
    pub(crate) clock: Arc<dyn Clock>,
    /// The rights of a file that is made for whoever calls, by their own mask.
    pub(crate) file_mode: u32,
    /// `--tenant` was given, as opposed to configured.
    pub(crate) tenant_given: bool,
}

/// How a command ended. The numbers are promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// All well.
    Ok,
    /// An error.
    Error,
    /// Wrong usage.
    Usage,
    /// No such thing.
    NotFound,
    /// Finished, but some items failed or the ledger does not balance.
    SomeFailed,
    /// Interrupted.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0_u8,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::SomeFailed => 7,
            Exit::Interrupted => 130,
        })
    }
}

impl Exit {
    /// How a command ended that did one thing for each of several files.
    pub(crate) fn of(done: usize, failed: usize) -> Self {
        match (done, failed) {
            (_, 0) => Self::Ok,
            (0, _) => Self::Error,
            _ => Self::SomeFailed,
        }
    }
}

/// Says what went wrong, why, and what to do, and how the process should end.
pub(crate) fn report(error: &Error) -> Exit {
    if is_closed(error) {
        return Exit::Ok;
    }
    complain(&format!("error: {}", error.message()));
    let mut cause = std::error::Error::source(error);
    while let Some(c) = cause {
        complain(&format!("  cause: {c}"));
        cause = c.source();
    }
    if let Some(hint) = error.hint() {
        complain(&format!("hint: {hint}"));
    }
    match error.kind() {
        ErrorKind::NotFound => Exit::NotFound,
        ErrorKind::InvalidRequest => Exit::Usage,
        _ => Exit::Error,
    }
}
