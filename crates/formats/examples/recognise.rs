//! Recognises pictures without the sandbox, for looking at results while working on OCR.
//! Never run it on files you do not trust.
//!
//! `cargo run --release -p docmill-formats --example recognise -- [--text] [--words=DIR] FILE…`; with `--words` also a
//! file of words for the example `sight` of docmill-extract.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::fs::File;
use std::path::{Path, PathBuf};

use docmill_core::limits::Limits;
use docmill_core::ocr::OcrMode;
use docmill_core::wire::{Found, Want};
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};
use docmill_formats::input::Input;
use docmill_formats::ocr::{Models, Recogniser, Setup};
use docmill_formats::sink::Collected;

fn main() -> Result<()> {
    let (options, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let option =
        |name: &str| options.iter().find_map(|o| o.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('='));
    let setup = Setup {
        again: options.iter().any(|o| o == "--again"),
        library: PathBuf::from("libtesseract.so.5"),
        models: PathBuf::from(option("tessdata").unwrap_or("/usr/share/tesseract-ocr/5/tessdata")),
        languages: option("languages").unwrap_or("eng").to_owned(),
        ppocr: option("models").map(PathBuf::from),
        threads: option("threads").and_then(|text| text.parse().ok()).unwrap_or(1),
        threshold: option("threshold").and_then(|text| text.parse().ok()).unwrap_or(0.7),
    };
    let models = setup.ppocr.as_deref().map(Models::read);
    let mut recogniser = Recogniser::load(&setup, models)?;
    let text_alone = options.iter().any(|o| o == "--text");
    for path in files {
        show(&mut recogniser, &path, text_alone, option("words").map(Path::new))?;
    }
    Ok(())
}

fn show(recogniser: &mut Recogniser, path: &str, text_alone: bool, words: Option<&Path>) -> Result<()> {
    let mut pages = Vec::new();
    let file =
        File::open(path).map_err(|e| Error::unreadable(format!("cannot open `{path}`")).with_source(e))?;
    let name = Path::new(path).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let want = Want { ocr: OcrMode::Auto, ..Want::TEXT };
    let mut found = Collected::default();
    let mut input = Input::from_file(file)?;
    docmill_formats::read(&mut input, &name, want, &Limits::default().for_reader(), &mut found)?;
    for scan in found.0.iter().filter_map(|f| if let Found::Scan(scan) = f { Some(scan) } else { None }) {
        let mut seen = Collected::default();
        recogniser.recognise(scan, &mut seen)?;
        for found in seen.0 {
            let Found::Recognised(recognition) = found else { continue };
            if !text_alone {
                println!("== {path} page {} {}x{}", scan.number, scan.width, scan.height);
                let page = &recognition.page;
                println!("-- {} turned {} quality {:?}", page.engine, page.turned, page.quality);
                for tried in &page.tries {
                    println!("   {tried:?}");
                }
            }
            println!("{}", recognition.text);
            pages.push(PageWords::from(&recognition.page));
        }
    }
    if let Some(folder) = words {
        let stem = Path::new(path).file_stem().unwrap_or_default();
        let to = folder.join(stem).with_extension("json");
        let failed = |e: &dyn std::error::Error| Error::unavailable(format!("`{}`: {e}", to.display()));
        let bytes = serde_json::to_vec(&pages).map_err(|e| failed(&e))?;
        std::fs::write(&to, bytes).map_err(|e| failed(&e))?;
    }
    Ok(())
}
