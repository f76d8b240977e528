//! Files of the user, which may change while they are read. A small one is read once, into memory; a large one
//! is read while it is copied, and what was copied is only believed if the file looks the same afterwards.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use docmill_core::id::{ContentHash, TenantId};
use docmill_core::limits::{KIB, Limits};
use docmill_core::{Error, Result};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use crate::blocking::{FromStart, blocking, pour};
use crate::deps::Deps;
use crate::stages::stored::{Body, Fresh, IN_MEMORY, Incoming};

/// A file that changes under our hands is read so many times.
const TRIES: usize = 3;

/// A large file is read in pieces of this size.
const PIECE: usize = (256 * KIB) as usize;

/// Pieces under way at once.
const PIECES: usize = 4;

/// The first bytes, which tell a container from a document.
const HEAD: u64 = 512;

/// Reads a file.
pub(super) async fn read(
    deps: &Deps,
    tenant: TenantId,
    name: &str,
    file: File,
    path: PathBuf,
) -> Result<Fresh> {
    let limits = deps.settings.limits.clone();
    let owned_name = name.to_owned();
    let file = Arc::new(file);
    let (opened, shown) = (Arc::clone(&file), path.clone());
    let small = blocking(move || {
        let bytes = look(&opened, &shown)?.bytes;
        if bytes <= IN_MEMORY {
            return read_small(&opened, &limits, owned_name, &shown);
        }
        limits.check_receive(&owned_name, bytes, &read_some(&opened, HEAD, &shown)?)?;
        Ok(None)
    })
    .await?;
    match small {
        Some(fresh) => Ok(fresh),
        None => read_large(deps, tenant, name, &file, &path).await,
    }
}

/// All of a small file; none if it has grown large in the meantime. What one pass over a small file reads is
/// taken as it is: there is no second pass with which it could disagree.
fn read_small(file: &File, limits: &Limits, name: String, path: &Path) -> Result<Option<Fresh>> {
    let body = read_some(file, IN_MEMORY + 1, path)?;
    limits.check_receive(&name, body.len() as u64, &body)?;
    if body.len() as u64 > IN_MEMORY {
        return Ok(None);
    }
    Ok(Some(Fresh {
        name,
        hash: ContentHash::of(&body),
        bytes: body.len() as u64,
        body: Body::Memory(Bytes::from(body)),
    }))
}

/// A large file, first hashed and then, if its content is new, copied while it is hashed again: if both passes
/// agree and the file system knows of no change, the copy is the file as it was at one moment.
async fn read_large(
    deps: &Deps,
    tenant: TenantId,
    name: &str,
    file: &Arc<File>,
    path: &Path,
) -> Result<Fresh> {
    for _ in 0..TRIES {
        let (hash, before) = hash(file, path).await?;
        let known = deps.store.known(tenant, &[hash]).await?.first().copied().flatten();
        let fresh = match known {
            Some(_) => Fresh { name: name.to_owned(), hash, bytes: before.bytes, body: Body::There },
            None => copy(deps, name, file, path).await?,
        };
        if fresh.hash == hash && fresh.bytes == before.bytes && state(file, path).await? == before {
            return Ok(fresh);
        }
        if let Body::Uploaded(key) = &fresh.body {
            deps.blobs.delete(key).await?;
        }
    }
    Err(Error::file_changed(format!("`{}` changed each of the {TRIES} times it was read", path.display()))
        .with_hint("ingest it again when nothing writes to it"))
}

/// What the file system says of a file, as far as a change shows in it.
#[derive(PartialEq, Eq, Clone, Copy)]
struct State {
    bytes: u64,
    modified: (i64, i64),
}

fn look(file: &File, path: &Path) -> Result<State> {
    let metadata = file.metadata().map_err(|e| unreadable(path, e))?;
    if !metadata.is_file() {
        return Err(Error::unreadable(format!("`{}` is not a regular file", path.display())));
    }
    Ok(State { bytes: metadata.len(), modified: (metadata.mtime(), metadata.mtime_nsec()) })
}

async fn state(file: &Arc<File>, path: &Path) -> Result<State> {
    let (file, path) = (Arc::clone(file), path.to_owned());
    blocking(move || look(&file, &path)).await
}

async fn hash(file: &Arc<File>, path: &Path) -> Result<(ContentHash, State)> {
    let (file, path) = (Arc::clone(file), path.to_owned());
    blocking(move || {
        let state = look(&file, &path)?;
        let mut hasher = Sha256::new();
        let mut from = FromStart::of(&file);
        let mut buffer = vec![0; PIECE];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok((ContentHash(hasher.finalize().into()), state)),
                Ok(read) => hasher.update(&buffer[..read]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(unreadable(&path, e)),
            }
        }
    })
    .await
}

async fn copy(deps: &Deps, name: &str, file: &Arc<File>, path: &Path) -> Result<Fresh> {
    let (sender, mut pieces) = mpsc::channel::<Result<Bytes>>(PIECES);
    let reading = pour(Arc::clone(file), PIECE, sender, |e| unreadable(path, e));
    // Whoever writes holds the pieces: where writing fails, reading ends with them.
    let writing = async move {
        let mut incoming = Incoming::new(deps);
        while let Some(piece) = pieces.recv().await {
            incoming.push(name, piece?).await?;
        }
        Ok::<_, Error>(incoming)
    };
    let ((), written) = futures::join!(reading, writing);
    written?.finish(name).await
}

fn read_some(file: &File, limit: u64, path: &Path) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    FromStart::of(file).take(limit).read_to_end(&mut out).map_err(|e| unreadable(path, e))?;
    Ok(out)
}

fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::unreadable(format!("cannot read `{}`", path.display())).with_source(error)
}
