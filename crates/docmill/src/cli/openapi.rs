//! `docmill openapi`.

use docmill_core::{Error, Result};

use crate::context::Exit;
use crate::terminal::Terminal;

/// Print the OpenAPI document of the HTTP interface
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

impl Args {
    #[expect(clippy::unused_self, reason = "every command is run in the same way")]
    pub(super) fn run(self) -> Result<Exit> {
        let mut document = serde_json::to_string_pretty(&docmill_server::openapi::document())
            .map_err(|e| Error::bug("cannot write the OpenAPI document").with_source(e))?;
        document.push('\n');
        Terminal { json: false, quiet: false }.bytes(document.as_bytes())?;
        Ok(Exit::Ok)
    }
}
