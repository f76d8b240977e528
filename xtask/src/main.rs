//! The developer's commands: `cargo xtask <command>`.
//!
//! `check` is what a change must pass, `tidy` holds the tree against the project's own rules, `gen` writes the
//! pages that are made from code, `bench` measures, `faults` disturbs. None of it is part of the product.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for the terminal")]
#![expect(
    clippy::disallowed_methods,
    reason = "the doors guard the product; this starts cargo and reads the tree"
)]

mod bench;
mod check;
mod faults;
mod generate;
mod process;
mod tidy;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask <command>

  check [--fast]          everything a change must pass; --fast leaves out tests and generated pages
  tidy                    the project's own rules: registration, docs, names, sizes, directions
  gen [--check]           writes the pages made from code; --check fails if one is out of date
  bench engine|ingest     measures, prints a table, writes bench/results/; options go to the bench (--help)
  faults [--runs N] …     disturbs real workers on real servers, writes bench/results/faults.json (--help)
  setup                   installs the git hook that runs `check --fast`";

fn main() -> ExitCode {
    match dispatch() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// True if all is well, false if something was found and printed.
fn dispatch() -> Result<bool> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["check"] => Ok(check::run(check::Extent::All)),
        ["check", "--fast"] => Ok(check::run(check::Extent::Fast)),
        ["tidy"] => tidy::run(),
        ["gen"] => generate::write(),
        ["gen", "--check"] => generate::check(),
        ["bench", name, options @ ..] => bench::run(name, options),
        ["faults", options @ ..] => faults::run(options),
        ["setup"] => process::succeeds("git", &["config", "core.hooksPath", ".githooks"]),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(true)
        }
        _ => bail!("`{}` is not a command\n\n{USAGE}", args.join(" ")),
    }
}
