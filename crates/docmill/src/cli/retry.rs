//! `docmill retry`.

use docmill_core::Result;
use docmill_core::answer::CountAnswer;
use docmill_core::call::Call;

use super::{ask, counts, print};
use crate::context::{Context, Exit};

/// Try again what failed
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(super) struct Args {
    /// Of a document or an ingestion
    #[arg(group = "what")]
    id: Option<String>,
    /// Everything that failed
    #[arg(long, group = "what")]
    failed: bool,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let answer: CountAnswer = ask(cx, "retry", Call::Retry { id: self.id }).await?;
        print(cx, &answer, |answer| counts::sentence(answer, "item", "items", "tried again"))?;
        Ok(Exit::Ok)
    }
}
