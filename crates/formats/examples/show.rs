//! Prints what is read from files, without the sandbox: for looking at results while working on a reader.
//! Never run it on files you do not trust.
//!
//! `cargo run -p docmill-formats --example show -- [--text] FILE…`
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::fs::File;
use std::path::Path;

use docmill_core::limits::Limits;
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result};
use docmill_formats::input::Input;
use docmill_formats::sink::Collected;

fn main() -> Result<()> {
    let (options, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let text_alone = options.iter().any(|o| o == "--text");
    for path in files {
        show(&path, text_alone)?;
    }
    Ok(())
}

fn show(path: &str, text_alone: bool) -> Result<()> {
    let file =
        File::open(path).map_err(|e| Error::unreadable(format!("cannot open `{path}`")).with_source(e))?;
    let name = Path::new(path).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let want = Want { children: true, ..Want::TEXT };
    let mut found = Collected::default();
    let mut input = Input::from_file(file)?;
    let result = docmill_formats::read(&mut input, &name, want, &Limits::default().for_reader(), &mut found);
    if text_alone {
        println!("{}", found.text());
        return Ok(());
    }
    println!("== {path}");
    for found in &found.0 {
        match found {
            Found::Page(page) => {
                println!(
                    "-- page {} ({}, quality {:?})\n{}",
                    page.number, page.reason, page.quality, page.text
                );
            }
            Found::ChildChunk(bytes) => println!("   {} bytes", bytes.len()),
            other => println!("{other:?}"),
        }
    }
    println!("== {result:?}");
    Ok(())
}
