//! Records that people look at: the queue, who has which, what they decide, and what can be learnt from it.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::extraction::{Extraction, Field, Violation};
use crate::id::{DocumentId, IngestionId};
use crate::words::PageWords;

/// How long a reviewer has a record for themselves without saying so again.
pub const LOCKED_FOR: Duration = Duration::from_mins(10);

/// Values that are corrected at once: each is looked for on the pages, so more would take minutes.
pub const MAX_CORRECTED: usize = 300;

/// A review has the id of the ingestion whose record it is about.
pub type ReviewId = IngestionId;

/// The id of a review that somebody has typed.
pub fn review_id(text: &str) -> Result<ReviewId> {
    text.parse().map_err(|e: Error| {
        Error::not_found(format!("`{text}` is no review id"))
            .with_hint("`docmill review list` shows the reviews there are")
            .with_source(e)
    })
}

/// How a review stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewState {
    /// A person should look.
    Open,
    /// The record is right.
    Accepted,
    /// It is right now.
    Corrected,
    /// It is of no use.
    Rejected,
    /// The document was processed again before anybody looked.
    Superseded,
}

impl ReviewState {
    /// Every state.
    pub const ALL: &'static [Self] =
        &[Self::Open, Self::Accepted, Self::Corrected, Self::Rejected, Self::Superseded];

    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::Corrected => "corrected",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.name() == name)
    }
}

/// Which reviews to list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReviewQuery {
    /// Only of this schema.
    pub schema: Option<String>,
    /// Those that are decided instead of those that are open.
    pub done: bool,
    /// At most so many.
    pub limit: usize,
    /// From the page before.
    pub cursor: Option<String>,
}

/// A review in the queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReviewLine {
    /// Which.
    pub review_id: ReviewId,
    /// Of which document.
    pub document_id: DocumentId,
    /// The ingestion whose record it is.
    pub ingestion_id: IngestionId,
    /// The file name of the document.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// The schema of the record.
    pub schema: String,
    /// How sure the record is as a whole, 0 to 1.
    pub confidence: f32,
    /// Why a person should look.
    pub reasons: Vec<String>,
    /// How many fields matter and were not found.
    pub fields_missing: u32,
    /// Since when it waits.
    pub created_at: Timestamp,
    /// Who looks at it now.
    pub locked_by: Option<String>,
    /// Until when nobody else may decide.
    pub locked_until: Option<Timestamp>,
    /// How it stands.
    pub state: ReviewState,
}

impl ReviewLine {
    /// The same, without a lock that has ended.
    #[must_use]
    pub fn unless_ended(self, now: Timestamp) -> Self {
        if self.locked_until.is_some_and(|until| until <= now) {
            return Self { locked_by: None, locked_until: None, ..self };
        }
        self
    }
}

/// `review list`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReviewsAnswer {
    /// The least sure first.
    pub items: Vec<ReviewLine>,
    /// Give it back to get the next page.
    pub next: Option<String>,
    /// How many are open in all.
    pub open: u64,
}

/// A review with everything it is about, as the store has it.
#[derive(Clone, PartialEq, Debug)]
pub struct Review {
    /// As in the queue.
    pub line: ReviewLine,
    /// The version of the schema.
    pub version: u32,
    /// The record.
    pub extraction: Extraction,
    /// Pages of the document.
    pub page_count: Option<u32>,
    /// What was decided, in order.
    pub history: Vec<ReviewAction>,
}

/// `review show`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReviewAnswer {
    /// As in the queue.
    #[serde(flatten)]
    pub line: ReviewLine,
    /// The record.
    pub data: Map<String, Value>,
    /// How each value was found, by its path in the record.
    pub fields: BTreeMap<String, Field>,
    /// What does not hold.
    pub violations: Vec<Told>,
    /// The version of the schema.
    pub schema_version: u32,
    /// Pages of the document.
    pub page_count: Option<u32>,
    /// What was decided, in order.
    pub history: Vec<ReviewAction>,
}

/// Something of a record that does not hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// The path of the value, or the name of the check.
    pub field: String,
    /// What is wrong, with the values that say so.
    pub message: String,
    /// In a word: `missing`, `ungrounded`, `misfit`, `check`, or the keyword of JSON Schema that does not hold.
    pub kind: String,
}

impl From<Violation> for Told {
    fn from(violation: Violation) -> Self {
        let Violation { field, rule, message } = violation;
        Self { field, message, kind: rule }
    }
}

impl From<Review> for ReviewAnswer {
    fn from(review: Review) -> Self {
        let Review { line, version, extraction, page_count, history } = review;
        Self {
            line,
            data: extraction.data,
            fields: extraction.fields,
            violations: extraction.violations.into_iter().map(Into::into).collect(),
            schema_version: version,
            page_count,
            history,
        }
    }
}

/// What a person has decided. It is kept for ever.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReviewAction {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// What.
    pub action: ReviewState,
    /// Why, if they said so.
    pub reason: Option<String>,
    /// What they changed, by the path of the value.
    pub changes: BTreeMap<String, Change>,
}

/// One value that was changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What it was; null if there was none.
    pub before: Option<Value>,
    /// What it is; null if there is none.
    pub after: Option<Value>,
    /// The page that the new value stands on, if it was found there; otherwise that of the old one.
    #[serde(default)]
    pub page: Option<u32>,
    /// Around it there: left, top, width and height in parts of the page.
    #[serde(default, rename = "box")]
    pub frame: Option<[f32; 4]>,
}

/// `review lock`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LockAnswer {
    /// Which.
    pub review_id: ReviewId,
    /// Who has it.
    pub locked_by: Option<String>,
    /// Until when.
    pub locked_until: Option<Timestamp>,
}

/// `review accept`, `correct` and `reject`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DecidedAnswer {
    /// Which.
    pub review_id: ReviewId,
    /// How it stands now.
    pub state: ReviewState,
    /// What to look at next: the least sure that nobody else has.
    pub next: Option<ReviewId>,
}

/// What a person decides about a record.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// About which.
    pub review_id: ReviewId,
    /// Who.
    pub by: String,
    /// What.
    pub state: ReviewState,
    /// Why.
    pub reason: Option<String>,
    /// What they changed.
    pub changes: BTreeMap<String, Change>,
    /// The record as it is now, if they changed something.
    pub corrected: Option<Box<Corrected>>,
}

/// What a person says of a record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is right.
    Accept {
        /// Why, if they say so.
        reason: Option<String>,
    },
    /// It is right with these values, by their paths; null takes one away.
    Correct {
        /// The values.
        fields: BTreeMap<String, Value>,
        /// Why, if they say so.
        reason: Option<String>,
    },
    /// It is of no use.
    Reject {
        /// Why.
        reason: String,
    },
}

/// A record after a correction.
#[derive(Clone, PartialEq, Debug)]
pub struct Corrected {
    /// As it is now.
    pub after: Extraction,
    /// The words of the pages that were corrected.
    pub pages: Vec<PageWords>,
    /// By what their sender is known.
    pub senders: Vec<String>,
}

/// A value that a person has corrected, with what stood around it: what can be learnt from.
#[derive(Clone, PartialEq, Debug)]
pub struct Correction {
    /// The path of the value.
    pub field: String,
    /// What changed.
    pub change: Change,
    /// The words of the pages that were corrected with it; shared by all corrections of one document.
    pub pages: std::sync::Arc<Vec<PageWords>>,
}

/// A page of corrections.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CorrectionsAnswer {
    /// In the order in which they were made.
    pub items: Vec<CorrectionLine>,
    /// Give it back to get the next page.
    pub next: Option<String>,
}

/// A corrected value, as it is exported.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CorrectionLine {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// In which document.
    pub document_id: DocumentId,
    /// Of a record by this schema.
    pub schema: String,
    /// The path of the value.
    pub field: String,
    /// What it was.
    pub before: Option<Value>,
    /// What it is.
    pub after: Option<Value>,
    /// The page it stands on.
    pub page: Option<u32>,
    /// Around it there.
    #[serde(rename = "box")]
    pub frame: Option<[f32; 4]>,
}

/// Where a page of the queue ends: how sure the last one is, and its id.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueCursor {
    /// Of the last one.
    pub confidence: f64,
    /// Of the last one.
    pub id: IngestionId,
}

impl QueueCursor {
    /// As callers give it back.
    pub fn to_text(self) -> String {
        format!("{}_{}", self.confidence, self.id)
    }

    /// Reads it.
    pub fn parse(text: &str) -> Result<Self> {
        let read = || {
            let (confidence, id) = text.split_once('_')?;
            let confidence: f64 = confidence.parse().ok().filter(|number: &f64| number.is_finite())?;
            Some(Self { confidence, id: id.parse().ok()? })
        };
        read().ok_or_else(|| {
            Error::invalid_request(format!("`{}` is no cursor of the queue", crate::text::shown(text)))
                .with_hint("give `next` of the page before, or nothing")
        })
    }
}

/// Why nobody can do this to a review: another has it, or it is decided. Nothing if they can.
pub fn obstacle(
    line: (ReviewState, Option<&str>, Option<Timestamp>),
    id: ReviewId,
    who: &str,
    now: Timestamp,
) -> Option<Error> {
    let (state, locked_by, until) = line;
    if state != ReviewState::Open {
        let said = match state {
            ReviewState::Superseded => "superseded: the document was processed again".to_owned(),
            decided => format!("{} already", decided.name()),
        };
        return Some(
            Error::conflict(format!("review {id} is {said}"))
                .with_hint("`docmill review show` tells who decided what, and `review list` what is open"),
        );
    }
    let other = locked_by.filter(|other| *other != who)?;
    let until = until.filter(|until| *until > now)?;
    Some(
        Error::conflict(format!("`{}` looks at review {id} until {until}", crate::text::shown(other)))
            .with_hint("take another one, or wait until they are done"),
    )
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn cursor_is_read_as_it_was_written() {
        for confidence in [0.0, 0.1, f64::from(0.7_f32), 1.0] {
            let cursor = QueueCursor { confidence, id: IngestionId(Uuid::from_u128(7)) };
            assert_eq!(QueueCursor::parse(&cursor.to_text()).unwrap(), cursor);
        }
        for wrong in ["", "0.5", "x_y", "NaN_00000000-0000-0000-0000-000000000007"] {
            assert!(QueueCursor::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lock_of_another_and_a_decision_stand_in_the_way() {
        let id = IngestionId(Uuid::from_u128(7));
        let (now, later) = (Timestamp(1_000), Some(Timestamp(2_000)));
        let told = |state, by, until| obstacle((state, by, until), id, "ada", now);
        assert!(told(ReviewState::Open, None, None).is_none());
        assert!(told(ReviewState::Open, Some("ada"), later).is_none());
        assert!(told(ReviewState::Open, Some("bob"), Some(now)).is_none(), "it has ended");
        let error = told(ReviewState::Open, Some("bob"), later).unwrap();
        assert!(error.message().contains("`bob`"), "{}", error.message());
        assert!(told(ReviewState::Accepted, None, None).is_some());
    }
}
