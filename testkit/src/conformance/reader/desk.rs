//! A reader with short words for what cases do again and again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docmill_core::config::Key;
use docmill_core::error::{Error, Result};
use docmill_core::id::TenantId;
use docmill_core::limits::{Limits, MIB};
use docmill_core::ports::Reader;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::{Allowance, Finding, Findings, ReadJob};
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, Kind, Want};
use uuid::Uuid;

use super::Subject;

/// The tenant of most cases.
pub(super) const ANNA: TenantId = TenantId(Uuid::from_u128(1));
/// Somebody else.
pub(super) const BERTA: TenantId = TenantId(Uuid::from_u128(2));

/// More than any case needs.
pub(super) const PATIENT: Allowance = Allowance {
    cpu_without_progress: Duration::from_hours(1),
    wall_without_progress: Duration::from_hours(1),
    memory_bytes: 256 * MIB,
};

/// A document as a job, with generous limits.
pub(super) fn job(name: &str, content: impl Into<Bytes>) -> ReadJob {
    ReadJob {
        tenant: ANNA,
        name: name.into(),
        content: Content::Inline(content.into()),
        want: Want::TEXT,
        limits: Limits::default().for_reader(),
        allowance: PATIENT,
        alone: false,
    }
}

/// A text.
pub(super) fn text(content: &str) -> ReadJob {
    job("a.txt", content.to_owned())
}

/// A document that does something.
pub(super) fn probe(deed: &str) -> ReadJob {
    job("probe.txt", format!("DOCMILL-PROBE:{deed}"))
}

/// An archive whose members are wanted.
pub(super) fn members_of(zip: Vec<u8>) -> ReadJob {
    ReadJob { want: Want::CHILDREN, ..job("a.zip", zip) }
}

/// The reader of a case.
pub(super) struct Desk {
    reader: Arc<dyn Reader>,
}

impl Desk {
    pub(super) async fn open(bench: &Subject) -> Self {
        Self { reader: bench.open().await }
    }

    pub(super) fn reader(&self) -> &dyn Reader {
        &*self.reader
    }

    /// Begins to read.
    pub(super) async fn begin(&self, job: ReadJob) -> Findings {
        self.reader.read(job).await.unwrap()
    }

    /// Reads to the end.
    pub(super) async fn read(&self, job: ReadJob) -> Reading {
        gather(self.begin(job).await).await
    }

    /// The process that reads for `tenant` now.
    pub(super) async fn process(&self, job: ReadJob) -> String {
        let reading = self.read(ReadJob { content: probe("pid").content, ..job }).await;
        reading.end.as_ref().unwrap();
        reading.text()
    }
}

/// Everything one reading gave.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) found: Vec<Found>,
    pub(super) end: Result<()>,
}

/// Listens to the end, after which nothing may come.
pub(super) async fn gather(mut findings: Findings) -> Reading {
    let mut found = Vec::new();
    while let Some(finding) = findings.recv().await {
        match finding {
            Finding::Found(one) => found.push(one),
            Finding::Waiting => {}
            Finding::End(end) => {
                assert!(findings.recv().await.is_none(), "something came after the end");
                return Reading { found, end };
            }
        }
    }
    panic!("the findings ended without an end");
}

impl Reading {
    /// The kind, which comes first and once.
    #[track_caller]
    pub(super) fn kind(&self) -> &Kind {
        let Some(Found::Kind(kind)) = self.found.first() else {
            panic!("no kind at first: {:?}", self.found)
        };
        let kinds = self.found.iter().filter(|found| matches!(found, Found::Kind(_))).count();
        assert_eq!(kinds, 1, "a kind comes once");
        kind
    }

    /// The text of all pages.
    pub(super) fn text(&self) -> String {
        let pages = self.found.iter().filter_map(|found| match found {
            Found::Page(page) => Some(page.text.as_str()),
            _ => None,
        });
        pages.collect::<Vec<_>>().join("\u{c}")
    }

    /// The numbers of the pages.
    pub(super) fn pages(&self) -> Vec<u32> {
        self.found
            .iter()
            .filter_map(|f| if let Found::Page(page) = f { Some(page.number) } else { None })
            .collect()
    }

    /// What did not stop the reading.
    pub(super) fn warnings(&self) -> Vec<&Problem> {
        self.found
            .iter()
            .filter_map(|f| if let Found::Warn(problem) = f { Some(problem) } else { None })
            .collect()
    }

    /// Each member as `position path = content` or `position path ! error kind`.
    #[track_caller]
    pub(super) fn members(&self) -> Vec<String> {
        let mut members = Vec::new();
        let mut open: Option<(String, Vec<u8>)> = None;
        for found in &self.found {
            match found {
                Found::ChildBegin { position, path, .. } => {
                    assert!(open.is_none(), "a member begins inside another");
                    open = Some((format!("{position} {path}"), Vec::new()));
                }
                Found::ChildChunk(bytes) => open.as_mut().unwrap().1.extend(bytes),
                Found::ChildEnd => {
                    let (name, content) = open.take().unwrap();
                    members.push(format!("{name} = {}", String::from_utf8_lossy(&content)));
                }
                Found::ChildFailed { position, path, error } => {
                    open = None;
                    members.push(format!("{position} {path} ! {}", error.kind));
                }
                _ => {}
            }
        }
        assert!(open.is_none(), "a member did not end");
        members
    }

    /// How the reading failed.
    #[track_caller]
    pub(super) fn error(&self) -> &Error {
        match &self.end {
            Err(error) => error,
            Ok(()) => panic!("the reading went well: {:?}", self.found),
        }
    }
}

/// Insists that a text names settings, and only such as there are.
#[track_caller]
pub(super) fn names_a_setting(text: &str) {
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(|word| word.contains('.')).collect();
    assert!(!named.is_empty(), "names no setting: {text}");
    for setting in named {
        assert!(Key::find(setting).is_some(), "there is no setting `{setting}`: {text}");
    }
}
