//! `docmill cancel`.

use docmill_core::Result;
use docmill_core::answer::CountAnswer;
use docmill_core::batch::BatchChange;
use docmill_core::call::Call;

use super::{ask, counts, print};
use crate::context::{Context, Exit};

/// Drop what is queued of a batch, stop what runs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// By id or name
    batch: String,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let call = Call::ChangeBatch { batch: self.batch, change: BatchChange::Cancel };
        let answer: CountAnswer = ask(cx, "cancel", call).await?;
        print(cx, &answer, |answer| counts::sentence(answer, "item", "items", "cancelled"))?;
        Ok(Exit::Ok)
    }
}
