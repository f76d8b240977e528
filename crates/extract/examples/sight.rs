//! Extracts from words that were written down as JSON (`[PageWords]`): for looking at results while working on them.
//!
//! `cargo run --release -p docmill-extract --example sight -- invoice FILE…` prints a line for each file.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::collections::BTreeMap;
use std::fs::File;

use docmill_core::limits::read_capped;
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};
use docmill_extract::schema::Schema;
use docmill_extract::{Material, Sources};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let schema = Schema::built_in(&arguments.next().unwrap_or_default())?;
    for path in arguments {
        let bad = |e: &dyn std::error::Error| Error::unreadable(format!("`{path}`: {e}"));
        let bytes = read_capped(File::open(&path).map_err(|e| bad(&e))?, 64 << 20, &path)?;
        let pages: Vec<PageWords> = serde_json::from_slice(&bytes).map_err(|e| bad(&e))?;
        let texts: Vec<String> = pages.iter().map(text).collect();
        let numbered = pages.iter().zip(&texts).map(|(page, text)| (page.number, text.as_str()));
        let material = Material {
            pages: &pages,
            texts: numbered.collect(),
            data: Vec::new(),
            metadata: &BTreeMap::new(),
            media_type: "",
        };
        let extraction = docmill_extract::extract(&schema, &material, Sources::Page);
        let line = serde_json::json!({ "path": path, "extraction": extraction });
        println!("{line}");
    }
    Ok(())
}

/// Agreements are read as running text: the words of a page in their order.
fn text(page: &PageWords) -> String {
    page.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}
