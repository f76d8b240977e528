//! `docmill pause` and `docmill resume`.

use docmill_core::Result;
use docmill_core::answer::CountAnswer;
use docmill_core::batch::BatchChange;
use docmill_core::call::Call;

use super::{ask, counts, print};
use crate::context::{Context, Exit};

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// A batch, by id or name
    batch: Option<String>,
    /// A kind of task, in all batches
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

/// Claim no more work of a batch or of a kind
#[derive(Debug, clap::Args)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    what: What,
}

/// Go on with a batch or a kind
#[derive(Debug, clap::Args)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    what: What,
}

impl PauseArgs {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        self.what.change(cx, "pause", BatchChange::Pause).await
    }
}

impl ResumeArgs {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        self.what.change(cx, "resume", BatchChange::Resume).await
    }
}

impl What {
    async fn change(self, cx: &Context, command: &str, change: BatchChange) -> Result<Exit> {
        let (call, one, many) = match (self.batch, self.kind) {
            (Some(batch), _) => (Call::ChangeBatch { batch, change }, "task", "tasks"),
            (None, kind) => {
                let (kind, paused) = (kind.unwrap_or_default(), change == BatchChange::Pause);
                (Call::PauseKind { kind, paused }, "kind of task", "kinds of task")
            }
        };
        let verb = if change == BatchChange::Pause { "held" } else { "freed" };
        let answer: CountAnswer = ask(cx, command, call).await?;
        print(cx, &answer, |answer| counts::sentence(answer, one, many, verb))?;
        Ok(Exit::Ok)
    }
}
