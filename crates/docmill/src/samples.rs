//! Test documents in a folder, with files that tell what is true of them, in the form that scorers read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use docmill_core::generate::{Order, Sample, Truth};
use docmill_core::ports::Generator as _;
use docmill_core::{Error, Result};
use docmill_generate::Press;
use serde_json::{Map, Value};

use crate::context::{Context, Exit};
use crate::terminal::{Terminal, counted};

/// Makes what is ordered and writes it to `folder`.
pub(crate) async fn write(cx: &Context, order: Order, folder: PathBuf) -> Result<Exit> {
    let terminal = cx.terminal;
    let began = cx.clock.monotonic();
    let shown = folder.display().to_string();
    let count = u64::from(order.count);
    tokio::task::spawn_blocking(move || fill(terminal, &order, &folder))
        .await
        .map_err(|e| Error::bug("making documents was cut short").with_source(e))??;
    let seconds = cx.clock.monotonic().saturating_sub(began).as_secs_f64();
    let said = format!("{} in `{shown}` in {seconds:.1} s", counted(count, "document", "documents"));
    if !terminal.json {
        terminal.line(&said)?;
    }
    Ok(Exit::Ok)
}

fn fill(terminal: Terminal, order: &Order, folder: &Path) -> Result<()> {
    prepare(folder)?;
    let press = Press::default();
    let path = folder.join("documents.jsonl");
    let mut lines = BufWriter::new(File::create(&path).map_err(|e| cannot(&path, e))?);
    let mut fields: BTreeMap<&'static str, Map<String, Value>> = BTreeMap::new();
    for number in 0..order.count {
        let Sample { name, bytes, truth } = press.make(order, number)?;
        put(&folder.join("docs").join(&name), &bytes)?;
        put(&folder.join("text").join(format!("{}.txt", truth.id)), truth.text.as_bytes())?;
        let line = serde_json::to_string(&truth)
            .map_err(|e| Error::bug("a truth cannot be written as JSON").with_source(e))?;
        writeln!(lines, "{line}").map_err(|e| cannot(&path, e))?;
        if terminal.json {
            terminal.line(&line)?;
        }
        let Truth { id, schema, fields: values, .. } = truth;
        if let Some(schema) = schema {
            fields.entry(schema).or_default().insert(id, Value::Object(values));
        }
    }
    lines.flush().map_err(|e| cannot(&path, e))?;
    let mut all = Map::new();
    for (schema, truths) in fields {
        put_json(&folder.join("truth").join(format!("{schema}.json")), &truths)?;
        all.extend(truths);
    }
    put_json(&folder.join("truth.json"), &all)
}

/// Makes the folder; one that holds something is left alone.
fn prepare(folder: &Path) -> Result<()> {
    let occupied = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => false,
        Err(e) => return Err(cannot(folder, e)),
    };
    if occupied {
        return Err(Error::conflict(format!("the folder `{}` is not empty", folder.display()))
            .with_hint("choose another one, so that old and new documents do not mix"));
    }
    for part in ["docs", "text", "truth"] {
        let path = folder.join(part);
        fs::create_dir_all(&path).map_err(|e| cannot(&path, e))?;
    }
    Ok(())
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|e| cannot(path, e))
}

fn put_json(path: &Path, value: &Map<String, Value>) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(|e| Error::bug("a truth cannot be written as JSON").with_source(e))?;
    text.push(b'\n');
    put(path, &text)
}

fn cannot(path: &Path, error: io::Error) -> Error {
    let message = format!("cannot write `{}`", path.display());
    let kind = if error.kind() == io::ErrorKind::StorageFull { Error::disk_full } else { Error::unavailable };
    kind(message).with_source(error)
}
