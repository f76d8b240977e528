//! Measures the text indexes side by side: how long it takes to apply so many small texts in batches of a thousand, and
//! to answer typical queries.
//!
//! ```text
//! .ci/with-servers cargo run --release -p docmill-backends --features postgres --example text_index -- CORPUS [COUNT]
//! ```
//!
//! The database that `DOCMILL_TEST_POSTGRES` points to is used as it is; an index in it is emptied.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

mod texts;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use docmill_backends::search::TantivyIndex;
use docmill_backends::search::postgres::{Options, PostgresIndex};
use docmill_core::clock::{Clock as _, SystemClock};
use docmill_core::ports::TextIndex;
use docmill_core::ports::text_index::{IndexChange, TextQuery};

use self::texts::{TENANT, texts};

const BATCH: usize = 1_000;
const ROUNDS: usize = 30;

const QUERIES: &[&str] = &[
    "the",
    "encryption",
    "space shuttle",
    "the government",
    "windows OR linux OR unix",
    "\"in the\"",
    "\"united states\"",
    "comp*",
    "god -jesus",
    "name:post-000042.txt",
    "key escrow chip clipper",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().ok_or("name the folder of the corpus")?;
    let count: usize = arguments.next().map_or(Ok(10_000), |n| n.parse())?;
    let texts = texts(Path::new(&corpus), count)?;
    println!("{count} texts, {} kB", texts.iter().map(|t| t.text.len()).sum::<usize>() / 1_000);

    let dir = tempfile::tempdir()?;
    #[expect(clippy::disallowed_methods, reason = "servers to test against are named in the environment")]
    let url = std::env::var("DOCMILL_TEST_POSTGRES")?;
    let indexes: [(&str, Box<dyn TextIndex>); 2] = [
        ("tantivy", Box::new(TantivyIndex::open(dir.path())?)),
        ("postgres", Box::new(PostgresIndex::open(&url, Options::default()).await?)),
    ];
    let clock = SystemClock::new();
    for (name, index) in &indexes {
        index.clear().await?;
        let mut times = Vec::new();
        for (from, batch) in (0..).zip(texts.chunks(BATCH)) {
            let changes = batch.iter().cloned().map(IndexChange::Put).collect();
            let began = clock.monotonic();
            assert!(index.apply(changes, from, from + 1).await?);
            times.push(clock.monotonic().saturating_sub(began));
        }
        let all: Duration = times.iter().sum();
        let first = times.first().copied().unwrap_or_default();
        let last = times.last().copied().unwrap_or_default();
        println!(
            "{name:>9}: applied in {:.2} s; the first batch in {} ms, the last in {} ms",
            all.as_secs_f64(),
            first.as_millis(),
            last.as_millis()
        );
    }
    println!(
        "{:<28} {:>6} {:>24} {:>24}",
        "query (10 hits)", "hits", "tantivy ms: p50, max", "postgres ms: p50, max"
    );
    for query in QUERIES {
        let mut line = format!("{query:<28}");
        let mut hits = Vec::new();
        for (_, index) in &indexes {
            let ask = |limit| TextQuery {
                tenant_id: TENANT,
                query: (*query).to_owned(),
                limit,
                filters: Vec::new(),
                any: false,
                forgiving: false,
                counted: true,
            };
            hits.push(index.query(ask(10_000)).await?.hits.len());
            let mut times = Vec::new();
            for _ in 0..ROUNDS {
                let began = clock.monotonic();
                index.query(ask(10)).await?;
                times.push((clock.monotonic().saturating_sub(began)).as_secs_f64() * 1e3);
            }
            times.sort_unstable_by(f64::total_cmp);
            if hits.len() == 1 {
                line.push_str(&format!(" {:>6}", hits[0]));
            }
            line.push_str(&format!(" {:>15.2}, {:>7.2}", times[ROUNDS / 2], times[ROUNDS - 1]));
        }
        assert_eq!(hits[0], hits[1], "{query}");
        println!("{line}");
    }
    Ok(())
}
