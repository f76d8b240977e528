//! A process that ends with its test.

use std::process::{Child, Command};

use rustix::process::Signal;

use crate::support::signal;

/// A running command.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Tells it to end, which it must do in order.
    #[track_caller]
    pub(crate) fn end(&mut self) {
        signal(&self.0, Signal::TERM);
        assert_eq!(self.0.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Already gone is fine: the test has ended it.
        if self.0.kill().is_ok() {
            self.0.wait().unwrap();
        }
    }
}
