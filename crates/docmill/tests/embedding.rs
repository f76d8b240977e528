//! Children that embed, through the real pool and the real binary, with a model to which all texts mean the same: what
//! becomes of batches, of those that are too large, and of those that kill their child.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use docmill_backends::child::{EmbedPool, MAX_TEXTS, PoolSettings, Sandbox};
use docmill_core::ErrorKind;
use docmill_core::clock::SystemClock;
use docmill_core::id::TenantId;
use docmill_core::ports::Embedder;
use docmill_core::ports::embedder::DIMENSIONS;
use serde_json::json;
use support::model::write_hollow_model;
use support::{Mill, children_of};
use tempfile::TempDir;
use uuid::Uuid;

const MODEL: &str = "models/all-minilm-l6-v2";

/// One place at work, so that it is known who does what.
fn pool(change: impl FnOnce(&mut PoolSettings)) -> (Arc<dyn Embedder>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    write_hollow_model(folder.path());
    let mut settings = PoolSettings { max_children: 1, ..PoolSettings::new(env!("CARGO_BIN_EXE_docmill")) };
    settings.args = ["__child", "--role", "embed", "--model"].map(Into::into).to_vec();
    settings.args.push(folder.path().to_str().unwrap().to_owned());
    settings.sandbox = Sandbox::Required;
    change(&mut settings);
    (EmbedPool::start(settings, Arc::new(SystemClock::new()), "hollow".into()).unwrap(), folder)
}

fn tenant(number: u128) -> TenantId {
    TenantId(Uuid::from_u128(number))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn children() -> HashSet<u32> {
    children_of(std::process::id()).into_iter().collect()
}

#[tokio::test]
async fn batch_has_one_vector_of_length_one_for_each_text() {
    let (pool, _folder) = pool(|_| {});
    pool.available().unwrap();
    assert!(pool.embed(tenant(1), Vec::new()).await.unwrap().is_empty());
    let many: Vec<String> = (0..MAX_TEXTS).map(|number| format!("text {number} \0 \u{202e} 個人")).collect();
    for batch in [texts(&["", "one", "two words"]), many] {
        let wanted = batch.len();
        let vectors = pool.embed(tenant(1), batch).await.unwrap();
        assert_eq!(vectors.len(), wanted);
        for vector in vectors {
            assert_eq!(vector.len(), DIMENSIONS);
            assert!((vector.iter().map(|number| number * number).sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }
    let engines = pool.engines().await.unwrap();
    assert!(engines.len() == 1 && engines[0].active && engines[0].name == "minilm", "{engines:?}");
    pool.shutdown().await;
}

#[tokio::test]
async fn batch_that_is_too_large_is_refused_and_no_child_sees_it() {
    let (pool, _folder) = pool(|_| {});
    let before = children();
    let error = pool.embed(tenant(1), vec![String::new(); MAX_TEXTS + 1]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    let error = pool.embed(tenant(1), vec!["word ".repeat(20_000); 200]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(children().is_subset(&before), "a child was started for nothing");
    // A long text alone is none: the model takes its beginning.
    pool.embed(tenant(1), vec!["word ".repeat(1 << 20)]).await.unwrap();
    pool.shutdown().await;
}

#[tokio::test]
async fn batch_that_kills_its_child_fails_alone() {
    let (pool, _folder) = pool(|_| {});
    for (deed, kind) in [
        ("abort", ErrorKind::ChildCrashed),
        ("segfault", ErrorKind::ChildCrashed),
        ("oom", ErrorKind::OutOfMemory),
        ("panic", ErrorKind::Bug),
    ] {
        let batch = texts(&["before", &format!("DOCMILL-PROBE:{deed}"), "behind"]);
        let (poisoned, well) =
            tokio::join!(pool.embed(tenant(1), batch), pool.embed(tenant(1), texts(&["beside"])));
        let error = poisoned.unwrap_err();
        assert_eq!(error.kind(), kind, "{deed}: {}", error.chain());
        assert_eq!(well.unwrap().len(), 1, "{deed}");
    }
    pool.shutdown().await;
}

#[tokio::test]
async fn child_serves_one_tenant_and_goes_when_nobody_embeds() {
    let (pool, _folder) = pool(|settings| settings.idle_after = Duration::from_millis(50));
    let before = children();
    let mine = || children().difference(&before).copied().collect::<Vec<u32>>();
    assert!(mine().is_empty(), "no child before the first text");
    pool.embed(tenant(1), texts(&["a"])).await.unwrap();
    let first = mine();
    pool.embed(tenant(2), texts(&["b"])).await.unwrap();
    assert!(first.iter().all(|child| !mine().contains(child)) || mine().is_empty());
    while !mine().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    pool.embed(tenant(1), texts(&["again"])).await.unwrap();
    pool.shutdown().await;
    assert!(mine().is_empty());
}

#[tokio::test]
async fn pool_that_drains_takes_no_more() {
    let (pool, _folder) = pool(|_| {});
    pool.drain().await;
    assert_eq!(pool.embed(tenant(1), texts(&["a"])).await.unwrap_err().kind(), ErrorKind::ShuttingDown);
    pool.shutdown().await;
}

#[tokio::test]
async fn child_without_its_model_says_what_is_missing() {
    let (pool, folder) = pool(|_| {});
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    let error = pool.embed(tenant(1), texts(&["a"])).await.unwrap_err();
    assert!(error.chain().contains("tokenizer.json"), "{}", error.chain());
    pool.shutdown().await;
}

#[test]
fn classify_and_doctor_use_the_model_that_is_here_and_say_how_to_get_one_that_is_not() {
    let mill = Mill::new();
    mill.write("note.txt", "The refinery turns crude oil into petrol.\n");
    let classify = ["classify", "in/note.txt", "--json"];
    let off = mill.run(&classify).expect(0).json();
    assert_eq!(off["labels"]["industries"]["method"], "off");
    assert!(off["labels"]["industries"]["reason"].as_str().unwrap().contains("docmill models pull"), "{off}");
    let check = |name: &str| {
        let said = mill.run(&["doctor", "--json"]).expect(0).json();
        said["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned().unwrap()
    };
    let absent = check("embed");
    assert!(absent["detail"].as_str().unwrap().starts_with("off: "), "{absent}");
    assert_eq!(absent["hint"], "`docmill models pull` fetches it");

    write_hollow_model(&mill.data().join(MODEL));
    let on = mill.run(&classify).expect(0).json();
    assert_eq!(on["labels"]["industries"]["method"], "semantic", "{on}");
    // To this model every label is as near as every other.
    assert_eq!(
        on["labels"]["industries"]["scores"].as_object().unwrap().values().next(),
        Some(&json!(1.0)),
        "{on}"
    );
    let here = check("embed_minilm");
    assert!(here["detail"].as_str().unwrap().contains("MiniLM"), "{here}");
    let listed = mill.run(&["models", "list", "--json"]).expect(0).json();
    let state = |name: &str| {
        let models = listed["models"].as_array().unwrap();
        models.iter().find(|model| model["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!(state("all-minilm-l6-v2"), "damaged", "who looks at every byte is not deceived");
}
