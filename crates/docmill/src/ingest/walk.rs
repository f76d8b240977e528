//! Finds the items of an import: every path given, and everything below it that is not a folder.
//!
//! Each item met is given out exactly once, readable or not, because the walker's count is one side of the
//! ledger. A link on the command line is followed. A link found on the way is followed to a file and not to a
//! folder: what lies there would be met twice, or for ever. A path that lies below another one given is walked by
//! itself and passed over there, so that nothing is remembered of what was met. The order is that of the names, so
//! that two runs over the same tree meet the same things in the same order.
//!
//! Never given out is the data directory: it grows while it is walked.

use std::collections::HashSet;
use std::fs::{FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The data directory, by what the file system knows it by.
#[derive(Debug)]
pub(crate) struct Own {
    place: Option<(u64, u64)>,
    met: AtomicBool,
}

impl Own {
    /// The directory at `data`, if there is one yet.
    pub(crate) fn at(data: &Path) -> Self {
        Self { place: std::fs::metadata(data).ok().map(|it| place(&it)), met: AtomicBool::new(false) }
    }

    /// Whether it was met and passed over.
    pub(crate) fn was_met(&self) -> bool {
        self.met.load(Ordering::Relaxed)
    }

    fn is(&self, entry: &DirEntry) -> bool {
        // The number that stands in the entry itself is another one where something is mounted.
        let it = self.place.is_some()
            && entry.file_type().is_dir()
            && entry.metadata().is_ok_and(|it| self.place == Some(place(&it)));
        self.met.fetch_or(it, Ordering::Relaxed);
        it
    }
}

fn place(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Makes the paths absolute and makes sure that all of them exist; the error names every one that does not. Each is
/// there once, and none lies in the directory `data`.
pub(crate) fn roots(given: &[PathBuf], data: &Path) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    let mut roots = Vec::with_capacity(given.len());
    let (mut known, own) = (HashSet::with_capacity(given.len()), std::fs::canonicalize(data).ok());
    for path in given {
        // The link itself counts: one that points to nothing is an item with a reason.
        match std::fs::symlink_metadata(path) {
            Ok(_) => {
                let path = std::path::absolute(path).map_err(|e| unreadable(path, "path", e))?;
                let true_path = true_path(&path);
                if own.as_ref().is_some_and(|own| true_path.starts_with(own)) {
                    return Err(lies_inside(&path, data));
                }
                if known.insert(true_path) {
                    roots.push(path);
                }
            }
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

fn lies_inside(path: &Path, data: &Path) -> Error {
    Error::invalid_request(format!("`{}` lies in the data directory `{}`", show(path), show(data))).with_hint(
        "what lies there is docmill's own; name other paths, or another data directory with `--data` (nothing was taken in)",
    )
}

/// Where an item lies, whichever links lead to it. A link is itself where it stands, unless it leads to a folder.
fn true_path(path: &Path) -> PathBuf {
    let is_item = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) && !path.is_dir();
    let found = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if is_item => {
            std::fs::canonicalize(parent).map(|parent| parent.join(name))
        }
        _ => std::fs::canonicalize(path),
    };
    // What cannot be found is told as it is walked.
    found.unwrap_or_else(|_| path.to_owned())
}

/// Everything below `roots`, which are absolute and different, apart from the data directory.
pub(crate) fn walk(roots: Vec<PathBuf>, own: Arc<Own>) -> impl Iterator<Item = Met> {
    let all: Arc<HashSet<PathBuf>> = Arc::new(roots.iter().map(|root| true_path(root)).collect());
    roots.into_iter().flat_map(move |root| {
        let (all, own, from) = (Arc::clone(&all), Arc::clone(&own), root.clone());
        let true_root = true_path(&root);
        let is_another_root = move |entry: &DirEntry| {
            let below = entry.path().strip_prefix(&from).ok().filter(|_| entry.depth() > 0 && all.len() > 1);
            below.is_some_and(|below| all.contains(&true_root.join(below)))
        };
        WalkDir::new(&root)
            .follow_links(false)
            .follow_root_links(true)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(move |entry| !is_another_root(entry) && !own.is(entry))
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

    /// With a data directory that is elsewhere.
    fn walk_all(given: &[&Path]) -> Vec<Met> {
        let (given, data) = (given.iter().map(|path| path.to_path_buf()), Path::new("/nowhere"));
        walk(roots(&given.collect::<Vec<_>>(), data).unwrap(), Arc::new(Own::at(data))).collect()
    }

    fn met(dir: &Path) -> Vec<(String, Option<ErrorKind>)> {
        walk_all(&[dir])
            .into_iter()
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
        let all = walk_all(&[dir.path()]);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].path, odd);
        assert!(all[0].outcome.is_ok());
    }

    #[test]
    fn every_missing_path_is_named_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let given = [dir.path().join("x"), dir.path().to_owned(), dir.path().join("y")];
        let error = roots(&given, Path::new("/nowhere")).unwrap_err();
        assert!(error.message().starts_with("2 paths do not exist"));
        assert!(error.message().contains("/x`") && error.message().contains("/y`"));
    }

    #[test]
    fn what_several_paths_lead_to_is_met_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("d/sub/deep")).unwrap();
        std::fs::create_dir(at("e")).unwrap();
        for name in ["d/a", "d/sub/b", "d/sub/deep/c", "e/x"] {
            std::fs::write(at(name), name).unwrap();
        }
        symlink("sub", at("d/to-sub")).unwrap();
        symlink("../e/x", at("d/to-x")).unwrap();
        let times = |given: &[&str]| {
            let given: Vec<PathBuf> = given.iter().map(|name| at(name)).collect();
            let met = walk_all(&given.iter().map(PathBuf::as_path).collect::<Vec<_>>());
            let mut paths: Vec<String> = met
                .iter()
                .map(|met| met.path.strip_prefix(dir.path()).unwrap().to_string_lossy().into_owned())
                .collect();
            paths.sort();
            paths
        };
        assert_eq!(times(&["d/a", "d/a"]), ["d/a"]);
        let all = ["d/a", "d/sub/b", "d/sub/deep/c", "d/to-sub", "d/to-x"];
        for given in [
            &["d", "d"][..],
            &["d/", "d"],
            &["d", "d/sub"],
            &["d/sub", "d", "d/sub/deep/c"],
            &["d", "d/to-x"],
            &["d", "d/sub/deep", "d/sub"],
        ] {
            assert_eq!(times(given), all, "{given:?}");
        }
        // By another way to the same folder, what lies there is still met once.
        let by_link = ["d/a", "d/to-sub", "d/to-sub/b", "d/to-sub/deep/c", "d/to-x"];
        assert_eq!(times(&["d", "d/to-sub"]), by_link);
        assert_eq!(times(&["d", "e/../d"]), all);
        // A file and a link to it are two items, as in a folder that holds both.
        assert_eq!(times(&["e/x", "d/to-x"]), ["d/to-x", "e/x"]);
    }

    #[test]
    fn data_directory_is_passed_over_and_refused_as_a_path() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        std::fs::create_dir_all(data.join("blobs")).unwrap();
        for name in ["a", "data/docmill.db", "data/blobs/b", "z"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        symlink("data", dir.path().join("link")).unwrap();
        let walked = |data: &Path| {
            let own = Arc::new(Own::at(data));
            let given = roots(&[dir.path().to_owned()], data).unwrap();
            let names = walk(given, Arc::clone(&own))
                .map(|met| met.path.strip_prefix(dir.path()).unwrap().to_string_lossy().into_owned());
            (names.collect::<Vec<_>>(), own.was_met())
        };
        let without = vec!["a".to_owned(), "link".into(), "z".into()];
        assert_eq!(walked(&data), (without.clone(), true));
        assert_eq!(walked(&dir.path().join("link")), (without, true));
        assert_eq!(walked(Path::new("/nowhere")).0.len(), 5);
        for inside in ["data", "data/blobs", "data/docmill.db", "link", "link/blobs", "data/../data/blobs"] {
            let error = roots(&[dir.path().join(inside)], &data).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{inside}");
            assert!(error.hint().unwrap().contains("--data"));
        }
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
            let mut found = walk_all(&[&dir.path().join(name)]);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            found.remove(0)
        };
        assert!(only("folder").path.ends_with("folder/a") && only("folder").outcome.is_ok());
        assert!(only("file").outcome.is_ok());
        assert_eq!(only("loop").outcome.unwrap_err().kind(), ErrorKind::Unreadable);
        assert_eq!(only("nothing").outcome.unwrap_err().kind(), ErrorKind::Unreadable);
    }
}
