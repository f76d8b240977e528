//! Why a frame ended early, and how that is told.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use docmill_core::Error;
use docmill_core::metrics::ChildEnd;

use super::job::Job;
use super::meter::too_much_memory;

/// Rust's allocator says this on stderr before it aborts.
const ALLOCATION_FAILED: &str = "memory allocation of";

/// Why a frame ended before all its documents had.
#[derive(Debug)]
pub(super) enum Fault {
    /// The pool is shutting down.
    Stopped,
    /// Nobody waits for the document in work.
    Cancelled,
    /// The document in work put out more than is held back for one of a shared frame.
    TooMuchToHold,
    /// Measured for the document in work alone: time without progress.
    OwnTime(Error),
    /// Counted for the document in work alone: output.
    OwnLimit(Error),
    /// The child outgrew its memory.
    Memory,
    /// The child said something that makes no sense.
    Breach(String),
    /// The child is gone; how is filled in once it has been reaped.
    Died(Option<Death>),
}

/// How a child ended.
#[derive(Debug)]
pub(super) struct Death {
    pub(super) status: Option<ExitStatus>,
    pub(super) last_words: String,
}

impl Fault {
    pub(super) fn breach(what: &str) -> Self {
        Self::Breach(what.to_owned())
    }

    /// Beyond doubt the doing of the document in work, whoever shared its frame.
    pub(super) fn is_the_documents_own(&self) -> bool {
        matches!(self, Self::OwnTime(_) | Self::OwnLimit(_))
    }

    /// Says nothing against any document.
    pub(super) fn is_nobodys(&self) -> bool {
        matches!(self, Self::Stopped | Self::Cancelled)
    }

    /// Why the child ended, for those who count.
    pub(super) fn end(&self) -> ChildEnd {
        match self {
            Self::Stopped => ChildEnd::Shutdown,
            Self::Cancelled => ChildEnd::Cancelled,
            Self::OwnTime(_) => ChildEnd::Timeout,
            Self::TooMuchToHold | Self::OwnLimit(_) => ChildEnd::Output,
            Self::Memory => ChildEnd::Memory,
            Self::Breach(_) => ChildEnd::Protocol,
            Self::Died(Some(death)) if death.ran_out_of_memory() => ChildEnd::Memory,
            Self::Died(_) => ChildEnd::Crashed,
        }
    }

    /// The error of the document that is charged. It names the file, and the last words of a child may quote what it
    /// read, so a log gets other words.
    pub(super) fn error(&self, job: &Job) -> Error {
        let (name, doing) = (&job.name, job.doing());
        match self {
            Self::Stopped | Self::Cancelled => {
                Error::shutting_down(format!("{doing} `{name}` was stopped: docmill is shutting down"))
                    .logged_as(format!("{doing} was stopped: docmill is shutting down"))
            }
            Self::TooMuchToHold => Error::bug(format!("`{name}` was held back although it was alone")),
            Self::OwnTime(error) | Self::OwnLimit(error) => {
                let again = Error::new(error.kind(), error.message()).logged_as(error.for_log());
                match error.hint() {
                    Some(hint) => again.with_hint(hint),
                    None => again,
                }
            }
            Self::Memory => too_much_memory(name, &job.allowance),
            Self::Breach(what) => {
                Error::child_crashed(format!("child broke the protocol while {doing} `{name}`: {what}"))
                    .logged_as("child broke the protocol")
            }
            Self::Died(None) => {
                Error::child_crashed(format!("child ended while {doing} `{name}`")).logged_as("child ended")
            }
            Self::Died(Some(death)) if death.ran_out_of_memory() => too_much_memory(name, &job.allowance),
            Self::Died(Some(death)) => {
                let how = death.how();
                let error = Error::child_crashed(format!("child {how} while {doing} `{name}`"))
                    .logged_as(format!("child {how}"));
                match death.last_line() {
                    Some(line) => error.with_source(line),
                    None => error,
                }
            }
        }
    }
}

impl Death {
    fn ran_out_of_memory(&self) -> bool {
        self.last_words.contains(ALLOCATION_FAILED)
    }

    /// `was killed by SIGSEGV`, `ended with exit code 1`.
    pub(super) fn how(&self) -> String {
        let Some(status) = self.status else { return "ended".to_owned() };
        match (status.signal(), status.code()) {
            (Some(signal), _) => format!("was killed by {}", signal_name(signal)),
            (None, Some(code)) => format!("ended with exit code {code}"),
            (None, None) => "ended".to_owned(),
        }
    }

    /// The last thing it said, made harmless: it may quote the document.
    pub(super) fn last_line(&self) -> Option<String> {
        let line = self.last_words.lines().rev().find(|line| !line.trim().is_empty())?;
        let clean: String = line.chars().filter(|c| !c.is_control()).take(300).collect();
        Some(clean)
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTERM => "SIGTERM",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::super::queue::tests::ticket;
    use super::*;

    fn died(raw_status: i32, last_words: &str) -> Error {
        let death = Death { status: Some(ExitStatus::from_raw(raw_status)), last_words: last_words.into() };
        Fault::Died(Some(death)).error(&ticket(1, "a.pdf", 1).0.job)
    }

    #[test]
    fn death_by_signal_is_named_with_the_last_words() {
        let error = died(libc::SIGSEGV, "noise\nthread main \u{1b}[31mpanicked\n\n");
        assert_eq!(error.kind(), ErrorKind::ChildCrashed);
        assert_eq!(
            error.chain(),
            "child was killed by SIGSEGV while reading `a.pdf`: thread main [31mpanicked"
        );
        assert_eq!(error.for_log(), "child was killed by SIGSEGV", "neither name nor last words");
    }

    #[test]
    fn death_by_failed_allocation_is_out_of_memory() {
        let error = died(libc::SIGABRT, "memory allocation of 4096 bytes failed\n");
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        assert_eq!(error.hint(), Some("raise `sandbox.memory_large`"));
    }

    #[test]
    fn death_by_exit_names_the_code() {
        assert!(died(256, "").message().contains("ended with exit code 1"));
    }
}
