//! What an import comes to, in words.

use std::collections::BTreeMap;

use docmill_core::Result;
use docmill_core::answer::{AuditAnswer, EventsAnswer, IngestAnswer};
use docmill_core::call::Call;
use docmill_core::event::{EventFilter, EventType};
use docmill_core::id::BatchId;
use docmill_core::text::shown;

use crate::session::Session;
use crate::terminal::{count, counted};

/// Events that are looked at for causes; more of the same would not change the picture.
const EVENTS: usize = 20_000;

/// One cause of problems.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cause {
    /// Something failed, as opposed to something was left out or read in part.
    pub(super) failed: bool,
    pub(super) kind: String,
    pub(super) count: u64,
    /// One of them, to begin with.
    pub(super) example: String,
    /// What tells more about it.
    pub(super) command: Option<String>,
}

pub(super) fn received(answer: &IngestAnswer) -> String {
    format!("batch {}: {} received", answer.batch_id, counted(answer.received, "item", "items"))
}

pub(super) fn finished(answer: &IngestAnswer, audit: &AuditAnswer) -> String {
    let seconds = answer.elapsed_ms as f64 / 1000.0;
    let all = answer.received + answer.children;
    let mut line = format!("batch {}: {} in {seconds:.1} s", answer.batch_id, counted(all, "item", "items"));
    if answer.children > 0 {
        line.push_str(&format!(" ({} from containers)", count(answer.children)));
    }
    line.push_str(&format!("\n{}", crate::cli::audit::sum(audit)));
    if answer.duplicates > 0 {
        line.push_str(&format!(
            "\n{} had content that was there before",
            counted(answer.duplicates, "item", "items")
        ));
    }
    line
}

pub(super) fn interrupted(
    answer: &IngestAnswer,
    name: &str,
    sealed: bool,
    paused: bool,
    guest: bool,
) -> String {
    // What came out of containers is among those that are open.
    let state = format!(
        "interrupted: {} so far, {} of them still open; nothing is lost",
        counted(answer.received + answer.children, "item", "items"),
        count(answer.open)
    );
    let way_on = if !sealed {
        format!("hint: the same command with `--batch {}` resumes and adds nothing twice", shown(name))
    } else if paused {
        format!("hint: the batch is paused; `docmill resume {}` lets it go on", shown(name))
    } else if guest {
        "the docmill that owns the data directory goes on with the work".to_owned()
    } else {
        "hint: `docmill work --exit-when-idle` finishes the work".to_owned()
    };
    format!("{state}\n{way_on}")
}

/// What went wrong in a batch, by cause, the most frequent first.
pub(super) async fn causes(session: &Session, batch_id: BatchId) -> Result<Vec<Cause>> {
    let mut causes: BTreeMap<(bool, String), Cause> = BTreeMap::new();
    let mut after = 0;
    let mut seen = 0;
    while seen < EVENTS {
        let filter = EventFilter {
            after,
            limit: Some(1000),
            types: vec![EventType::Error, EventType::Warning],
            batch_id: Some(batch_id),
            document_id: None,
        };
        let answer: EventsAnswer = session.ask(Call::Events { filter }).await?;
        if answer.events.is_empty() && answer.next <= after {
            break;
        }
        seen += answer.events.len();
        for event in answer.events {
            let text =
                |key: &str| event.detail.get(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
            let failed = event.kind == EventType::Error;
            let command = match (event.document_id, event.ingestion_id) {
                (Some(id), _) if failed => Some(format!("docmill why {id}")),
                (Some(id), _) => Some(format!("docmill show {id}")),
                (None, id) => id.map(|id| format!("docmill why {id}")),
            };
            let cause = causes.entry((failed, text("kind"))).or_insert_with(|| Cause {
                failed,
                kind: text("kind"),
                count: 0,
                example: text("message"),
                command,
            });
            cause.count += 1;
        }
        if answer.next <= after {
            break;
        }
        after = answer.next;
    }
    let mut causes: Vec<Cause> = causes.into_values().collect();
    causes.sort_by_key(|cause| (!cause.failed, std::cmp::Reverse(cause.count)));
    Ok(causes)
}

/// Lines about what went wrong, with the way on; none if nothing did.
pub(super) fn problems(answer: &IngestAnswer, audit: &AuditAnswer, causes: &[Cause]) -> Vec<String> {
    let mut lines = Vec::new();
    for cause in causes {
        let label = if cause.failed { "failed" } else { "note" };
        let items = counted(cause.count, "item", "items");
        // What is said of one does not hold for all of them.
        let says = if cause.count > 1 { "; one of them: " } else { ": " };
        lines.push(format!("{label}: {items}: {}{says}{}", cause.kind, shown(&cause.example)));
        if let Some(command) = &cause.command {
            lines.push(format!("hint: `{command}`"));
        }
    }
    for (failed, events, what) in [(true, "ERROR", "each that failed"), (false, "WARNING", "each note")] {
        if causes.iter().any(|cause| cause.failed == failed && cause.count > 1) {
            let all = format!("docmill events --type {events} --batch {}", answer.batch_id);
            lines.push(format!("hint: `{all}` has {what}"));
        }
    }
    if answer.dead > 0 {
        lines.push(format!(
            "failed: {} could not be done; hint: `docmill dead list`",
            counted(answer.dead, "task", "tasks")
        ));
    }
    if !audit.balanced {
        lines.push("error: the ledger does not balance; hint: `docmill audit` shows both sides".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use docmill_core::answer::BlobAudit;
    use uuid::Uuid;

    use super::*;

    fn answer() -> IngestAnswer {
        IngestAnswer {
            batch_id: BatchId(Uuid::nil()),
            received: 3,
            completed: 2,
            failed: 1,
            skipped: 0,
            cancelled: 0,
            duplicates: 1,
            children: 0,
            open: 0,
            dead: 1,
            elapsed_ms: 1500,
        }
    }

    fn audit() -> AuditAnswer {
        AuditAnswer {
            balanced: true,
            expected: 3,
            completed: 2,
            failed: 1,
            skipped: BTreeMap::new(),
            duplicates: 1,
            cancelled: 0,
            open: 0,
            unsealed: Vec::new(),
            containers: Vec::new(),
            blobs: BlobAudit::default(),
        }
    }

    #[test]
    fn way_on_after_an_interruption_is_one_that_leads_on() {
        let hint = |sealed, paused| interrupted(&answer(), "b", sealed, paused, false);
        assert!(hint(true, false).contains("`docmill work --exit-when-idle`"));
        assert!(hint(true, true).contains("`docmill resume b`"));
        for paused in [false, true] {
            assert!(hint(false, paused).contains("`--batch b`"), "what was not brought in comes first");
        }
    }

    #[test]
    fn summary_names_the_sum_the_causes_and_the_way_on() {
        let cause = Cause {
            failed: true,
            kind: "unreadable".into(),
            count: 1,
            example: "cannot read `a\nb`".into(),
            command: Some("docmill why 0192".into()),
        };
        let text = finished(&answer(), &audit());
        assert!(
            text.contains("3 items in 1.5 s") && text.contains("3 expected = 2 completed + 1 failed"),
            "{text}"
        );
        let lines = problems(&answer(), &audit(), &[cause]).join("\n");
        for part in
            ["failed: 1 item: unreadable: cannot read `a\u{fffd}b`", "docmill why 0192", "docmill dead list"]
        {
            assert!(lines.contains(part), "{part} is missing in {lines}");
        }
        assert!(!lines.contains("docmill events"), "one that failed is named already: {lines}");
    }

    #[test]
    fn summary_leads_to_all_that_failed_if_there_are_more_than_it_names() {
        let cause = Cause {
            failed: true,
            kind: "encrypted".into(),
            count: 2,
            example: "member is encrypted".into(),
            command: None,
        };
        let note =
            Cause { failed: false, kind: "corrupt".into(), example: "it is cut off".into(), ..cause.clone() };
        let lines = problems(&answer(), &audit(), &[cause]).join("\n");
        assert!(lines.contains("2 items: encrypted; one of them: member is encrypted"), "{lines}");
        assert!(lines.contains("docmill events --type ERROR --batch 0000"), "{lines}");
        let lines = problems(&answer(), &audit(), &[note]).join("\n");
        assert!(lines.contains("docmill events --type WARNING --batch 0000"), "{lines}");
    }

    #[test]
    fn interrupted_counts_what_came_out_of_containers_beside_what_is_open_of_it() {
        let answer = IngestAnswer { received: 1, children: 999, open: 600, ..answer() };
        let text = interrupted(&answer, "pile", true, false, false);
        assert!(text.contains("1,000 items so far, 600 of them still open"), "{text}");
        assert!(text.contains("docmill work"), "{text}");
        let text = interrupted(&answer, "pile", true, false, true);
        assert!(!text.contains("docmill work"), "another process does it, and would refuse: {text}");
    }
}
