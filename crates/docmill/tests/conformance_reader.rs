//! Every reader against the suite of its port. The one there is runs the real binary as its children.

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::child::{PoolSettings, ReaderPool};
use docmill_core::clock::SystemClock;
use docmill_testkit::conformance::{self, Backend, reader};

fn main() -> ExitCode {
    let child = Backend::embedded("child", |_| {
        let settings = PoolSettings {
            max_children: reader::CHILDREN,
            ..PoolSettings::new(env!("CARGO_BIN_EXE_docmill"))
        };
        ReaderPool::start(settings, Arc::new(SystemClock::new()), String::new())
    });
    conformance::run(reader::suite().against([child]))
}
