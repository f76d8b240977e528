//! A record taken from a document, and whether a person should look at it: what is doubtful at the first look is looked at
//! once more in another way.

use std::sync::Arc;

use docmill_core::artifact::Transcript;
use docmill_core::extraction::Extraction;
use docmill_core::ports::extractor::Material;
use docmill_core::record::NewRecord;
use docmill_core::{ErrorKind, Result};

use super::material::{Source, is_the_contents_own, material, seen_again};
use crate::blocking::blocking;
use crate::schemas::Known;

/// Decisions that are learnt from.
const LEARNT_FROM: usize = 100;

/// Takes a record.
pub(crate) async fn found(
    source: &Source<'_>,
    schema: &Arc<Known>,
    transcript: &Transcript,
) -> Result<NewRecord> {
    let deps = source.deps();
    let (mut first, undrawn) = material(source, transcript).await?;
    first.corrections = deps.store.corrections(source.tenant(), &schema.name, LEARNT_FROM).await?;
    let first = Arc::new(first);
    let mut best = looked(source, schema, Arc::clone(&first)).await?;
    if !best.1.is_empty()
        && undrawn.is_empty()
        && let Some(again) = another_look(source, transcript, &first).await?
    {
        let second = looked(source, schema, Arc::new(again)).await?;
        // Fewer doubts, or the same number and more certainty.
        if (second.1.len(), -second.0.confidence) < (best.1.len(), -best.0.confidence) {
            best = second;
        }
    }
    let (mut extraction, reasons) = best;
    // Where words have no place, a box would tell of one.
    for evidence in extraction.fields.values_mut().flat_map(|field| &mut field.evidence) {
        if evidence.page.is_some_and(|page| undrawn.contains(&page)) {
            evidence.frame = None;
        }
    }
    Ok(NewRecord { version: schema.version, extraction, reasons })
}

/// What another way of looking shows; what cannot be seen so is no reason to lose what was seen before.
async fn another_look(
    source: &Source<'_>,
    transcript: &Transcript,
    first: &Material,
) -> Result<Option<Material>> {
    match seen_again(source, transcript, first).await {
        Err(error) if is_the_contents_own(&error) || error.kind() == ErrorKind::MissingDependency => Ok(None),
        looked => looked,
    }
}

async fn looked(
    source: &Source<'_>,
    schema: &Arc<Known>,
    material: Arc<Material>,
) -> Result<(Extraction, Vec<String>)> {
    let (extractor, schema) = (Arc::clone(&source.deps().extractor), Arc::clone(schema));
    // Rules over thousands of words hold up whoever waits on this thread; and one that panics costs this record alone.
    let found = blocking(move || {
        let found = extractor.extract(&schema.text, &material)?;
        let found = Extraction { schema: schema.name.clone(), ..found };
        let doubts = extractor.doubts(&schema.text, &found)?;
        Ok((found, doubts))
    })
    .await?;
    source.progress();
    Ok(found)
}
