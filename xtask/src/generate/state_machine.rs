//! `docs/state-machine.md`, drawn from `core::state`.

use docmill_core::state::{TaskEvent, TaskState, transition};

/// The page.
pub(super) fn page() -> String {
    let mut page = String::from(
        "# How a task changes\n\n\
         A task is one unit of queued work of one ingestion.\n\
         `crates/core/src/state.rs` is the only place that knows how it may change; every store applies what it says, \
         and the property tests hold every store against it.\n\n\
         ```mermaid\nstateDiagram-v2\n    [*] --> queued\n    [*] --> waiting\n",
    );
    for (state, event, next) in changes() {
        page.push_str(&format!("    {} --> {}: {}\n", state.name(), next.name(), words(event)));
    }
    for state in TaskState::ALL.iter().filter(|s| !s.is_open()) {
        page.push_str(&format!("    {} --> [*]\n", state.name()));
    }
    page.push_str("```\n\n| from | when | to |\n|---|---|---|\n");
    for (state, event, next) in changes() {
        page.push_str(&format!("| {} | {} | {} |\n", state.name(), words(event), next.name()));
    }
    page.push_str("\nEverything that is not in the table is refused.\n");
    page
}

fn changes() -> impl Iterator<Item = (TaskState, TaskEvent, TaskState)> {
    TaskState::ALL.iter().flat_map(|&state| {
        TaskEvent::ALL.iter().filter_map(move |&event| Some((state, event, transition(state, event).ok()?)))
    })
}

fn words(event: TaskEvent) -> &'static str {
    match event {
        TaskEvent::PartsDone => "its last part has ended",
        TaskEvent::Hold => "its batch is paused",
        TaskEvent::Unhold => "its batch goes on",
        TaskEvent::Claim => "a worker claims it",
        TaskEvent::Succeed => "the worker reports success",
        TaskEvent::Retry => "the worker reports a failure that is tried again",
        TaskEvent::Release => "the worker hands it back",
        TaskEvent::Lose => "its lease ends or its worker dies",
        TaskEvent::Die => "the last failure, or one loss too many",
        TaskEvent::Cancel => "its batch is cancelled, or a person replays what leads to it",
        TaskEvent::Replay => "a person replays it",
        TaskEvent::Drop => "a person drops it, or replays what leads to it",
        TaskEvent::Reopen => "a person replays a part of it",
        TaskEvent::Recall => "its join waits for it again",
    }
}
