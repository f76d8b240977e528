//! What every store must do when everything is moved out of it or into it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed case")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::artifact::Artifact;
use docmill_core::batch::BatchChange;
use docmill_core::clock::Timestamp;
use docmill_core::expansion::ExpansionLimits;
use docmill_core::id::{BlobKey, ContentHash, DocumentId, IngestionId};
use docmill_core::ingestion::{Facts, IngestionEnd};
use docmill_core::limits::Limits;
use docmill_core::ports::catalogue::Entry;
use docmill_core::ports::store::{Arrival, ChildChunk, Done, NewChild, NewWorker, Outcome, StepRecord};
use docmill_core::ports::transfer::{Found, Mark, Origin, Row, TABLES, Table, Value};
use docmill_core::ports::{Store, Transfer};
use docmill_core::problem::ResultCode;
use docmill_core::sketch::Sketch;
use docmill_core::understanding::{Judgement, Understanding};
use docmill_core::usage::Usage;
use docmill_core::{Error, ErrorKind, Result};
use uuid::Uuid;

use super::store::{KIND, World, access, done, failure, new_task, records};
use crate::conformance::{Bench, Suite};

/// The ways into the stores of a place, each by a name.
#[async_trait]
pub trait Doors: Send + Sync {
    /// As everybody does it.
    async fn store(&self, name: &str) -> Result<Arc<dyn Store>>;
    /// To move everything out.
    async fn source(&self, name: &str) -> Result<Whole>;
    /// To move everything in.
    async fn target(&self, name: &str) -> Result<Whole>;
}

/// A store, and the whole of it.
pub type Whole = (Arc<dyn Store>, Arc<dyn Transfer>);

/// Everything that moving needs of a store.
pub fn suite() -> Suite<dyn Doors> {
    let cases = crate::cases![
        everything_arrives_as_it_left,
        rows_after_a_key_are_the_rest,
        member_comes_after_its_container,
        blob_that_many_rows_name_is_told_once,
        failing_chunk_leaves_neither_rows_nor_mark,
        half_done_store_is_refused_until_it_is_finished,
        store_in_use_is_no_target_and_stays_as_it_is,
        traces_of_a_start_are_no_use,
        begin_again_empties_what_was_half_done,
        freeze_refuses_while_work_is_held,
        numbers_of_tasks_go_on_after_the_last,
    ];
    Suite { port: "transfer", cases }
}

fn origin() -> Origin {
    Origin {
        from: "somewhere".into(),
        state: ContentHash::of(b"state"),
        blobs: "elsewhere".into(),
        at: Timestamp(1_800_000_000_000),
    }
}

fn table(name: &str) -> &'static Table {
    Table::named(name).unwrap()
}

async fn rows(transfer: &dyn Transfer, table: &'static Table, after: Option<&[Value]>) -> Vec<Row> {
    let mut pieces = transfer.rows(table, after).await.unwrap();
    let mut rows = Vec::new();
    while let Some(piece) = pieces.recv().await {
        rows.extend(piece.unwrap());
    }
    rows
}

async fn everything(transfer: &dyn Transfer) -> Vec<(&'static Table, Vec<Row>)> {
    let mut all = Vec::new();
    for table in TABLES {
        all.push((table, rows(transfer, table, None).await));
    }
    all
}

fn key(table: &Table, row: &Row) -> Vec<Value> {
    table.key.iter().map(|name| row[table.place(name).unwrap()].clone()).collect()
}

async fn copy(from: &dyn Transfer, to: &dyn Transfer) {
    to.begin(&origin()).await.unwrap();
    for (table, mut rows) in everything(from).await {
        for row in &mut rows {
            assert_eq!(to.fit(row), 0);
        }
        to.import(table, rows, &Mark { done: true, ..Mark::default() }).await.unwrap();
    }
}

/// A row or more in every table, and of every kind of value at least one.
async fn fill(bench: &Bench<dyn Doors>, store: Arc<dyn Store>) -> World {
    let world = World::around(store, bench.clock()).await;
    let batch = world.batch(Some("pile")).await;
    world.receive(Some(batch), 3).await;
    // Its id sorts after those that its members will have.
    let mut container = world.receipt(Some(batch), "box.zip", "a box");
    let id = container.ingestion_id.0.as_u128() | 0x0fff_3fff_ffff_ffff_ffff;
    container.ingestion_id = IngestionId(Uuid::from_u128(id));
    world.take(container).await;
    let leases = world.claim(4).await;
    let artifact = Artifact {
        name: "transcript".into(),
        key: BlobKey::stored("ingestions/x/transcript-1.json"),
        hash: ContentHash::of(b"text"),
        bytes: 4,
        media_type: "application/json".into(),
    };
    let facts = Facts {
        quality: Some(0.1),
        title: Some("Ünïcödé\n\"quoted\"".into()),
        understanding: Some(Understanding {
            summary: Some("Ünïcödé".into()), ..Understanding::default()
        }),
        ..Facts::default()
    };
    let record = StepRecord {
        step: KIND,
        fingerprint: ContentHash::of(b"fingerprint"),
        degraded: false,
        reused: false,
        facts: facts.clone(),
        artifacts: vec![artifact.clone()],
        problems: Vec::new(),
        members: false,
    };
    let end = Some(IngestionEnd::completed(ResultCode::Success, Vec::new()));
    let usage = vec![Usage {
        call: "documents/x.answers/1.json".into(),
        provider: "openai".into(),
        model: "m".into(),
        tokens_in: 7,
        tokens_out: 1,
        cost: Some(0.1),
    }];
    let extracted = Some(Box::new(records::record("12.00", 0.1, &["Ünïcödé"])));
    let whole = Done {
        record: Some(record),
        artifacts: vec![artifact],
        facts,
        usage,
        extracted,
        end,
        ..Done::default()
    };
    world.report(&leases[0], done(whole)).await;
    let review = leases[0].subject.ingestion_id;
    let corrected = records::correction(review, "ada", "12.00", "13.00");
    world.store.decide_review(world.tenant, corrected).await.unwrap();
    world.store.put_schema(world.tenant, "bill", "{}").await.unwrap();
    let retry = Outcome::Retry {
        error: failure(ErrorKind::Timeout),
        run_at: leases[1].until,
        size: docmill_core::task::Size::Large,
        units: 5,
        charged: true,
    };
    world.report(&leases[1], retry).await;
    let end = IngestionEnd::failed(failure(ErrorKind::Bug));
    let dead = Outcome::Dead { error: failure(ErrorKind::Bug), charged: true, end: Some(end), next: None };
    world.report(&leases[2], dead).await;
    unpack(&world, &leases[3]).await;
    world.store.release(vec![(leases[3].task_id, leases[3].epoch)]).await.unwrap();
    world.seal(batch, 4).await;
    let paused = world.batch(None).await;
    world.receive(Some(paused), 2).await;
    world.store.change_batch(world.tenant, paused, BatchChange::Pause).await.unwrap();
    world.store.pause_kind(&KIND, true).await.unwrap();
    let request = vec![world.receipt(None, "request.txt", "a request")];
    world.store.accept(request, access::once("order", "a request")).await.unwrap();
    let (_, key) = access::new_key(&world, world.tenant, "scanner");
    world.store.add_key(key, access::entry("key.create")).await.unwrap();
    catalogue(&world, leases[0].subject.document.as_ref().unwrap().document_id).await;
    // Whoever looks makes a store count what it has left to be counted later, which would change what is compared.
    world.events().await;
    world
}

/// Puts all that it can hold of a document into the catalogue.
async fn catalogue(world: &World, document_id: DocumentId) {
    let (store, tenant_id) = (&world.store, world.tenant);
    let tags = vec!["Ünïcödé".into(), "other".into()];
    let entry = Entry { tenant_id, document_id, tags, sketch: Some(Sketch::of([7; Sketch::BYTES])) };
    assert!(store.catalogue(vec![entry], 0, 1).await.unwrap());
    store.merge_tags(tenant_id, "other", "another").await.unwrap().unwrap();
    let tags = store.unembedded_tags("m", 10).await.unwrap();
    store.embed_tags("m", tags.into_iter().map(|tag| (tag, vec![0.5, -1.0])).collect()).await.unwrap();
    let judged = Judgement { kind: Some("letter".into()), ..Judgement::default() };
    store.judge(vec![(tenant_id, document_id, Some(judged))]).await.unwrap();
}

/// Adds many members to a container.
async fn unpack(world: &World, lease: &docmill_core::task::Lease) {
    let children = (0..64)
        .map(|position| NewChild {
            position,
            path: format!("m/{position}.txt"),
            name: format!("{position}.txt"),
            arrival: Arrival::Content(world.content(&format!("member {position}")), new_task(&KIND)),
        })
        .collect();
    let chunk = ChildChunk {
        task_id: lease.task_id,
        epoch: lease.epoch,
        fingerprint: ContentHash::of(b"run"),
        declared: Some(64),
        tree: ExpansionLimits::of_tree(&Limits::default()),
        children,
    };
    world.store.add_children(chunk).await.unwrap();
}

async fn everything_arrives_as_it_left(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    let world = fill(&bench, doors.store("a").await.unwrap()).await;
    let ledger = world.store.ledger(world.tenant, None).await.unwrap();
    let events = world.events().await;
    let tenant = world.tenant;
    drop(world);
    let (_, from) = doors.source("a").await.unwrap();
    from.freeze().await.unwrap();
    let sent = everything(from.as_ref()).await;
    for (table, rows) in &sent {
        assert!(!rows.is_empty() || table.name == "source", "`{}` is not put to the test", table.name);
        assert!(rows.iter().all(|row| row.len() == table.columns.len()));
    }
    {
        let (_, to) = doors.target("b").await.unwrap();
        copy(from.as_ref(), to.as_ref()).await;
        assert_eq!(everything(to.as_ref()).await, sent);
        to.finish().await.unwrap();
    }
    let store = doors.store("b").await.unwrap();
    assert_eq!(store.tenant("local").await.unwrap(), tenant);
    assert_eq!(store.ledger(tenant, None).await.unwrap(), ledger);
    let world = World::around(store, bench.clock()).await;
    assert_eq!(world.events().await, events, "with their numbers");
    let log = world.store.audit_log(tenant, 0, 10).await.unwrap();
    assert!(log.intact && log.entries.len() == 2, "and with the chain: {log:?}");
}

async fn rows_after_a_key_are_the_rest(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    drop(fill(&bench, doors.store("a").await.unwrap()).await);
    let (_, from) = doors.source("a").await.unwrap();
    for table in TABLES {
        let all = rows(from.as_ref(), table, None).await;
        let keys: Vec<Vec<Value>> = all.iter().map(|row| key(table, row)).collect();
        for (n, after) in keys.iter().enumerate() {
            assert_eq!(rows(from.as_ref(), table, Some(after)).await, all[n + 1..], "{}", table.name);
        }
    }
}

async fn member_comes_after_its_container(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    drop(fill(&bench, doors.store("a").await.unwrap()).await);
    let (_, from) = doors.source("a").await.unwrap();
    let table = table("ingestion");
    let (id, parent) = (table.place("ingestion_id").unwrap(), table.place("parent_id").unwrap());
    let (mut met, mut members) = (Vec::new(), 0);
    let text = |value: &Value| format!("{value:?}");
    for row in rows(from.as_ref(), table, None).await {
        if row[parent] != Value::Null {
            assert!(met.contains(&text(&row[parent])), "{row:?}");
            members += 1;
        }
        met.push(text(&row[id]));
    }
    assert_eq!(members, 64);
    let by_id: BTreeSet<&String> = met.iter().collect();
    assert!(by_id.iter().copied().ne(met.iter()), "ids alone would have given this order");
}

async fn blob_that_many_rows_name_is_told_once(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    let world = fill(&bench, doors.store("a").await.unwrap()).await;
    let keys = world.store.blob_keys(None, 1000).await.unwrap();
    drop(world);
    let (_, from) = doors.source("a").await.unwrap();
    let told = async |after: Option<&BlobKey>| {
        let mut pieces = from.blobs(after).await.unwrap();
        let mut told = Vec::new();
        while let Some(piece) = pieces.recv().await {
            told.extend(piece.unwrap());
        }
        told
    };
    let all = told(None).await;
    assert!(all.iter().map(|blob| &blob.key).eq(keys.iter()));
    assert!(all.iter().any(|blob| blob.hash == ContentHash::of(b"text") && blob.bytes == 4));
    assert_eq!(told(Some(&all[2].key)).await, all[3..]);
}

async fn failing_chunk_leaves_neither_rows_nor_mark(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    drop(fill(&bench, doors.store("a").await.unwrap()).await);
    let (_, from) = doors.source("a").await.unwrap();
    let (_, to) = doors.target("b").await.unwrap();
    to.begin(&origin()).await.unwrap();
    let table = table("tenant");
    let row = rows(from.as_ref(), table, None).await.remove(0);
    let mark = Mark { after: Some(key(table, &row)), ..Mark::default() };
    assert!(to.import(table, vec![row.clone(), row.clone()], &mark).await.is_err());
    let marks = async || match to.found().await.unwrap() {
        Found::HalfDone(_, marks) => marks,
        other => panic!("{other:?}"),
    };
    assert!(marks().await.is_empty());
    assert!(rows(to.as_ref(), table, None).await.is_empty());
    to.import(table, vec![row.clone()], &mark).await.unwrap();
    to.mark("blobs", &Mark { done: true, ..Mark::default() }).await.unwrap();
    let marks = marks().await;
    assert_eq!(marks["tenant"], mark);
    assert!(marks["blobs"].done && marks.len() == 2);
    assert_eq!(rows(to.as_ref(), table, None).await, [row]);
}

#[track_caller]
fn refused(outcome: Result<Arc<dyn Store>>) -> Error {
    match outcome {
        Err(error) => error,
        Ok(_) => panic!("it was opened"),
    }
}

async fn half_done_store_is_refused_until_it_is_finished(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    {
        let (_, to) = doors.target("b").await.unwrap();
        assert_eq!(to.found().await.unwrap(), Found::Empty);
        to.begin(&origin()).await.unwrap();
    }
    let error = refused(doors.store("b").await);
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("half-done copy of somewhere, begun 2027-01-15"), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("the same `docmill migrate`") && hint.contains("--restart"), "{hint}");
    assert!(doors.source("b").await.is_err(), "half of something is not to be moved on");
    {
        let (_, to) = doors.target("b").await.unwrap();
        assert_eq!(to.found().await.unwrap(), Found::HalfDone(origin(), std::collections::BTreeMap::new()));
        to.finish().await.unwrap();
        assert_eq!(to.found().await.unwrap(), Found::Empty);
    }
    doors.store("b").await.unwrap();
}

async fn store_in_use_is_no_target_and_stays_as_it_is(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    drop(fill(&bench, doors.store("a").await.unwrap()).await);
    let (_, to) = doors.target("a").await.unwrap();
    let before = everything(to.as_ref()).await;
    assert!(matches!(to.found().await.unwrap(), Found::InUse(_)));
    let error = to.begin(&origin()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("in use") && error.hint().is_some(), "{error}");
    assert_eq!(everything(to.as_ref()).await, before);
    assert!(matches!(to.found().await.unwrap(), Found::InUse(_)));
}

async fn traces_of_a_start_are_no_use(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    {
        let world = World::around(doors.store("b").await.unwrap(), bench.clock()).await;
        let worker =
            NewWorker { worker_id: world.worker, host: "h".into(), pid: 1, slots: 1, kinds: Vec::new() };
        world.store.register_worker(worker).await.unwrap();
        world.store.retire_worker(world.worker).await.unwrap();
        assert_eq!(world.events().await.len(), 2);
    }
    let (_, to) = doors.target("b").await.unwrap();
    assert_eq!(to.found().await.unwrap(), Found::Empty);
    to.begin(&origin()).await.unwrap();
    for (table, rows) in everything(to.as_ref()).await {
        assert!(rows.is_empty(), "{}: {rows:?}", table.name);
    }
}

async fn begin_again_empties_what_was_half_done(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    drop(fill(&bench, doors.store("a").await.unwrap()).await);
    let (_, from) = doors.source("a").await.unwrap();
    let (_, to) = doors.target("b").await.unwrap();
    copy(from.as_ref(), to.as_ref()).await;
    let second = Origin { from: "another place".into(), ..origin() };
    to.begin(&second).await.unwrap();
    assert_eq!(to.found().await.unwrap(), Found::HalfDone(second, std::collections::BTreeMap::new()));
    assert!(everything(to.as_ref()).await.iter().all(|(_, rows)| rows.is_empty()));
}

async fn freeze_refuses_while_work_is_held(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    let world = World::around(doors.store("a").await.unwrap(), bench.clock()).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    {
        let (_, from) = doors.source("a").await.unwrap();
        let holders = from.holders().await.unwrap();
        assert_eq!(holders.iter().map(|h| h.worker_id).collect::<Vec<_>>(), [world.worker]);
        let error = from.freeze().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.message().contains(&world.worker.to_string()), "{error}");
    }
    world.store.release(vec![(lease.task_id, lease.epoch)]).await.unwrap();
    let (_, from) = doors.source("a").await.unwrap();
    assert!(from.holders().await.unwrap().is_empty());
    from.freeze().await.unwrap();
}

async fn numbers_of_tasks_go_on_after_the_last(bench: Bench<dyn Doors>) {
    let doors = bench.open().await;
    drop(fill(&bench, doors.store("a").await.unwrap()).await);
    let (_, from) = doors.source("a").await.unwrap();
    let task_id = table("task").place("task_id").unwrap();
    let numbers = |rows: Vec<Row>| -> Vec<i64> {
        let number = |row: &Row| match row[task_id] {
            Value::Integer(n) => n,
            _ => panic!("{row:?}"),
        };
        rows.iter().map(number).collect()
    };
    let old = numbers(rows(from.as_ref(), table("task"), None).await);
    {
        let (_, to) = doors.target("b").await.unwrap();
        copy(from.as_ref(), to.as_ref()).await;
        to.finish().await.unwrap();
    }
    // Ids are made of the time.
    bench.clock().advance(Duration::from_secs(1));
    let world = World::around(doors.store("b").await.unwrap(), bench.clock()).await;
    let batch = world.batch(Some("more")).await;
    for n in 0..100 {
        world.take(world.receipt(Some(batch), &format!("more/{n}"), &format!("more {n}"))).await;
    }
    drop(world);
    let (_, to) = doors.source("b").await.unwrap();
    let all = numbers(rows(to.as_ref(), table("task"), None).await);
    assert_eq!(all[..old.len()], old);
    assert_eq!(all.len(), old.len() + 100, "none of the new numbers was an old one");
}
