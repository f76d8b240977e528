//! `docmill why`.

use docmill_core::answer::{IngestionAnswer, ShowAnswer, WhyAnswer};
use docmill_core::call::Call;
use docmill_core::document::DocumentState;
use docmill_core::text::shown;
use docmill_core::{ErrorKind, Result};

use super::print;
use crate::context::{Context, Exit};
use crate::session::Session;
use crate::terminal::relative;

/// Say why one item is not done
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of a document or an ingestion
    id: String,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let session = Session::open(&cx.settings, &cx.clock, "why").await?;
        let answer = look(cx, &session, self.id).await;
        let closed = session.close(std::time::Duration::ZERO).await;
        let (answer, name) = answer?;
        closed?;
        print(cx, &answer, |answer| human(cx, answer, &name))?;
        Ok(Exit::Ok)
    }
}

/// The answer, and for people what the item is called; `--json` is promised to be the answer alone.
async fn look(cx: &Context, session: &Session, id: String) -> Result<(WhyAnswer, String)> {
    let answer = session.ask(Call::Why { id: id.clone() }).await?;
    let name = if cx.terminal.json { String::new() } else { name(session, id).await? };
    Ok((answer, name))
}

/// The name of a document, and of an ingestion where it lay: without content that stands nowhere else.
async fn name(session: &Session, id: String) -> Result<String> {
    match session.ask::<IngestionAnswer>(Call::Ingestion { id: id.parse()? }).await {
        Ok(answer) => Ok(answer.origin),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            session.ask::<ShowAnswer>(Call::Show { id }).await.map(|answer| answer.name)
        }
        Err(error) => Err(error),
    }
}

fn human(cx: &Context, answer: &WhyAnswer, name: &str) -> String {
    let now = cx.clock.now();
    let mut out = format!(
        "{} ({}) is {} ({}): {}",
        shown(&answer.id),
        shown(name),
        answer.state,
        answer.stage.name(),
        shown(answer.waiting_for.strip_prefix("nothing: ").unwrap_or(&answer.waiting_for))
    );
    if answer.state == DocumentState::NeedsReview.name() {
        out.push_str(&format!("\na person should look at it: `docmill show {}` says why", shown(&answer.id)));
    }
    if answer.attempt > 0 {
        out.push_str(&format!("\n{} of {} attempts have failed", answer.attempt, answer.max_attempts));
    }
    if let Some(error) = &answer.last_error {
        out.push_str(&format!("\nthe last error was {}: {}", error.kind, shown(&error.message)));
        if let Some(hint) = &error.hint {
            out.push_str(&format!("\nhint: {hint}"));
        }
    }
    // What is due already waits for what was said above.
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
