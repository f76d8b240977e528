//! The follower that embeds what documents say.

use std::collections::BTreeMap;

use docmill_core::ErrorKind;
use docmill_core::answer::SearchAnswer;
use docmill_core::call::Call;

use crate::fakes::World;

fn passages(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// Brings documents in, reads them, and writes them to the change log.
async fn read(world: &World, documents: &[(&str, &'static [u8])]) {
    for (name, content) in documents {
        world.offer(name, content).await;
    }
    world.work().await;
    for (number, (name, _)) in (1..).zip(documents) {
        world.store.change_document(number, name);
    }
}

#[tokio::test(start_paused = true)]
async fn documents_are_embedded_piece_by_piece_and_only_once() {
    let world = World::new();
    let documents: [(&str, &'static [u8]); 2] = [("told-a.txt", b"one\ntwo\nthree"), ("told-b.txt", b"four")];
    read(&world, &documents).await;
    world.work().await;
    assert_eq!(world.vectors.passages(), passages(&[("told-a.txt", 3), ("told-b.txt", 1)]));
    // Four pieces, and once what a note is.
    assert_eq!(world.embedder.texts(), 5);
    assert_eq!(world.store.kinds_by_meaning(), ["note", "note"]);
    // Something about it has changed, but nothing that it says.
    world.store.change_document(1, "told-a.txt");
    world.work().await;
    assert_eq!(world.embedder.texts(), 5);
    assert_eq!(world.vectors.passages(), passages(&[("told-a.txt", 3), ("told-b.txt", 1)]));
}

#[tokio::test(start_paused = true)]
async fn piece_that_kills_the_model_is_left_out_and_costs_nothing_else() {
    let world = World::new();
    read(&world, &[("told-bad.txt", b"good\npoison\nfine"), ("told-b.txt", b"after it")]).await;
    world.work().await;
    assert_eq!(world.vectors.passages(), passages(&[("told-b.txt", 1), ("told-bad.txt", 2)]));
}

#[tokio::test(start_paused = true)]
async fn model_that_is_away_for_a_while_is_waited_for() {
    let world = World::new();
    read(&world, &[("told-a.txt", b"one\ntwo")]).await;
    world.embedder.away_for(3);
    let engine = world.engine();
    tokio::time::sleep(std::time::Duration::from_mins(2)).await;
    assert_eq!(world.vectors.passages(), passages(&[("told-a.txt", 2)]));
    drop(engine);
}

#[tokio::test(start_paused = true)]
async fn search_by_both_goes_on_with_words_while_the_model_is_away() {
    let world = World::new();
    let search = |mode: &str| Call::Search {
        query: "a heron".to_owned(),
        mode: mode.to_owned(),
        limit: 10,
        filters: Vec::new(),
    };
    world.embedder.away_for(2);
    let answer = world.service.call(world.tenant, search("hybrid")).await.unwrap();
    let answer: SearchAnswer = serde_json::from_value(answer).unwrap();
    assert_eq!(answer.mode, "text");
    assert_eq!(answer.note.as_deref(), Some("found by words alone: told to be away"));
    // Whoever asks for meaning alone is not given something else.
    let refused = world.service.call(world.tenant, search("semantic")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
}
