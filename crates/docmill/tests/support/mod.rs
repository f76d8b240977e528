//! The real binary in a temporary directory.

#![allow(dead_code, reason = "each test binary uses a part of this")]

pub(crate) mod aftermath;
pub(crate) mod http;
pub(crate) mod model;
pub(crate) mod tasks;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

/// A place with a data directory and some input.
pub(crate) struct Mill {
    dir: Arc<TempDir>,
    data: &'static str,
    /// What every command finds in its environment.
    settings: Vec<(String, String)>,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Insists on an exit code, and shows everything if it is another.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Insists that stderr says all of this.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is missing in stderr:\n{}", self.stderr);
        }
        self
    }

    /// The one object on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "not one line: {}", self.stdout);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

impl Mill {
    pub(crate) fn new() -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        std::fs::create_dir(dir.path().join("in")).unwrap();
        Self { dir, data: "data", settings: Vec::new() }
    }

    /// The same place with another data directory.
    pub(crate) fn with_data(&self, data: &'static str) -> Self {
        Self { dir: Arc::clone(&self.dir), data, settings: self.settings.clone() }
    }

    /// The same place with more settings.
    pub(crate) fn with_settings(mut self, settings: &[(&str, &str)]) -> Self {
        self.settings.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self
    }

    /// What every command finds in its environment under this name.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Where everything of this place lies.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path(self.data)
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.path("in")
    }

    /// Writes a file below the input folder.
    pub(crate) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.input().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A command with this place's data directory and nothing of the outer environment.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_docmill"));
        command.arg("--data").arg(self.data()).args(args);
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Any program, in this place.
    #[expect(clippy::disallowed_methods, reason = "tests drive the real binary")]
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", self.dir.path());
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Run {
        finish(&mut self.command(args))
    }

    /// Runs with something on standard input.
    pub(crate) fn run_with_input<A: AsRef<OsStr>>(&self, args: &[A], input: &[u8]) -> Run {
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        collect(&child.wait_with_output().unwrap())
    }

    /// Starts a server and waits until it says where it listens.
    pub(crate) fn serve(&self) -> Server {
        self.serve_on("127.0.0.1:0")
    }

    /// The same on another address.
    pub(crate) fn serve_on(&self, address: &str) -> Server {
        let mut command = self.command(&["serve", "--listen", address, "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        Server { child, address: said["listen"].as_str().unwrap().to_owned() }
    }
}

/// A running server; ended when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Server {
    /// Asks it to end and waits.
    pub(crate) fn stop(mut self) -> Option<i32> {
        signal(&self.child, rustix::process::Signal::TERM);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is fine: the test has ended it.
        if self.child.kill().is_ok() {
            self.child.wait().unwrap();
        }
    }
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

pub(crate) fn finish(command: &mut Command) -> Run {
    collect(&command.output().unwrap())
}

fn collect(output: &std::process::Output) -> Run {
    Run {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Whether this process may do everything, so that permissions deny it nothing.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Children of process `pid` that are not reaped.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let Some(child) = entry.unwrap().file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else {
            continue;
        };
        let mut stat = String::new();
        let opened = File::open(format!("/proc/{child}/stat"));
        if opened.and_then(|mut f| f.read_to_string(&mut stat)).is_err() {
            continue;
        }
        let parent = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap();
        if parent == pid.to_string() {
            found.push(child);
        }
    }
    found
}
