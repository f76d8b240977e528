//! A copy of everything, made while everything runs: first the state, then every blob that it can name. Blobs never
//! change, and none is deleted meanwhile, so whatever the copied state names is still there to be copied.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use docmill_core::ports::blobs::Content;
use docmill_core::{Error, ErrorKind, Result};

use super::prune::FOLDERS;
use crate::blocking::{FromStart, blocking};
use crate::service::Inner;

/// A blob up to here is copied from memory.
const INLINE: u64 = 1 << 20;

/// Copies everything into `to`, which must be empty or not there. Answers how many blobs were copied.
pub(crate) async fn backup(inner: &Inner, to: &Path) -> Result<u64> {
    let deps = &inner.deps;
    let target = to.to_owned();
    blocking(move || prepare(&target)).await?;
    let _everything_stays = inner.deletions.hold_back().await;
    deps.store.backup(to).await?;
    let mut copied = 0;
    for folder in FOLDERS.into_iter().filter(|folder| *folder != "uploads") {
        let mut listing = deps.blobs.list(folder).await?;
        while let Some(piece) = listing.recv().await {
            for info in piece? {
                let content = match deps.blobs.open(&info.key, INLINE).await {
                    Ok(content) => content,
                    // An orphan that was taken back since it was listed.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                };
                let path = to.join("blobs").join(info.key.as_str());
                blocking(move || copy(&content, &path)).await?;
                copied += 1;
            }
        }
    }
    let target = to.to_owned();
    blocking(move || sync_folder(&target)).await?;
    Ok(copied)
}

fn prepare(to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(|e| failed("create", to, e))?;
    let mut entries = fs::read_dir(to).map_err(|e| failed("list", to, e))?;
    if entries.next().is_some() {
        return Err(Error::invalid_request(format!("`{}` is not empty", to.display()))
            .with_hint("name a directory that does not exist yet"));
    }
    Ok(())
}

fn copy(content: &Content, path: &Path) -> Result<()> {
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    fs::create_dir_all(&folder).map_err(|e| failed("create", &folder, e))?;
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(|e| failed("create", path, e))?;
    match content {
        Content::Inline(bytes) => file.write_all(bytes),
        Content::File(from, _) => io::copy(&mut FromStart::of(from), &mut file).map(drop),
    }
    .and_then(|()| file.sync_all())
    .map_err(|e| failed("write", path, e))
}

fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|e| failed("sync", path, e))
}

fn failed(what: &str, path: &Path, error: io::Error) -> Error {
    let message = format!("cannot {what} `{}`", path.display());
    match error.kind() {
        io::ErrorKind::StorageFull => Error::disk_full(message),
        _ => Error::unavailable(message),
    }
    .with_source(error)
}
