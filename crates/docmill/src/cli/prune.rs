//! `docmill prune`.

use docmill_core::Result;
use docmill_core::answer::CountAnswer;
use docmill_core::call::Call;

use super::{ask, counts, print};
use crate::context::{Context, Exit};

/// Remove old events, and blobs that nothing refers to for a day
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let answer: CountAnswer = ask(cx, "prune", Call::Prune).await?;
        print(cx, &answer, |answer| counts::sentence(answer, "thing", "things", "removed"))?;
        Ok(Exit::Ok)
    }
}
