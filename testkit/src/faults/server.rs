//! A server of one's own, which may be killed and started again, because nobody else uses it.
//!
//! What is started is a command that takes a port and a directory, keeps everything in the directory, and makes the
//! file `ready` there once it answers (`.ci/servers.sh` writes such commands for PostgreSQL and S3).

#![expect(clippy::expect_used, clippy::panic, reason = "a server that cannot be had fails the test")]

use std::fs::{File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How often it is looked whether the server answers, and how often at most.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LOOKS: u32 = 3_000;

/// A server that ends with this value.
pub struct OwnServer {
    command: String,
    options: Vec<String>,
    port: u16,
    dir: TempDir,
    process: Child,
}

impl OwnServer {
    /// Starts it on a free port, with nothing in it, and waits until it answers.
    pub fn start(command: &str, options: &[&str]) -> Self {
        let port = free_port();
        // A server may run as another user, who must be able to reach its directory.
        let dir = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o755))
            .tempdir()
            .expect("make a directory for a server");
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let process = spawn(command, port, &dir, &options);
        let mut server = Self { command: command.to_owned(), options, port, dir, process };
        server.wait_until_ready();
        server
    }

    /// Where it listens, on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it by this signal and waits until it has ended.
    pub fn end(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("signal a server");
        self.process.wait().expect("wait for a server");
    }

    /// Starts it again where it was, with what it has kept, and waits until it answers.
    pub fn start_again(&mut self) {
        self.process = spawn(&self.command, self.port, &self.dir, &self.options);
        self.wait_until_ready();
    }

    fn wait_until_ready(&mut self) {
        let ready = self.dir.path().join("ready");
        for _ in 0..LOOKS {
            if ready.try_exists().expect("look for a server") {
                // The next start makes it anew.
                std::fs::remove_file(&ready).expect("note that a server answers");
                return;
            }
            if let Some(status) = self.process.try_wait().expect("look at a server") {
                panic!("the server has ended ({status}):\n{}", self.log());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        panic!("the server does not answer:\n{}", self.log());
    }

    #[expect(clippy::disallowed_methods, reason = "what a server of a test has said is short")]
    fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // Not by a kill at once: a server of many processes takes the others along if it is told to end.
        let told = kill_process(Pid::from_child(&self.process), Signal::QUIT).is_ok();
        for _ in 0..LOOKS / 10 {
            if !told || !matches!(self.process.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        // It has ended already, mostly.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("find a free port");
    listener.local_addr().expect("tell a port").port()
}

#[expect(clippy::disallowed_methods, reason = "the server is no child of docmill's")]
fn spawn(command: &str, port: u16, dir: &TempDir, options: &[String]) -> Child {
    let log = File::options().append(true).create(true).open(dir.path().join("log")).expect("open a log");
    Command::new(command)
        .arg(port.to_string())
        .arg(dir.path())
        .args(options)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("share a log"))
        .stderr(log)
        .spawn()
        .expect("start a server")
}
