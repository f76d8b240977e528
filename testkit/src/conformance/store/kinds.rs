//! Lists and selections by what documents are: an invoice, a letter.

use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ingestion::{Facts, IngestionEnd};
use docmill_core::ports::Store;
use docmill_core::ports::store::{ChangedDocument, Done, ListQuery, Outcome, Selection};
use docmill_core::problem::ResultCode;
use docmill_core::task::Lease;
use docmill_core::understanding::{Judgement, Understanding};

use super::world::{World, done, ended};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        list_of_a_kind_is_the_list_of_all_without_the_others,
        list_of_a_kind_goes_together_with_everything_else,
        kind_is_that_of_the_newest_ingestion_that_could_tell,
        kind_by_meaning_stands_where_words_tell_none,
        what_nothing_tells_is_other_and_what_nobody_tried_to_tell_is_nothing,
        kind_by_meaning_is_a_change_for_whoever_follows,
        kind_of_a_removed_document_is_forgotten,
        select_matches_kinds_and_patterns_of_types,
    ]
}

const NOTHING: &[DocumentId] = &[];

/// Read as a text that is this, by its words.
fn told(kind: Option<&str>) -> Outcome {
    let understanding = Understanding {
        kind: kind.map(Into::into),
        summary: Some("of \u{0} and \\u0000".into()),
        ..Understanding::default()
    };
    let facts = Facts {
        title: Some("t".into()),
        media_type: Some("text/plain".into()),
        understanding: Some(understanding),
        ..Facts::default()
    };
    let end = Some(IngestionEnd::completed(ResultCode::Success, Vec::new()));
    done(Done { facts, end, ..Done::default() })
}

fn of(kind: &str) -> ListQuery {
    ListQuery { kind: Some(kind.into()), ..ListQuery::all(10) }
}

impl World {
    /// Takes this text in; again, if it is there.
    async fn open_text(&self, text: &str) -> (DocumentId, Lease) {
        let received = self.take(self.receipt(None, &format!("{text}.txt"), text)).await;
        (received.document_id.unwrap(), self.claim_one().await)
    }

    /// A document of this text that is this, by its words; another ingestion of it, if it is there.
    pub async fn being(&self, text: &str, kind: Option<&str>) -> DocumentId {
        let (id, lease) = self.open_text(text).await;
        self.report(&lease, told(kind)).await;
        id
    }

    /// Keeps what the meaning of a document says that it is.
    pub async fn judge_as(&self, tenant: TenantId, id: DocumentId, kind: Option<&str>) {
        let judged = Judgement { kind: kind.map(Into::into), ..Judgement::default() };
        self.store.judge(vec![(tenant, id, Some(judged))]).await.unwrap();
    }

    /// The documents of a page.
    pub async fn listed(&self, query: &ListQuery) -> Vec<DocumentId> {
        let page = self.store.list(self.tenant, query).await.unwrap();
        page.documents.into_iter().map(|line| line.document_id).collect()
    }

    /// The documents of a kind.
    pub async fn listed_as(&self, kind: &str) -> Vec<DocumentId> {
        self.listed(&of(kind)).await
    }

    async fn selected(&self, selection: &Selection) -> Vec<DocumentId> {
        let found = self.store.select(self.tenant, selection).await.unwrap();
        found.into_iter().map(|selected| selected.head.document_id).collect()
    }
}

async fn list_of_a_kind_is_the_list_of_all_without_the_others(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let mut invoices = Vec::new();
    for n in 0..9 {
        let kind = [Some("invoice"), Some("letter"), None][n % 3];
        let id = world.being(&format!("text {n}"), kind).await;
        invoices.extend((kind == Some("invoice")).then_some(id));
    }
    invoices.reverse();
    assert_eq!(world.listed_as("invoice").await, invoices);
    assert_eq!(world.listed_as("letter").await.len(), 3);
    for none in ["Invoice", "invoic", "text/plain", "", "invoice\u{0}"] {
        assert_eq!(world.listed_as(none).await, NOTHING, "{none:?}");
    }
    let all = world.store.list(world.tenant, &ListQuery::all(10)).await.unwrap().documents;
    let kinds: Vec<_> = all.iter().rev().map(|line| line.kind.as_deref()).collect();
    assert_eq!(kinds[..4], [Some("invoice"), Some("letter"), Some("other"), Some("invoice")]);
    let first = world.store.list(world.tenant, &ListQuery { limit: 2, ..of("invoice") }).await.unwrap();
    assert_eq!(first.documents.iter().map(|line| line.document_id).collect::<Vec<_>>(), invoices[..2]);
    let rest = ListQuery { cursor: first.next_cursor, limit: 2, ..of("invoice") };
    assert_eq!(world.listed(&rest).await, invoices[2..]);
    let other = world.store.tenant("other").await.unwrap();
    assert_eq!(world.store.list(other, &of("invoice")).await.unwrap().documents, []);
}

async fn list_of_a_kind_goes_together_with_everything_else(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let first = world.being("one", Some("invoice")).await;
    let letter = world.being("two", Some("letter")).await;
    let third = world.being("three", Some("invoice")).await;
    let both = [third, first];
    let typed = |media_type: &str| ListQuery { media_type: Some(media_type.into()), ..of("invoice") };
    assert_eq!(world.listed(&typed("text/plain")).await, both);
    assert_eq!(world.listed(&typed("text/*")).await, both);
    assert_eq!(world.listed(&typed("image/*")).await, NOTHING);
    assert_eq!(world.listed(&typed("image/png")).await, NOTHING);
    let some = ListQuery { ids: Some(vec![first, letter]), ..of("invoice") };
    assert_eq!(world.listed(&some).await, [first]);
    let tagged = ListQuery { tag: Some("chairs".into()), ..of("invoice") };
    assert_eq!(world.listed(&tagged).await, NOTHING);
    // At work again: another ingestion is open.
    world.take(world.receipt(None, "again.txt", "one")).await;
    let states = [(DocumentState::Ready, third), (DocumentState::Processing, first)];
    for (state, id) in states {
        assert_eq!(world.listed(&ListQuery { state: Some(state), ..of("invoice") }).await, [id], "{state:?}");
    }
    for state in DocumentState::ALL {
        if states.iter().all(|(known, _)| known != state) {
            assert_eq!(world.listed(&ListQuery { state: Some(*state), ..of("invoice") }).await, NOTHING);
        }
    }
}

async fn kind_is_that_of_the_newest_ingestion_that_could_tell(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let id = world.being("one", Some("invoice")).await;
    assert_eq!(world.listed_as("invoice").await, [id]);
    // One that understood nothing at all keeps what an older one found.
    let (_, lease) = world.open_text("one").await;
    world.report(&lease, ended(ResultCode::Success)).await;
    assert_eq!(world.listed_as("invoice").await, [id]);
    let (_, older) = world.open_text("one").await;
    let (_, newer) = world.open_text("one").await;
    world.report(&newer, told(Some("letter"))).await;
    world.report(&older, told(Some("receipt"))).await;
    assert_eq!(world.listed_as("letter").await, [id]);
    assert_eq!(world.listed_as("receipt").await, NOTHING);
    assert_eq!(world.listed_as("invoice").await, NOTHING);
    // One that understood the text and found no kind takes it away.
    world.being("one", None).await;
    assert_eq!(world.listed_as("letter").await, NOTHING);
    let all = world.store.list(world.tenant, &ListQuery::all(10)).await.unwrap().documents;
    assert_eq!(all.iter().map(|line| line.kind.as_deref()).collect::<Vec<_>>(), [Some("other")]);
}

async fn kind_by_meaning_stands_where_words_tell_none(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let told = world.being("told", Some("invoice")).await;
    let untold = world.being("untold", None).await;
    let other = world.store.tenant("other").await.unwrap();
    world.judge_as(other, untold, Some("report")).await;
    assert_eq!(world.listed_as("report").await, NOTHING);
    for id in [told, untold] {
        world.judge_as(world.tenant, id, Some("letter")).await;
    }
    assert_eq!(world.listed_as("letter").await, [untold], "words come first");
    assert_eq!(world.listed_as("invoice").await, [told]);
    // It stays while words tell none, and shows when they do no longer.
    world.being("untold", None).await;
    world.being("told", None).await;
    assert_eq!(world.listed_as("letter").await, [untold, told]);
    world.being("told", Some("invoice")).await;
    world.judge_as(world.tenant, untold, Some("report")).await;
    assert_eq!(world.listed_as("report").await, [untold]);
    assert_eq!(world.listed_as("letter").await, NOTHING);
    world.judge_as(world.tenant, untold, None).await;
    assert_eq!(world.listed_as("report").await, NOTHING);
    world.judge_as(world.tenant, untold, Some("a\u{0}b")).await;
    world.store.judge(vec![(world.tenant, untold, None)]).await.unwrap();
    let all = world.store.list(world.tenant, &ListQuery::all(10)).await.unwrap().documents;
    let kinds: Vec<_> = all.iter().map(|line| line.kind.as_deref()).collect();
    assert_eq!(kinds, [Some("other"), Some("invoice")]);
}

async fn what_nothing_tells_is_other_and_what_nobody_tried_to_tell_is_nothing(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let told = world.being("told", Some("letter")).await;
    let untold = world.being("untold", None).await;
    let (untried, lease) = world.open_text("untried").await;
    world.report(&lease, ended(ResultCode::Success)).await;
    assert_eq!(world.listed_as("other").await, [untold]);
    let other = Selection { kind: Some("other".into()), ..Selection::default() };
    assert_eq!(world.selected(&other).await, [untold]);
    let named = Selection { ids: vec![told, untold, untried], ..other.clone() };
    assert_eq!(world.selected(&named).await, [untold]);
    let ready = ListQuery { state: Some(DocumentState::Ready), ..of("other") };
    assert_eq!(world.listed(&ready).await, [untold]);
    let shown =
        async |id: DocumentId| world.store.show(world.tenant, &id.to_string()).await.unwrap().unwrap();
    assert_eq!(shown(untold).await.kind.as_deref(), Some("other"));
    assert_eq!(shown(untold).await.evidence["type"].method, "none");
    assert_eq!(shown(told).await.kind.as_deref(), Some("letter"));
    assert_eq!(shown(untried).await.kind, None);
    // What is found out later is what it is.
    world.judge_as(world.tenant, untold, Some("report")).await;
    assert_eq!(world.listed_as("other").await, NOTHING);
    assert_eq!(world.selected(&other).await, NOTHING);
    assert_eq!(world.listed_as("report").await, [untold]);
}

async fn kind_by_meaning_is_a_change_for_whoever_follows(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let told = world.being("told", Some("invoice")).await;
    let untold = world.being("untold", None).await;
    let seen = world.store.changes(0, 10).await.unwrap();
    let kinds = |seen: &[ChangedDocument]| {
        seen.iter().map(|c| (c.document_id, c.particulars.kind.clone())).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&seen), [(told, Some("invoice".into())), (untold, Some("other".into()))]);
    let before = seen.last().unwrap().seq;
    for id in [told, untold] {
        world.judge_as(world.tenant, id, Some("letter")).await;
    }
    let seen = world.store.changes(before, 10).await.unwrap();
    assert_eq!(kinds(&seen), [(untold, Some("letter".into()))], "words come first");
    assert_eq!(world.store.last_change().await.unwrap(), seen[0].seq);
    // Who follows and says the same again is not kept busy by that.
    world.judge_as(world.tenant, untold, Some("letter")).await;
    assert_eq!(world.store.changes(seen[0].seq, 10).await.unwrap().len(), 0);
    assert_eq!(world.store.last_change().await.unwrap(), seen[0].seq);
}

async fn kind_of_a_removed_document_is_forgotten(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let told = world.being("told", Some("invoice")).await;
    let untold = world.being("untold", None).await;
    world.judge_as(world.tenant, untold, Some("invoice")).await;
    for id in [told, untold] {
        world.store.remove(world.tenant, id).await.unwrap().unwrap();
        // What comes too late for it changes nothing.
        world.judge_as(world.tenant, id, Some("invoice")).await;
    }
    let selection = Selection { kind: Some("invoice".into()), ..Selection::default() };
    assert_eq!(world.listed_as("invoice").await, NOTHING);
    assert_eq!(world.selected(&selection).await, NOTHING);
    let again = world.being("untold", None).await;
    assert_ne!(again, untold);
    assert_eq!(world.listed_as("invoice").await, NOTHING, "an equal document that comes later starts anew");
}

async fn select_matches_kinds_and_patterns_of_types(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let invoice = world.being("one", Some("invoice")).await;
    let letter = world.being("two", None).await;
    world.judge_as(world.tenant, letter, Some("letter")).await;
    let of = |kind: &str| Selection { kind: Some(kind.into()), ..Selection::default() };
    assert_eq!(world.selected(&of("invoice")).await, [invoice]);
    assert_eq!(world.selected(&of("letter")).await, [letter]);
    assert_eq!(world.selected(&of("report")).await, NOTHING);
    let named = Selection { ids: vec![invoice, letter], ..of("letter") };
    assert_eq!(world.selected(&named).await, [letter]);
    let failed = Selection { state: Some(DocumentState::Failed), ..of("invoice") };
    assert_eq!(world.selected(&failed).await, NOTHING);
    for (media_type, found) in [("text/*", 2), ("*/*", 2), ("text/plain", 2), ("image/*", 0)] {
        let typed = Selection { media_type: Some(media_type.into()), ..Selection::default() };
        assert_eq!(world.selected(&typed).await.len(), found, "{media_type}");
        let both = Selection { media_type: Some(media_type.into()), ..of("invoice") };
        assert_eq!(world.selected(&both).await.len(), found / 2, "{media_type}");
    }
    // Records are taken by what words tell.
    let all = world.store.select(world.tenant, &Selection::default()).await.unwrap();
    assert_eq!(all.iter().map(|s| s.kind.as_deref()).collect::<Vec<_>>(), [Some("invoice"), None]);
    let other = world.store.tenant("other").await.unwrap();
    assert!(world.store.select(other, &of("invoice")).await.unwrap().is_empty());
}
