//! `docmill why`.

use docmill_core::Result;
use docmill_core::answer::WhyAnswer;
use docmill_core::call::Call;
use docmill_core::text::shown;

use super::{ask, print};
use crate::context::{Context, Exit};
use crate::terminal::relative;

/// Say why one item is not done
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of a document or an ingestion
    id: String,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let answer: WhyAnswer = ask(cx, "why", Call::Why { id: self.id }).await?;
        print(cx, &answer, |answer| human(cx, answer))?;
        Ok(Exit::Ok)
    }
}

fn human(cx: &Context, answer: &WhyAnswer) -> String {
    let now = cx.clock.now();
    let mut out = format!(
        "{} is {} ({}): {}",
        shown(&answer.id),
        answer.state,
        answer.stage.name(),
        shown(&answer.waiting_for)
    );
    if answer.attempt > 0 {
        out.push_str(&format!("\n{} of {} attempts have failed", answer.attempt, answer.max_attempts));
    }
    if let Some(error) = &answer.last_error {
        out.push_str(&format!("\nthe last error was {}: {}", error.kind, shown(&error.message)));
        if let Some(hint) = &error.hint {
            out.push_str(&format!("\nhint: {hint}"));
        }
    }
    // What is due already waits for something else, which has been told.
    if let Some(at) = answer.next_try_at.filter(|at| *at > now) {
        out.push_str(&format!("\nit is tried again {}", relative(now, at)));
    }
    if let Some(lease) = &answer.lease {
        out.push_str(&format!(
            "\nworker {} has it, until {} unless it renews",
            lease.owner,
            relative(now, lease.until)
        ));
    }
    out
}
