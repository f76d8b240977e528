//! The index follower where several processes share an index.

mod meanings;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use docmill_core::id::DocumentId;
use tokio::time::Instant;
use uuid::Uuid;

use crate::fakes::World;
use crate::fakes::index::{FakeIndex, Shared, TURN};

/// Somebody who is no process of these tests.
const RIVAL: u32 = 99;

fn first(count: u128) -> Vec<DocumentId> {
    (1..=count).map(|n| DocumentId(Uuid::from_u128(n))).collect()
}

#[tokio::test(start_paused = true)]
async fn followers_of_two_processes_apply_each_change_once() {
    let shared = Arc::new(Mutex::new(Shared::default()));
    let store = Arc::clone(&World::new().store);
    let worlds = [1, 2].map(|process| World::of_process(&store, FakeIndex::of_process(process, &shared)));
    let engines = worlds.each_ref().map(World::engine);
    for _ in 0..20 {
        store.change_documents(100);
        tokio::time::sleep(Duration::from_millis(70)).await;
    }
    for world in &worlds {
        // Ends when the index holds everything, whichever of them put it there.
        world.work().await;
        assert_eq!(shared.lock().unwrap().upto, 2_000);
    }
    let shared = shared.lock().unwrap();
    assert_eq!(shared.put, first(2_000), "in order, none twice");
    assert_eq!(shared.late, 0, "nothing was loaded twice");
    drop(engines);
}

#[tokio::test(start_paused = true)]
async fn follower_that_is_outrun_looks_again_at_once() {
    let shared = Arc::new(Mutex::new(Shared { outrun: 30, ..Shared::default() }));
    let store = Arc::clone(&World::new().store);
    let world = World::of_process(&store, FakeIndex::of_process(1, &shared));
    store.change_documents(100);
    let began = Instant::now();
    world.work().await;
    let shared = shared.lock().unwrap();
    assert_eq!((shared.upto, shared.late), (100, 30));
    assert_eq!(shared.put, first(100)[30..], "what others applied is not applied again");
    // After errors it would wait longer each time, and minutes for so many.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn turn_of_a_process_that_died_is_taken_over() {
    let until = Instant::now() + TURN;
    let shared = Arc::new(Mutex::new(Shared { turn: Some((RIVAL, until)), ..Shared::default() }));
    let store = Arc::clone(&World::new().store);
    let world = World::of_process(&store, FakeIndex::of_process(1, &shared));
    store.change_documents(3);
    world.work().await;
    assert_eq!(shared.lock().unwrap().put, first(3));
    assert!(Instant::now() >= until && until.elapsed() < Duration::from_secs(3), "{:?}", until.elapsed());
}

#[tokio::test(start_paused = true)]
async fn caught_up_sees_what_another_process_applied() {
    let long = Instant::now() + Duration::from_hours(1);
    let shared = Arc::new(Mutex::new(Shared { turn: Some((RIVAL, long)), ..Shared::default() }));
    let store = Arc::clone(&World::new().store);
    let world = World::of_process(&store, FakeIndex::of_process(1, &shared));
    store.change_documents(3);
    let began = Instant::now();
    let rival = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        shared.lock().unwrap().upto = 3;
    };
    tokio::join!(world.work(), rival);
    assert!(shared.lock().unwrap().put.is_empty(), "the other one did it");
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(20) && took < Duration::from_secs(23), "{took:?}");
}

/// Until the index holds the change of this number, but no longer than `longest`.
async fn indexed(shared: &Mutex<Shared>, upto: i64, longest: Duration) -> bool {
    let until = Instant::now() + longest;
    while shared.lock().unwrap().upto < upto && Instant::now() < until {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    shared.lock().unwrap().upto >= upto
}

#[tokio::test(start_paused = true)]
async fn one_damaged_blob_stops_nobody_and_a_store_that_is_away_is_waited_for() {
    let shared = Arc::new(Mutex::new(Shared::default()));
    let store = Arc::clone(&World::new().store);
    let world = World::of_process(&store, FakeIndex::of_process(1, &shared));
    world.offer("a.txt", b"one").await;
    world.offer("b.txt", b"other").await;
    world.work().await;
    let keys = ["a.txt", "b.txt"].map(|name| store.facts(name).transcription.unwrap());
    world.blobs.damaged.lock().unwrap().extend(keys.clone());
    let before = shared.lock().unwrap().put.len();
    let engine = world.engine();
    store.change_document(1, "a.txt");
    store.change_document(2, "b.txt");
    let last = shared.lock().unwrap().upto + 2;
    assert!(
        !indexed(&shared, last, Duration::from_hours(1)).await,
        "nothing can be read, so nothing is lost"
    );
    world.blobs.damaged.lock().unwrap().remove(&keys[1]);
    assert!(indexed(&shared, last, Duration::from_mins(5)).await, "the damaged one keeps the other back");
    assert_eq!(shared.lock().unwrap().put[before..], first(2), "found by its name at least");
    engine.shutdown(Duration::ZERO).await;
}
