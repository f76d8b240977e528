//! What is believed of an answer: a value that the document vouches for, held against what rules found.

use docmill_core::extraction::{Evidence, EvidenceSource, Field};
use docmill_core::ports::extractor::Asking;

use crate::ground::{Ground, Seen};
use crate::layout::folded;
use crate::schema::FieldRule;

/// How sure a value is that the document vouches for and rules did not find.
pub(super) const GROUNDED: f32 = 0.8;

/// How sure one is that rules read differently.
const DISPUTED: f32 = 0.6;

/// What is left of the confidence in a value that stands nowhere among words with places, but in the running text of
/// pages that have such words: nobody can be shown where, so somebody has to look.
const UNPLACED: f32 = 0.9;

/// What rules are as sure of as this is not given up for what a model says.
pub(super) const FIRM: f32 = 0.85;

/// Where a value stands, other than in what speaks to the model.
pub(super) fn vouched(ground: &Ground<'_>, rule: &FieldRule, value: &str, asking: &Asking) -> Option<Seen> {
    let mut seen = ground.seek(rule, value)?;
    let spans = seen.evidence.iter().filter_map(|evidence| evidence.span.as_deref());
    if spans.flat_map(Asking::words).any(|word| asking.distrusted.contains(&word)) {
        return None;
    }
    let has_places = !asking.unplaced && !ground.reading.sheet.rows.is_empty();
    if has_places && !is_placed(&seen.evidence) {
        seen.read = seen.read.min(UNPLACED);
    }
    Some(seen)
}

pub(super) fn is_placed(evidence: &[Evidence]) -> bool {
    evidence.iter().any(|at| at.frame.is_some())
}

/// Of what rules found and what a model said, the one that is taken.
pub(super) fn chosen(local: Option<Field>, heard: Field) -> Field {
    let Some(local) = local else { return heard };
    let inside = local.evidence.iter().any(|at| at.source != EvidenceSource::Page);
    if inside || heard.evidence.is_empty() {
        return local;
    }
    let text = |field: &Field| field.value.as_str().map(folded);
    if text(&local) == text(&heard) {
        return agreed(local, &heard);
    }
    if local.confidence >= FIRM {
        return Field { confidence: local.confidence.min(FIRM) * 0.95, ..local };
    }
    Field { confidence: heard.confidence.min(DISPUTED), ..heard }
}

/// What rules found and a model repeats. It takes away doubt about which value is meant, and none about what was read:
/// both looked at the same words, so they are together never surer than the words were read.
pub(super) fn agreed(local: Field, heard: &Field) -> Field {
    // What stands elsewhere than among the words says nothing of them.
    if !is_placed(&heard.evidence) && heard.confidence < GROUNDED {
        return local;
    }
    let read = heard.confidence / GROUNDED;
    let both = 1.0 - (1.0 - local.confidence) * (1.0 - heard.confidence);
    Field { confidence: both.min(read).max(local.confidence), ..local }
}
