//! Extracts from words that were written down as JSON (`[PageWords]`): for looking at results while working on them.
//!
//! `cargo run --release -p docmill-extract --example sight -- invoice FILE…` prints a line for each file.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::fs::File;

use docmill_core::limits::read_capped;
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};
use docmill_extract::schema::Schema;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let schema = Schema::built_in(&arguments.next().unwrap_or_default())?;
    for path in arguments {
        let bad = |e: &dyn std::error::Error| Error::unreadable(format!("`{path}`: {e}"));
        let bytes = read_capped(File::open(&path).map_err(|e| bad(&e))?, 64 << 20, &path)?;
        let pages: Vec<PageWords> = serde_json::from_slice(&bytes).map_err(|e| bad(&e))?;
        let extraction = docmill_extract::by_sight(&schema, &pages);
        let line = serde_json::json!({ "path": path, "extraction": extraction });
        println!("{line}");
    }
    Ok(())
}
