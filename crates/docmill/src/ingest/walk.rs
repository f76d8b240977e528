//! Finds the items of an import: every path given, and everything below it that is not a folder.
//!
//! Each item met is given out exactly once, readable or not, because the walker's count is one side of the
//! ledger. A link on the command line is followed. A link found on the way is followed to a file and not to a
//! folder: what lies there would be met twice, or for ever. The order is that of the names, so that two runs
//! over the same tree meet the same things in the same order.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use docmill_core::text::shown;
use docmill_core::{Error, Result};
use walkdir::{DirEntry, WalkDir};

/// One thing that was met.
#[derive(Debug)]
pub(crate) struct Met {
    /// Where, as an absolute path.
    pub(crate) path: PathBuf,
    /// A regular file, or why its content cannot be had.
    pub(crate) outcome: Result<()>,
}

/// Makes the paths absolute and makes sure that all of them exist; the error names every one that does not.
pub(crate) fn roots(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    let mut roots = Vec::with_capacity(given.len());
    for path in given {
        // The link itself counts: one that points to nothing is an item with a reason.
        match std::fs::symlink_metadata(path) {
            Ok(_) => roots.push(std::path::absolute(path).map_err(|e| unreadable(path, "path", e))?),
            Err(e) if e.kind() == io::ErrorKind::NotFound => missing.push(format!("`{}`", show(path))),
            Err(e) => return Err(unreadable(path, "path", e)),
        }
    }
    match missing.as_slice() {
        [] => Ok(roots),
        [one] => Err(Error::unreadable(format!("{one} does not exist")).with_hint("nothing was taken in")),
        many => Err(Error::unreadable(format!("{} paths do not exist: {}", many.len(), many.join(", ")))
            .with_hint("nothing was taken in")),
    }
}

/// Everything below `roots`, which are absolute.
pub(crate) fn walk(roots: Vec<PathBuf>) -> impl Iterator<Item = Met> {
    roots.into_iter().flat_map(|root| {
        WalkDir::new(&root)
            .follow_links(false)
            .follow_root_links(true)
            .sort_by_file_name()
            .into_iter()
            .filter_map(move |entry| match entry {
                Ok(entry) => look(&entry),
                Err(error) => Some(failed(&root, error)),
            })
    })
}

fn look(entry: &DirEntry) -> Option<Met> {
    let path = entry.path();
    let kind = entry.file_type();
    let outcome = if kind.is_dir() {
        return None;
    } else if kind.is_symlink() {
        // A link given as a root is gone through, but is itself still called a link here: it is the folder, not
        // an item of its own.
        if entry.depth() == 0 && path.is_dir() {
            return None;
        }
        follow(path)
    } else if kind.is_file() {
        Ok(())
    } else {
        Err(special(path, kind))
    };
    Some(Met { path: path.to_owned(), outcome })
}

/// Where a link leads: to a file, or not to something that is taken in.
fn follow(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(target) if target.is_file() => Ok(()),
        Ok(target) if target.is_dir() => {
            Err(skipped(format!("`{}` is a link to a folder and is not followed", show(path)))
                .with_hint("name the folder itself to take it in"))
        }
        Ok(target) => Err(special(path, target.file_type())),
        Err(e) if e.raw_os_error() == Some(libc::ELOOP) => {
            Err(Error::unreadable(format!("`{}` is a link that leads back to itself", show(path))))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Err(Error::unreadable(format!("`{}` is a link to something that does not exist", show(path))))
        }
        Err(e) => Err(unreadable(path, "link", e)),
    }
}

fn special(path: &Path, kind: FileType) -> Error {
    let what = if kind.is_socket() {
        "a socket"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "neither a file nor a folder"
    };
    skipped(format!("`{}` is {what}", show(path)))
}

/// Something that has no content to take in: left out, not failed.
fn skipped(message: String) -> Error {
    Error::unsupported_format(message)
}

/// What the walk itself could not enter.
fn failed(root: &Path, error: walkdir::Error) -> Met {
    let path = error.path().unwrap_or(root).to_owned();
    let outcome = match error.loop_ancestor() {
        Some(ancestor) => {
            Error::unreadable(format!("folder `{}` leads back to `{}`", show(&path), show(ancestor)))
        }
        None => match error.into_io_error() {
            Some(e) if e.raw_os_error() == Some(libc::ELOOP) => {
                Error::unreadable(format!("`{}` is a link that leads back to itself", show(&path)))
            }
            Some(e) if e.kind() == io::ErrorKind::NotFound => Error::unreadable(format!(
                "`{}` is gone, or a link to something that does not exist",
                show(&path)
            )),
            Some(e) => unreadable(&path, "folder", e),
            None => Error::unreadable(format!("cannot walk `{}`", show(&path))),
        },
    };
    Met { path, outcome: Err(outcome) }
}

fn unreadable(path: &Path, what: &str, cause: io::Error) -> Error {
    let error = Error::unreadable(format!("cannot read {what} `{}`", show(path)));
    let denied = cause.kind() == io::ErrorKind::PermissionDenied;
    let error = error.with_source(cause);
    if denied { error.with_hint("give the user who runs docmill the right to read it") } else { error }
}

/// A path as it may be shown.
pub(crate) fn show(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use docmill_core::ErrorKind;

    use super::*;

    fn met(dir: &Path) -> Vec<(String, Option<ErrorKind>)> {
        walk(roots(&[dir.to_owned()]).unwrap())
            .map(|met| {
                let name = met.path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
                (name, met.outcome.err().map(|e| e.kind()))
            })
            .collect()
    }

    #[test]
    fn walk_gives_files_in_the_order_of_their_names() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("b")).unwrap();
        for name in ["c", "a", "b/z", "b/y"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let names: Vec<String> = met(dir.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b/y", "b/z", "c"]);
    }

    #[test]
    fn links_are_followed_to_files_only_and_loops_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        symlink("file", dir.path().join("to-file")).unwrap();
        symlink(".", dir.path().join("to-folder")).unwrap();
        symlink("loop", dir.path().join("loop")).unwrap();
        symlink("nothing", dir.path().join("to-nothing")).unwrap();
        let expected = [
            ("file".to_owned(), None),
            ("loop".to_owned(), Some(ErrorKind::Unreadable)),
            ("to-file".to_owned(), None),
            ("to-folder".to_owned(), Some(ErrorKind::UnsupportedFormat)),
            ("to-nothing".to_owned(), Some(ErrorKind::Unreadable)),
        ];
        assert_eq!(met(dir.path()), expected);
    }

    #[test]
    fn sockets_are_met_and_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let _listener = UnixListener::bind(dir.path().join("s")).unwrap();
        assert_eq!(met(dir.path()), [("s".to_owned(), Some(ErrorKind::UnsupportedFormat))]);
    }

    #[test]
    fn names_need_not_be_text() {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join(OsStr::from_bytes(b"a\nb\xff.txt"));
        std::fs::write(&odd, "x").unwrap();
        let all: Vec<Met> = walk(vec![dir.path().to_owned()]).collect();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].path, odd);
        assert!(all[0].outcome.is_ok());
    }

    #[test]
    fn every_missing_path_is_named_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let error = roots(&[dir.path().join("x"), dir.path().to_owned(), dir.path().join("y")]).unwrap_err();
        assert!(error.message().starts_with("2 paths do not exist"));
        assert!(error.message().contains("/x`") && error.message().contains("/y`"));
    }

    #[test]
    fn a_link_given_as_a_root_is_followed_and_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("real")).unwrap();
        std::fs::write(dir.path().join("real/a"), "x").unwrap();
        for (link, target) in [("folder", "real"), ("file", "real/a"), ("loop", "loop"), ("nothing", "gone")]
        {
            symlink(target, dir.path().join(link)).unwrap();
        }
        let only = |name: &str| {
            let mut found: Vec<Met> = walk(roots(&[dir.path().join(name)]).unwrap()).collect();
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            found.remove(0)
        };
        assert!(only("folder").path.ends_with("folder/a") && only("folder").outcome.is_ok());
        assert!(only("file").outcome.is_ok());
        assert_eq!(only("loop").outcome.unwrap_err().kind(), ErrorKind::Unreadable);
        assert_eq!(only("nothing").outcome.unwrap_err().kind(), ErrorKind::Unreadable);
    }
}
