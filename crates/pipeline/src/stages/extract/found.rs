//! What rules take from a document, and whether a person should look at it: what is doubtful at the first look is looked at
//! once more in another way.

use std::sync::Arc;

use docmill_core::artifact::Transcript;
use docmill_core::extraction::Extraction;
use docmill_core::ports::extractor::Material;
use docmill_core::record::NewRecord;
use docmill_core::{ErrorKind, Result};

use super::material::{Source, material, seen_again};
use crate::blocking::blocking;
use crate::schemas::Known;

/// Decisions about the sender of a document that are learnt from.
const LEARNT_FROM: usize = 100;

/// What was found, and in what.
pub(crate) struct Looked {
    pub(crate) extraction: Extraction,
    /// Why a person should look.
    pub(crate) doubts: Vec<String>,
    pub(crate) material: Arc<Material>,
    /// Pages of it that nobody can draw.
    undrawn: Vec<u32>,
}

impl Looked {
    /// Whether its words have no places.
    pub(super) fn is_unplaced(&self) -> bool {
        !self.undrawn.is_empty()
    }

    /// The same document with another record.
    pub(super) async fn replaced(
        self,
        source: &Source<'_>,
        schema: &Arc<Known>,
        extraction: Extraction,
    ) -> Result<Self> {
        judged(source, schema, self.material, self.undrawn, move || Ok(extraction)).await
    }

    /// The record of it.
    pub(crate) fn record(self, schema: &Known) -> NewRecord {
        let Self { mut extraction, doubts, undrawn, .. } = self;
        // Where words have no place, a box would tell of one.
        for evidence in extraction.fields.values_mut().flat_map(|field| &mut field.evidence) {
            if evidence.page.is_some_and(|page| undrawn.contains(&page)) {
                evidence.frame = None;
            }
        }
        NewRecord { version: schema.version, extraction, reasons: doubts }
    }
}

/// Takes a record.
pub(crate) async fn found(
    source: &Source<'_>,
    schema: &Arc<Known>,
    transcript: &Transcript,
) -> Result<Looked> {
    let first = first_look(source, schema, transcript).await?;
    if first.doubts.is_empty() || !first.undrawn.is_empty() {
        return Ok(first);
    }
    let Some((again, scanned)) = another_look(source, transcript, &first.material).await? else {
        return Ok(first);
    };
    let second = looked(source, schema, Arc::new(again), Vec::new()).await?;
    if scanned {
        // Two engines on the same pixels: the better value of each field.
        let surer = second.extraction.confidence > first.extraction.confidence;
        let material = Arc::clone(if surer { &second.material } else { &first.material });
        let extractor = Arc::clone(&source.deps().extractor);
        let known = Arc::clone(schema);
        let better = move || extractor.better(&known.text, &first.extraction, &second.extraction);
        return judged(source, schema, material, Vec::new(), better).await;
    }
    // What a file says and what it shows: one of them. Fewer doubts, or the same number and more certainty.
    let weight = |looked: &Looked| (looked.doubts.len(), -looked.extraction.confidence);
    Ok(if weight(&second) < weight(&first) { second } else { first })
}

/// What the text that is there shows.
pub(crate) async fn first_look(
    source: &Source<'_>,
    schema: &Arc<Known>,
    transcript: &Transcript,
) -> Result<Looked> {
    let (first, undrawn) = material(source, transcript).await?;
    let extractor = Arc::clone(&source.deps().extractor);
    let (mut first, senders) = blocking(move || {
        let senders = extractor.senders(&first.pages);
        Ok((first, senders))
    })
    .await?;
    if !senders.is_empty() {
        let store = &source.deps().store;
        first.corrections = store.corrections(source.tenant(), &schema.name, &senders, LEARNT_FROM).await?;
    }
    looked(source, schema, Arc::new(first), undrawn).await
}

/// What another way of looking shows; what cannot be seen so is no reason to lose what was seen before.
async fn another_look(
    source: &Source<'_>,
    transcript: &Transcript,
    first: &Material,
) -> Result<Option<(Material, bool)>> {
    match seen_again(source, transcript, first).await {
        Err(error) if !is_the_end_of_the_task(error.kind()) => {
            let (error_kind, said) = (error.kind(), error.for_log());
            tracing::debug!(%error_kind, error = said, "a doubtful document could not be looked at again");
            Ok(None)
        }
        looked => looked,
    }
}

/// Errors after which nobody waits for a record.
fn is_the_end_of_the_task(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ShuttingDown | ErrorKind::StaleLease | ErrorKind::WorkerLost | ErrorKind::Cancelled
    )
}

async fn looked(
    source: &Source<'_>,
    schema: &Arc<Known>,
    material: Arc<Material>,
    undrawn: Vec<u32>,
) -> Result<Looked> {
    let (extractor, known) = (Arc::clone(&source.deps().extractor), Arc::clone(schema));
    let of = Arc::clone(&material);
    judged(source, schema, material, undrawn, move || extractor.extract(&known.text, &of)).await
}

/// Computes a record and judges it.
async fn judged(
    source: &Source<'_>,
    schema: &Arc<Known>,
    material: Arc<Material>,
    undrawn: Vec<u32>,
    compute: impl FnOnce() -> Result<Extraction> + Send + 'static,
) -> Result<Looked> {
    let (extractor, schema) = (Arc::clone(&source.deps().extractor), Arc::clone(schema));
    // Rules over thousands of words hold up whoever waits on this thread; and one that panics costs this record alone.
    let (extraction, doubts) = blocking(move || {
        let found = Extraction { schema: schema.name.clone(), ..compute()? };
        let doubts = extractor.doubts(&schema.text, &found)?;
        Ok((found, doubts))
    })
    .await?;
    source.progress();
    Ok(Looked { extraction, doubts, material, undrawn })
}
