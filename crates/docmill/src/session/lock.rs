//! Who owns a data directory: the process that holds a lock on `docmill.lock` in it. The kernel lets go of the
//! lock when the process ends, however it ends, so there is never a stale one.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use docmill_core::{Error, Result};
use rustix::fs::{FlockOperation, Mode};

/// The file that is locked. It stays when the lock is let go.
pub(crate) const LOCK_FILE: &str = "docmill.lock";

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

/// Who holds a lock, as far as it has said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Holder {
    pub(crate) pid: Option<u32>,
    pub(crate) command: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "`docmill {}` (pid {pid})", self.command),
            None => f.write_str("another docmill process"),
        }
    }
}

/// What came of trying.
#[derive(Debug)]
pub(crate) enum Taken {
    Mine(DirectoryLock),
    Held(Holder),
}

/// Makes the directory, with its parents, for this user alone. Answers whether it is new.
pub(crate) fn make_directory(directory: &Path) -> Result<bool> {
    match std::fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return Ok(false),
        Ok(_) => {
            return Err(Error::invalid_config(format!(
                "data directory {} is not a directory",
                directory.display()
            ))
            .with_hint("name another with `--data DIR`"));
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(unusable(directory, e)),
    }
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|e| unusable(directory, e))?;
    Ok(true)
}

impl DirectoryLock {
    /// Tries to become the owner of `directory`, which exists, and writes down who that is. From then on whatever this
    /// process makes, there or in a backup, is for its user alone, whatever rights the directory itself has.
    pub(crate) fn try_take(directory: &Path, command: &str) -> Result<Taken> {
        let path = directory.join(LOCK_FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|e| unusable(directory, e))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(Taken::Held(holder(file))),
            Err(e) => {
                return Err(Error::unavailable(format!("cannot lock {}", path.display()))
                    .with_source(io::Error::from(e))
                    .with_hint("the data directory must lie on a local file system that has locks"));
            }
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}\n{command}", std::process::id()));
        written.map_err(|e| unusable(directory, e))?;
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
        Ok(Taken::Mine(Self { _file: file }))
    }
}

/// What the holder wrote; it may be about to.
fn holder(file: File) -> Holder {
    let mut text = String::new();
    if file.take(4096).read_to_string(&mut text).is_err() {
        text.clear();
    }
    let mut lines = text.lines();
    Holder {
        pid: lines.next().and_then(|line| line.parse().ok()),
        command: lines.next().unwrap_or_default().to_owned(),
    }
}

fn unusable(directory: &Path, cause: io::Error) -> Error {
    let full = cause.kind() == io::ErrorKind::StorageFull;
    let message = format!("cannot write to data directory {}", directory.display());
    let error = if full { Error::disk_full(message) } else { Error::unavailable(message) };
    let hint = match cause.kind() {
        io::ErrorKind::StorageFull => "make room, or name another with `--data DIR`",
        io::ErrorKind::ReadOnlyFilesystem => {
            "its file system is mounted read-only; mount it writable, or name another with `--data DIR`"
        }
        _ => "make it writable for the user who runs docmill, or name another with `--data DIR`",
    };
    error.with_source(cause).with_hint(hint)
}

/// The refusal of a command that must be the owner itself.
pub(crate) fn in_use(directory: &Path, holder: &Holder, command: &str) -> Error {
    let error = Error::conflict(format!("data directory {} is in use by {holder}", directory.display()));
    match holder.pid {
        Some(pid) if command == "work" && matches!(holder.command.as_str(), "serve" | "work") => {
            error.with_hint(format!(
                "it does what is queued already; stop it with `kill {pid}` to run another, or name another directory \
                 with `--data DIR`"
            ))
        }
        Some(pid) => error.with_hint(format!(
            "stop it with `kill {pid}` and run `docmill {command}` again, or name another directory with `--data DIR`"
        )),
        None => error.with_hint("stop it, or name another directory with `--data DIR`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_lock_on_the_same_directory_names_the_holder() {
        let dir = tempfile::tempdir().unwrap();
        let Taken::Mine(first) = DirectoryLock::try_take(dir.path(), "serve").unwrap() else {
            panic!("held")
        };
        let Taken::Held(holder) = DirectoryLock::try_take(dir.path(), "work").unwrap() else {
            panic!("taken")
        };
        assert_eq!(holder, Holder { pid: Some(std::process::id()), command: "serve".into() });
        drop(first);
        assert!(matches!(DirectoryLock::try_take(dir.path(), "work").unwrap(), Taken::Mine(_)));
    }

    #[test]
    fn a_file_in_place_of_the_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        std::fs::write(&file, "").unwrap();
        assert!(make_directory(&file).unwrap_err().message().contains("not a directory"));
    }
}
