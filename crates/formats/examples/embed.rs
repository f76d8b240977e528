//! Embeds texts without the sandbox, for measuring and for comparing with other implementations.
//!
//! `cargo run --release -p docmill-formats --example embed -- MODEL_FOLDER TEXTS.json [--tokens]`
//!
//! The texts are a list of strings. Prints one JSON list a text: its vector, or the numbers of its tokens.

use std::fs::File;
use std::io::{Write, stdout};
use std::path::Path;

use docmill_core::limits::{GIB, read_capped};
use docmill_core::{Error, Result};
use docmill_formats::embed::{Embedder, compute_in_one_thread};

fn main() -> Result<()> {
    compute_in_one_thread()?;
    let (options, names): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let [folder, texts] = names.as_slice() else {
        return Err(Error::invalid_request("usage: embed MODEL_FOLDER TEXTS.json [--tokens]"));
    };
    let embedder = Embedder::load(Path::new(folder))?;
    let file = File::open(texts).map_err(|e| Error::unreadable("cannot open the texts").with_source(e))?;
    let texts: Vec<String> = serde_json::from_slice(&read_capped(file, GIB, texts)?)
        .map_err(|e| Error::corrupt("the texts are no list of strings").with_source(e))?;
    let mut out = stdout().lock();
    let mut put = |line: Result<String, serde_json::Error>| {
        let line = line.map_err(|e| Error::bug("cannot print").with_source(e))?;
        writeln!(out, "{line}").map_err(|e| Error::unavailable("cannot print").with_source(e))
    };
    if options.iter().any(|o| o == "--tokens") {
        return texts.iter().try_for_each(|text| put(serde_json::to_string(&embedder.tokens(text))));
    }
    embedder.embed(&texts, |vectors| vectors.iter().try_for_each(|vector| put(serde_json::to_string(vector))))
}
