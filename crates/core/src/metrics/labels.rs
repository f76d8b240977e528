//! The values that labels may have. They are the same words in metrics, in logs and in spans.

macro_rules! label {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident => $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$value_doc])* $value,)* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];

            /// As it is shown.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }
        }
    };
}

label! {
    /// What came of an attempt at a task.
    AttemptOutcome {
        /// The task is done.
        Completed => "completed",
        /// The item is left out for a reason, and the task is done with that.
        Skipped => "skipped",
        /// The item has failed for a reason that trying again cannot change.
        Failed => "failed",
        /// The task is tried again.
        Retried => "retried",
        /// The task has become a dead letter.
        Dead => "dead",
        /// The task was handed back untouched.
        Released => "released",
        /// Somebody else owns the task; nothing was written.
        Abandoned => "abandoned",
    }
}

label! {
    /// How something ended that either works or does not.
    Outcome {
        /// It worked.
        Ok => "ok",
        /// It did not.
        Failed => "failed",
    }
}

label! {
    /// Why a child process ended.
    ChildEnd {
        /// It had nothing to do for a while, or made room for another tenant's.
        Idle => "idle",
        /// It has read as many documents as a child may, or one that was slow or had to be alone.
        Recycled => "recycled",
        /// It died by itself.
        Crashed => "crashed",
        /// A document made no progress in its time.
        Timeout => "timeout",
        /// It outgrew its memory.
        Memory => "memory",
        /// A document put out more than it may.
        Output => "output",
        /// It said something that makes no sense.
        Protocol => "protocol",
        /// Nobody waited for its document any more.
        Cancelled => "cancelled",
        /// docmill is shutting down.
        Shutdown => "shutdown",
        /// It never became ready.
        NotReady => "not_ready",
    }
}

label! {
    /// A call of the blob store.
    BlobOperation {
        /// Stores a blob.
        Put => "put",
        /// Moves a finished upload to its place.
        Rename => "rename",
        /// Opens a whole blob.
        Open => "open",
        /// Reads a part of one.
        Range => "range",
        /// Asks about one.
        Info => "info",
        /// Removes one.
        Delete => "delete",
        /// Begins a listing.
        List => "list",
    }
}

label! {
    /// Which way tokens go.
    TokenDirection {
        /// The model reads them.
        In => "in",
        /// The model writes them.
        Out => "out",
    }
}

/// What the reference page says about each label.
pub(super) fn values() -> Vec<(String, String)> {
    fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
    use super::catalogue::{BATCHES, CHILDREN_ENDED, INGESTIONS, TASKS, TASKS_ENDED};
    use crate::batch::BatchState;
    use crate::ingestion::IngestionStatus;

    let row = |label: &str, of: &str, values: String| (format!("`{label}` of `{of}`"), values);
    vec![
        (
            "`kind`".to_owned(),
            "the [kinds of task](kinds.md), and `other` for those of another version".to_owned(),
        ),
        row("outcome", &TASKS_ENDED.sample(), quoted(AttemptOutcome::ALL.iter().map(|v| v.name()))),
        ("`outcome` elsewhere".to_owned(), quoted(Outcome::ALL.iter().map(|v| v.name()))),
        row("state", &TASKS.sample(), quoted(super::sample::TASK_STATES.iter().copied())),
        row("state", &BATCHES.sample(), quoted(BatchState::ALL.iter().map(|v| v.name()))),
        row("status", &INGESTIONS.sample(), quoted(IngestionStatus::ALL.iter().map(|v| v.name()))),
        row("reason", &CHILDREN_ENDED.sample(), quoted(ChildEnd::ALL.iter().map(|v| v.name()))),
        ("`operation`".to_owned(), quoted(BlobOperation::ALL.iter().map(|v| v.name()))),
        ("`direction`".to_owned(), quoted(TokenDirection::ALL.iter().map(|v| v.name()))),
        ("`version`".to_owned(), "the version of the binary".to_owned()),
    ]
}
