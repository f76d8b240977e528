//! Who is alive on this machine: every worker holds an exclusive lock on a file of its own for as long as its
//! process lives. The kernel lets go of it whatever way the process ends, so a free lock is a dead worker.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use docmill_core::id::WorkerId;
use docmill_core::{Error, Result};

const SUFFIX: &str = ".lock";

/// This worker's own lock. Dropping it lets go.
pub(crate) struct OwnLock {
    _held: File,
    path: PathBuf,
}

impl OwnLock {
    /// Takes the lock of `worker`. The file gets its final name only when it is locked, so that nobody can see
    /// it free while the worker lives.
    pub(crate) fn take(data: &Path, worker: WorkerId) -> Result<Self> {
        let folder = folder(data);
        std::fs::create_dir_all(&folder).map_err(|e| failed("create", &folder, e))?;
        let (draft, path) = (folder.join(format!("{worker}.new")), folder.join(format!("{worker}{SUFFIX}")));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&draft)
            .map_err(|e| failed("create", &draft, e))?;
        file.lock().map_err(|e| failed("lock", &draft, e))?;
        std::fs::rename(&draft, &path).map_err(|e| failed("rename", &draft, e))?;
        Ok(Self { _held: file, path })
    }

    /// Lets go and removes the file.
    pub(crate) fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|e| failed("remove", &self.path, e))
    }
}

/// A worker of this machine that is dead. While this is held, nobody else finds it.
pub(crate) struct DeadWorker {
    pub(crate) worker_id: WorkerId,
    _held: File,
    path: PathBuf,
}

impl DeadWorker {
    /// Its tasks are back in the queue: forget it.
    pub(crate) fn forget(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|e| failed("remove", &self.path, e))
    }
}

/// The workers of this machine, apart from `me`, whose lock is free.
pub(crate) fn find_dead(data: &Path, me: WorkerId) -> Result<Vec<DeadWorker>> {
    let folder = folder(data);
    let entries = std::fs::read_dir(&folder).map_err(|e| failed("list", &folder, e))?;
    let mut dead = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| failed("list", &folder, e))?;
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)) else { continue };
        let Ok(worker_id) = WorkerId::from_str(id) else { continue };
        if worker_id == me {
            continue;
        }
        let path = entry.path();
        let file = match File::open(&path) {
            Ok(file) => file,
            // Another sweeper has just forgotten it.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(failed("open", &path, e)),
        };
        match file.try_lock() {
            Ok(()) => dead.push(DeadWorker { worker_id, _held: file, path }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(failed("lock", &path, e)),
        }
    }
    Ok(dead)
}

fn folder(data: &Path) -> PathBuf {
    data.join("workers")
}

fn failed(what: &str, path: &Path, error: std::io::Error) -> Error {
    Error::unavailable(format!("cannot {what} `{}`", path.display())).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(n: u128) -> WorkerId {
        WorkerId(uuid::Uuid::from_u128(n))
    }

    #[test]
    fn find_dead_finds_a_worker_once_its_lock_is_free() {
        let data = tempfile::tempdir().unwrap();
        let me = OwnLock::take(data.path(), worker(1)).unwrap();
        let other = OwnLock::take(data.path(), worker(2)).unwrap();
        assert!(find_dead(data.path(), worker(1)).unwrap().is_empty(), "both live");
        drop(other);
        let mut dead = find_dead(data.path(), worker(1)).unwrap();
        assert_eq!(dead.len(), 1);
        let found = dead.remove(0);
        assert_eq!(found.worker_id, worker(2));
        found.forget().unwrap();
        assert!(find_dead(data.path(), worker(1)).unwrap().is_empty(), "forgotten");
        me.remove().unwrap();
    }
}
