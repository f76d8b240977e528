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

use super::asked::{interview, is_decided, is_settled, place};
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

/// Pixels of a token: what Anthropic counts. Others count less for a page, and some small models many times more.
const PIXELS_PER_TOKEN: u64 = 750;

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
    let source = Source::Asked(deps, tenant, head);
    let looked = first_look(&source, &schema, &transcript).await?;
    if is_settled(deps, &looked) {
        return Ok(cost);
    }
    let Some(interview) = interview(&source, &schema, &transcript, &looked).await? else { return Ok(cost) };
    for question in interview.planned() {
        let kept = place(llm, head.document_id, &question).all(deps.blobs.as_ref()).await?;
        if !kept.iter().any(|found| interview.is_of_use(&found.kept.answer)) {
            cost.add(&question);
        }
    }
    if cost.questions > 0 {
        // Where all is answered, the one more try was made too.
        interview.once_more().iter().for_each(|question| cost.add(question));
    }
    Ok(cost)
}

impl Cost {
    fn add(&mut self, question: &Question) {
        self.questions += 1;
        self.tokens_in += tokens(question);
        // An answer has the names of the form again, and values about as long as what the form says of them.
        self.tokens_out += (question.schema.body.to_string().len() as u64).div_ceil(BYTES_PER_TOKEN);
    }
}

fn tokens(question: &Question) -> u64 {
    let form = question.task.len() + question.schema.body.to_string().len();
    let (text, picture) = match &question.material {
        Material::Text(text) => (text.len(), 0),
        Material::Picture(png) => (0, pixels(png) / PIXELS_PER_TOKEN),
    };
    ((form + text) as u64).div_ceil(BYTES_PER_TOKEN) + picture
}

/// Of a PNG, whose width and height stand in its bytes 16 to 24.
fn pixels(png: &[u8]) -> u64 {
    let number = |at: usize| {
        let bytes = png.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        u64::from(bytes.map_or(0, u32::from_be_bytes))
    };
    number(16) * number(20)
}

/// By the prices of a million tokens; none where there are none.
fn priced(llm: &LlmSettings, tokens_in: u64, tokens_out: u64) -> Option<f64> {
    let cost = (tokens_in as f64 * llm.price_in + tokens_out as f64 * llm.price_out) / 1_000_000.0;
    (llm.price_in > 0.0 || llm.price_out > 0.0).then_some(cost)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use docmill_core::ports::llm::Schema;

    use super::*;

    #[test]
    fn picture_costs_by_its_pixels_and_not_by_its_bytes() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x05\xa8\0\0\x08\0".to_vec();
        png.resize(1_000_000, 0);
        let question = Question {
            task: String::new(),
            material: Material::Picture(Bytes::from(png)),
            schema: Schema { name: "record", body: serde_json::json!({}) },
            max_tokens: 1,
        };
        assert_eq!(tokens(&question), 1448 * 2048 / 750 + 1);
    }
}
