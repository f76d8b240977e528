//! A format that misbehaves on purpose, so that tests of the real binary can show what its sandbox contains.
//! Built only with the feature `probe`, never for users.
//!
//! A file whose first line is `DOCMILL-PROBE:<deed>` makes the reader do the deed. Deeds that try something
//! (`open:`, `write:`, `connect:`, `udp:`, `unix:`, `exec:`, `kill:`, `ptrace:`, `fork`, `thread`) give a page
//! saying `allowed` or `denied: <error>`, `pid` gives the process id, `walk:<pages>:<ms>` gives so many pages with
//! a rest before each, `panic:<words>` quotes the words; the others do not return. Further lines are pages of ordinary text.
#![expect(unsafe_code, reason = "crashing and forking cannot be asked for in safe code")]

use std::hint::black_box;
use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use docmill_core::artifact::{Page, TextSource};
use docmill_core::limits::read_capped;
use docmill_core::wire::{ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::sink::{Collected, Sink};
use crate::sniff::Head;

const SIGNATURE: &str = "DOCMILL-PROBE:";

pub(super) struct Probe;

impl Format for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["application/x-docmill-probe"]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        head.bytes.starts_with(SIGNATURE.as_bytes()).then_some(Claim::certain("application/x-docmill-probe"))
    }

    fn parse(&self, input: &mut Input, _: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let bytes = input.whole(limits.max_text_bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let deed = first.strip_prefix(SIGNATURE).unwrap_or_default().trim();
        let answer = do_it(deed, sink)?;
        sink.page(page(1, answer))?;
        if rest.is_empty() { Ok(()) } else { sink.page(page(2, rest.to_owned())) }
    }
}

/// The same in a text that is to be embedded, which has no pages.
pub(crate) fn misbehave(text: &str) {
    if let Some(deed) = text.strip_prefix(SIGNATURE) {
        let mut nowhere = Collected::default();
        drop(do_it(deed.trim(), &mut nowhere));
    }
}

fn page(number: u32, text: String) -> Page {
    Page { number, source: TextSource::Native, reason: "probe".into(), quality: Some(1.0), text }
}

fn do_it(deed: &str, sink: &mut dyn Sink) -> Result<String> {
    let (verb, object) = deed.split_once(':').unwrap_or((deed, ""));
    let tried = match verb {
        "loop" => loop {
            black_box(());
        },
        "sleep" => loop {
            std::thread::park();
        },
        "oom" => eat_memory(),
        "segfault" => {
            write_to_nowhere();
            Ok(())
        }
        "abort" => std::process::abort(),
        "stack" => Err(io::Error::other(format!("came back from {}", recurse(1)))),
        "panic" => {
            #[expect(clippy::panic, reason = "that is the deed")]
            {
                panic!("probe panics on purpose{object}")
            }
        }
        "flood" => return flood(sink),
        "walk" => return walk(object, sink),
        "open" => std::fs::File::open(object).and_then(|file| {
            read_capped(file, 1 << 20, object).map(drop).map_err(|e| io::Error::other(e.chain()))
        }),
        "write" => std::fs::File::create(object).and_then(|mut file| file.write_all(b"probe")),
        "connect" => TcpStream::connect(object).map(drop),
        "udp" => UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.send_to(b"probe", object)).map(drop),
        "unix" => UnixStream::connect(object).map(drop),
        "exec" => execute(object),
        "kill" => answered(
            |pid| {
                // SAFETY: no memory is involved. Signal 0 only asks whether a signal may be sent.
                i64::from(unsafe { libc::kill(pid, 0) })
            },
            object,
        ),
        "ptrace" => answered(
            |pid| {
                // SAFETY: PTRACE_SEIZE takes no memory of ours; both pointers are unused.
                unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0) }
            },
            object,
        ),
        "fork" => fork(),
        "thread" => std::thread::Builder::new().spawn(|| {}).map(|thread| drop(thread.join())),
        "pid" => return Ok(std::process::id().to_string()),
        other => return Err(Error::corrupt(format!("probe knows no deed `{other}`"))),
    };
    Ok(tried.map_or_else(|e| format!("denied: {e}"), |()| "allowed".into()))
}

fn eat_memory() -> io::Result<()> {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(black_box(vec![1; 16 << 20]));
    }
}

fn write_to_nowhere() {
    // SAFETY: none; this must crash. The write is volatile so that it is really done.
    unsafe { std::ptr::without_provenance_mut::<u8>(black_box(8)).write_volatile(1) };
}

#[expect(unconditional_recursion, reason = "that is the deed")]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    recurse(depth + 1) + frame[0]
}

fn flood(sink: &mut dyn Sink) -> Result<String> {
    for number in 1.. {
        sink.page(page(number, "flood ".repeat(1000)))?;
    }
    Ok(String::new())
}

fn walk(object: &str, sink: &mut dyn Sink) -> Result<String> {
    let bad = || Error::corrupt(format!("probe cannot walk `{object}`"));
    let (pages, rest) = object.split_once(':').ok_or_else(bad)?;
    let (Ok(pages), Ok(rest)) = (pages.parse(), rest.parse()) else { return Err(bad()) };
    for number in 1..=pages {
        std::thread::sleep(Duration::from_millis(rest));
        sink.page(page(number, "step".into()))?;
    }
    Ok("there".into())
}

#[expect(clippy::disallowed_methods, reason = "shows that the sandbox refuses to start programs")]
fn execute(program: &str) -> io::Result<()> {
    std::process::Command::new(program).spawn()?.wait().map(drop)
}

/// Calls with a process id; a negative answer is the system's refusal.
fn answered(call: impl Fn(i32) -> i64, object: &str) -> io::Result<()> {
    let pid = object.parse().map_err(io::Error::other)?;
    if call(pid) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn fork() -> io::Result<()> {
    // SAFETY: the new process, if there is one, calls nothing but `_exit`, which is safe after a fork.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: ends this process at once, without running anything else.
        0 => unsafe { libc::_exit(0) },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests_support::{EVERYTHING, read_bytes, try_read};
    use docmill_core::error::ErrorKind;
    use docmill_core::limits::Limits;

    #[test]
    fn tried_deeds_say_whether_they_were_allowed() {
        let found = read_bytes("a", b"DOCMILL-PROBE:open:/proc/self/status\nordinary text\n");
        assert_eq!(found.text(), "allowed\u{c}ordinary text\n");
        let found = read_bytes("a", b"DOCMILL-PROBE:open:/nowhere/at/all\n");
        assert!(found.text().starts_with("denied: "), "{}", found.text());
        assert_eq!(read_bytes("a", b"DOCMILL-PROBE:fork\n").text(), "allowed");
    }

    #[test]
    fn flood_is_stopped_by_the_limit_on_pages() {
        let limits = Limits::default().for_reader();
        let (found, result) = try_read("a", b"DOCMILL-PROBE:flood", EVERYTHING, &limits);
        result.unwrap();
        assert_eq!(found.pages().len(), 10_000);
    }

    #[test]
    fn unknown_deed_is_corrupt() {
        let limits = Limits::default().for_reader();
        let (_, result) = try_read("a", b"DOCMILL-PROBE:nonsense", EVERYTHING, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
