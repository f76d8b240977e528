//! The whole state of a tenant as one text, to be compared with another run's or with a golden file.
//!
//! Everything is asked for through the ports, so any back end can be printed. What differs between two runs that
//! did the same is not in it: ids have names instead (`names`), times are left out, and where a race is allowed
//! (which of two equal files came first) only what must hold whoever won is printed.

mod names;
mod sections;

use docmill_core::Result;
use docmill_core::answer::ShowAnswer;
use docmill_core::dossier::Dossier;
use docmill_core::event::{Event, EventFilter};
use docmill_core::id::TenantId;
use docmill_core::ports::store::ListQuery;
use docmill_core::ports::{Blobs, Store};
use similar::TextDiff;

use self::names::Names;

const PAGE: usize = 500;

/// Prints everything that the stores hold of a tenant.
pub async fn print(store: &dyn Store, blobs: &dyn Blobs, tenant: TenantId) -> Result<String> {
    let state = State::load(store, tenant).await?;
    let names = Names::of(&state);
    let sections = [
        sections::batches(store, tenant, &state, &names).await?,
        sections::ledger(store, tenant, &names).await?,
        sections::documents(&state, &names),
        sections::ingestions(&state, &names),
        sections::dead_letters(store, tenant, &names).await?,
        sections::events(&state, &names),
        sections::blobs(store, blobs, &state).await?,
        sections::engine(store, tenant).await?,
    ];
    Ok(names.apply(&sections.join("\n")))
}

/// Insists that two states are the same, and shows what differs if they are not.
#[track_caller]
pub fn assert_same(state: &str, expected: &str) {
    if state == expected {
        return;
    }
    let diff = TextDiff::from_lines(expected, state);
    let shown = diff.unified_diff().context_radius(4).header("expected", "found").to_string();
    let lines: Vec<&str> = shown.lines().take(300).collect();
    assert!(lines.is_empty(), "the states differ:\n{}", lines.join("\n"));
}

/// What the sections are made of.
struct State {
    documents: Vec<ShowAnswer>,
    ingestions: Vec<Dossier>,
    events: Vec<Event>,
    /// The number of the oldest event that is kept.
    oldest_event: i64,
}

impl State {
    async fn load(store: &dyn Store, tenant: TenantId) -> Result<Self> {
        let mut documents = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page =
                store.list(tenant, &ListQuery { cursor: cursor.clone(), ..ListQuery::all(PAGE) }).await?;
            for line in &page.documents {
                documents.extend(store.show(tenant, &line.document_id.to_string()).await?);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let mut ingestions: Vec<Dossier> = Vec::new();
        loop {
            let after = ingestions.last().map(|last| last.ingestion_id);
            let page = store.dossiers(tenant, after, PAGE).await?;
            if page.is_empty() {
                break;
            }
            ingestions.extend(page);
        }
        let mut events: Vec<Event> = Vec::new();
        let mut filter = EventFilter { limit: Some(PAGE), ..EventFilter::default() };
        let oldest_event = loop {
            let page = store.events(tenant, &filter).await?;
            if page.events.is_empty() {
                break page.oldest;
            }
            events.extend(page.events);
            filter.after = page.next;
        };
        Ok(Self { documents, ingestions, events, oldest_event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "-two\n+zwei")]
    fn assert_same_shows_what_differs() {
        assert_same("one\nzwei\nthree\n", "one\ntwo\nthree\n");
    }

    #[test]
    fn assert_same_is_silent_about_equal_states() {
        assert_same("one\n", "one\n");
    }
}
