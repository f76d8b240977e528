//! What documents show, and what followers of them see.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::artifact::Artifact;
use docmill_core::batch::BatchChange;
use docmill_core::document::DocumentState;
use docmill_core::dossier::Dossier;
use docmill_core::id::{BlobKey, ContentHash, DocumentId, IngestionId};
use docmill_core::ingestion::{Facts, IngestionEnd, IngestionStatus, Stage};
use docmill_core::ports::Store;
use docmill_core::ports::store::{ClaimSpec, Done, FanOut, ListQuery, Outcome, Selection};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::state::TaskState;
use docmill_core::task::{Lease, TaskKind};
use docmill_core::understanding::{Evidence, Labelled, Understanding};
use docmill_core::usage::Usage;

use super::world::{KIND, World, done, ended, failure, new_task};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        newest_ingestion_wins_however_late_the_older_ends,
        cancelled_ingestion_leaves_the_document_to_the_others,
        cancelled_retry_leaves_the_document_as_it_was,
        failed_rerun_keeps_what_was_read,
        state_follows_the_ingestions,
        understanding_is_shown_and_a_document_without_a_title_is_unclassified,
        answer_is_paid_for_once_whoever_tells_and_outlives_its_document,
        stale_document_is_told_by_the_server,
        list_pages_see_each_document_once,
        list_matches_language_time_and_batch,
        list_of_a_state_is_the_list_of_all_without_the_others,
        work_is_counted_by_kind_stage_and_state,
        changes_come_in_order_each_document_once,
        blob_keys_are_exactly_those_in_use,
        reprocess_opens_one_ingestion_at_a_time,
        select_matches_state_and_type,
        timeline_tells_every_attempt,
        dossiers_tell_everything_of_one_tenant_page_by_page,
        unknown_ids_are_not_found,
    ]
}

fn transcribed(lease: &Lease, title: &str) -> Outcome {
    let hash = ContentHash::of(title.as_bytes());
    let key = BlobKey::artifact(lease.subject.ingestion_id, "transcription", &hash, "json");
    let artifact = Artifact {
        name: "transcription".into(),
        key: key.clone(),
        hash,
        bytes: 1,
        media_type: "application/json".into(),
    };
    done(Done {
        artifacts: vec![artifact],
        facts: Facts {
            title: Some(title.into()),
            media_type: Some("text/plain".into()),
            transcription: Some(key),
            word_count: Some(3),
            ..Facts::default()
        },
        end: Some(IngestionEnd::completed(ResultCode::Success, Vec::new())),
        ..Done::default()
    })
}

async fn newest_ingestion_wins_however_late_the_older_ends(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.take(world.receipt(None, "a.txt", "same")).await;
    let older = world.claim_one().await;
    let received = world.take(world.receipt(None, "b.txt", "same")).await;
    let newer = world.claim_one().await;
    world.report(&newer, transcribed(&newer, "new")).await;
    world.report(&older, transcribed(&older, "old")).await;
    let id = received.document_id.unwrap().to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.title.as_deref(), shown.word_count), (Some("new"), Some(3)));
    assert_eq!(shown.ingestions.len(), 2);
    let head = world.store.head(world.tenant, &id).await.unwrap().unwrap();
    assert!(head.transcription.unwrap().as_str().contains(&newer.subject.ingestion_id.to_string()));
    let last = world.store.last_change().await.unwrap();
    let changes = world.store.changes(0, 10).await.unwrap();
    assert_eq!(changes.last().unwrap().seq, last, "whoever waits for the last change sees it come");
}

async fn cancelled_ingestion_leaves_the_document_to_the_others(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    for (text, cancelled) in [("newer", 1), ("older", 0)] {
        let mut batches = Vec::new();
        let mut leases = Vec::new();
        let mut document = None;
        for path in ["a.txt", "b.txt"] {
            let batch = world.batch(None).await;
            document = world.take(world.receipt(Some(batch), path, text)).await.document_id;
            batches.push(batch);
            leases.push(world.claim_one().await);
        }
        let id = document.unwrap().to_string();
        world.store.change_batch(world.tenant, batches[cancelled], BatchChange::Cancel).await.unwrap();
        let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
        assert_eq!(shown.state, DocumentState::Processing, "the other one is still at work");
        let other = &leases[1 - cancelled];
        world.report(other, transcribed(other, text)).await;
        let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
        assert_eq!((shown.state, shown.title.as_deref()), (DocumentState::Ready, Some(text)));
        let head = world.store.head(world.tenant, &id).await.unwrap().unwrap();
        assert!(head.transcription.unwrap().as_str().contains(&other.subject.ingestion_id.to_string()));
        let last = world.store.changes(0, 10).await.unwrap().pop().unwrap();
        assert_eq!(last.document_id.to_string(), id, "followers are told");
    }
    world.assert_balanced().await;
}

async fn cancelled_retry_leaves_the_document_as_it_was(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let id = world.receive(Some(batch), 1).await[0].document_id.unwrap().to_string();
    let (join_kind, lease) = (TaskKind::named("join-text"), world.claim_one().await);
    let fan_out = FanOut { parts: vec![new_task(&KIND), new_task(&KIND)], join: new_task(&join_kind) };
    world.report(&lease, done(Done { fan_out: Some(fan_out), ..Done::default() })).await;
    let parts = world.claim(2).await;
    let error = failure(ErrorKind::Timeout);
    world.report(&parts[0], Outcome::Dead { error, charged: true, end: None, next: None }).await;
    world.report(&parts[1], done(Done::default())).await;
    let join = ClaimSpec { kinds: vec![(join_kind, 1)], ..world.spec(1) };
    let lease = world.store.claim(join).await.unwrap().remove(0);
    let Outcome::Done(mut read) = transcribed(&lease, "good") else { panic!("it is done") };
    read.end = read.end.map(|end| IngestionEnd { needs_review: true, ..end });
    world.report(&lease, Outcome::Done(read)).await;
    let shown = async || world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(shown().await.state, DocumentState::NeedsReview);
    assert_eq!(world.store.retry(world.tenant, Some(&id)).await.unwrap().count, 1);
    assert_eq!(shown().await.state, DocumentState::Processing);
    world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    let after = shown().await;
    assert_eq!((after.state, after.needs_review), (DocumentState::NeedsReview, true));
    assert_eq!(after.title.as_deref(), Some("good"));
    for (state, count) in [(DocumentState::NeedsReview, 1), (DocumentState::Failed, 0)] {
        let listed = ListQuery { state: Some(state), ..ListQuery::all(5) };
        assert_eq!(world.store.list(world.tenant, &listed).await.unwrap().documents.len(), count);
    }
    // One of which nothing was read before the cancel has failed.
    let batch = world.batch(None).await;
    let unread = world.receive(Some(batch), 1).await[0].document_id.unwrap().to_string();
    world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    let shown = world.store.show(world.tenant, &unread).await.unwrap().unwrap();
    assert_eq!(shown.state, DocumentState::Failed);
    world.assert_balanced().await;
}

async fn failed_rerun_keeps_what_was_read(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.take(world.receipt(None, "a.txt", "same")).await;
    let lease = world.claim_one().await;
    world.report(&lease, transcribed(&lease, "good")).await;
    world.take(world.receipt(None, "a.txt", "same")).await;
    let lease = world.claim_one().await;
    let error = failure(ErrorKind::Timeout);
    let dead =
        Outcome::Dead { end: Some(IngestionEnd::failed(error.clone())), error, charged: true, next: None };
    world.report(&lease, dead).await;
    let id = received.document_id.unwrap().to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.title.as_deref()), (DocumentState::Failed, Some("good")));
    assert!(world.store.head(world.tenant, &id).await.unwrap().unwrap().transcription.is_some());
}

async fn understanding_is_shown_and_a_document_without_a_title_is_unclassified(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let found = Understanding {
        summary: Some("Chairs come on Monday.\u{0} \"Ünïcödé\"".into()),
        date: Some("2024-03-09".into()),
        kind: Some("letter".into()),
        tags: vec!["office chairs".into(), "delivery".into()],
        labels: BTreeMap::from([(
            "privacy".to_owned(),
            Labelled {
                labels: vec!["internal".into()],
                scores: BTreeMap::from([("internal".to_owned(), 0.5)]),
                confidence: 0.5,
                method: "rules".into(),
                matched: Vec::new(),
                reason: None,
            },
        )]),
        evidence: BTreeMap::from([(
            "type".to_owned(),
            Evidence { confidence: 0.75, method: "words".into() },
        )]),
    };
    let understood = |title: Option<&str>, found: Option<&Understanding>| {
        done(Done {
            facts: Facts {
                title: title.map(str::to_owned),
                understanding: found.cloned(),
                ..Facts::default()
            },
            end: Some(IngestionEnd::completed(ResultCode::Success, Vec::new())),
            ..Done::default()
        })
    };
    // With a title, without one, and one that nobody tried to understand.
    let mut ids = Vec::new();
    for (name, title, found) in
        [("a.txt", Some("Chairs"), Some(&found)), ("b.txt", None, Some(&found)), ("c.jpg", None, None)]
    {
        let received = world.take(world.receipt(None, name, name)).await;
        let lease = world.claim_one().await;
        world.report(&lease, understood(title, found)).await;
        ids.push(received.document_id.unwrap().to_string());
    }
    let shown = world.store.show(world.tenant, &ids[0]).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.title.as_deref()), (DocumentState::Ready, Some("Chairs")));
    assert_eq!((&shown.summary, &shown.date, &shown.kind), (&found.summary, &found.date, &found.kind));
    assert_eq!((&shown.tags, &shown.labels, &shown.evidence), (&found.tags, &found.labels, &found.evidence));
    let shown = world.store.show(world.tenant, &ids[1]).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.kind.as_deref()), (DocumentState::Unclassified, Some("letter")));
    let shown = world.store.show(world.tenant, &ids[2]).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.kind), (DocumentState::Ready, None));
    let query = ListQuery { state: Some(DocumentState::Unclassified), ..ListQuery::default() };
    let listed = world.store.list(world.tenant, &query).await.unwrap().documents;
    assert_eq!(listed.iter().map(|d| d.document_id.to_string()).collect::<Vec<_>>(), [ids[1].clone()]);

    // A newer run that understood nothing takes nothing away.
    world.take(world.receipt(None, "a.txt", "a.txt")).await;
    let lease = world.claim_one().await;
    world.report(&lease, understood(None, None)).await;
    let shown = world.store.show(world.tenant, &ids[0]).await.unwrap().unwrap();
    assert_eq!((shown.title.as_deref(), shown.kind.as_deref()), (Some("Chairs"), Some("letter")));
    // What is erased is gone.
    world.store.remove(world.tenant, ids[0].parse().unwrap()).await.unwrap();
    assert!(world.store.show(world.tenant, &ids[0]).await.unwrap().is_none());
    let dossiers = world.store.dossiers(world.tenant, None, 10).await.unwrap();
    assert_eq!(dossiers.iter().filter(|d| d.facts.understanding.is_some()).count(), 1);
}

async fn answer_is_paid_for_once_whoever_tells_and_outlives_its_document(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let paid = |call: &str, cost| Usage {
        call: call.into(),
        provider: "openai".into(),
        model: "Ünïcödé-1".into(),
        tokens_in: 1_000,
        tokens_out: u64::from(u32::MAX) + 1,
        cost,
    };
    let told = |usage| {
        let end = Some(IngestionEnd::completed(ResultCode::Success, Vec::new()));
        done(Done { usage, end, ..Done::default() })
    };
    let first = world.take(world.receipt(None, "a.txt", "a")).await;
    let lease = world.claim_one().await;
    world.report(&lease, told(vec![paid("one", Some(0.125)), paid("two", None)])).await;
    // Another receipt of the same content uses what was paid before, and more.
    world.take(world.receipt(None, "b.txt", "a")).await;
    let lease = world.claim_one().await;
    world.report(&lease, told(vec![paid("one", Some(7.0)), paid("three", None)])).await;
    let id = first.document_id.unwrap();
    let shown = world.store.show(world.tenant, &id.to_string()).await.unwrap().unwrap();
    let costs: Vec<Option<f64>> = shown.usage.iter().map(|line| line.cost).collect();
    assert_eq!(costs, [Some(0.125), None, None]);
    let line = &shown.usage[0];
    assert_eq!((line.ingestion_id, line.step.as_str()), (first.ingestion_id, KIND.as_str()));
    assert_eq!((line.model.as_str(), line.tokens_in), ("Ünïcödé-1", 1_000));
    assert_eq!(line.tokens_out, u64::from(u32::MAX) + 1);
    // Another tenant may have a call of the same name.
    let other = world.store.tenant("other").await.unwrap();
    let mut theirs = world.receipt(None, "a.txt", "a");
    theirs.tenant_id = other;
    let received = world.take(theirs).await;
    let lease = world.claim_one().await;
    world.report(&lease, told(vec![paid("one", Some(0.5))])).await;
    let theirs = received.document_id.unwrap().to_string();
    assert_eq!(world.store.show(other, &theirs).await.unwrap().unwrap().usage.len(), 1);
    assert!(world.store.remove(world.tenant, id).await.unwrap().is_some());
}

async fn state_follows_the_ingestions(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 1).await.remove(0);
    let id = received.document_id.unwrap().to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.status), (DocumentState::Processing, Stage::Queued));
    let lease = world.claim_one().await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(shown.status, Stage::Transcribing);
    let mut end = IngestionEnd::completed(
        ResultCode::TextUnavailable,
        vec![Problem::new(ErrorKind::Timeout, "no text within 60 s")],
    );
    end.needs_review = true;
    world.report(&lease, done(Done { end: Some(end), ..Done::default() })).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.status), (DocumentState::NeedsReview, Stage::Completed));
    assert_eq!(shown.problems[0].code, ResultCode::TextUnavailable);
    let listed = world
        .store
        .list(world.tenant, &ListQuery { state: Some(DocumentState::NeedsReview), ..ListQuery::all(5) })
        .await
        .unwrap();
    assert_eq!(listed.documents.len(), 1);
    let listed = world
        .store
        .list(world.tenant, &ListQuery { state: Some(DocumentState::Ready), ..ListQuery::all(5) })
        .await
        .unwrap();
    assert!(listed.documents.is_empty());
}

async fn stale_document_is_told_by_the_server(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 1).await.remove(0);
    world.clock.advance(Duration::from_mins(11));
    let id = received.document_id.unwrap().to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert!(shown.stale);
    assert_eq!(shown.state, DocumentState::Stale);
}

async fn list_pages_see_each_document_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 25).await;
    let mut seen = BTreeSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = world
            .store
            .list(world.tenant, &ListQuery { cursor: cursor.clone(), ..ListQuery::all(10) })
            .await
            .unwrap();
        for line in &page.documents {
            assert!(seen.insert(line.document_id), "no document twice");
        }
        // Later arrivals do not disturb the pages that follow.
        world.receive(None, 3).await;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 25);
    let bad = world
        .store
        .list(world.tenant, &ListQuery { cursor: Some("nonsense".into()), ..ListQuery::all(10) })
        .await
        .unwrap_err();
    assert_eq!(bad.kind(), ErrorKind::InvalidRequest);
}

async fn list_matches_language_time_and_batch(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("post")).await;
    let first = world.receive(Some(batch), 1).await.remove(0).document_id.unwrap();
    let lease = world.claim_one().await;
    let Outcome::Done(mut read) = transcribed(&lease, "t") else { panic!("it is done") };
    read.facts.language = Some("de".into());
    world.report(&lease, Outcome::Done(read)).await;
    world.clock.advance(Duration::from_hours(1));
    let second = world.receive(None, 1).await.remove(0).document_id.unwrap();
    let found = async |query: ListQuery| -> Vec<_> {
        let page = world.store.list(world.tenant, &query).await.unwrap();
        page.documents.into_iter().map(|line| line.document_id).collect()
    };
    let all = ListQuery::all(10);
    assert_eq!(found(all.clone()).await, [second, first]);
    assert_eq!(found(ListQuery { language: Some("de".into()), ..all.clone() }).await, [first]);
    assert_eq!(found(ListQuery { language: Some("en".into()), ..all.clone() }).await, []);
    assert_eq!(found(ListQuery { batch: Some(batch), ..all.clone() }).await, [first]);
    let later = world.store.list(world.tenant, &all).await.unwrap().documents[0].created_at;
    assert_eq!(found(ListQuery { since: Some(later), ..all.clone() }).await, [second]);
    assert_eq!(found(ListQuery { until: Some(later), ..all.clone() }).await, [first]);
    let stranger = world.store.tenant("stranger").await.unwrap();
    let theirs = world.store.list(stranger, &ListQuery { batch: Some(batch), ..all }).await.unwrap();
    assert!(theirs.documents.is_empty(), "a batch is its tenant's");
}

async fn list_of_a_state_is_the_list_of_all_without_the_others(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let error = failure(ErrorKind::Timeout);
    let failed = || Outcome::Dead {
        end: Some(IngestionEnd::failed(error.clone())),
        error: error.clone(),
        charged: true,
        next: None,
    };
    let mut review = IngestionEnd::completed(ResultCode::Success, Vec::new());
    review.needs_review = true;
    // Each text comes several times and ends differently: its state is that of the newest ingestion alone.
    for round in 0..3 {
        for text in ["a", "b", "c", "d", "e"] {
            world.take(world.receipt(None, &format!("{text}.txt"), text)).await;
            let lease = world.claim_one().await;
            let outcome = match (text, round) {
                ("a", 2) | ("b", 0 | 1) => failed(),
                ("c", 1 | 2) => ended(ResultCode::Unsupported),
                ("d", 2) => done(Done { end: Some(review.clone()), ..Done::default() }),
                _ => ended(ResultCode::Success),
            };
            world.report(&lease, outcome).await;
        }
    }
    world.receive(None, 3).await;
    let all = world.store.list(world.tenant, &ListQuery::all(100)).await.unwrap().documents;
    for state in DocumentState::ALL {
        let expected: Vec<_> = all.iter().filter(|line| line.state == *state).collect();
        let mut query = ListQuery { state: Some(*state), ..ListQuery::all(1) };
        let mut found = Vec::new();
        loop {
            let page = world.store.list(world.tenant, &query).await.unwrap();
            found.extend(page.documents);
            query.cursor = page.next_cursor;
            if query.cursor.is_none() {
                break;
            }
        }
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{state:?}");
    }
    let counted = |state| all.iter().filter(|line| line.state == state).count();
    assert_eq!(counted(DocumentState::Failed), 1);
    assert_eq!(counted(DocumentState::Unsupported), 1);
    assert_eq!(counted(DocumentState::NeedsReview), 1);
    assert_eq!(counted(DocumentState::Processing), 3);
}

async fn work_is_counted_by_kind_stage_and_state(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("post")).await;
    world.receive(Some(batch), 3).await;
    let lease = world.claim_one().await;
    world.report(&lease, transcribed(&lease, "t")).await;
    let _held = world.claim_one().await;
    world.receive(None, 2).await;
    let counted = async |tenant, batch| -> Vec<(String, u64)> {
        let work = world.store.work(tenant, batch).await.unwrap();
        assert!(
            work.iter().all(|line| line.kind == KIND.as_str() && line.stage == Stage::Transcribing),
            "{work:?}"
        );
        work.into_iter().map(|line| (line.state, line.count)).collect()
    };
    let expected =
        |words: &[(&str, u64)]| words.iter().map(|(w, n)| ((*w).to_owned(), *n)).collect::<Vec<_>>();
    assert_eq!(
        counted(world.tenant, Some(batch)).await,
        expected(&[("done", 1), ("queued", 1), ("running", 1)])
    );
    assert_eq!(counted(world.tenant, None).await, expected(&[("queued", 3), ("running", 1)]));
    let stranger = world.store.tenant("stranger").await.unwrap();
    assert_eq!(counted(stranger, Some(batch)).await, []);
    assert_eq!(counted(stranger, None).await, []);
}

async fn changes_come_in_order_each_document_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    assert_eq!(world.store.last_change().await.unwrap(), 0);
    world.receive(None, 3).await;
    for lease in world.claim(3).await {
        world.report(&lease, transcribed(&lease, "t")).await;
    }
    world.take(world.receipt(None, "again.txt", "text 0")).await;
    let lease = world.claim_one().await;
    world.report(&lease, transcribed(&lease, "u")).await;
    let changes = world.store.changes(0, 100).await.unwrap();
    let documents: BTreeSet<_> = changes.iter().map(|c| c.document_id).collect();
    assert_eq!((changes.len(), documents.len()), (3, 3));
    assert!(changes.windows(2).all(|w| w[0].seq < w[1].seq));
    let last = changes.last().unwrap();
    assert_eq!((last.seq, last.title.as_deref()), (world.store.last_change().await.unwrap(), Some("u")));
    assert!(world.store.changes(last.seq, 100).await.unwrap().is_empty());
    assert_eq!(world.store.changes(0, 2).await.unwrap().len(), 2);
}

async fn blob_keys_are_exactly_those_in_use(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 2).await;
    for lease in world.claim(2).await {
        let mut outcome = transcribed(&lease, "t");
        // What a model said lies beside the original, in what looks like its place.
        if let (Outcome::Done(done), Some(document)) = (&mut outcome, &lease.subject.document) {
            let key = BlobKey::model_answer(document.document_id, "classify-0");
            let answer = Artifact { name: "answer".into(), key, ..done.artifacts[0].clone() };
            done.artifacts.push(answer);
        }
        world.report(&lease, outcome).await;
    }
    let mut keys = Vec::new();
    loop {
        let page = world.store.blob_keys(keys.last(), 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        keys.extend(page);
    }
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 6);
    assert!(keys.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(world.store.referenced(&keys).await.unwrap(), [true; 6]);
    let gone = DocumentId(world.worker().0);
    let others = [
        BlobKey::document(gone, "gone.txt"),
        BlobKey::model_answer(gone, "classify-0"),
        BlobKey::stored("uploads/whatever"),
    ];
    assert_eq!(world.store.referenced(&others).await.unwrap(), [false; 3]);
}

async fn reprocess_opens_one_ingestion_at_a_time(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 1).await.remove(0);
    let document = received.document_id.unwrap();
    let batch = world.batch(None).await;
    let again = || vec![(IngestionId(world.worker().0), document, new_task(&KIND))];
    let busy = world.store.reprocess(world.tenant, batch, again()).await.unwrap();
    assert_eq!(busy, 0, "its first ingestion is still open");
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    assert_eq!(world.store.reprocess(world.tenant, batch, again()).await.unwrap(), 1);
    assert_eq!(world.store.reprocess(world.tenant, batch, again()).await.unwrap(), 0);
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    assert!(lease.subject.duplicate);
    world.complete(&lease).await;
    world.assert_balanced().await;
}

async fn select_matches_state_and_type(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 2).await;
    let lease = world.claim_one().await;
    world.report(&lease, transcribed(&lease, "t")).await;
    let count =
        async |selection: Selection| world.store.select(world.tenant, &selection).await.unwrap().len();
    assert_eq!(count(Selection::default()).await, 2);
    let ready = Selection { state: Some(DocumentState::Ready), ..Selection::default() };
    assert_eq!(count(ready).await, 1);
    let texts = Selection { media_type: Some("text/plain".into()), ..Selection::default() };
    assert_eq!(count(texts).await, 1);
    let all = world.store.select(world.tenant, &Selection::default()).await.unwrap();
    assert_eq!(all.iter().filter(|s| s.busy).count(), 1);
}

async fn timeline_tells_every_attempt(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 1).await.remove(0);
    let lease = world.claim_one().await;
    let retry = Outcome::Retry {
        error: failure(ErrorKind::ChildCrashed),
        run_at: docmill_core::clock::Clock::now(world.clock.as_ref()),
        size: docmill_core::task::Size::Large,
        units: 1,
        charged: true,
    };
    world.report(&lease, retry).await;
    world.clock.advance(Duration::from_secs(1));
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    let id = received.document_id.unwrap().to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    let told: Vec<_> = shown.timeline.iter().map(|t| (t.what.as_str(), t.outcome.as_str())).collect();
    assert_eq!(told, [("received", "done"), ("extract-text", "escalated"), ("completed", "done")]);
    assert_eq!(shown.ingestions[0].attempt, 1);
}

async fn dossiers_tell_everything_of_one_tenant_page_by_page(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received: BTreeSet<_> = world.receive(None, 3).await.iter().map(|r| r.ingestion_id).collect();
    let stranger = world.store.tenant("stranger").await.unwrap();
    let lease = world.claim_one().await;
    world.report(&lease, transcribed(&lease, "t")).await;
    let held = world.claim_one().await;

    let mut dossiers = Vec::new();
    loop {
        let after = dossiers.last().map(|dossier: &Dossier| dossier.ingestion_id);
        let page = world.store.dossiers(world.tenant, after, 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        dossiers.extend(page);
    }
    assert_eq!(dossiers.iter().map(|d| d.ingestion_id).collect::<BTreeSet<_>>(), received);
    assert!(dossiers.windows(2).all(|pair| pair[0].ingestion_id < pair[1].ingestion_id));
    assert!(world.store.dossiers(stranger, None, 10).await.unwrap().is_empty());

    let of = |id: IngestionId| dossiers.iter().find(|dossier| dossier.ingestion_id == id).unwrap();
    let done = of(lease.subject.ingestion_id);
    assert_eq!((done.status, done.result), (IngestionStatus::Completed, Some(ResultCode::Success)));
    assert_eq!(done.facts.title.as_deref(), Some("t"));
    assert_eq!((done.artifacts.len(), done.artifacts[0].name.as_str()), (1, "transcription"));
    assert_eq!((done.tasks.len(), done.tasks[0].state), (1, TaskState::Done));
    assert_eq!((done.tasks[0].owner, done.tasks[0].attempts.lost), (None, 0));
    let running = of(held.subject.ingestion_id);
    assert_eq!((running.tasks[0].task_id, running.tasks[0].state), (held.task_id, TaskState::Running));
    assert_eq!((running.tasks[0].owner, running.tasks[0].attempts.lost), (Some(world.worker), 1));
    assert_eq!((running.tasks[0].kind.clone(), running.tasks[0].stage), (KIND, Stage::Transcribing));
}

async fn unknown_ids_are_not_found(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let nobody = world.worker().to_string();
    assert!(world.store.show(world.tenant, &nobody).await.unwrap().is_none());
    assert!(world.store.why(world.tenant, &nobody).await.unwrap().is_none());
    let error = world.store.retry(world.tenant, Some(&nobody)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    // What can be the id of nothing is the id of nothing that is there.
    let error = world.store.show(world.tenant, "no-uuid").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
