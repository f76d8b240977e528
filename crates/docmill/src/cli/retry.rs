//! `docmill retry`.

use docmill_core::Result;
use docmill_core::call::Call;

use super::{counts, queue};
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
        let call = Call::Retry { id: self.id };
        let answer =
            queue(cx, "retry", call, |answer| counts::sentence(answer, "item", "items", "tried again"))
                .await?;
        if self.failed && answer.count == 0 {
            cx.terminal.note(
                "hint: what never came in has nothing to try again: `docmill events --type ERROR` names each such item",
            );
        }
        Ok(Exit::Ok)
    }
}
