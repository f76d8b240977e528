//! Starting and ending child processes.
//!
//! The kernel kills a child when the *thread* that started it ends (PDEATHSIG), so one permanent thread
//! starts them all. A second one reaps: taking down a gigabyte of memory takes a while, and nobody should
//! wait for it to start the next child. No child is ever left unreaped, whatever is dropped when.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

use docmill_core::{Error, Result};
use rustix::fs::OFlags;
use tokio::sync::oneshot;

use super::fault::Death;
use super::proc;

/// What is kept of a child's stderr.
const LAST_WORDS_BYTES: usize = 2 << 10;

/// The two permanent threads, which end when the last [`Spawner`] and [`Process`] are gone.
#[derive(Clone, Debug)]
pub(super) struct Spawner {
    requests: mpsc::Sender<Request>,
}

#[derive(Debug)]
struct Request {
    memory_bytes: u64,
    reply: oneshot::Sender<io::Result<Process>>,
}

#[derive(Debug)]
struct Reap {
    child: Child,
    reply: Option<oneshot::Sender<Option<ExitStatus>>>,
}

impl Spawner {
    /// Starts the threads.
    pub(super) fn start(program: PathBuf, args: Vec<String>) -> Result<Self> {
        let (requests, orders) = mpsc::channel::<Request>();
        let (to_reaper, dying) = mpsc::channel::<Reap>();
        let started = thread::Builder::new()
            .name("child-reaper".into())
            .spawn(move || {
                for mut reap in dying {
                    let status = reap.child.wait();
                    if let Err(error) = &status {
                        tracing::error!(%error, "child could not be reaped");
                    }
                    let heard = reap.reply.is_none_or(|reply| reply.send(status.ok()).is_ok());
                    if !heard {
                        tracing::debug!("a child was reaped that nobody waited for any more");
                    }
                }
            })
            .and_then(|_| {
                thread::Builder::new().name("child-spawner".into()).spawn(move || {
                    for order in orders {
                        let process = spawn(&program, &args, order.memory_bytes, &to_reaper);
                        // If nobody wants it any more, dropping it ends it.
                        drop(order.reply.send(process));
                    }
                })
            });
        match started {
            Ok(_) => Ok(Self { requests }),
            Err(e) => Err(Error::unavailable("cannot start the threads of the child pool").with_source(e)),
        }
    }

    /// Starts a child. It is not ready yet.
    pub(super) async fn spawn(&self, memory_bytes: u64) -> Result<Process> {
        let (reply, answer) = oneshot::channel();
        let gone = || Error::bug("the thread that starts children is gone");
        self.requests.send(Request { memory_bytes, reply }).map_err(|e| gone().with_source(e.to_string()))?;
        let spawned = answer.await.map_err(|e| gone().with_source(e))?;
        spawned.map_err(|e| Error::unavailable("cannot start a child process").with_source(e))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn spawn(
    program: &PathBuf,
    args: &[String],
    memory_bytes: u64,
    reaper: &mpsc::Sender<Reap>,
) -> io::Result<Process> {
    let (socket, theirs) = UnixStream::pair()?;
    let mut child = Command::new(program)
        .args(args)
        .args(["--parent", &std::process::id().to_string()])
        .args(["--memory", &memory_bytes.to_string()])
        // Secrets live in the environment.
        .env_clear()
        // One document, one thread: the parent decides what runs beside what.
        .env("OMP_THREAD_LIMIT", "1")
        .env("RTEN_NUM_THREADS", "1")
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let stderr = child.stderr.take().map(OwnedFd::from);
    // From here on an error ends the child, because dropping the process does.
    let mut process = Process {
        pid: child.id(),
        child: Some(child),
        socket: Some(socket),
        last_words: LastWords::default(),
        reaper: reaper.clone(),
    };
    if let Some(stderr) = stderr {
        process.last_words = LastWords::of(stderr)?;
    }
    Ok(process)
}

/// A running child. Dropping it kills it; it is reaped in the background.
#[derive(Debug)]
pub(super) struct Process {
    pid: u32,
    child: Option<Child>,
    socket: Option<UnixStream>,
    last_words: LastWords,
    reaper: mpsc::Sender<Reap>,
}

impl Process {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// The parent's end of the socket, once.
    pub(super) fn take_socket(&mut self) -> io::Result<UnixStream> {
        self.socket.take().ok_or_else(|| io::Error::other("the socket was taken already"))
    }

    /// Reads what has come on stderr, so that the child never blocks on a full pipe.
    pub(super) fn listen(&mut self) {
        self.last_words.drain();
    }

    /// Lets it run only when nothing else wants the CPU.
    pub(super) fn demote(&self) {
        let threads = match proc::threads(self.pid) {
            Ok(threads) => threads,
            Err(error) => {
                tracing::debug!(pid = self.pid, %error, "threads of a child are not known");
                return;
            }
        };
        for thread in threads {
            let idle = libc::sched_param { sched_priority: 0 };
            // SAFETY: the call reads one struct that lives until it returns. The child is not reaped yet, so
            // its thread ids cannot name a stranger; a thread that ended meanwhile is answered by an error.
            #[expect(unsafe_code, reason = "no safe interface to SCHED_IDLE")]
            let answer = unsafe { libc::sched_setscheduler(thread, libc::SCHED_IDLE, &raw const idle) };
            if answer != 0 {
                let error = io::Error::last_os_error();
                tracing::debug!(pid = self.pid, thread, %error, "child could not be demoted");
            }
        }
    }

    /// Kills it and waits until it is reaped. A child that was dying by itself keeps its own cause of death.
    pub(super) async fn end(&mut self) -> Death {
        let (reply, answer) = oneshot::channel();
        self.kill(Some(reply));
        let status = answer.await.ok().flatten();
        self.last_words.drain();
        Death { status, last_words: self.last_words.text() }
    }

    fn kill(&mut self, reply: Option<oneshot::Sender<Option<ExitStatus>>>) {
        let Some(mut child) = self.child.take() else { return };
        if let Err(error) = child.kill() {
            tracing::error!(pid = self.pid, %error, "child could not be killed");
        }
        if let Err(mpsc::SendError(mut reap)) = self.reaper.send(Reap { child, reply }) {
            tracing::error!(pid = self.pid, "the thread that reaps children is gone");
            if let Err(error) = reap.child.wait() {
                tracing::error!(pid = self.pid, %error, "child could not be reaped");
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill(None);
    }
}

/// The end of what a child said on stderr.
#[derive(Debug, Default)]
struct LastWords {
    pipe: Option<OwnedFd>,
    kept: VecDeque<u8>,
}

impl LastWords {
    fn of(pipe: OwnedFd) -> io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&pipe)?;
        rustix::fs::fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(Self { pipe: Some(pipe), kept: VecDeque::new() })
    }

    fn drain(&mut self) {
        let mut piece = [0_u8; 4096];
        // Bounded, so that a child that shouts without end cannot hold this thread.
        for _ in 0..64 {
            let Some(pipe) = &self.pipe else { return };
            match rustix::io::read(pipe, &mut piece) {
                Ok(0) => self.pipe = None,
                Ok(n) => {
                    self.kept.extend(&piece[..n]);
                    let surplus = self.kept.len().saturating_sub(LAST_WORDS_BYTES);
                    self.kept.drain(..surplus);
                }
                // Nothing there now (or an interruption): the next call comes.
                Err(_) => return,
            }
        }
    }

    fn text(&self) -> String {
        let bytes: Vec<u8> = self.kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
