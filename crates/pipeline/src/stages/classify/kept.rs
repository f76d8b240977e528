//! Answers that were paid for, beside the original of their document. One is written before the task commits anything,
//! under a name made of everything it depends on: whoever asks the same of the same content finds it, also after a crash.
//!
//! What is left is the moment between the last byte of an answer and the write: a process that dies there pays again.

use bytes::Bytes;
use docmill_core::artifact::Artifact;
use docmill_core::id::{BlobKey, ContentHash, DocumentId};
use docmill_core::limits::MIB;
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{Put, Upload};
use docmill_core::ports::llm::Answer;
use docmill_core::usage::Usage;
use docmill_core::{Error, Result, crash};
use serde::{Deserialize, Serialize};

use crate::blocking::{off_thread, read_content};

/// What the artifact is called.
const NAME: &str = "model-answer";

/// No answer is longer.
const MAX_BYTES: u64 = 8 * MIB;

/// A question that was asked so often on purpose is not asked again: somebody should look.
const MOST_ROUNDS: u32 = 100;

/// Names a question about a document.
pub(super) struct Place {
    pub(super) document_id: DocumentId,
    pub(super) fingerprint: ContentHash,
}

/// An answer as it lies there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    v: u32,
    provider: String,
    pub(super) answer: Answer,
}

/// An answer and where it lies.
pub(super) struct Found {
    pub(super) kept: Kept,
    pub(super) artifact: Artifact,
}

impl Found {
    /// What it cost. Told by everyone who uses it and written down once: whoever paid may have died before.
    pub(super) fn usage(&self) -> Usage {
        let Kept { provider, answer, .. } = &self.kept;
        Usage {
            call: self.artifact.key.to_string(),
            provider: provider.clone(),
            model: answer.model.clone(),
            tokens_in: answer.tokens_in,
            tokens_out: answer.tokens_out,
            cost: answer.cost,
        }
    }
}

impl Place {
    /// Where the answer of a round lies; the first is 0.
    pub(super) fn key(&self, round: u32) -> BlobKey {
        BlobKey::model_answer(self.document_id, &format!("classify-{}-{round}", self.fingerprint.short()))
    }

    /// The newest answer, and the round after it.
    pub(super) async fn newest(&self, blobs: &dyn Blobs) -> Result<(Option<Found>, u32)> {
        let mut next = 0;
        while next < MOST_ROUNDS && blobs.info(&self.key(next)).await?.is_some() {
            next += 1;
        }
        match next.checked_sub(1) {
            Some(last) => Ok((Some(self.load(blobs, last).await?), next)),
            None => Ok((None, 0)),
        }
    }

    /// Keeps an answer, durably. If somebody was faster, theirs holds.
    pub(super) async fn keep(
        &self,
        blobs: &dyn Blobs,
        round: u32,
        provider: &str,
        answer: Answer,
    ) -> Result<Found> {
        let kept = Kept { v: 1, provider: provider.to_owned(), answer };
        let json = serde_json::to_vec(&kept)
            .map_err(|e| Error::bug("cannot write an answer as JSON").with_source(e))?;
        let put = blobs.put_if_absent(&self.key(round), Upload::Bytes(Bytes::from(json.clone()))).await?;
        crash::point("classify.answer_kept");
        match put {
            Put::Created => Ok(self.found(round, kept, &json)),
            Put::Existed => self.load(blobs, round).await,
        }
    }

    async fn load(&self, blobs: &dyn Blobs, round: u32) -> Result<Found> {
        let key = self.key(round);
        let content = blobs.open(&key, MIB).await?;
        let what = format!("the answer `{key}`");
        let json = off_thread(content.len(), move || read_content(&content, MAX_BYTES, &what)).await?;
        let kept = serde_json::from_slice(&json)
            .map_err(|_quotes| Error::corrupt(format!("cannot read the answer `{key}` that was kept")))?;
        Ok(self.found(round, kept, &json))
    }

    fn found(&self, round: u32, kept: Kept, json: &[u8]) -> Found {
        let artifact = Artifact {
            name: NAME.to_owned(),
            key: self.key(round),
            hash: ContentHash::of(json),
            bytes: json.len() as u64,
            media_type: "application/json".to_owned(),
        };
        Found { kept, artifact }
    }
}
