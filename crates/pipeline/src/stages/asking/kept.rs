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
use docmill_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::Purpose;
use crate::blocking::{off_thread, read_content};

/// No answer is longer.
const MAX_BYTES: u64 = 8 * MIB;

/// A question that was asked so often on purpose is not asked again: somebody should look.
const MOST_ROUNDS: usize = 100;

/// Names a question about a document.
pub(in crate::stages) struct Place {
    pub(in crate::stages) purpose: Purpose,
    pub(in crate::stages) document_id: DocumentId,
    pub(in crate::stages) fingerprint: ContentHash,
}

/// An answer as it lies there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(in crate::stages) struct Kept {
    v: u32,
    provider: String,
    pub(in crate::stages) answer: Answer,
}

/// What the artifact of one answer is called; where a step has several, their numbers follow.
pub(in crate::stages) const NAME: &str = "model-answer";

/// An answer and where it lies.
pub(in crate::stages) struct Found {
    pub(in crate::stages) kept: Kept,
    pub(in crate::stages) artifact: Artifact,
}

impl Found {
    /// What it cost. Told by everyone who uses it and written down once: whoever paid may have died before.
    pub(in crate::stages) fn usage(&self) -> Usage {
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
    pub(in crate::stages) fn key(&self, round: usize) -> BlobKey {
        BlobKey::model_answer(
            self.document_id,
            &format!("{}-{}-{round}", self.purpose.name, self.fingerprint.short()),
        )
    }

    /// Every answer, in the order of their rounds.
    pub(in crate::stages) async fn all(&self, blobs: &dyn Blobs) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        while found.len() < MOST_ROUNDS && blobs.info(&self.key(found.len())).await?.is_some() {
            found.push(self.load(blobs, found.len()).await?);
        }
        Ok(found)
    }

    /// Keeps an answer, durably. If somebody was faster, theirs holds.
    pub(in crate::stages) async fn keep(
        &self,
        blobs: &dyn Blobs,
        round: usize,
        provider: &str,
        answer: Answer,
    ) -> Result<Found> {
        let kept = Kept { v: 1, provider: provider.to_owned(), answer };
        let json = serde_json::to_vec(&kept)
            .map_err(|e| Error::bug("cannot write an answer as JSON").with_source(e))?;
        let put = blobs.put_if_absent(&self.key(round), Upload::Bytes(Bytes::from(json.clone()))).await?;
        (self.purpose.kept)();
        match put {
            Put::Created => Ok(self.found(round, kept, &json)),
            Put::Existed => self.load(blobs, round).await,
        }
    }

    async fn load(&self, blobs: &dyn Blobs, round: usize) -> Result<Found> {
        let key = self.key(round);
        let content = blobs.open(&key, MIB).await?;
        let what = format!("the answer `{key}`");
        let json = off_thread(content.len(), move || read_content(&content, MAX_BYTES, &what)).await?;
        let kept = serde_json::from_slice(&json)
            .map_err(|_quotes| Error::corrupt(format!("cannot read the answer `{key}` that was kept")))?;
        Ok(self.found(round, kept, &json))
    }

    fn found(&self, round: usize, kept: Kept, json: &[u8]) -> Found {
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
