//! `docmill status`.

use docmill_core::Result;
use docmill_core::answer::StatusAnswer;
use docmill_core::call::Call;
use docmill_core::text::size;

use super::{ask, print};
use crate::context::{Context, Exit};
use crate::terminal::{count, counted, relative, table};

/// Show what is going on
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let answer: StatusAnswer = ask(cx, "status", Call::Status).await?;
        print(cx, &answer, |answer| human(cx, answer))?;
        Ok(Exit::Ok)
    }
}

fn human(cx: &Context, answer: &StatusAnswer) -> String {
    let now = cx.clock.now();
    let (ingestions, tasks) = (&answer.ingestions, &answer.tasks);
    let mut out = format!(
        "{}, {:.1} docs/s\ningestions  {} in progress, {} completed, {} failed, {} skipped, {} cancelled\n\
         tasks       {} queued, {} running, {} held, {} dead\n",
        counted(answer.documents, "document", "documents"),
        answer.docs_per_s,
        count(ingestions.in_progress),
        count(ingestions.completed),
        count(ingestions.failed),
        count(ingestions.skipped),
        count(ingestions.cancelled),
        count(tasks.queued),
        count(tasks.running),
        count(tasks.held),
        count(tasks.dead),
    );
    let behind = answer.index.last.saturating_sub(answer.index.watermark);
    if behind > 0 {
        out.push_str(&format!(
            "index       {} behind\n",
            counted(behind.unsigned_abs(), "change", "changes")
        ));
    }
    if let Some(free) = answer.free_disk_bytes {
        out.push_str(&format!("disk        {} free\n", size(free)));
    }
    if !answer.paused_kinds.is_empty() {
        out.push_str(&format!("paused      {}\n", answer.paused_kinds.join(", ")));
    }
    let batches: Vec<Vec<String>> = answer
        .batches
        .iter()
        .map(|batch| {
            let all = batch.received + batch.children;
            vec![
                batch.name.clone().unwrap_or_else(|| batch.batch_id.to_string()),
                if batch.paused { "paused".to_owned() } else { batch.state.name().to_owned() },
                format!("{} of {}", count(all.saturating_sub(batch.open)), count(all)),
                count(batch.failed),
                count(batch.dead),
                relative(now, batch.created_at),
            ]
        })
        .collect();
    if !batches.is_empty() {
        out.push_str(&format!(
            "\n{}\n",
            table(&["BATCH", "STATE", "DONE", "FAILED", "DEAD", "OPENED"], &batches)
        ));
    }
    let workers: Vec<Vec<String>> = answer
        .workers
        .iter()
        .map(|worker| {
            let kinds = if worker.kinds.is_empty() { "all".to_owned() } else { worker.kinds.join(", ") };
            vec![
                format!("{} {}", worker.host, worker.pid),
                worker.state.clone(),
                count(worker.running),
                count(u64::from(worker.slots)),
                kinds,
            ]
        })
        .collect();
    if workers.is_empty() {
        let waiting = tasks.queued > 0;
        let hint = if waiting { "; `docmill work --exit-when-idle` does what is queued" } else { "" };
        out.push_str(&format!("\nno worker runs{hint}\n"));
    } else {
        out.push_str(&format!("\n{}\n", table(&["WORKER", "STATE", "RUNNING", "SLOTS", "KINDS"], &workers)));
    }
    out.trim_end().to_owned()
}
