//! Schemas, records, and what people say of them.

use std::collections::BTreeMap;
use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::clock::Clock as _;
use docmill_core::document::DocumentState;
use docmill_core::extraction::{Evidence, Extraction, Field, Violation};
use docmill_core::id::{DocumentId, IngestionId};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::Store;
use docmill_core::ports::store::{Done, Outcome};
use docmill_core::problem::ResultCode;
use docmill_core::record::{NewRecord, RecordQuery, RecordState};
use docmill_core::review::{Change, Corrected, Decision, LOCKED_FOR, ReviewQuery, ReviewState};
use docmill_core::words::PageWords;

use super::world::{World, done};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        schema_gets_a_version_for_each_new_text,
        record_and_its_flag_come_with_the_end_of_the_ingestion,
        newest_record_wins_however_late_the_older_one_ends,
        what_a_person_has_said_stays_under_the_same_schema,
        record_that_was_rejected_does_not_come_back,
        what_was_learnt_of_a_sender_outlasts_corrections_for_others,
        queue_has_the_least_sure_first_page_by_page,
        two_reviewers_never_decide_the_same,
        decision_is_kept_with_who_when_before_and_after,
        records_are_exported_by_schema_and_state,
        removed_document_leaves_no_value_behind,
        records_of_others_are_not_there,
    ]
}

/// A record of one field.
pub(in super::super) fn record(value: &str, confidence: f32, reasons: &[&str]) -> NewRecord {
    let evidence = vec![Evidence {
        page: Some(1),
        span: Some(value.into()),
        frame: Some([0.1, 0.2, 0.3, 0.04]),
        ..Evidence::default()
    }];
    let field = Field { value: value.into(), confidence, method: "label".into(), evidence };
    let missing =
        Violation { field: "date".into(), rule: "missing".into(), message: "`date` was not found".into() };
    NewRecord {
        version: 1,
        extraction: Extraction {
            schema: "receipt".into(),
            data: serde_json::Map::from_iter([("total".to_owned(), value.into())]),
            valid: reasons.is_empty(),
            violations: if reasons.is_empty() { Vec::new() } else { vec![missing] },
            confidence,
            fields: BTreeMap::from([("total".to_owned(), field)]),
            model: Some("Ünïcödé".into()),
            tokens_in: 7,
            tokens_out: u64::from(u32::MAX) + 1,
        },
        reasons: reasons.iter().map(|&reason| reason.to_owned()).collect(),
    }
}

/// A report that brings a record and ends the ingestion.
pub(in super::super) fn extracted(record: NewRecord) -> Outcome {
    let end = Some(IngestionEnd::completed(ResultCode::Success, Vec::new()));
    done(Done { extracted: Some(Box::new(record)), end, ..Done::default() })
}

/// A decision without a change.
pub(in super::super) fn decision(id: IngestionId, by: &str, state: ReviewState) -> Decision {
    let (by, reason) = (by.to_owned(), Some("said so".to_owned()));
    Decision { review_id: id, by, state, reason, changes: BTreeMap::new(), corrected: None }
}

/// A decision that changes the total.
pub(in super::super) fn correction(id: IngestionId, by: &str, before: &str, after: &str) -> Decision {
    let change = Change {
        before: Some(before.into()),
        after: Some(after.into()),
        page: Some(1),
        frame: Some([0.1, 0.2, 0.3, 0.04]),
    };
    let corrected = Corrected {
        after: record(after, 1.0, &[]).extraction,
        pages: vec![PageWords::none(1, 100.0, 200.0)],
        senders: vec!["bank.example".into()],
    };
    Decision {
        changes: BTreeMap::from([("total".to_owned(), change)]),
        corrected: Some(Box::new(corrected)),
        ..decision(id, by, ReviewState::Corrected)
    }
}

/// A document with this record.
async fn keep(world: &World, name: &str, record: NewRecord) -> (DocumentId, IngestionId) {
    let received = world.take(world.receipt(None, name, name)).await;
    let lease = world.claim_one().await;
    world.report(&lease, extracted(record)).await;
    (received.document_id.unwrap(), received.ingestion_id)
}

fn asked(limit: usize) -> ReviewQuery {
    ReviewQuery { limit, ..ReviewQuery::default() }
}

async fn schema_gets_a_version_for_each_new_text(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (store, tenant) = (&world.store, world.tenant);
    assert_eq!(store.put_schema(tenant, "bill", "one").await.unwrap(), 1);
    assert_eq!(store.put_schema(tenant, "bill", "one").await.unwrap(), 1, "nothing is new");
    assert_eq!(store.put_schema(tenant, "bill", "two ü").await.unwrap(), 2);
    assert_eq!(store.put_schema(tenant, "bill", "one").await.unwrap(), 3, "it was another in between");
    assert_eq!(store.put_schema(tenant, "a", "x").await.unwrap(), 1);
    let listed = store.schemas(tenant).await.unwrap();
    let listed: Vec<_> = listed.iter().map(|s| (s.name.as_str(), s.version, s.text.as_str())).collect();
    assert_eq!(listed, [("a", 1, "x"), ("bill", 3, "one")]);
    let second = store.schema(tenant, "bill", Some(2)).await.unwrap().unwrap();
    assert_eq!(second.text, "two ü", "older versions stay");
    assert!(store.schema(tenant, "none", None).await.unwrap().is_none());
    let other = store.tenant("other").await.unwrap();
    assert!(store.schemas(other).await.unwrap().is_empty());
}

async fn record_and_its_flag_come_with_the_end_of_the_ingestion(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.take(world.receipt(None, "a.pdf", "a")).await;
    let id = received.document_id.unwrap().to_string();
    let lease = world.claim_one().await;
    // The record is there, and more is to be done: nobody sees it yet.
    let next = Some(super::world::new_task(&super::world::KIND));
    let new = Box::new(record("12.00", 0.4, &["`date` was not found"]));
    world.report(&lease, done(Done { extracted: Some(new), next, ..Done::default() })).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.record, shown.needs_review, shown.review_id), (None, false, None));
    assert_eq!(world.store.reviews(world.tenant, &asked(9)).await.unwrap().open, 0);
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    let kept = shown.record.unwrap();
    assert_eq!((kept.schema.as_str(), kept.version, &kept.data["total"]), ("receipt", 1, &"12.00".into()));
    assert_eq!((kept.tokens_in, kept.tokens_out), (7, u64::from(u32::MAX) + 1));
    assert_eq!(kept.fields["total"].evidence[0].frame, Some([0.1, 0.2, 0.3, 0.04]));
    assert_eq!((shown.state, shown.needs_review), (DocumentState::NeedsReview, true));
    assert_eq!(shown.review_id, Some(received.ingestion_id));
    let queue = world.store.reviews(world.tenant, &asked(9)).await.unwrap();
    let line = &queue.items[0];
    assert_eq!((line.document_id.to_string(), line.fields_missing, queue.open), (id, 1, 1));
    assert_eq!(line.reasons, ["`date` was not found"]);
    // One that nobody needs to look at is in no queue.
    let (sure, _) = keep(&world, "b", record("1.00", 0.99, &[])).await;
    let shown = world.store.show(world.tenant, &sure.to_string()).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.review_id), (DocumentState::Ready, None));
    assert!(shown.record.is_some());
}

async fn newest_record_wins_however_late_the_older_one_ends(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let first = world.take(world.receipt(None, "a.pdf", "same")).await;
    let second = world.take(world.receipt(None, "b.pdf", "same")).await;
    let leases = world.claim(2).await;
    let of = |id| leases.iter().find(|lease| lease.subject.ingestion_id == id).unwrap();
    world.report(of(second.ingestion_id), extracted(record("2.00", 0.5, &["new"]))).await;
    world.report(of(first.ingestion_id), extracted(record("1.00", 0.1, &["old"]))).await;
    let id = first.document_id.unwrap().to_string();
    let kept = world.store.record(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((kept.ingestion_id, &kept.extraction.data["total"]), (second.ingestion_id, &"2.00".into()));
    let queue = world.store.reviews(world.tenant, &asked(9)).await.unwrap();
    assert_eq!(queue.items.iter().map(|line| line.review_id).collect::<Vec<_>>(), [second.ingestion_id]);
    // A third one takes the place of what nobody has looked at, in the queue too.
    let (_, third) = keep(&world, "same", record("3.00", 0.5, &["newer"])).await;
    let queue = world.store.reviews(world.tenant, &asked(9)).await.unwrap();
    assert_eq!(queue.items.iter().map(|line| line.review_id).collect::<Vec<_>>(), [third]);
    let older = world.store.review(world.tenant, second.ingestion_id).await.unwrap().unwrap();
    assert_eq!(older.line.state, ReviewState::Superseded, "nothing is lost");
    // One that takes no record leaves the one there is, and its flag.
    world.take(world.receipt(None, "d.pdf", "same")).await;
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.record.unwrap().data["total"].clone(), shown.needs_review), ("3.00".into(), true));
}

async fn what_a_person_has_said_stays_under_the_same_schema(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (document, review) = keep(&world, "same", record("1.00", 0.5, &["doubt"])).await;
    let corrected = correction(review, "ada", "1.00", "10.00");
    world.store.decide_review(world.tenant, corrected).await.unwrap();
    keep(&world, "same", record("1.00", 0.5, &["doubt"])).await;
    let id = document.to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(shown.record.unwrap().data["total"], "10.00");
    assert_eq!((shown.state, shown.review_id), (DocumentState::Ready, None));
    // Another version of the schema asks for something else.
    let newer = NewRecord { version: 2, ..record("1.00", 0.5, &["doubt"]) };
    let (_, third) = keep(&world, "same", newer).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.record.unwrap().version, shown.review_id), (2, Some(third)));
    let older = world.store.review(world.tenant, review).await.unwrap().unwrap();
    assert_eq!(older.history.len(), 1, "and what was said of the older one is still there");
}

async fn record_that_was_rejected_does_not_come_back(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (document, review) = keep(&world, "same", record("1.00", 0.5, &["doubt"])).await;
    let rejected = decision(review, "ada", ReviewState::Rejected);
    world.store.decide_review(world.tenant, rejected).await.unwrap();
    keep(&world, "same", record("1.00", 0.5, &["doubt"])).await;
    let id = document.to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.review_id), (DocumentState::Ready, None));
    assert_eq!(world.store.reviews(world.tenant, &asked(9)).await.unwrap().open, 0);
    let kept = world.store.record(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(kept.ingestion_id, review, "the one that was rejected, so that it is not exported");
    // Another version of the schema asks for something else.
    let newer = NewRecord { version: 2, ..record("1.00", 0.5, &["doubt"]) };
    let (_, third) = keep(&world, "same", newer).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.record.unwrap().version, shown.review_id), (2, Some(third)));
}

async fn what_was_learnt_of_a_sender_outlasts_corrections_for_others(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (store, tenant) = (&world.store, world.tenant);
    // The domain of the buyer stands on all of them.
    for (n, sender) in
        ["vendor.example", "other.example", "other.example", "other.example"].iter().enumerate()
    {
        let (_, id) = keep(&world, &format!("{n}"), record("1.00", 0.5, &["doubt"])).await;
        let mut decision = correction(id, "ada", "1.00", &format!("{n}.50"));
        let corrected = decision.corrected.as_mut().unwrap();
        corrected.senders = vec!["buyer.example".into(), (*sender).to_owned()];
        store.decide_review(tenant, decision).await.unwrap();
        world.clock.advance(Duration::from_secs(1));
    }
    let found = async |senders: &[&str], limit: usize| -> Vec<String> {
        let senders: Vec<String> = senders.iter().map(|&mark| mark.to_owned()).collect();
        let all = store.corrections(tenant, "receipt", &senders, limit).await.unwrap();
        all.iter().map(|one| one.change.after.as_ref().unwrap().as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found(&["vendor.example"], 10).await, ["0.50"]);
    assert_eq!(found(&["buyer.example", "vendor.example"], 2).await, ["3.50", "0.50"], "newest first");
    assert_eq!(found(&["other.example"], 2).await, ["3.50", "2.50"]);
    assert_eq!(found(&["buyer.example", "other.example"], 9).await, ["3.50", "2.50", "1.50", "0.50"]);
    assert!(found(&["new.example"], 9).await.is_empty() && found(&[], 9).await.is_empty());
    let elsewhere = store.tenant("other").await.unwrap();
    let marks = ["vendor.example".to_owned()];
    assert!(store.corrections(elsewhere, "receipt", &marks, 9).await.unwrap().is_empty());
}

async fn queue_has_the_least_sure_first_page_by_page(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    for (n, confidence) in [0.7, 0.1, 0.4, 0.4, 0.9].into_iter().enumerate() {
        keep(&world, &format!("{n}"), record("1.00", confidence, &["doubt"])).await;
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let query = ReviewQuery { cursor, ..asked(2) };
        let page = world.store.reviews(world.tenant, &query).await.unwrap();
        assert_eq!(page.open, 5);
        seen.extend(page.items.iter().map(|line| (line.confidence, line.review_id)));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.iter().map(|(sure, _)| *sure).collect::<Vec<_>>(), [0.1, 0.4, 0.4, 0.7, 0.9]);
    let least = seen[0].1;
    let decided = decision(least, "ada", ReviewState::Accepted);
    let answer = world.store.decide_review(world.tenant, decided).await.unwrap();
    assert_eq!((answer.state, answer.next), (ReviewState::Accepted, Some(seen[1].1)));
    let done = ReviewQuery { done: true, ..asked(9) };
    let page = world.store.reviews(world.tenant, &done).await.unwrap();
    assert_eq!((page.items[0].review_id, page.items.len(), page.open), (least, 1, 4));
    let other = ReviewQuery { schema: Some("invoice".into()), ..asked(9) };
    assert!(world.store.reviews(world.tenant, &other).await.unwrap().items.is_empty());
    let wrong = ReviewQuery { cursor: Some("x".into()), ..asked(9) };
    assert_eq!(
        world.store.reviews(world.tenant, &wrong).await.unwrap_err().kind(),
        ErrorKind::InvalidRequest
    );
}

async fn two_reviewers_never_decide_the_same(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (store, tenant) = (&world.store, world.tenant);
    let (_, id) = keep(&world, "a", record("1.00", 0.5, &["doubt"])).await;
    let (_, second) = keep(&world, "b", record("1.00", 0.6, &["doubt"])).await;
    let held = store.lock_review(tenant, id, "ada", LOCKED_FOR).await.unwrap();
    assert_eq!(held.locked_by.as_deref(), Some("ada"));
    let until = held.locked_until.unwrap();
    for refused in [
        store.lock_review(tenant, id, "bob", LOCKED_FOR).await.unwrap_err(),
        store.unlock_review(tenant, id, "bob").await.unwrap_err(),
        store.decide_review(tenant, decision(id, "bob", ReviewState::Accepted)).await.unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        let said = refused.message();
        assert!(said.contains("ada") && said.contains(&until.to_string()), "{said}");
    }
    // What somebody looks at is nobody else's next.
    let next =
        store.decide_review(tenant, decision(second, "bob", ReviewState::Accepted)).await.unwrap().next;
    assert_eq!(next, None);
    // The same person has it for longer, others when it has ended or was let go.
    world.clock.advance(Duration::from_mins(9));
    assert!(store.lock_review(tenant, id, "ada", LOCKED_FOR).await.unwrap().locked_until.unwrap() > until);
    world.clock.advance(LOCKED_FOR);
    assert_eq!(store.review(tenant, id).await.unwrap().unwrap().line.locked_by, None, "it has ended");
    store.lock_review(tenant, id, "bob", LOCKED_FOR).await.unwrap();
    store.unlock_review(tenant, id, "bob").await.unwrap();
    // Of two who decide at once one is told of the other.
    let accept = store.decide_review(tenant, decision(id, "ada", ReviewState::Accepted));
    let reject = store.decide_review(tenant, decision(id, "bob", ReviewState::Rejected));
    let (one, other) = tokio::join!(accept, reject);
    let refused = match (one, other) {
        (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
        both => panic!("{both:?}"),
    };
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let history = store.review(tenant, id).await.unwrap().unwrap().history;
    assert_eq!(history.len(), 1);
    let late = store.lock_review(tenant, id, "ada", LOCKED_FOR).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
}

async fn decision_is_kept_with_who_when_before_and_after(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (store, tenant) = (&world.store, world.tenant);
    let (document, id) = keep(&world, "a", record("1.00", 0.5, &["doubt"])).await;
    let at = world.clock.now();
    store.decide_review(tenant, correction(id, "ada", "1.00", "10.00")).await.unwrap();
    let shown = store.show(tenant, &document.to_string()).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.review_id), (DocumentState::Ready, None));
    assert_eq!(shown.record.unwrap().data["total"], "10.00");
    let action = store.review(tenant, id).await.unwrap().unwrap().history.remove(0);
    assert_eq!((action.by.as_str(), action.action), ("ada", ReviewState::Corrected));
    assert!(action.at >= at && action.reason.as_deref() == Some("said so"));
    let change = &action.changes["total"];
    assert_eq!((&change.before, &change.after), (&Some("1.00".into()), &Some("10.00".into())));
    // It can be learnt from, and exported.
    let marks = ["bank.example".to_owned()];
    let learnt = store.corrections(tenant, "receipt", &marks, 10).await.unwrap();
    assert_eq!((learnt.len(), learnt[0].field.as_str(), learnt[0].pages.len()), (1, "total", 1));
    assert!(store.corrections(tenant, "invoice", &marks, 10).await.unwrap().is_empty());
    let (_, other) = keep(&world, "b", record("2.00", 0.5, &["doubt"])).await;
    world.clock.advance(Duration::from_secs(1));
    store.decide_review(tenant, correction(other, "bob", "2.00", "20.00")).await.unwrap();
    let first = store.corrections_made(tenant, None, 1).await.unwrap();
    assert_eq!((first.items[0].by.as_str(), first.items[0].document_id), ("ada", document));
    let second = store.corrections_made(tenant, first.next.as_deref(), 1).await.unwrap();
    assert_eq!(second.items[0].by, "bob");
    let rest = store.corrections_made(tenant, second.next.as_deref(), 1).await.unwrap();
    assert!(rest.items.is_empty() && rest.next.is_none());
}

async fn records_are_exported_by_schema_and_state(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (store, tenant) = (&world.store, world.tenant);
    let (passed, _) = keep(&world, "a", record("1.00", 0.9, &[])).await;
    let (open, _) = keep(&world, "b", record("2.00", 0.5, &["doubt"])).await;
    let (rejected, id) = keep(&world, "c", record("3.00", 0.5, &["doubt"])).await;
    store.decide_review(tenant, decision(id, "ada", ReviewState::Rejected)).await.unwrap();
    let all = RecordQuery {
        schema: "receipt".into(),
        state: None,
        since: None,
        until: None,
        after: None,
        limit: 10,
    };
    let ids = async |query: RecordQuery| -> Vec<DocumentId> {
        store.records(tenant, &query).await.unwrap().into_iter().map(|line| line.document_id).collect()
    };
    assert_eq!(ids(all.clone()).await, [passed, open]);
    for (state, document) in
        [(RecordState::Passed, passed), (RecordState::Open, open), (RecordState::Rejected, rejected)]
    {
        assert_eq!(ids(RecordQuery { state: Some(state), ..all.clone() }).await, [document]);
    }
    assert_eq!(ids(RecordQuery { after: Some(passed), ..all.clone() }).await, [open]);
    assert_eq!(ids(RecordQuery { limit: 1, ..all.clone() }).await, [passed]);
    let later = world.clock.now().plus(Duration::from_secs(1));
    assert!(ids(RecordQuery { since: Some(later), ..all.clone() }).await.is_empty());
    assert_eq!(ids(RecordQuery { until: Some(later), ..all.clone() }).await.len(), 2);
    assert!(ids(RecordQuery { schema: "invoice".into(), ..all }).await.is_empty());
}

async fn removed_document_leaves_no_value_behind(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (store, tenant) = (&world.store, world.tenant);
    let (document, id) = keep(&world, "a", record("1.00", 0.5, &["doubt"])).await;
    store.decide_review(tenant, correction(id, "ada", "1.00", "10.00")).await.unwrap();
    let (other, _) = keep(&world, "b", record("2.00", 0.5, &["doubt"])).await;
    for gone in [document, other] {
        store.remove(tenant, gone).await.unwrap().unwrap();
        assert!(store.record(tenant, &gone.to_string()).await.unwrap().is_none());
    }
    assert_eq!(store.reviews(tenant, &asked(9)).await.unwrap().open, 0);
    assert!(store.review(tenant, id).await.unwrap().is_none());
    let marks = ["bank.example".to_owned()];
    assert!(store.corrections(tenant, "receipt", &marks, 10).await.unwrap().is_empty());
    assert!(store.corrections_made(tenant, None, 10).await.unwrap().items.is_empty());
}

async fn records_of_others_are_not_there(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (document, id) = keep(&world, "a", record("1.00", 0.5, &["doubt"])).await;
    let store = &world.store;
    let other = store.tenant("other").await.unwrap();
    assert!(store.record(other, &document.to_string()).await.unwrap().is_none());
    assert!(store.review(other, id).await.unwrap().is_none());
    assert_eq!(store.reviews(other, &asked(9)).await.unwrap().open, 0);
    for refused in [
        store.lock_review(other, id, "eve", LOCKED_FOR).await.unwrap_err(),
        store.decide_review(other, decision(id, "eve", ReviewState::Rejected)).await.unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }
    assert_eq!(store.reviews(world.tenant, &asked(9)).await.unwrap().open, 1);
}
