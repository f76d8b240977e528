//! Files on their way in. They lie in a folder of their own, which no listing shows, until they are whole
//! and synced; then a rename publishes them. What a crash leaves there is never looked at again and may be
//! removed once it is a day old.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use docmill_core::Result;
use docmill_core::clock::Timestamp;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::failure::io_failure;

/// The folder below the root. No key can begin with a dot, so none can point here.
pub(super) const FOLDER: &str = ".staging";

/// No upload takes this long: slow ones go to `uploads/` first.
const LEFTOVER_AGE: Duration = Duration::from_hours(24);

/// Hands out names for files on their way in.
#[derive(Debug)]
pub(super) struct Staging {
    root: PathBuf,
    /// Keeps the files of two processes apart.
    process: u32,
    next: AtomicU64,
}

impl Staging {
    pub(super) fn open(root: &Path) -> Result<Arc<Self>> {
        let folder = root.join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(|e| io_failure("create", &folder, e))?;
        Ok(Arc::new(Self { root: root.to_owned(), process: std::process::id(), next: AtomicU64::new(0) }))
    }

    /// Opens a new file. `O_EXCL` steps over what an earlier process of the same number left behind.
    pub(super) fn create(self: &Arc<Self>) -> Result<(File, Staged)> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        loop {
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            let name = format!("{FOLDER}/{}-{n}", self.process);
            let path = self.root.join(&name);
            match openat(CWD, &path, flags, Mode::from_raw_mode(0o666)) {
                Ok(fd) => return Ok((File::from(fd), Staged { path, name, keep: false })),
                Err(Errno::EXIST) => {}
                Err(e) => return Err(io_failure("write", &path, e.into())),
            }
        }
    }

    /// Removes files that nothing has written to for a day, and tells how many.
    pub(super) fn remove_leftovers(&self, now: Timestamp) -> Result<u64> {
        let folder = self.root.join(FOLDER);
        let before = now.minus(LEFTOVER_AGE);
        let mut removed = 0;
        let entries = std::fs::read_dir(&folder).map_err(|e| io_failure("list", &folder, e))?;
        for entry in entries {
            let entry = entry.map_err(|e| io_failure("list", &folder, e))?;
            let path = entry.path();
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                // Published or given up since the listing.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(io_failure("read", &path, e)),
            };
            if !meta.is_file() || modified_at(&meta) >= before {
                continue;
            }
            std::fs::remove_file(&path).map_err(|e| io_failure("delete", &path, e))?;
            removed += 1;
        }
        Ok(removed)
    }
}

/// When a file was last written to; a time before 1970 counts as 1970.
pub(super) fn modified_at(meta: &std::fs::Metadata) -> Timestamp {
    let since = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A file on its way in; it vanishes with this value unless it was published.
#[derive(Debug)]
pub(super) struct Staged {
    path: PathBuf,
    name: String,
    keep: bool,
}

impl Staged {
    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its path relative to the root.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The file has its final name now.
    pub(super) fn published(mut self) {
        self.keep = true;
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(error) = unlinkat(CWD, &self.path, AtFlags::empty()) {
            tracing::warn!(path = %self.path.display(), %error, "staging file stays until the next clean-up");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn remove_leftovers_takes_only_files_older_than_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let staging = Staging::open(dir.path()).unwrap();
        let now = Timestamp(1_800_000_000_000);
        let moment = |t: Timestamp| SystemTime::UNIX_EPOCH + Duration::from_millis(t.0 as u64);
        for (age, expected) in [(Duration::from_hours(25), 1), (Duration::from_hours(23), 0)] {
            let (file, staged) = staging.create().unwrap();
            file.set_len(10).unwrap();
            file.set_modified(moment(now.minus(age))).unwrap();
            staged.published();
            let removed = staging.remove_leftovers(now).unwrap();
            assert_eq!(removed, expected);
        }
    }

    #[test]
    fn create_steps_over_names_of_an_earlier_process() {
        let dir = tempfile::tempdir().unwrap();
        let (_, first) = Staging::open(dir.path()).unwrap().create().unwrap();
        let (_, second) = Staging::open(dir.path()).unwrap().create().unwrap();
        assert_ne!(first.name(), second.name());
    }

    #[test]
    fn dropping_an_unpublished_file_removes_it() {
        let dir = tempfile::tempdir().unwrap();
        let (_, staged) = Staging::open(dir.path()).unwrap().create().unwrap();
        let path = staged.path().to_owned();
        assert!(path.is_file());
        drop(staged);
        assert!(!path.is_file());
    }
}
