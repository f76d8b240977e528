//! Takes mails apart, with everything inside them, and prints one JSON object by file: the subject, the SHA-256 of
//! every part that is no text, and how many texts there are. For scoring; `bench/read/mail.py` calls it.
//!
//! `cargo run -p docmill-formats --example mail -- FILE…`
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::fs::File;
use std::path::Path;

use docmill_core::limits::Limits;
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result};
use docmill_formats::input::Input;
use docmill_formats::sink::Collected;
use sha2::{Digest, Sha256};

/// Messages inside messages.
const MAX_DEPTH: u32 = 16;

#[derive(Default)]
struct Taken {
    subject: Option<String>,
    binary: Vec<String>,
    texts: u64,
}

fn main() -> Result<()> {
    let mut all = serde_json::Map::new();
    for path in std::env::args().skip(1) {
        let file = File::open(&path)
            .map_err(|e| Error::unreadable(format!("cannot open `{path}`")).with_source(e))?;
        let name =
            Path::new(&path).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let stem =
            Path::new(&path).file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let mut taken = Taken::default();
        take(&mut Input::from_file(file)?, &name, 0, &mut taken)?;
        let value = serde_json::json!({
            "subject": taken.subject,
            "binary_parts": taken.binary,
            "n_text": taken.texts,
        });
        all.insert(stem, value);
    }
    println!("{}", serde_json::Value::Object(all));
    Ok(())
}

fn take(input: &mut Input, name: &str, depth: u32, taken: &mut Taken) -> Result<()> {
    let want = Want { children: true, ..Want::TEXT };
    let mut found = Collected::default();
    docmill_formats::read(input, name, want, &Limits::default().for_reader(), &mut found)?;
    if depth == 0 {
        taken.subject = found.value("subject").map(str::to_owned);
    }
    taken.texts += found.pages().iter().filter(|page| !page.text.trim().is_empty()).count() as u64;
    let mut open: Option<(String, Vec<u8>)> = None;
    for found in found.0 {
        match found {
            Found::ChildBegin { path, .. } => open = Some((path, Vec::new())),
            Found::ChildChunk(piece) => {
                if let Some((_, bytes)) = &mut open {
                    bytes.extend(piece);
                }
            }
            Found::ChildEnd => {
                let Some((path, bytes)) = open.take() else { continue };
                if path.ends_with(".eml") && depth < MAX_DEPTH && !bytes.is_empty() {
                    take(&mut Input::from_bytes(bytes), &path, depth + 1, taken)?;
                } else {
                    let sum = Sha256::digest(&bytes);
                    let digits: Vec<String> = sum.iter().map(|byte| format!("{byte:02x}")).collect();
                    taken.binary.push(digits.concat());
                }
            }
            _ => {}
        }
    }
    Ok(())
}
