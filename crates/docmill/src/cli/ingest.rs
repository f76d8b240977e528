//! `docmill ingest`.

use std::path::{Path, PathBuf};

use docmill_core::{Error, Result};

use crate::context::{Context, Exit};
use crate::ingest::{self, Input, Request};

/// Bring files and folders in, and wait until they are done
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files and folders; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Name of the batch; the same name resumes it and adds nothing twice
    #[arg(long, value_name = "NAME")]
    batch: Option<String>,
    /// Lower runs first, 0 to 99
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=99))]
    priority: Option<u8>,
    /// Return when everything is received, without waiting for the work
    #[arg(long)]
    no_wait: bool,
    /// File name of standard input
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl Args {
    pub(super) fn settings(&self) -> Vec<(&'static str, &'static str, String)> {
        self.priority.iter().map(|n| ("engine.priority", "--priority", n.to_string())).collect()
    }

    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let stdin = self.paths.iter().any(|path| path == Path::new("-"));
        let input = match (stdin, self.paths.len(), self.name) {
            (true, 1, Some(name)) => Input::Stdin(name),
            (true, 1, None) => {
                return Err(Error::invalid_request("standard input has no name")
                    .with_hint("give it one with `--name`, for instance `--name letter.pdf`"));
            }
            (true, _, _) => return Err(Error::invalid_request("`-` cannot stand beside other paths")),
            (false, _, Some(_)) => {
                return Err(Error::invalid_request("`--name` is for standard input (`-`) only"));
            }
            (false, _, None) => Input::Paths(self.paths),
        };
        if self.batch.as_deref() == Some("") {
            return Err(Error::invalid_request("`--batch` needs a name"));
        }
        let request =
            Request { input, batch: self.batch, priority: cx.settings.engine.priority, wait: !self.no_wait };
        ingest::run(cx, request).await
    }
}
