//! The follower that embeds what documents say.

use std::collections::BTreeMap;

use crate::fakes::World;

fn passages(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[tokio::test(start_paused = true)]
async fn documents_are_embedded_piece_by_piece_and_only_once() {
    let world = World::new();
    world.offer("a.txt", b"one\ntwo\nthree").await;
    world.offer("empty.txt", b"").await;
    world.work().await;
    assert_eq!(world.vectors.passages(), passages(&[("a.txt", 3)]));
    assert_eq!(world.embedder.texts(), 3);
    // The same content again is a change of the document, but of nothing that it says.
    world.offer("a.txt", b"one\ntwo\nthree").await;
    world.work().await;
    assert_eq!(world.embedder.texts(), 3);
    assert_eq!(world.vectors.passages(), passages(&[("a.txt", 3)]));
}

#[tokio::test(start_paused = true)]
async fn piece_that_kills_the_model_is_left_out_and_costs_nothing_else() {
    let world = World::new();
    world.offer("bad.txt", b"good\npoison\nfine").await;
    world.offer("b.txt", b"after it").await;
    world.work().await;
    assert_eq!(world.vectors.passages(), passages(&[("b.txt", 1), ("bad.txt", 2)]));
}

#[tokio::test(start_paused = true)]
async fn model_that_is_away_for_a_while_is_waited_for() {
    let world = World::new();
    world.embedder.away_for(3);
    world.offer("a.txt", b"one\ntwo").await;
    let engine = world.engine();
    tokio::time::sleep(std::time::Duration::from_secs(120)).await;
    assert_eq!(world.vectors.passages(), passages(&[("a.txt", 2)]));
    drop(engine);
}
