//! `docmill schema`.

use std::fs::File;
use std::path::{Path, PathBuf};

use docmill_core::call::Call;
use docmill_core::limits::{MIB, read_capped};
use docmill_core::record::{ExtractAnswer, SchemaAdded, SchemaAnswer, SchemaRef, SchemasAnswer, titled};
use docmill_core::{Error, Result};
use serde_json::Value;

use super::{ask, extract, print};
use crate::context::{Context, Exit};
use crate::ingest::walk::show;
use crate::terminal::table;

/// A schema in a file of the user's.
const MAX_BYTES: u64 = MIB;

/// Look after the schemas of records
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add a schema, or a new version of one
    Add {
        /// A JSON Schema with annotations
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
        /// What to call it; its `title` if not given
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// List the schemas there are
    List,
    /// Print a schema
    Show {
        /// Its name
        name: String,
    },
    /// Print what a schema gives on a document; nothing is stored
    Test {
        /// A schema that is there, or a file with one
        #[arg(value_name = "NAME|FILE.json")]
        schema: String,
        /// Of a document or an ingestion
        id: String,
    },
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        match self.command {
            Command::Add { file, name } => {
                let (schema, value) = read(&file)?;
                let name = name.or_else(|| value["title"].as_str().map(str::to_owned)).ok_or_else(|| {
                    Error::invalid_request(format!("the schema in `{}` has no `title`", show(&file)))
                        .with_hint("name it with `--name`")
                })?;
                let added: SchemaAdded = ask(cx, "schema add", Call::SchemaAdd { name, schema }).await?;
                print(cx, &added, |added| format!("schema {} has version {}", added.name, added.version))?;
            }
            Command::List => {
                let answer: SchemasAnswer = ask(cx, "schema list", Call::Schemas).await?;
                print(cx, &answer, human)?;
            }
            Command::Show { name } => {
                let answer: SchemaAnswer = ask(cx, "schema show", Call::Schema { name }).await?;
                print(cx, &answer, |answer| {
                    serde_json::to_string_pretty(&answer.schema).unwrap_or_else(|_| answer.schema.to_string())
                })?;
            }
            Command::Test { schema, id } => {
                let path = Path::new(&schema);
                let is_file = is_file(path);
                let schema = if is_file {
                    SchemaRef::Given(titled(&read(path)?.0, &stem(path)))
                } else {
                    SchemaRef::Named(schema)
                };
                let answer: ExtractAnswer = ask(cx, "schema test", Call::SchemaTest { schema, id }).await?;
                print(cx, &answer, extract::human)?;
            }
        }
        Ok(Exit::Ok)
    }
}

/// Whether a schema that was asked for is a file, as opposed to the name of one: it is called like one, or it is there.
pub(super) fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("json")) || path.is_file()
}

/// What a schema in a file is called that does not say so itself.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "schema".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Its text, which keeps the order of the fields, and what it says.
fn read(path: &Path) -> Result<(String, Value)> {
    let failed = |e| Error::unreadable(format!("`{}` cannot be read", show(path))).with_source(e);
    let what = format!("`{}`", show(path));
    let bytes = read_capped(File::open(path).map_err(failed)?, MAX_BYTES, &what)?;
    let value = serde_json::from_slice(&bytes)
        .map_err(|e| Error::invalid_request(format!("{what} is no JSON: {e}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|e| Error::invalid_request(format!("{what} is no text")).with_source(e))?;
    Ok((text, value))
}

fn human(answer: &SchemasAnswer) -> String {
    let rows: Vec<Vec<String>> = answer
        .items
        .iter()
        .map(|line| {
            let fields: Vec<&str> = line.fields.iter().map(|field| field.name.as_str()).collect();
            let whose = if line.built_in { "built in" } else { "yours" };
            vec![line.name.clone(), line.version.to_string(), whose.to_owned(), fields.join(", ")]
        })
        .collect();
    table(&["SCHEMA", "VERSION", "FROM", "FIELDS"], &rows)
}
