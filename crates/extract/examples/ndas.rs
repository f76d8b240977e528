//! Prints the records of agreements, from what `docmill read --json` says of them on standard input, as the scorer wants it.

use std::io::{self, BufRead, Write};

use docmill_extract::nda::{Page, agreement};
use serde_json::Value;

fn main() -> io::Result<()> {
    let mut records = serde_json::Map::new();
    for line in io::stdin().lock().lines() {
        let read: Value = serde_json::from_str(&line?)?;
        let pages: Vec<Page<'_>> = read["pages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|page| Page {
                number: page["number"].as_u64().unwrap_or_default() as u32,
                text: page["text"].as_str().unwrap_or_default(),
            })
            .collect();
        let name = read["path"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let name = name.trim_end_matches(".pdf").to_owned();
        records.insert(name, agreement(&pages, &[]).data.into());
    }
    writeln!(io::stdout(), "{}", Value::Object(records))
}
