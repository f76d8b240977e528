//! The owner's Unix socket in the data directory, open to its own user only.
//!
//! A socket's address holds some hundred bytes, a path may be longer. The directory is therefore opened, and
//! where its name is too long the address goes through `/proc/self/fd`, which is short.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use docmill_core::{Error, Result};
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};

/// The name of the socket.
pub(crate) const SOCKET_FILE: &str = "docmill.sock";

/// Connections that may wait to be accepted.
const WAITING: i32 = 128;

/// The longest path that is used as an address directly.
const LONGEST: usize = 100;

/// An address of the socket, good for as long as this value lives.
struct Address {
    path: PathBuf,
    _directory: Option<File>,
}

fn address(directory: &Path) -> io::Result<Address> {
    let path = directory.join(SOCKET_FILE);
    if path.as_os_str().len() <= LONGEST {
        return Ok(Address { path, _directory: None });
    }
    let opened = File::open(directory)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET_FILE}", opened.as_raw_fd()));
    Ok(Address { path, _directory: Some(opened) })
}

/// Listens. Only the owner of the directory's lock may call this: a socket that is there is a left-over.
pub(crate) fn listen(directory: &Path) -> Result<UnixListener> {
    let listen = || -> io::Result<UnixListener> {
        remove(directory)?;
        let address = address(directory)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // The file that `bind` makes takes its mode from the socket, so it is never open to others, not even
        // for a moment.
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(&address.path)?)?;
        rustix::net::listen(&socket, WAITING)?;
        UnixListener::from_std(std::os::unix::net::UnixListener::from(socket))
    };
    listen().map_err(|e| {
        Error::unavailable(format!("cannot listen on {}", directory.join(SOCKET_FILE).display()))
            .with_source(e)
            .with_hint("the data directory must lie on a file system that has sockets")
    })
}

/// Connects to the owner.
pub(crate) async fn connect(directory: &Path) -> io::Result<UnixStream> {
    let address = address(directory)?;
    UnixStream::connect(&address.path).await
}

/// Removes the socket's file.
pub(crate) fn remove(directory: &Path) -> io::Result<()> {
    match std::fs::remove_file(directory.join(SOCKET_FILE)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn a_deep_directory_can_be_listened_in_and_connected_to() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("x".repeat(90)).join("y".repeat(90));
        std::fs::create_dir_all(&deep).unwrap();
        let listener = listen(&deep).unwrap();
        let (accepted, connected) = tokio::join!(listener.accept(), connect(&deep));
        accepted.unwrap();
        connected.unwrap();
    }

    #[tokio::test]
    async fn the_socket_is_for_its_user_alone_and_replaces_a_left_over() {
        let dir = tempfile::tempdir().unwrap();
        drop(listen(dir.path()).unwrap());
        let _listener = listen(dir.path()).unwrap();
        let mode = std::fs::metadata(dir.path().join(SOCKET_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
