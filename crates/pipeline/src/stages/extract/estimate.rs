//! What asking a model for the records of many documents would come to, told before anything is paid for: some of the
//! documents are looked at as the task would look at them, and the others are taken to be like them.

use std::sync::Arc;

use docmill_core::Result;
use docmill_core::answer::ModelEstimate;
use docmill_core::config::{Ask, LlmSettings};
use docmill_core::id::TenantId;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Material, Question};
use docmill_core::ports::store::Selected;

use super::asked::{interview, is_decided, place};
use super::found::first_look;
use super::material::Source;
use super::record::may_pass;
use crate::deps::Deps;
use crate::schemas;
use crate::transcripts;

/// Documents that are looked at: each takes some tenths of a second.
const MOST_LOOKED_AT: usize = 20;

/// Bytes of a token: about four in English, fewer in most other languages.
const BYTES_PER_TOKEN: u64 = 3;

/// What one document would come to.
#[derive(Clone, Copy, Default)]
struct Cost {
    questions: u64,
    tokens_in: u64,
    tokens_out: u64,
}

/// What these documents would come to; nothing if no model is asked for records.
pub(crate) async fn estimate(
    deps: &Deps,
    tenant: TenantId,
    selected: &[Selected],
) -> Result<Option<ModelEstimate>> {
    let Some(llm) = deps.llm.as_ref().filter(|_| deps.settings.extract.ask != Ask::Never) else {
        return Ok(None);
    };
    let many = selected.len().min(MOST_LOOKED_AT);
    let (mut asked, mut all) = (0, Cost::default());
    for at in 0..many {
        // Spread over all of them: documents that came in together are alike.
        let Some(one) = selected.get(at * selected.len() / many) else { continue };
        let cost = match of_one(deps, tenant, llm.as_ref(), one).await {
            Err(error) if may_pass(error.kind()) => return Err(error),
            // It would have no record either.
            Err(_) => Cost::default(),
            Ok(cost) => cost,
        };
        asked += u64::from(cost.questions > 0);
        all.questions += cost.questions;
        all.tokens_in += cost.tokens_in;
        all.tokens_out += cost.tokens_out;
    }
    let scaled = |n: u64| if many == 0 { 0 } else { (n * selected.len() as u64).div_ceil(many as u64) };
    let (tokens_in, tokens_out) = (scaled(all.tokens_in), scaled(all.tokens_out));
    Ok(Some(ModelEstimate {
        documents: scaled(asked),
        questions: scaled(all.questions),
        tokens_in,
        tokens_out,
        cost: priced(&deps.settings.llm, tokens_in, tokens_out),
        sampled: many as u64,
    }))
}

async fn of_one(deps: &Deps, tenant: TenantId, llm: &dyn Llm, selected: &Selected) -> Result<Cost> {
    let (head, mut cost) = (&selected.head, Cost::default());
    let name = selected.kind.as_deref().and_then(|kind| deps.settings.extract.schema_of(kind));
    let (Some(name), Some(key)) = (name, &head.transcription) else { return Ok(cost) };
    let schema = Arc::new(schemas::find(deps, tenant, name, None).await?);
    let transcript = transcripts::load(deps.blobs.as_ref(), key, deps.settings.limits.max_text_bytes).await?;
    if !deps.extractor.suits(&schema.text, &transcript.text())
        || is_decided(deps, tenant, &schema, head.document_id).await?
    {
        return Ok(cost);
    }
    let looked = first_look(&Source::Asked(deps, tenant, head), &schema, &transcript).await?;
    let Some(interview) = interview(deps, &schema, &looked).await? else { return Ok(cost) };
    for question in interview.planned() {
        let kept = place(llm, head.document_id, &question).all(deps.blobs.as_ref()).await?;
        if !kept.iter().any(|found| interview.is_of_use(&found.kept.answer)) {
            cost.questions += 1;
            cost.tokens_in += tokens(&question);
            // An answer has the names of the form again, and values about as long as what the form says of them.
            cost.tokens_out += (question.schema.body.to_string().len() as u64).div_ceil(BYTES_PER_TOKEN);
        }
    }
    Ok(cost)
}

fn tokens(question: &Question) -> u64 {
    let shown = match &question.material {
        Material::Text(text) => text.len(),
        Material::Picture(png) => png.len(),
    };
    let bytes = question.task.len() + shown + question.schema.body.to_string().len();
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// By the prices of a million tokens; none where there are none.
fn priced(llm: &LlmSettings, tokens_in: u64, tokens_out: u64) -> Option<f64> {
    let cost = (tokens_in as f64 * llm.price_in + tokens_out as f64 * llm.price_out) / 1_000_000.0;
    (llm.price_in > 0.0 || llm.price_out > 0.0).then_some(cost)
}
