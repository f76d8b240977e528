//! Both sides of a move: where their parts lie, and that nobody else is in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use docmill_backends::store::is_embedded;
use docmill_backends::store::transfer::{self, Side as Role};
use docmill_backends::{blobs, search};
use docmill_core::clock::{Clock, SystemEntropy, SystemIds};
use docmill_core::config::{BlobSettings, Settings};
use docmill_core::ports::transfer::Found;
use docmill_core::{Error, Result};
use docmill_pipeline::maintenance::migrate::Side;

use crate::session::lock::{DirectoryLock, Taken, in_use, make_directory};
use crate::wire::BLOBS;

/// The folder of an embedded index, in the data directory.
const INDEX: &str = "index";

/// Where an installation lies.
pub(crate) struct Place {
    /// As in `store.url`.
    pub(crate) store: String,
    /// As in `blobs.url`.
    pub(crate) blobs: String,
    /// How a server of blobs is reached, on both sides alike.
    pub(crate) reach: BlobSettings,
    /// Where relative paths begin; a target without any has none.
    pub(crate) data: Option<PathBuf>,
}

/// An installation that nobody else is in.
pub(crate) struct Installation {
    pub(crate) side: Side,
    /// Last, so that it is let go after everything else.
    _lock: Option<DirectoryLock>,
}

impl Place {
    /// The configured one.
    pub(crate) fn configured(settings: &Settings) -> Self {
        Self {
            store: settings.store_url.clone(),
            blobs: settings.blobs_url.clone(),
            reach: settings.blobs.clone(),
            data: Some(settings.data.clone()),
        }
    }

    fn is_embedded(&self) -> bool {
        is_embedded(&self.store)
    }

    /// The data directory; needed where something lies in it.
    fn data(&self, for_what: &str) -> Result<&Path> {
        self.data.as_deref().ok_or_else(|| {
            Error::invalid_request(format!("{for_what} lies in a data directory, and none is named"))
                .with_hint("name the new one with `--to-data DIR`")
        })
    }

    /// Where the blobs lie, as a URL with a whole path.
    fn blobs_url(&self) -> Result<String> {
        let Some(rest) = self.blobs.strip_prefix("file:") else { return Ok(self.blobs.clone()) };
        let path = Path::new(rest.strip_prefix("//").unwrap_or(rest));
        let path = if path.as_os_str().is_empty() { Path::new(BLOBS) } else { path };
        if path.is_absolute() {
            return Ok(format!("file:{}", path.display()));
        }
        let data = self.data(&format!("`{}`", self.blobs))?;
        Ok(format!("file:{}", data.join(path).display()))
    }
}

/// Opens the installation that everything comes from.
pub(crate) async fn source(place: &Place, clock: &Arc<dyn Clock>) -> Result<Installation> {
    let lock = if place.is_embedded() {
        let data = place.data(&place.store)?;
        if !data.is_dir() {
            return Err(Error::not_found(format!("there is no data directory {}", data.display()))
                .with_hint("name the one to copy from with `--data DIR`"));
        }
        Some(take(data)?)
    } else {
        None
    };
    open(place, Role::Source, lock, clock).await
}

/// Opens the installation that everything goes to.
pub(crate) async fn target(place: &Place, source: &Place, clock: &Arc<dyn Clock>) -> Result<Installation> {
    let lock = if place.is_embedded() {
        let data = place.data(&format!("`{}`", place.store))?;
        make_directory(data)?;
        if source.data.as_deref().is_some_and(|source| is_same(source, data)) {
            return Err(Error::invalid_request(format!("{} is both sides of this move", data.display()))
                .with_hint("name another directory with `--to-data DIR`"));
        }
        Some(take(data)?)
    } else {
        None
    };
    let installation = open(place, Role::Target, lock, clock).await?;
    if place.is_embedded() && !matches!(installation.side.transfer.found().await?, Found::InUse(_)) {
        forget_index(place.data(&place.store)?).await?;
    }
    Ok(installation)
}

async fn open(
    place: &Place,
    role: Role,
    lock: Option<DirectoryLock>,
    clock: &Arc<dyn Clock>,
) -> Result<Installation> {
    let url = place.blobs_url()?;
    let data = place.data.clone().unwrap_or_default();
    let (store, transfer) =
        transfer::open(&place.store, &data, role, Arc::clone(clock), Arc::new(SystemIds)).await?;
    let blobs_place = without_secrets(&url);
    let (reach, its_clock) = (place.reach.clone(), Arc::clone(clock));
    let opened = tokio::task::spawn_blocking(move || {
        let entropy = Arc::new(SystemEntropy);
        let around = blobs::Surroundings { data_dir: &data, settings: &reach, clock: its_clock, entropy };
        blobs::open(&url, &around)
    });
    let blobs = opened.await.map_err(|e| Error::bug("opening the blobs was cut short").with_source(e))??;
    Ok(Installation { side: Side { store, transfer, blobs, blobs_place }, _lock: lock })
}

fn take(data: &Path) -> Result<DirectoryLock> {
    match DirectoryLock::try_take(data, "migrate")? {
        Taken::Mine(lock) => Ok(lock),
        Taken::Held(holder) => Err(in_use(data, &holder, "migrate")),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// An index is made from what a store holds; one that lies about from before knows another.
async fn forget_index(data: &Path) -> Result<()> {
    let folder = data.join(INDEX);
    let there = folder
        .try_exists()
        .map_err(|e| Error::unavailable(format!("cannot look for `{}`", folder.display())).with_source(e))?;
    if !there {
        return Ok(());
    }
    let data = data.to_owned();
    let index = tokio::task::spawn_blocking(move || search::open(&format!("tantivy:{INDEX}"), &data))
        .await
        .map_err(|e| Error::bug("opening the index was cut short").with_source(e))??;
    index.clear().await
}

/// A URL as it may be shown: without a user, a password or parameters.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(without_secrets("s3://key:secret@host/bucket/x?token=1"), "s3://host/bucket/x");
        assert_eq!(without_secrets("s3://bucket/prefix"), "s3://bucket/prefix");
        assert_eq!(without_secrets("file:/var/blobs"), "file:/var/blobs");
    }

    #[test]
    fn relative_blobs_need_a_data_directory() {
        let place = |blobs: &str, data: Option<&str>| Place {
            store: "sqlite:".into(),
            blobs: blobs.into(),
            reach: BlobSettings::default(),
            data: data.map(PathBuf::from),
        };
        assert_eq!(place("file:", Some("/d")).blobs_url().unwrap(), "file:/d/blobs");
        assert_eq!(place("file:x", Some("/d")).blobs_url().unwrap(), "file:/d/x");
        assert_eq!(place("file:///x", None).blobs_url().unwrap(), "file:/x");
        assert_eq!(place("s3://b", None).blobs_url().unwrap(), "s3://b");
        assert!(place("file:", None).blobs_url().unwrap_err().hint().unwrap().contains("--to-data"));
    }
}
