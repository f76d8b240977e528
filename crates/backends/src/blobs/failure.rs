//! What an error of the file system means for a blob.

use std::error::Error as StdError;
use std::io;
use std::path::Path;

use docmill_core::Error;

/// Says what could not be done (`write`, `list`, …) and where, in the kind that fits.
pub(super) fn io_failure(doing: &str, path: &Path, error: io::Error) -> Error {
    let shown = path.display();
    let failure = match error.kind() {
        io::ErrorKind::StorageFull => Error::disk_full(format!("cannot {doing} `{shown}`: the disk is full"))
            .with_hint("free some space or move the data directory to a larger disk; work goes on by itself"),
        io::ErrorKind::QuotaExceeded => {
            Error::disk_full(format!("cannot {doing} `{shown}`: the disk quota is used up"))
                .with_hint("raise the quota of docmill's user; work goes on by itself")
        }
        io::ErrorKind::FileTooLarge => Error::disk_full(format!(
            "cannot {doing} `{shown}`: the file would be larger than docmill's files may be"
        ))
        .with_hint("raise the limit of docmill's process (`ulimit -f`, `LimitFSIZE`)"),
        io::ErrorKind::ReadOnlyFilesystem => {
            Error::unavailable(format!("cannot {doing} `{shown}`: the file system is read-only"))
                .with_hint("mount it writable, or point `blobs.url` somewhere else")
        }
        io::ErrorKind::PermissionDenied => {
            Error::unavailable(format!("cannot {doing} `{shown}`: permission denied"))
                .with_hint("give docmill's user the right to read and write there")
        }
        io::ErrorKind::NotFound => Error::not_found(format!("no blob at `{shown}`")),
        _ => Error::unavailable(format!("cannot {doing} `{shown}`")),
    };
    failure.with_source(error)
}

/// The same for what `object_store` reports: the cause underneath it is an error of the file system.
pub(super) fn store_failure(doing: &str, path: &Path, error: object_store::Error) -> Error {
    if let object_store::Error::NotFound { .. } = error {
        return Error::not_found(format!("no blob at `{}`", path.display())).with_source(error);
    }
    let mut cause: Option<&(dyn StdError + 'static)> = Some(&error);
    while let Some(e) = cause {
        if let Some(io) = e.downcast_ref::<io::Error>()
            && let Some(code) = io.raw_os_error()
        {
            return io_failure(doing, path, io::Error::from_raw_os_error(code));
        }
        cause = e.source();
    }
    Error::unavailable(format!("cannot {doing} `{}`", path.display())).with_source(error)
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn io_failure_names_the_path_and_the_kind_follows_the_cause() {
        for (errno, kind) in [
            (Errno::NOSPC, ErrorKind::DiskFull),
            (Errno::DQUOT, ErrorKind::DiskFull),
            (Errno::FBIG, ErrorKind::DiskFull),
            (Errno::ROFS, ErrorKind::Unavailable),
            (Errno::ACCESS, ErrorKind::Unavailable),
            (Errno::IO, ErrorKind::Unavailable),
            (Errno::NOENT, ErrorKind::NotFound),
        ] {
            let error = io_failure("write", Path::new("/data/blobs/x"), errno.into());
            assert_eq!(error.kind(), kind, "{errno}");
            assert!(error.message().contains("/data/blobs/x"), "{error}");
        }
    }

    #[test]
    fn store_failure_finds_the_cause_inside() {
        let source = Box::new(io::Error::from(Errno::NOSPC));
        let error = object_store::Error::Generic { store: "x", source };
        assert_eq!(store_failure("delete", Path::new("/x"), error).kind(), ErrorKind::DiskFull);
    }
}
