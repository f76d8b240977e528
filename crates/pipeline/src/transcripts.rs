//! Transcripts as blobs: one JSON artifact for each ingestion, and one for each part of a long document.

use bytes::Bytes;
use docmill_core::artifact::{Artifact, Transcript};
use docmill_core::id::{BlobKey, ContentHash, IngestionId};
use docmill_core::limits::MIB;
use docmill_core::ports::blobs::{Blobs, Upload};
use docmill_core::{Error, Result, crash};

use crate::blocking::{off_thread, read_content};

/// A transcript up to here comes in memory; a larger one is read from its file.
const INLINE: u64 = MIB;

/// JSON can be several times as long as the text it holds (`\u0001`), and pages and problems come on top.
const JSON_FACTOR: u64 = 8;

/// Stores a transcript under a name of its ingestion, durably, and says what to commit.
pub(crate) async fn save(
    blobs: &dyn Blobs,
    ingestion: IngestionId,
    name: &str,
    transcript: Transcript,
) -> Result<(Artifact, Transcript)> {
    let (json, transcript) =
        off_thread(transcript.pages.iter().map(|p| p.text.len() as u64).sum(), move || {
            let json = serde_json::to_vec(&transcript)
                .map_err(|e| Error::bug("cannot write a transcript as JSON").with_source(e))?;
            Ok((json, transcript))
        })
        .await?;
    let hash = ContentHash::of(&json);
    let key = BlobKey::artifact(ingestion, name, &hash, "json");
    let bytes = json.len() as u64;
    crash::point("transcribe.before_artifact");
    blobs.put_if_absent(&key, Upload::Bytes(Bytes::from(json))).await?;
    crash::point("transcribe.after_artifact");
    let artifact =
        Artifact { name: name.to_owned(), key, hash, bytes, media_type: "application/json".to_owned() };
    Ok((artifact, transcript))
}

/// Reads a transcript back.
pub(crate) async fn load(blobs: &dyn Blobs, key: &BlobKey, max_text_bytes: u64) -> Result<Transcript> {
    let content = blobs.open(key, INLINE).await?;
    let limit = max_text_bytes.saturating_mul(JSON_FACTOR).saturating_add(64 * MIB);
    let what = format!("the transcript `{key}`");
    off_thread(content.len(), move || {
        let json = read_content(&content, limit, &what)?;
        serde_json::from_slice(&json).map_err(|e| {
            // The cause may quote what it could not read.
            Error::corrupt(format!("cannot read {what}"))
                .with_source(e)
                .logged_as(format!("cannot read {what}"))
        })
    })
    .await
}
