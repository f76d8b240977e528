//! Transcripts as blobs: one JSON artifact for each ingestion, and one for each part of a long document.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use docmill_core::artifact::{Artifact, Transcript};
use docmill_core::id::{BlobKey, ContentHash, IngestionId};
use docmill_core::limits::{KIB, MIB};
use docmill_core::ports::blobs::{Blobs, Content, Upload};
use docmill_core::{Error, Result, crash};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::blocking::{FromStart, off_thread};

/// A transcript up to here comes in memory; a larger one is read from its file.
const INLINE: u64 = MIB;

/// So much of a file is read at once.
const PIECE: usize = 64 << 10;

/// JSON can be several times as long as the text it holds (`\u0001`), and pages and problems come on top.
const JSON_FACTOR: u64 = 8;

/// So many KiB of transcripts are in memory at once for all who share a room. One that is longer has it for itself.
const ROOM_KIB: u32 = 512 << 10;

/// Where transcripts are read by many who do not know of each other: whoever finds no room waits, so that a flood of
/// questions about long texts costs time and not memory.
pub(crate) struct ReadingRoom(Arc<Semaphore>);

impl Default for ReadingRoom {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ROOM_KIB as usize)))
    }
}

impl ReadingRoom {
    /// Reads a transcript back once there is room for it. Nobody may wait for a second one while holding a first.
    pub(crate) async fn load(&self, blobs: &dyn Blobs, key: &BlobKey, max_text_bytes: u64) -> Result<Lent> {
        let opened = open(blobs, key, max_text_bytes).await?;
        let place = Arc::clone(&self.0)
            .acquire_many_owned(room_for(opened.content.len()))
            .await
            .map_err(|e| Error::bug("the room for transcripts is closed").with_source(e))?;
        Ok(Lent { transcript: opened.read().await?, _place: place })
    }
}

/// What a transcript of so many bytes takes; never more than there is, or it would wait for ever.
fn room_for(bytes: u64) -> u32 {
    bytes.div_ceil(KIB).clamp(1, ROOM_KIB.into()) as u32
}

/// A transcript, and the room it takes until it is dropped.
pub(crate) struct Lent {
    transcript: Transcript,
    _place: OwnedSemaphorePermit,
}

impl Lent {
    /// The transcript for an answer that is about to be sent; the room is given back.
    pub(crate) fn take(self) -> Transcript {
        self.transcript
    }
}

impl Deref for Lent {
    type Target = Transcript;

    fn deref(&self) -> &Transcript {
        &self.transcript
    }
}

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
    open(blobs, key, max_text_bytes).await?.read().await
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
    open(blobs, key, max_text_bytes).await?.read::<Head>().await.map(|head| head.metadata)
}

/// A transcript that has been found and not been read: a short one in memory, a long one as a file.
pub(crate) struct Opened {
    content: Content,
    what: String,
}

/// Finds a transcript. It may not be longer than text of so many bytes could be.
pub(crate) async fn open(blobs: &dyn Blobs, key: &BlobKey, max_text_bytes: u64) -> Result<Opened> {
    let content = blobs.open(key, INLINE).await?;
    let what = format!("the transcript `{key}`");
    let limit = max_text_bytes.saturating_mul(JSON_FACTOR).saturating_add(64 * MIB);
    if content.len() > limit {
        return Err(Error::limit_exceeded(format!("{what} has more than {limit} bytes")));
    }
    Ok(Opened { content, what })
}

impl Opened {
    /// Reads it, or the part of it that is wanted.
    pub(crate) async fn read<T: DeserializeOwned + Send + 'static>(self) -> Result<T> {
        let Self { content, what } = self;
        off_thread(content.len(), move || {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transcript_takes_room_and_none_more_than_there_is() {
        for (bytes, kib) in
            [(0, 1), (1, 1), (1024, 1), (1025, 2), (512 * MIB, ROOM_KIB), (u64::MAX, ROOM_KIB)]
        {
            assert_eq!(room_for(bytes), kib, "{bytes}");
        }
    }
}
