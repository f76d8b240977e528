//! `docmill backup`.

use std::path::PathBuf;

use docmill_core::answer::CountAnswer;
use docmill_core::call::Call;
use docmill_core::{Error, Result};

use super::{ask, counts, print};
use crate::context::{Context, Exit};
use crate::ingest::walk::show;

/// Copy everything to a directory, while everything runs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A directory that does not exist yet, or is empty
    #[arg(value_name = "DIR")]
    to: PathBuf,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let failed = || Error::invalid_request(format!("cannot tell where `{}` is", show(&self.to)));
        // Absolute, because the owner of the data directory may run in another one.
        let to = std::path::absolute(&self.to).map_err(|e| failed().with_source(e))?;
        let to = to.into_os_string().into_string().map_err(|_odd| {
            Error::invalid_request(format!("the name `{}` is not text", show(&self.to)))
                .with_hint("name a directory whose path is UTF-8")
        })?;
        let answer: CountAnswer = ask(cx, "backup", Call::Backup { to }).await?;
        print(cx, &answer, |answer| counts::sentence(answer, "blob", "blobs", "copied, and the database"))?;
        cx.terminal.note(&format!("hint: `docmill --data NEW restore {}` brings it back", show(&self.to)));
        Ok(Exit::Ok)
    }
}
