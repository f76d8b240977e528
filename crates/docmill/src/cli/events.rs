//! `docmill events`.

use std::time::Duration;

use docmill_core::Result;
use docmill_core::answer::EventsAnswer;
use docmill_core::call::Call;
use docmill_core::event::{Event, EventFilter, EventStatus, EventType};
use docmill_core::id::{BatchId, DocumentId};
use docmill_core::text::shown;

use crate::context::{Context, Exit};
use crate::session::Session;
use crate::signals::Signals;

/// How often a follower looks for more.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Events of one question.
const PAGE: usize = 1000;

/// Print what happened, a line an event
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only events after this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: i64,
    /// Wait for more
    #[arg(long)]
    follow: bool,
    /// Only this type, for instance `JOB_FINISHED`; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = event_type)]
    types: Vec<EventType>,
    /// Only of this batch
    #[arg(long, value_name = "ID")]
    batch: Option<BatchId>,
    /// Only about this document
    #[arg(long, value_name = "ID")]
    document: Option<DocumentId>,
}

fn event_type(text: &str) -> std::result::Result<EventType, String> {
    EventType::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = EventType::ALL.iter().map(|kind| kind.name()).collect();
        format!("the types are {}", names.join(", "))
    })
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let signals = Signals::listen()?;
        let session = Session::open(&cx.settings, &cx.clock, "events").await?;
        if self.follow {
            session.may_be_left();
        }
        let outcome = self.print(cx, &session, &signals).await;
        let closed = session.close(Duration::ZERO).await;
        let exit = outcome?;
        closed?;
        Ok(exit)
    }

    async fn print(self, cx: &Context, session: &Session, signals: &Signals) -> Result<Exit> {
        let mut filter = EventFilter {
            after: self.after,
            limit: Some(PAGE),
            types: self.types,
            batch_id: self.batch,
            document_id: self.document,
        };
        loop {
            let answer: EventsAnswer = session.ask(Call::Events { filter: filter.clone() }).await?;
            if filter.after + 1 < answer.oldest {
                cx.terminal.note(&format!("events before number {} are gone", answer.oldest));
            }
            for event in &answer.events {
                line(cx, event)?;
            }
            let more = answer.next > filter.after;
            filter.after = answer.next.max(filter.after);
            if signals.asked() {
                return Ok(Exit::Interrupted);
            }
            if more {
                continue;
            }
            if !self.follow {
                return Ok(Exit::Ok);
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = signals.first() => return Ok(Exit::Interrupted),
            }
        }
    }
}

fn line(cx: &Context, event: &Event) -> Result<()> {
    if cx.terminal.json {
        return cx.terminal.object(event);
    }
    let about = [
        event.task_kind.as_ref().map(ToString::to_string),
        // Content that never came in has no document.
        match (event.document_id, event.ingestion_id) {
            (Some(id), _) => Some(format!("document {id}")),
            (None, id) => id.map(|id| format!("ingestion {id}")),
        },
        event.batch_id.map(|id| format!("batch {id}")),
        event.detail.get("message").and_then(|m| m.as_str()).map(shown),
    ];
    let about: Vec<String> = about.into_iter().flatten().collect();
    let mark = if event.status == EventStatus::Error { "!" } else { " " };
    cx.terminal.line(&format!(
        "{:>6} {} {mark} {:<18} {}",
        event.id,
        event.time,
        event.kind.name(),
        about.join(", ")
    ))
}
