//! Untrusted bytes in, findings out. The one implementation runs every parser in a sandboxed child process.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::error::Result;
use crate::id::TenantId;
use crate::ports::blobs::Content;
use crate::wire::{Found, Layer, ReadLimits, Want};

/// One document to read.
#[derive(Clone, Debug)]
pub struct ReadJob {
    /// A child serves one tenant only.
    pub tenant: TenantId,
    /// The file name, as a hint.
    pub name: String,
    /// The bytes.
    pub content: Content,
    /// What to find out.
    pub want: Want,
    /// How far to go.
    pub limits: ReadLimits,
    /// How much the child may use.
    pub allowance: Allowance,
    /// Not beside other documents, and in a fresh child.
    pub alone: bool,
}

/// What one document may cost a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// CPU time without progress (a page, a member) before the child is killed.
    pub cpu_without_progress: Duration,
    /// Wall time without progress before the child is killed.
    pub wall_without_progress: Duration,
    /// Memory of the child.
    pub memory_bytes: u64,
}

/// The findings of one document, ended by exactly one [`Finding::End`]. Dropping the receiver cancels the
/// reading and frees the child.
pub type Findings = mpsc::Receiver<Finding>;

/// An item of [`Findings`].
#[derive(Debug)]
pub enum Finding {
    /// Something was found.
    Found(Found),
    /// It waits for its turn or for the CPU, and that is no fault of the document: told now and then.
    Waiting,
    /// Nothing more comes. The kinds `timeout`, `out_of_memory` and `child_crashed` mean that this document
    /// (and no neighbour of it) ended its child.
    End(Result<()>),
}

/// The layer of a child that is no fence but the second engine for PDF files.
pub const PDFIUM: &str = "pdfium";

/// Reads documents.
#[async_trait]
pub trait Reader: Send + Sync {
    /// What text depends on beside docmill's own version: engines that are loaded where they are found. Empty if there
    /// are none.
    #[expect(clippy::unnecessary_literal_bound, reason = "whoever has one has it in a field")]
    fn identity(&self) -> &str {
        ""
    }

    /// Starts reading. Small jobs of one tenant that wait at the same time share a frame; that is never
    /// visible in the findings.
    async fn read(&self, job: ReadJob) -> Result<Findings>;

    /// The sandbox layers of a fresh child.
    async fn layers(&self) -> Result<Vec<Layer>>;

    /// Takes no more. Readings that no child has begun end with `shutting_down`, and so do those that would have
    /// to be begun again; the others go on.
    async fn drain(&self);

    /// Ends all children; readings under way end with `shutting_down`.
    async fn shutdown(&self);
}
