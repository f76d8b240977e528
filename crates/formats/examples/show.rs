//! Prints what is read from files, without the sandbox: for looking at results while working on a reader.
//! Never run it on files you do not trust.
//!
//! `--text` prints the text alone, `--scans` the pages that are handed to recognition and why. `--pdfium=FILE` loads the
//! second engine for PDF files.
//!
//! `cargo run -p docmill-formats --example show -- [--text | --scans] [--pdfium=libpdfium.so] FILE…`
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::fs::File;
use std::path::Path;

use docmill_core::limits::Limits;
use docmill_core::ocr::OcrMode;
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result};
use docmill_formats::input::Input;
use docmill_formats::sink::Collected;

fn main() -> Result<()> {
    let (options, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let given = |name: &str| options.iter().any(|o| o == name);
    if let Some(library) = options.iter().find_map(|o| o.strip_prefix("--pdfium=")) {
        docmill_formats::load_pdfium(Path::new(library))?;
    }
    for path in files {
        match (given("--text"), given("--scans")) {
            (true, _) => println!("{}", read(&path, Want::TEXT)?.0.text()),
            (_, true) => show_scans(&path)?,
            _ => show(&path)?,
        }
    }
    Ok(())
}

/// What was found, and how the reading ended.
fn read(path: &str, want: Want) -> Result<(Collected, Result<()>)> {
    let file =
        File::open(path).map_err(|e| Error::unreadable(format!("cannot open `{path}`")).with_source(e))?;
    let name = Path::new(path).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let mut found = Collected::default();
    let mut input = Input::from_file(file)?;
    let result = docmill_formats::read(&mut input, &name, want, &Limits::default().for_reader(), &mut found);
    Ok((found, result))
}

fn show_scans(path: &str) -> Result<()> {
    for found in read(path, Want { ocr: OcrMode::Auto, ..Want::TEXT })?.0.0 {
        if let Found::Scan(scan) = found {
            println!("page {} ({} × {}): {}", scan.number, scan.width, scan.height, scan.reason);
        }
    }
    Ok(())
}

fn show(path: &str) -> Result<()> {
    let (found, result) = read(path, Want { children: true, ..Want::TEXT })?;
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
