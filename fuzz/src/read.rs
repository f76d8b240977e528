//! Any format over any bytes, through the same door as in production. `DOCMILL_FUZZ_NAME` says what the file is called, and so
//! which reader gets it where content alone does not tell; `fuzz/run` sets it by the folder of samples.
#![no_main]

use std::sync::LazyLock;

use docmill_core::Result;
use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_formats::input::Input;
use docmill_formats::sink::Sink;

const EVERYTHING: Want = Want { children: true, ..Want::TEXT };

static NAME: LazyLock<String> = LazyLock::new(|| std::env::var("DOCMILL_FUZZ_NAME").unwrap_or_default());

/// Keeps nothing, so that memory that grows is the reader's.
struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, found: Found) -> Result<()> {
        if let Found::Warn(problem) = found {
            assert!(problem.kind != ErrorKind::Bug, "{}", problem.message);
        }
        Ok(())
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = ReadLimits { max_text_bytes: 8 << 20, max_unpacked_bytes: 64 << 20, ..Limits::default().for_reader() };
    let mut input = Input::from_bytes(bytes.to_vec());
    let result = docmill_formats::read(&mut input, &NAME, EVERYTHING, &limits, &mut Nowhere);
    assert!(!result.is_err_and(|e| e.kind() == ErrorKind::Bug), "a reader calls something a bug");
});
