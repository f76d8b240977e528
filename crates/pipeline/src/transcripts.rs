//! Transcripts as blobs: one JSON artifact for each ingestion, and one for each part of a long document.

use std::collections::BTreeMap;
use std::io::BufReader;

use bytes::Bytes;
use docmill_core::artifact::{Artifact, Transcript};
use docmill_core::id::{BlobKey, ContentHash, IngestionId};
use docmill_core::limits::MIB;
use docmill_core::ports::blobs::{Blobs, Content, Upload};
use docmill_core::{Error, Result, crash};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::blocking::{FromStart, off_thread};

/// A transcript up to here comes in memory; a larger one is read from its file.
const INLINE: u64 = MIB;

/// So much of a file is read at once.
const PIECE: usize = 64 << 10;

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
    read(blobs, key, max_text_bytes).await
}

/// Reads back only what the file says of itself; its text is passed over, however long.
pub(crate) async fn load_metadata(
    blobs: &dyn Blobs,
    key: &BlobKey,
    max_text_bytes: u64,
) -> Result<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        metadata: BTreeMap<String, String>,
    }
    read::<Head>(blobs, key, max_text_bytes).await.map(|head| head.metadata)
}

async fn read<T: DeserializeOwned + Send + 'static>(
    blobs: &dyn Blobs,
    key: &BlobKey,
    max_text_bytes: u64,
) -> Result<T> {
    let content = blobs.open(key, INLINE).await?;
    let limit = max_text_bytes.saturating_mul(JSON_FACTOR).saturating_add(64 * MIB);
    let what = format!("the transcript `{key}`");
    off_thread(content.len(), move || {
        if content.len() > limit {
            return Err(Error::limit_exceeded(format!("{what} has more than {limit} bytes")));
        }
        let read = match &content {
            Content::Inline(json) => serde_json::from_slice(json),
            // Piece by piece: the whole of it and what is made of it need not be in memory together.
            Content::File(file, _) => {
                serde_json::from_reader(BufReader::with_capacity(PIECE, FromStart::of(file)))
            }
        };
        read.map_err(|e| {
            if e.is_io() {
                return Error::unreadable(format!("cannot read {what}")).with_source(e);
            }
            // The cause may quote what it could not read.
            Error::corrupt(format!("cannot read {what}"))
                .with_source(e)
                .logged_as(format!("cannot read {what}"))
        })
    })
    .await
}
