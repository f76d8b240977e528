//! Every blob that a row names: copied unless it is there, and read back from the target whatever was done, so that at the
//! end all of them have been seen to be what their rows say.
//!
//! What the source itself lacks or has damaged is counted and told, and does not stop the others: the copy is then as good
//! as the source, and nobody believes that it is better.

use std::io::{self, Read as _};
use std::sync::Arc;

use docmill_core::answer::MigratedBlobs;
use docmill_core::id::{BlobKey, ContentHash};
use docmill_core::limits::{KIB, MIB};
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{Content, Upload};
use docmill_core::ports::transfer::{Mark, NamedBlob, Value};
use docmill_core::{Error, ErrorKind, Result, crash};
use futures::{StreamExt as _, TryStreamExt as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::state::State;
use super::{Progress, Side, Watch};
use crate::blocking::{FromStart, blocking, off_thread, pour};

/// The name of this step.
pub(super) const STEP: &str = "blobs";

/// A blob up to here is held in memory.
const INLINE: u64 = MIB;
/// A larger one goes in pieces of this size…
const PIECE: usize = (256 * KIB) as usize;
/// …of which so many are under way.
const PIECES: usize = 4;
/// As many at once: local files are synced in groups, and servers are far away.
const SIDE_BY_SIDE: usize = 32;
/// After so many it is noted how far the copy is; a kill repeats looking at no more.
const CHUNK: usize = 256;

/// What became of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It is there now.
    Copied,
    /// It was there.
    Present,
    /// The source does not have it.
    Missing,
    /// It is there as the source has it, and that is not what the row says.
    Damaged,
}

/// Copies what `mark` says is still to be copied.
pub(super) async fn copy(
    from: &Side,
    to: &Side,
    mut mark: Mark,
    state: &State,
    watch: Watch<'_>,
) -> Result<MigratedBlobs> {
    let mut moved = counted(&mark);
    if mark.done {
        return Ok(moved);
    }
    let of = state.rows_of("document") + state.rows_of("artifact");
    let after = match mark.after.as_deref() {
        Some([Value::Text(key)]) => Some(BlobKey::stored(key.clone())),
        _ => None,
    };
    let mut pieces = from.transfer.blobs(after.as_ref()).await?;
    while let Some(piece) = pieces.recv().await {
        for chunk in piece?.chunks(CHUNK) {
            let fates: Vec<(&NamedBlob, Fate)> = futures::stream::iter(chunk)
                .map(|blob| async move { Ok::<_, Error>((blob, copy_one(from, to, blob).await?)) })
                .buffer_unordered(SIDE_BY_SIDE)
                .try_collect()
                .await?;
            for (blob, fate) in fates {
                note(&mut moved, blob, fate);
            }
            if let Some(last) = chunk.last() {
                mark.after = Some(vec![Value::Text(last.key.as_str().to_owned())]);
            }
            mark.counts = counts(&moved);
            to.transfer.mark(STEP, &mark).await?;
            crash::point("migrate.blobs.marked");
            let done = moved.copied + moved.present + moved.missing + moved.damaged;
            watch(Progress { doing: "copying blobs".into(), done, of });
        }
    }
    mark.done = true;
    to.transfer.mark(STEP, &mark).await?;
    Ok(moved)
}

fn note(moved: &mut MigratedBlobs, blob: &NamedBlob, fate: Fate) {
    match fate {
        Fate::Copied => {
            moved.copied += 1;
            moved.bytes += blob.bytes;
        }
        Fate::Present => moved.present += 1,
        Fate::Missing => {
            tracing::warn!(key = %blob.key, "the source has no such blob");
            moved.missing += 1;
        }
        Fate::Damaged => {
            tracing::warn!(key = %blob.key, "blob is damaged in the source, and copied as it is");
            moved.damaged += 1;
        }
    }
}

fn counts(moved: &MigratedBlobs) -> std::collections::BTreeMap<String, u64> {
    let MigratedBlobs { copied, present, missing, damaged, bytes } = *moved;
    [("copied", copied), ("present", present), ("missing", missing), ("damaged", damaged), ("bytes", bytes)]
        .map(|(name, n)| (name.to_owned(), n))
        .into()
}

fn counted(mark: &Mark) -> MigratedBlobs {
    let of = |name: &str| mark.counts.get(name).copied().unwrap_or(0);
    MigratedBlobs {
        copied: of("copied"),
        present: of("present"),
        missing: of("missing"),
        damaged: of("damaged"),
        bytes: of("bytes"),
    }
}

async fn copy_one(from: &Side, to: &Side, blob: &NamedBlob) -> Result<Fate> {
    let (source, target) = (from.blobs.as_ref(), to.blobs.as_ref());
    // Mostly nothing is there yet. To open it would be to doubt that, and to wait for it on a server.
    let there = match target.info(&blob.key).await? {
        Some(_) => hash_of(target, &blob.key).await?,
        None => None,
    };
    if there == Some((blob.hash, blob.bytes)) {
        return Ok(Fate::Present);
    }
    let content = match source.open(&blob.key, INLINE).await {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Fate::Missing),
        Err(error) => return Err(error),
    };
    let hash = hash_content(&content, &blob.key).await?;
    if there != Some((hash, content.len())) {
        if there.is_some() {
            // A key is made of an id or a hash of this source: whatever else lies there is a damaged copy.
            target.delete(&blob.key).await?;
        }
        crash::point("migrate.blob.before");
        put(target, &blob.key, content).await?;
        crash::point("migrate.blob.after");
        let found = hash_of(target, &blob.key).await?;
        if found.map(|(hash, _)| hash) != Some(hash) {
            return Err(Error::corrupt(format!(
                "blob `{}` is not in {} what was put there",
                blob.key, to.blobs_place
            ))
            .with_hint("look after the target's storage, then run `docmill migrate` again"));
        }
    }
    Ok(if hash == blob.hash { Fate::Copied } else { Fate::Damaged })
}

/// The hash and the length of what lies under a key.
async fn hash_of(blobs: &dyn Blobs, key: &BlobKey) -> Result<Option<(ContentHash, u64)>> {
    match blobs.open(key, INLINE).await {
        Ok(content) => Ok(Some((hash_content(&content, key).await?, content.len()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

async fn hash_content(content: &Content, key: &BlobKey) -> Result<ContentHash> {
    let (content, shown) = (content.clone(), key.clone());
    match content {
        Content::Inline(bytes) => off_thread(bytes.len() as u64, move || Ok(ContentHash::of(&bytes))).await,
        Content::File(file, _) => {
            blocking(move || {
                let mut hasher = Sha256::new();
                read_pieces(&file, &shown, |piece| hasher.update(piece))?;
                Ok(ContentHash(hasher.finalize().into()))
            })
            .await
        }
    }
}

async fn put(target: &dyn Blobs, key: &BlobKey, content: Content) -> Result<()> {
    let file = match content {
        Content::Inline(bytes) => return target.put_if_absent(key, Upload::Bytes(bytes)).await.map(drop),
        Content::File(file, _) => file,
    };
    let (send, pieces) = mpsc::channel(PIECES);
    let reading = pour(file, PIECE, send, |e| unreadable(key, e));
    let ((), put) = futures::join!(reading, target.put_if_absent(key, Upload::Stream(pieces)));
    put.map(drop)
}

fn unreadable(key: &BlobKey, error: io::Error) -> Error {
    Error::unavailable(format!("cannot read blob `{key}`")).with_source(error)
}

/// Gives a file to `take` piece by piece.
fn read_pieces(file: &Arc<std::fs::File>, key: &BlobKey, mut take: impl FnMut(&[u8])) -> Result<()> {
    let mut from = FromStart::of(file);
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => take(buffer.get(..read).unwrap_or_default()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(unreadable(key, e)),
        }
    }
}
