//! Measures the text indexes side by side: how long it takes to apply so many small texts in batches of a thousand, and
//! to answer typical queries.
//!
//! ```text
//! .ci/with-servers cargo run --release -p docmill-backends --features postgres --example text_index -- CORPUS [COUNT]
//! ```
//!
//! Texts are paragraphs of the corpus, put together always in the same way. The database that `DOCMILL_TEST_POSTGRES`
//! points to is used as it is; an index in it is emptied.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use docmill_backends::search::TantivyIndex;
use docmill_backends::search::postgres::{Options, PostgresIndex};
use docmill_core::clock::{Clock as _, SystemClock};
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::limits::read_capped;
use docmill_core::ports::TextIndex;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextQuery};
use uuid::Uuid;

const TENANT: TenantId = TenantId(Uuid::from_u128(1));
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

/// Texts of about 1.5 kB, each of some paragraphs.
fn texts(corpus: &Path, count: usize) -> Result<Vec<IndexedDocument>, Box<dyn Error>> {
    let mut paragraphs = Vec::new();
    gather(corpus, &mut paragraphs)?;
    if paragraphs.len() < 100 {
        return Err(format!("{} holds {} paragraphs, too few", corpus.display(), paragraphs.len()).into());
    }
    let mut seed = 1_u64;
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let documents = (0..count).map(|n| {
        let some: Vec<&str> = (0..3 + draw(6)).map(|_| paragraphs[draw(paragraphs.len())].as_str()).collect();
        IndexedDocument {
            tenant_id: TENANT,
            document_id: DocumentId(Uuid::from_u128(n as u128 + 1)),
            name: format!("post-{n:06}.txt"),
            title: None,
            media_type: Some("text/plain".into()),
            particulars: docmill_core::ports::filter::Particulars::default(),
            text: some.join("\n\n"),
        }
    });
    Ok(documents.collect())
}

fn gather(folder: &Path, paragraphs: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gather(&path, paragraphs)?;
        } else if path.extension().is_some_and(|e| e == "txt") {
            let bytes = read_capped(File::open(&path)?, 1 << 20, "a text of the corpus")?;
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            paragraphs.extend(
                text.split("\n\n")
                    .map(str::trim)
                    .filter(|p| (40..=2_000).contains(&p.len()))
                    .map(str::to_owned),
            );
        }
    }
    Ok(())
}
