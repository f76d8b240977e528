//! What a reader could not do, as codes that scripts can count. A problem never hides: it is stored with
//! the ingestion, shown by `show` and `read`, and grouped in the dashboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, ErrorNote};

/// The verdict on one ingestion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResultCode {
    /// Read as far as docmill can.
    #[default]
    Success,
    /// Stored, but no reader knows the type.
    Unsupported,
    /// Needs a password.
    PasswordProtected,
    /// Does not follow its own format.
    InvalidFile,
    /// Stored, but no text could be had.
    TextUnavailable,
    /// Read, but the model that was asked could not say what it is.
    NotClassified,
    /// Read, but the fields of its kind could not be taken from it.
    NotExtracted,
    /// The bytes could not be had, or the container gave only part of them.
    FileMissingOrIncomplete,
    /// A limit stopped the reading.
    LimitExceeded,
    /// Nothing in it.
    Empty,
    /// Skipped as a known system file.
    KnownSystemFile,
    /// Cancelled by a person.
    Cancelled,
}

impl ResultCode {
    /// Every code.
    pub const ALL: &'static [Self] = &[
        Self::Success,
        Self::Unsupported,
        Self::PasswordProtected,
        Self::InvalidFile,
        Self::TextUnavailable,
        Self::NotClassified,
        Self::NotExtracted,
        Self::FileMissingOrIncomplete,
        Self::LimitExceeded,
        Self::Empty,
        Self::KnownSystemFile,
        Self::Cancelled,
    ];

    /// The name as stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Unsupported => "UNSUPPORTED",
            Self::PasswordProtected => "PASSWORD_PROTECTED",
            Self::InvalidFile => "INVALID_FILE",
            Self::TextUnavailable => "TEXT_UNAVAILABLE",
            Self::NotClassified => "NOT_CLASSIFIED",
            Self::NotExtracted => "NOT_EXTRACTED",
            Self::FileMissingOrIncomplete => "FILE_MISSING_OR_INCOMPLETE",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::Empty => "EMPTY",
            Self::KnownSystemFile => "KNOWN_SYSTEM_FILE",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// The code of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }

    /// The code that an error of `kind` leaves behind.
    pub fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::KnownSystemFile => Self::KnownSystemFile,
            ErrorKind::UnsupportedFormat => Self::Unsupported,
            ErrorKind::EmptyFile => Self::Empty,
            ErrorKind::Encrypted => Self::PasswordProtected,
            ErrorKind::Corrupt => Self::InvalidFile,
            ErrorKind::LimitExceeded | ErrorKind::BombSuspected | ErrorKind::NestingTooDeep => {
                Self::LimitExceeded
            }
            ErrorKind::Cancelled => Self::Cancelled,
            ErrorKind::Unreadable | ErrorKind::FileChanged | ErrorKind::NotFound | ErrorKind::DiskFull => {
                Self::FileMissingOrIncomplete
            }
            ErrorKind::ContentBlocked | ErrorKind::SchemaMismatch => Self::NotClassified,
            ErrorKind::Timeout
            | ErrorKind::OutOfMemory
            | ErrorKind::ChildCrashed
            | ErrorKind::WorkerLost
            | ErrorKind::RateLimited
            | ErrorKind::Unavailable
            | ErrorKind::Conflict
            | ErrorKind::StaleLease
            | ErrorKind::ShuttingDown
            | ErrorKind::InvalidConfig
            | ErrorKind::MissingDependency
            | ErrorKind::Forbidden
            | ErrorKind::InvalidRequest
            | ErrorKind::Bug => Self::TextUnavailable,
        }
    }
}

/// One thing that went wrong while reading, with the words a person needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// For counting.
    pub code: ResultCode,
    /// The error kind behind it.
    pub kind: ErrorKind,
    /// Names the thing, the value, the limit and the way out.
    pub message: String,
    /// The page, where it concerns one. Never skipped: the wire format has no field names by which to notice.
    #[serde(default)]
    pub page: Option<u32>,
}

impl Problem {
    /// A problem that is not tied to a page.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { code: ResultCode::of(kind), kind, message: message.into(), page: None }
    }

    /// Ties it to a page.
    #[must_use]
    pub fn on_page(mut self, page: u32) -> Self {
        self.page = Some(page);
        self
    }
}

impl From<&ErrorNote> for Problem {
    fn from(note: &ErrorNote) -> Self {
        let mut message = note.message.clone();
        if let Some(hint) = &note.hint {
            message.push_str("; ");
            message.push_str(hint);
        }
        Self::new(note.kind, message)
    }
}
