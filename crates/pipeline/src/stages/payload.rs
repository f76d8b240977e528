//! What a task carries beside its ingestion, as JSON in the database.

use docmill_core::problem::{Problem, ResultCode};
use docmill_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// The payload of every kind of task; most carry nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Do the work even if an equal result is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Only these pages, first and last, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<(u32, u32)>,
    /// Of so many pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// How the text was read, where members remain to be unpacked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextEnd>,
    /// Files lie inside, which are unpacked after what is done now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub members: bool,
    /// Take a record by this schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Of a no-op: wait so many milliseconds, as work does that waits for somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u32>,
}

/// How the reading of a document's text ended: what its ingestion would have ended with, had it no members.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TextEnd {
    /// The verdict.
    pub result: ResultCode,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl Payload {
    /// Do the work even if an equal result is there.
    pub const FORCE: Self =
        Self { force: true, pages: None, of: None, text: None, members: false, schema: None, wait_ms: None };

    /// Reads what [`Payload::to_json`] wrote.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        text.map_or(Ok(Self::default()), |text| {
            serde_json::from_str(text)
                .map_err(|e| Error::bug(format!("cannot read the payload `{text}` of a task")).with_source(e))
        })
    }

    /// As stored; nothing where there is nothing to say.
    pub fn to_json(&self) -> Option<String> {
        if *self == Self::default() {
            return None;
        }
        // A struct of numbers and words cannot fail to be written.
        serde_json::to_string(self).ok()
    }

    /// The part that goes along to the next task.
    #[must_use]
    pub fn carried(&self) -> Self {
        Self { force: self.force, ..Self::default() }
    }

    /// The same, for these pages only.
    #[must_use]
    pub fn with_pages(&self, pages: (u32, u32)) -> Self {
        Self { pages: Some(pages), ..self.clone() }
    }

    /// The same, for a document whose text has been read.
    #[must_use]
    pub fn with_text(&self, text: TextEnd) -> Self {
        Self { text: Some(text), ..self.clone() }
    }

    /// The same, for a document with or without files inside.
    #[must_use]
    pub fn with_members(&self, members: bool) -> Self {
        Self { members, ..self.clone() }
    }

    /// The same, for a document of which a record is taken.
    #[must_use]
    pub fn with_schema(&self, schema: String) -> Self {
        Self { schema: Some(schema), ..self.clone() }
    }

    /// The same, of a document of so many pages.
    #[must_use]
    pub fn of(&self, pages: u32) -> Self {
        Self { of: Some(pages), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_round_trips_and_the_empty_one_is_not_stored() {
        assert_eq!(Payload::default().to_json(), None);
        for payload in [
            Payload::default(),
            Payload::FORCE,
            Payload::default().with_pages((1, 200)),
            Payload::FORCE.with_pages((201, 400)).of(1_000),
            Payload::default().with_text(TextEnd {
                result: ResultCode::InvalidFile,
                problems: vec![Problem::new(docmill_core::ErrorKind::Corrupt, "page 3 is damaged")],
            }),
            Payload::FORCE.with_members(true),
            Payload::default().with_schema("invoice".into()),
            Payload { wait_ms: Some(100), ..Payload::default() },
        ] {
            assert_eq!(Payload::parse(payload.to_json().as_deref()).unwrap(), payload);
        }
    }
}
