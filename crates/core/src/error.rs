//! One error type for every port and stage. It says *what happened*; what to do about it is decided in
//! `disposition`, and nowhere else.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Short for results with docmill's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident => $name:literal, $make:ident;)*) => {
        /// What happened. Each kind has a page under `docs/errors/`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorKind { $($(#[$doc])* $variant,)* }

        impl ErrorKind {
            /// Every kind, in the order of the decision table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in JSON, in the database, in metrics, and of the page in `docs/errors/`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The kind of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }

        impl Error {
            $(
                #[doc = concat!("An error of kind `", $name, "`.")]
                pub fn $make(message: impl Into<String>) -> Self {
                    Self::new(ErrorKind::$variant, message)
                }
            )*
        }
    };
}

kinds! {
    /// The file is in the list of known system files.
    KnownSystemFile => "known_system_file", known_system_file;
    /// Nothing here reads this type.
    UnsupportedFormat => "unsupported_format", unsupported_format;
    /// Zero bytes.
    EmptyFile => "empty_file", empty_file;
    /// A password is needed.
    Encrypted => "encrypted", encrypted;
    /// The content does not follow its format.
    Corrupt => "corrupt", corrupt;
    /// A configured limit was reached.
    LimitExceeded => "limit_exceeded", limit_exceeded;
    /// Expands beyond any reason.
    BombSuspected => "bomb_suspected", bomb_suspected;
    /// Containers inside containers, too many times.
    NestingTooDeep => "nesting_too_deep", nesting_too_deep;
    /// No progress within the time limit.
    Timeout => "timeout", timeout;
    /// A child process needed more memory than it may have.
    OutOfMemory => "out_of_memory", out_of_memory;
    /// A child process died.
    ChildCrashed => "child_crashed", child_crashed;
    /// The worker vanished with this task again and again.
    WorkerLost => "worker_lost", worker_lost;
    /// A service asked for a pause.
    RateLimited => "rate_limited", rate_limited;
    /// Something outside does not answer.
    Unavailable => "unavailable", unavailable;
    /// A service will not work on this content.
    ContentBlocked => "content_blocked", content_blocked;
    /// An answer does not have the form that was asked for.
    SchemaMismatch => "schema_mismatch", schema_mismatch;
    /// No room on the disk.
    DiskFull => "disk_full", disk_full;
    /// Someone else changed it first.
    Conflict => "conflict", conflict;
    /// The lease was lost; someone else owns the work.
    StaleLease => "stale_lease", stale_lease;
    /// The work was cancelled by a person.
    Cancelled => "cancelled", cancelled;
    /// The process is shutting down.
    ShuttingDown => "shutting_down", shutting_down;
    /// The configuration makes no sense.
    InvalidConfig => "invalid_config", invalid_config;
    /// Something that must be installed is not.
    MissingDependency => "missing_dependency", missing_dependency;
    /// A file or folder of the user could not be read.
    Unreadable => "unreadable", unreadable;
    /// The file kept changing while it was read.
    FileChanged => "file_changed", file_changed;
    /// No such thing.
    NotFound => "not_found", not_found;
    /// Not allowed.
    Forbidden => "forbidden", forbidden;
    /// The request makes no sense.
    InvalidRequest => "invalid_request", invalid_request;
    /// A broken promise of docmill's own code.
    Bug => "bug", bug;
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What happened, in words and as a kind, with the cause underneath.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    retry_after: Option<Duration>,
    /// What a log says instead of message and causes.
    logged: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of `kind`. The message is lower case, without a full stop, and names thing, value and limit.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            hint: None,
            retry_after: None,
            logged: None,
            source: None,
        }))
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds the way out: a setting to change, a command to run.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds what the other side asked for.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.0.retry_after = Some(after);
        self
    }

    /// Says that message and causes may quote a document or name a file. They are kept for its owner; a log gets
    /// `words` instead.
    #[must_use]
    pub fn logged_as(mut self, words: impl Into<String>) -> Self {
        self.0.logged = Some(words.into());
        self
    }

    /// What happened.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// In words, without the cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The way out, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// How long the other side asked us to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Message and causes, joined by colons: for logs and for the terminal. `Display` alone never prints the
    /// cause, so that nothing is said twice.
    pub fn chain(&self) -> String {
        let mut out = self.0.message.clone();
        let mut cause = self.source();
        while let Some(c) = cause {
            out.push_str(": ");
            out.push_str(&c.to_string());
            cause = c.source();
        }
        out
    }

    /// Message and causes for a log, where nothing may stand that a document says.
    pub fn for_log(&self) -> String {
        self.0.logged.clone().unwrap_or_else(|| self.chain())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind, self.chain())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|s| s as &(dyn StdError + 'static))
    }
}

/// An error as it is stored and sent: kind and words, no cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ErrorNote {
    /// What happened.
    pub kind: ErrorKind,
    /// In words, with all causes.
    pub message: String,
    /// The way out. Never skipped: the wire format has no field names by which to notice.
    #[serde(default)]
    pub hint: Option<String>,
}

impl From<&Error> for ErrorNote {
    fn from(error: &Error) -> Self {
        Self { kind: error.kind(), message: error.chain(), hint: error.hint().map(Into::into) }
    }
}

impl From<ErrorNote> for Error {
    fn from(note: ErrorNote) -> Self {
        let error = Self::new(note.kind, note.message);
        match note.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_prints_every_cause_once() {
        let inner = std::io::Error::other("disk gone");
        let error = Error::unavailable("cannot read blob").with_source(inner);
        assert_eq!(error.to_string(), "cannot read blob");
        assert_eq!(error.chain(), "cannot read blob: disk gone");
    }

    #[test]
    fn words_for_a_log_replace_message_and_causes() {
        let quoting = Error::bug("the reader panicked: `dear Joe`").with_source("dear Joe");
        assert_eq!(quoting.for_log(), "the reader panicked: `dear Joe`: dear Joe");
        let quoting = quoting.logged_as("the reader panicked");
        assert_eq!(quoting.for_log(), "the reader panicked");
        assert_eq!(quoting.chain(), "the reader panicked: `dear Joe`: dear Joe");
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in ErrorKind::ALL {
            assert_eq!(ErrorKind::from_name(kind.name()), Some(*kind));
        }
    }
}
