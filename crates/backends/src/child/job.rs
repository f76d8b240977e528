//! One piece of work for a child, whatever its role.

use std::fs::File;

use docmill_core::Result;
use docmill_core::id::TenantId;
use docmill_core::limits::Limits;
use docmill_core::ocr::Scan;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::ocr::OcrJob;
use docmill_core::ports::reader::{Allowance, ReadJob};
use docmill_core::wire::{ReadLimits, Want, Work};

use super::frame_io::descriptor;
use super::settings::PoolSettings;

/// What every role has in common, and what to do.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) tenant: TenantId,
    pub(super) name: String,
    pub(super) allowance: Allowance,
    pub(super) limits: ReadLimits,
    /// Not beside others, and in a fresh child.
    pub(super) alone: bool,
    task: Task,
}

#[derive(Debug)]
enum Task {
    Read { content: Content, want: Want },
    Recognise(Scan),
    Embed(Vec<String>),
}

impl From<ReadJob> for Job {
    fn from(job: ReadJob) -> Self {
        Self {
            tenant: job.tenant,
            name: job.name,
            allowance: job.allowance,
            limits: job.limits,
            alone: job.alone,
            task: Task::Read { content: job.content, want: job.want },
        }
    }
}

impl From<OcrJob> for Job {
    fn from(job: OcrJob) -> Self {
        Self {
            tenant: job.tenant,
            name: job.name,
            allowance: job.allowance,
            // A page has limits of its own, which are not a matter of settings.
            limits: Limits::default().for_reader(),
            alone: false,
            task: Task::Recognise(job.scan),
        }
    }
}

impl Job {
    /// Texts whose meanings are wanted.
    pub(super) fn embed(tenant: TenantId, texts: Vec<String>, allowance: Allowance) -> Self {
        Self {
            tenant,
            name: format!("{} texts", texts.len()),
            allowance,
            limits: Limits::default().for_reader(),
            alone: false,
            task: Task::Embed(texts),
        }
    }

    /// Whether it may travel in a frame with others: small documents alone.
    pub(super) fn is_small(&self, settings: &PoolSettings) -> bool {
        match &self.task {
            Task::Read { content: Content::Inline(bytes), .. } => bytes.len() as u64 <= settings.inline_up_to,
            Task::Read { content: Content::File(..), .. } | Task::Recognise(_) | Task::Embed(_) => false,
        }
    }

    /// How much it holds.
    pub(super) fn bytes(&self) -> u64 {
        match &self.task {
            Task::Read { content, .. } => content.len(),
            Task::Recognise(scan) => scan.pixels.len() as u64,
            Task::Embed(texts) => texts.iter().map(|text| text.len() as u64).sum(),
        }
    }

    /// The descriptor that goes with its frame, if one does.
    pub(super) fn file(&self, settings: &PoolSettings) -> Result<Option<File>> {
        match &self.task {
            Task::Read { content, .. } if !self.is_small(settings) => descriptor(content).map(Some),
            Task::Read { .. } | Task::Recognise(_) | Task::Embed(_) => Ok(None),
        }
    }

    /// As it is sent.
    pub(super) fn work(&self, settings: &PoolSettings) -> Work {
        match &self.task {
            Task::Read { content, want } => {
                let inline = match content {
                    Content::Inline(bytes) if self.is_small(settings) => Some(bytes.clone()),
                    _ => None,
                };
                let passwords = settings.passwords.clone();
                Work::Read { inline, want: *want, limits: self.limits, passwords }
            }
            Task::Recognise(scan) => Work::Recognise(scan.clone()),
            Task::Embed(texts) => Work::Embed(texts.clone()),
        }
    }

    /// What is done to it, in a word for messages.
    pub(super) fn doing(&self) -> &'static str {
        match &self.task {
            Task::Read { .. } => "reading",
            Task::Recognise(_) => "recognising",
            Task::Embed(_) => "embedding",
        }
    }
}
