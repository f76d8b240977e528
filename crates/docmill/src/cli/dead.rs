//! `docmill dead list|replay|drop`.

use docmill_core::Result;
use docmill_core::answer::{CountAnswer, DeadAnswer};
use docmill_core::call::Call;
use docmill_core::id::TaskId;

use super::{ask, counts, print, queue};
use crate::context::{Context, Exit};
use crate::terminal::{relative, table};

/// Look after tasks that could not be done
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List them, newest first
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
    },
    /// Queue them again
    Replay(Which),
    /// Give them up
    Drop(Which),
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// By number
    #[arg(value_name = "TASK")]
    ids: Vec<i64>,
    /// All of them
    #[arg(long)]
    all: bool,
}

impl Which {
    fn ids(self) -> Option<Vec<TaskId>> {
        (!self.all).then(|| self.ids.into_iter().map(TaskId).collect())
    }
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        match self.action {
            Action::List { limit } => {
                let answer: DeadAnswer = ask(cx, "dead list", Call::DeadList { limit }).await?;
                print(cx, &answer, |answer| human(cx, answer))?;
            }
            Action::Replay(which) => {
                let call = Call::DeadReplay { ids: which.ids() };
                queue(cx, "dead replay", call, |answer| {
                    counts::sentence(answer, "task", "tasks", "queued again")
                })
                .await?;
            }
            Action::Drop(which) => {
                let call = Call::DeadDrop { ids: which.ids() };
                let answer: CountAnswer = ask(cx, "dead drop", call).await?;
                print(cx, &answer, |answer| counts::sentence(answer, "task", "tasks", "given up"))?;
            }
        }
        Ok(Exit::Ok)
    }
}

fn human(cx: &Context, answer: &DeadAnswer) -> String {
    let now = cx.clock.now();
    let rows: Vec<Vec<String>> = answer
        .dead
        .iter()
        .map(|line| {
            vec![
                line.task_id.to_string(),
                line.kind.clone(),
                line.died_at.map_or_else(String::new, |at| relative(now, at)),
                line.name.clone(),
                line.error.as_ref().map_or_else(String::new, |e| format!("{}: {}", e.kind, e.message)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "no dead letters".to_owned();
    }
    table(&["TASK", "KIND", "DIED", "NAME", "REASON"], &rows)
}
