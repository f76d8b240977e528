//! The real model, in the folder that `DOCMILL_TEST_MINILM` names: its vectors are those of sentence-transformers, and
//! label sets that compare meanings tell them apart.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test binary")]

mod support;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::child::{EmbedPool, PoolSettings};
use docmill_core::clock::SystemClock;
use docmill_core::id::TenantId;
use docmill_testkit::conformance::{self, Property};
use serde::Deserialize;
use support::Mill;
use uuid::Uuid;

const VARIABLE: &str = "DOCMILL_TEST_MINILM";

/// Texts with their vectors, made by `bench/understand/embed.py --reference`.
const REFERENCE: &str = include_str!("data/minilm.json");

#[derive(Deserialize)]
struct Reference {
    text: String,
    vector: Vec<f32>,
}

fn main() -> ExitCode {
    conformance::run(vec![
        Property::asked_by(VARIABLE, "vectors_are_those_of_sentence_transformers", vectors).into_trial(),
        Property::asked_by(VARIABLE, "classify_tells_meanings_apart", classify).into_trial(),
        Property::asked_by(VARIABLE, "search_finds_what_is_meant", search).into_trial(),
    ])
}

fn vectors(folder: Option<&str>) {
    let folder = folder.expect("it is asked for by naming the folder");
    let reference: Vec<Reference> = serde_json::from_str(REFERENCE).unwrap();
    assert!(reference.len() >= 8);
    let mut settings = PoolSettings::new(env!("CARGO_BIN_EXE_docmill"));
    settings.args = ["__child", "--role", "embed", "--model", folder].map(Into::into).to_vec();
    let texts = reference.iter().map(|known| known.text.clone()).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let vectors = runtime.block_on(async {
        let pool = EmbedPool::start(settings, Arc::new(SystemClock::new()), "minilm".into()).unwrap();
        let vectors = pool.embed(TenantId(Uuid::nil()), texts).await.unwrap();
        pool.shutdown().await;
        vectors
    });
    assert_eq!(vectors.len(), reference.len());
    for (vector, known) in vectors.iter().zip(&reference) {
        let near: f32 = vector.iter().zip(&known.vector).map(|(a, b)| a * b).sum();
        assert!(near >= 0.9999, "cosine {near} for `{}`", known.text);
    }
}

/// A data directory with the model in it.
fn mill(folder: Option<&str>) -> Mill {
    let folder = Path::new(folder.expect("it is asked for by naming the folder"));
    let mill = Mill::new();
    let model = mill.data().join("models/all-minilm-l6-v2");
    std::fs::create_dir_all(&model).unwrap();
    for file in ["model.safetensors", "tokenizer.json"] {
        std::fs::copy(folder.join(file), model.join(file)).unwrap();
    }
    mill
}

/// Documents come in, and are found by what they mean when the command returns; by words and meaning together too.
fn search(folder: Option<&str>) {
    let mill = mill(folder);
    mill.write("oil.txt", "The refinery pumps crude through a pipeline to the power station.");
    mill.write("bread.txt", "Our chef serves sourdough with butter and a bowl of soup.");
    mill.write("law.txt", "The court dismissed the appeal of the tenant.");
    mill.run(&["ingest", "in"]).expect(0);
    let first = |query: &str, mode: &str| {
        let answer = mill.run(&["search", query, "--mode", mode, "--json"]).expect(0).json();
        assert_eq!((answer["mode"].as_str(), &answer["note"]), (Some(mode), &serde_json::Value::Null));
        let hit = &answer["hits"][0];
        assert!(hit["page"] == 1 && !hit["snippet"].as_str().unwrap().is_empty(), "{hit}");
        hit["name"].as_str().unwrap().to_owned()
    };
    for mode in ["semantic", "hybrid"] {
        assert_eq!(first("where can I have lunch", mode), "bread.txt");
        assert_eq!(first("fossil fuels", mode), "oil.txt");
        assert_eq!(first("judges and lawyers", mode), "law.txt");
    }
    assert_eq!(first("tenant", "hybrid"), "law.txt");
    // More like one that was found: everything else, the nearest first.
    mill.write("bakery.txt", "The bakery sells rye bread and cakes.");
    mill.run(&["ingest", "in"]).expect(0);
    let bread =
        mill.run(&["search", "sourdough", "--json"]).expect(0).json()["hits"][0]["document_id"].clone();
    let alike = mill.run(&["search", "--like", bread.as_str().unwrap(), "--json"]).expect(0).json();
    let names: Vec<&str> =
        alike["hits"].as_array().unwrap().iter().map(|h| h["name"].as_str().unwrap()).collect();
    assert_eq!((names[0], names.len()), ("bakery.txt", 3));
    let status = mill.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["meanings"]["watermark"], status["meanings"]["last"]);
}

fn classify(folder: Option<&str>) {
    let mill = mill(folder);
    // No word of the texts is in the descriptions.
    mill.write(
        "trades.toml",
        "name = 'trades'\nmode = 'semantic'\nthreshold = 0.1\n\
         [[label]]\nname = 'energy'\ndescription = 'oil, gas and electricity'\n\
         [[label]]\nname = 'food'\ndescription = 'bakeries, dairies and restaurants'\n",
    );
    for (text, label) in [
        ("The refinery pumps crude through a pipeline to the power station.", "energy"),
        ("Our chef serves sourdough with butter and a bowl of soup.", "food"),
    ] {
        mill.write("note.txt", text);
        let said =
            mill.run(&["classify", "in/note.txt", "--labels", "in/trades.toml", "--json"]).expect(0).json();
        let trades = &said["labels"]["trades"];
        assert_eq!((&trades["method"], &trades["labels"][0]), (&"semantic".into(), &label.into()), "{said}");
    }
    let listed = mill.run(&["models", "list", "--json"]).expect(0).json();
    let here = listed["models"]
        .as_array()
        .unwrap()
        .iter()
        .any(|m| m["name"] == "all-minilm-l6-v2" && m["state"] == "here");
    assert!(here, "{listed}");
}
