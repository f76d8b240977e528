//! docmill: takes any pile of files and returns deduplicated, readable, searchable documents, with an account
//! for every item that came in.
//!
//! The same binary is the command line, the server, the worker and, in a sandbox, the reader of documents. The
//! last of these is decided before anything else: a child must not start a runtime, read the configuration or
//! open a file.
//!
//! Where to go next: `cli` (a file a command), `session` (how a command reaches the store), `wire` (which back
//! ends there are), `ocr` (what there is to recognise text with), `installation` (both sides of a move), `config` (files, environment and flags), `child` (the
//! inside of the sandbox).

mod child;
mod cli;
mod config;
mod context;
#[cfg(feature = "crash-points")]
mod crash_points;
mod ingest;
mod installation;
mod label_files;
mod log;
mod memory;
mod models;
mod ocr;
mod pdfium;
mod samples;
mod scraped;
mod session;
mod signals;
mod spans;
mod terminal;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = child::entry::run_if_child(std::env::args_os()) {
        return code;
    }
    memory::settle();
    cli::main()
}
