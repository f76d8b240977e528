//! The life of a child, in order: arguments, prepare, warm up, seal, say what holds, serve until the socket
//! closes. Runs before any runtime, thread or command-line parser exists.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use docmill_core::wire::{self, FromChild};
use docmill_core::{Error, Result};

use super::orders::SocketOrders;
use super::sandbox::Sandbox;

/// The hidden first argument.
const CHILD: &str = "__child";

/// What the parent says on the command line.
#[derive(PartialEq, Eq, Debug)]
struct Arguments {
    parent: u32,
    memory_bytes: u64,
}

/// Runs as a child if the command line says so; `None` means that this is an ordinary start.
pub(crate) fn run_if_child(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.nth(1)?;
    if first != CHILD {
        return None;
    }
    Some(match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.chain());
            ExitCode::FAILURE
        }
    })
}

fn run(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let arguments = parse(arguments)?;
    let mut sandbox = Sandbox::default();
    sandbox.prepare(arguments.parent, arguments.memory_bytes)?;
    let (orders, mut answers) =
        socket().map_err(|e| Error::unavailable("stdin is not the parent's socket").with_source(e))?;
    std::panic::set_hook(Box::new(|panic| complain(&panic.to_string())));
    docmill_formats::warm_up()?;

    let layers = sandbox.seal();
    wire::write_frame(&mut answers, &FromChild::Ready { layers })?;
    docmill_formats::serve(orders, answers)
}

/// Both directions of the inherited socket.
fn socket() -> io::Result<(SocketOrders, UnixStream)> {
    let answers = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    Ok((SocketOrders::new(answers.try_clone()?), answers))
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Arguments> {
    let (mut parent, mut memory_bytes, mut role) = (None, None, None);
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|v| v.into_string().ok()).unwrap_or_default();
        match name.to_str() {
            Some("--role") => role = Some(value),
            Some("--parent") => parent = value.parse().ok(),
            Some("--memory") => memory_bytes = value.parse().ok(),
            _ => return Err(unusable(&format!("unknown argument {}", name.display()))),
        }
    }
    match role.as_deref() {
        Some("parse") => {}
        Some(other) => return Err(unusable(&format!("unknown role `{other}`"))),
        None => return Err(unusable("no --role")),
    }
    Ok(Arguments {
        parent: parent.ok_or_else(|| unusable("no --parent"))?,
        memory_bytes: memory_bytes.ok_or_else(|| unusable("no --memory"))?,
    })
}

fn unusable(what: &str) -> Error {
    Error::invalid_request(format!(
        "{what}; `{CHILD}` is started by docmill itself and not meant to be called"
    ))
}

/// One line on stderr, which the parent keeps to explain a death. There is nobody to tell if that fails.
fn complain(what: &str) {
    let line = what.replace('\n', ": ");
    if writeln!(io::stderr(), "{line}").is_err() {
        // The parent has closed the pipe; this process is about to end anyway.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> impl Iterator<Item = OsString> {
        line.split_whitespace().map(OsString::from).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn ordinary_command_line_is_left_alone() {
        assert!(run_if_child(words("docmill ingest __child")).is_none());
        assert!(run_if_child(words("docmill")).is_none());
    }

    #[test]
    fn parse_takes_role_parent_and_memory() {
        let parsed = parse(words("--role parse --parent 7 --memory 1024")).unwrap();
        assert_eq!(parsed, Arguments { parent: 7, memory_bytes: 1024 });
    }

    #[test]
    fn parse_without_a_role_or_with_an_unknown_one_is_refused() {
        assert!(parse(words("--parent 7 --memory 1")).unwrap_err().to_string().contains("--role"));
        let error = parse(words("--role cook --parent 7 --memory 1")).unwrap_err();
        assert!(error.to_string().contains("cook"));
    }
}
