//! `extract-text-part`: the text of some pages of a long document, stored as `part-<first page>`.

use async_trait::async_trait;
use docmill_core::ports::store::Done;
use docmill_core::task::{Lease, TaskKind};
use docmill_core::wire::Want;
use docmill_core::{Error, Result, crash};

use super::text::is_final;
use super::{Collector, OcrNote};
use crate::plan::Outcome;
use crate::stages::intake::document::sniffed;
use crate::stages::payload::Payload;
use crate::stages::{Context, TaskHandler, reading};
use crate::transcripts;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("extract-text-part");

/// What the names of all parts begin with.
pub(super) const PREFIX: &str = "part-";

/// The handler.
pub struct ExtractTextPart;

#[async_trait]
impl TaskHandler for ExtractTextPart {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        let Some((first, last)) = Payload::parse(lease.payload.as_deref())?.pages else {
            return Err(Error::bug(format!("task {} ({KIND}) names no pages", lease.task_id)));
        };
        let want = Want { pages: Some((first, last)), ..Want::TEXT };
        let mut readings = reading::open(cx, lease, want).await?;
        let kind = sniffed(&mut readings).await?;
        let note = OcrNote::of(&cx.deps.settings, cx.deps.ocr.as_ref());
        let mut collector = Collector::new(kind, &cx.deps.settings.limits, note);
        let ended = loop {
            match readings.next().await {
                Ok(Some(found)) => {
                    cx.progress();
                    if let Err(error) = collector.add(found) {
                        break Err(error);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(readings);
        crash::point("transcribe.after_read");
        if let Err(error) = ended {
            if !is_final(cx, lease, &error, collector.has_pages()) {
                return Err(error);
            }
            collector.ended_by(&error);
        }
        let name = format!("{PREFIX}{first}");
        let ingestion = lease.subject.ingestion_id;
        let (artifact, _) =
            transcripts::save(cx.deps.blobs.as_ref(), ingestion, &name, collector.finish()).await?;
        cx.progress();
        cx.done(lease, Outcome::PartRead, Done { artifacts: vec![artifact], ..Done::default() })
    }
}
