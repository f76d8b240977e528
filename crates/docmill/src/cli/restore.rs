//! `docmill restore`: a backup into an empty data directory, checked before it is called done.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docmill_backends::store::{DATABASE, is_embedded, sqlite_file};
use docmill_core::answer::{AuditAnswer, StatusAnswer};
use docmill_core::call::Call;
use docmill_core::{Error, Result};
use docmill_pipeline::EngineOptions;
use serde_json::json;

use crate::context::{Context, Exit};
use crate::ingest::walk::show;
use crate::session::lock::{DirectoryLock, LOCK_FILE, Taken, in_use, make_directory};
use crate::session::{Owner, Session};
use crate::terminal::counted;
use crate::wire::{BLOBS, blobs_url};

/// How often the index is looked at while it is built.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Files that may be in a data directory that counts as empty.
const HARMLESS: &[&str] = &[LOCK_FILE, "docmill.toml"];

/// Bring a backup back into an empty data directory
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What `docmill backup` made
    #[arg(value_name = "DIR")]
    from: PathBuf,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let data = cx.settings.data.clone();
        let is_plain = is_embedded(&cx.settings.store_url)
            && sqlite_file(&cx.settings.store_url, &data) == data.join(DATABASE)
            && blobs_url(&cx.settings) == format!("file:{BLOBS}");
        if !is_plain {
            return Err(Error::invalid_config("restore fills an embedded data directory only")
                .with_hint("leave `store.url` and `blobs.url` out of the configuration"));
        }
        make_directory(&data)?;
        let lock = match DirectoryLock::try_take(&data, "restore")? {
            Taken::Mine(lock) => lock,
            Taken::Held(holder) => return Err(in_use(&data, &holder, "restore")),
        };
        let from = self.from.clone();
        let copied = tokio::task::spawn_blocking(move || copy_all(&from, &data));
        let blobs = copied.await.map_err(|e| Error::bug("copying was cut short").with_source(e))??;
        let owner = Owner::embedded(lock, &cx.settings, &cx.clock).await?;
        let session = Session::Owner(Box::new(owner));
        let checked = check(&session).await;
        let closed = session.close(Duration::ZERO).await;
        let audit = checked?;
        closed?;
        if cx.terminal.json {
            cx.terminal.object(
                &json!({ "count": blobs, "balanced": audit.balanced, "missing": audit.blobs.missing }),
            )?;
        } else {
            let copied = counted(blobs, "blob", "blobs");
            cx.terminal.line(&format!("{copied} restored\n{}", super::audit::sum(&audit)))?;
        }
        if audit.blobs.missing > 0 {
            cx.terminal.note(&format!(
                "error: {} that the database names are not in the backup",
                counted(audit.blobs.missing, "blob", "blobs")
            ));
        }
        Ok(if audit.balanced { Exit::Ok } else { Exit::SomeFailed })
    }
}

/// The ledger and the blobs as they were, and the index built again from them.
async fn check(session: &Session) -> Result<AuditAnswer> {
    let audit = session.ask(Call::Audit { batch: None }).await?;
    // The index follows the store wherever an engine runs. This one takes no work: what was open when the
    // backup was made stays open until somebody says `work`.
    let follow_only = EngineOptions {
        slots: 1,
        kinds: vec!["no-op".into()],
        tenant: None,
        exit_when_idle: false,
        follow: true,
        maintain: false,
    };
    session.need_engine(follow_only).await?;
    loop {
        let status: StatusAnswer = session.ask(Call::Status).await?;
        if status.index.watermark >= status.index.last {
            return Ok(audit);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Blobs first, the database last: a restore that was cut short has no database and is not taken for whole.
fn copy_all(from: &Path, data: &Path) -> Result<u64> {
    let database = from.join(DATABASE);
    if !database.try_exists().map_err(|e| failed("read", &database, e))? {
        return Err(Error::not_found(format!(
            "`{}` is not a backup: there is no {DATABASE} in it",
            show(from)
        ))
        .with_hint("name the directory that `docmill backup` made"));
    }
    for entry in fs::read_dir(data).map_err(|e| failed("list", data, e))? {
        let name = entry.map_err(|e| failed("list", data, e))?.file_name();
        if !HARMLESS.iter().any(|harmless| name == *harmless) {
            return Err(Error::conflict(format!("data directory {} is not empty", data.display()))
                .with_hint("name a new one with `--data DIR`"));
        }
    }
    let blobs = copy_tree(&from.join(BLOBS), &data.join(BLOBS))?;
    copy_file(&database, &data.join(DATABASE))?;
    sync(data)?;
    Ok(blobs)
}

fn copy_tree(from: &Path, to: &Path) -> Result<u64> {
    if !from.try_exists().map_err(|e| failed("read", from, e))? {
        return Ok(0);
    }
    fs::create_dir_all(to).map_err(|e| failed("make", to, e))?;
    let mut copied = 0;
    for entry in fs::read_dir(from).map_err(|e| failed("list", from, e))? {
        let entry = entry.map_err(|e| failed("list", from, e))?;
        let kind = entry.file_type().map_err(|e| failed("look at", &entry.path(), e))?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copied += copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            copy_file(&entry.path(), &target)?;
            copied += 1;
        }
    }
    sync(to)?;
    Ok(copied)
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map_err(|e| failed("copy", from, e))?;
    sync(to)
}

fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|e| failed("write", path, e))
}

fn failed(what: &str, path: &Path, cause: io::Error) -> Error {
    let message = format!("cannot {what} `{}`", show(path));
    match cause.kind() {
        io::ErrorKind::StorageFull => Error::disk_full(message),
        _ => Error::unavailable(message),
    }
    .with_source(cause)
}
