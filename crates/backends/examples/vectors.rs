//! Measures the embedded indexes at several sizes: of how many nearest passages the flat index finds how many, how long
//! a question takes, also while passages are added, what it takes of memory; and how long Tantivy takes for words.
//!
//! ```text
//! cargo run --release -p docmill-backends --example vectors -- VECTORS CORPUS SIZE…
//! ```
//!
//! `VECTORS` holds real vectors as the flat index keeps them, 384 numbers of two bytes each. Every eighth is a question
//! and not in the index. Where there are too few, more are made: each lies between a real one and one of its nearest.
//! What was measured is one line of JSON. `bench/search/vectors.py` runs this.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

mod texts;

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use docmill_backends::search::TantivyIndex;
use docmill_backends::vectors::FlatIndex;
use docmill_core::clock::{Clock as _, SystemClock};
use docmill_core::id::DocumentId;
use docmill_core::limits::read_capped;
use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::ports::filter::Particulars;
use docmill_core::ports::text_index::{IndexChange, TextQuery};
use docmill_core::ports::vector_index::{EmbeddedDocument, Passage, VectorChange, VectorQuery};
use docmill_core::ports::{TextIndex, VectorIndex};
use serde_json::{Value, json};
use uuid::Uuid;

use self::texts::{TENANT, texts};

type Vector = [f32; DIMENSIONS];
type Answer<T> = Result<T, Box<dyn Error>>;

const MODEL: &str = "measured";
/// Hits that are asked for.
const WANTED: usize = 10;
/// Every so many real vectors one is a question.
const QUESTION_EVERY: usize = 8;
const MAX_QUESTIONS: usize = 500;
/// A batch as the follower applies them.
const BATCH: usize = 512;
/// Among so many real vectors the nearest of one are looked for, to make more.
const NEIGHBOURHOOD: usize = 2_000;

const WORDS: [&str; 10] = [
    "encryption",
    "space shuttle",
    "the government",
    "windows OR linux OR unix",
    "\"united states\"",
    "comp*",
    "god -jesus",
    "key escrow chip clipper",
    "players",
    "recieve~",
];

#[tokio::main]
async fn main() -> Answer<()> {
    let mut arguments = std::env::args().skip(1);
    let (file, corpus) = arguments.next().zip(arguments.next()).ok_or("name the vectors and the corpus")?;
    let sizes: Vec<usize> = arguments.map(|size| size.parse()).collect::<Result<_, _>>()?;
    let (real, questions) = read(Path::new(&file))?;
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let all = enlarged(&real, largest);
    let mut measured = Vec::new();
    for size in sizes {
        measured.push(meanings(&all[..size], &questions, real.len()).await?);
        measured.push(words(Path::new(&corpus), size).await?);
    }
    println!("{}", Value::Array(measured));
    Ok(())
}

/// Real vectors, and those of them that are questions.
fn read(path: &Path) -> Answer<(Vec<Vector>, Vec<Vector>)> {
    let bytes = read_capped(File::open(path)?, 1 << 30, "vectors")?;
    let (mut real, mut questions) = (Vec::new(), Vec::new());
    for (n, kept) in bytes.chunks_exact(DIMENSIONS * 2).enumerate() {
        let number = |at: usize| f32::from(i16::from_le_bytes([kept[2 * at], kept[2 * at + 1]]));
        let vector = unit(&std::array::from_fn(number));
        match n % QUESTION_EVERY {
            0 if questions.len() < MAX_QUESTIONS => questions.push(vector),
            _ => real.push(vector),
        }
    }
    if real.len() < 1_000 {
        return Err(format!("{} holds {} vectors, too few", path.display(), real.len()).into());
    }
    Ok((real, questions))
}

/// So many vectors: the real ones first, then others that lie between one of these and one of its nearest, and a
/// little beside; always the same ones.
fn enlarged(real: &[Vector], count: usize) -> Vec<Vector> {
    let mut seed = 1_u64;
    let mut draw = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 24) as f32
    };
    let mut all: Vec<Vector> = real.iter().copied().take(count).collect();
    let mut near: Vec<Vec<usize>> = Vec::new();
    for n in 0..count.saturating_sub(all.len()) {
        let from = n % real.len();
        if near.len() == from {
            let mut others: Vec<(f32, usize)> = (0..NEIGHBOURHOOD.min(real.len()))
                .map(|step| (from + 1 + step * 7) % real.len())
                .map(|other| (product(&real[from], &real[other]), other))
                .collect();
            others.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            near.push(others.iter().take(8).map(|(_, other)| *other).collect());
        }
        let other = &real[near[from][(draw() * 8.0) as usize % near[from].len()]];
        let part = 0.2 + 0.6 * draw();
        let between: Vector = std::array::from_fn(|at| {
            real[from][at] * (1.0 - part) + other[at] * part + (draw() - 0.5) * 0.02
        });
        all.push(unit(&between));
    }
    all
}

async fn meanings(vectors: &[Vector], questions: &[Vector], real: usize) -> Answer<Value> {
    let dir = tempfile::tempdir()?;
    let clock = SystemClock::new();
    let index = Arc::new(FlatIndex::new(dir.path()));
    let began = clock.monotonic();
    let mut at = 0;
    for batch in vectors.chunks(BATCH) {
        assert!(index.apply(MODEL, changes(at as usize, batch), at, at + batch.len() as i64).await?);
        at += batch.len() as i64;
    }
    let indexed = clock.monotonic().saturating_sub(began);
    let before = memory()?;
    let began = clock.monotonic();
    index.nearest(ask(&questions[0])).await?;
    let first = clock.monotonic().saturating_sub(began);
    let held = memory()?.saturating_sub(before);

    // Apart from the truth, which reads so much that nothing of the index would be left in the caches.
    let (mut times, mut found) = (Vec::new(), Vec::new());
    let cpu_before = cpu_time()?;
    for question in questions {
        let began = clock.monotonic();
        found.push(index.nearest(ask(question)).await?);
        times.push(clock.monotonic().saturating_sub(began));
    }
    let cpu = cpu_time()?.saturating_sub(cpu_before);
    let mut right = 0;
    for (question, hits) in questions.iter().zip(found) {
        let mut exact: Vec<(f32, usize)> =
            vectors.iter().enumerate().map(|(n, vector)| (product(question, vector), n)).collect();
        exact.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let best = &exact[..WANTED];
        right += best.iter().filter(|(_, n)| hits.iter().any(|hit| hit.document_id == id(*n))).count();
    }
    let beside = beside_indexing(&index, vectors, questions, at).await?;
    Ok(json!({
        "measure": "meaning",
        "passages": vectors.len(),
        "real": real.min(vectors.len()),
        "questions": questions.len(),
        "recall_at_10": right as f64 / (questions.len() * WANTED) as f64,
        "passages_per_s": (vectors.len() as f64 / indexed.as_secs_f64()).round(),
        "first_question_ms": ms(first),
        "memory_mb": held as f64 / 1e6,
        "cpu_ms_per_question": ms(cpu) / questions.len() as f64,
        "p50_ms": part(&mut times, 0.5),
        "p99_ms": part(&mut times, 0.99),
        "beside_indexing": beside,
    }))
}

/// The same questions while batches are applied one after the other.
async fn beside_indexing(
    index: &Arc<FlatIndex>,
    vectors: &[Vector],
    questions: &[Vector],
    mut at: i64,
) -> Answer<Value> {
    let clock = SystemClock::new();
    let (over, batches) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let writer = {
        let (index, over, batches) = (Arc::clone(index), Arc::clone(&over), Arc::clone(&batches));
        let some = vectors[..BATCH.min(vectors.len())].to_vec();
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                // The same documents again and again: they are replaced.
                let applied = index.apply(MODEL, changes(0, &some), at, at + 1).await;
                if !applied.is_ok_and(|applied| applied) {
                    return;
                }
                at += 1;
                batches.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let mut times = Vec::new();
    for question in questions {
        let began = clock.monotonic();
        index.nearest(ask(question)).await?;
        times.push(clock.monotonic().saturating_sub(began));
    }
    over.store(true, Ordering::Relaxed);
    writer.await?;
    let batches = batches.load(Ordering::Relaxed);
    Ok(json!({"batches": batches, "p50_ms": part(&mut times, 0.5), "p99_ms": part(&mut times, 0.99)}))
}

async fn words(corpus: &Path, size: usize) -> Answer<Value> {
    let dir = tempfile::tempdir()?;
    let clock = SystemClock::new();
    let index = TantivyIndex::open(dir.path())?;
    let documents = texts(corpus, size)?;
    let began = clock.monotonic();
    for (from, batch) in (0..).zip(documents.chunks(1_000)) {
        let changes = batch.iter().cloned().map(IndexChange::Put).collect();
        assert!(index.apply(changes, from, from + 1).await?);
    }
    let indexed = clock.monotonic().saturating_sub(began);
    let (mut times, mut each) = (Vec::new(), serde_json::Map::new());
    let cpu_before = cpu_time()?;
    for query in WORDS {
        let mut of_query = Vec::new();
        for _ in 0..30 {
            let query = TextQuery {
                tenant_id: TENANT,
                query: query.to_owned(),
                limit: WANTED,
                filters: Vec::new(),
                any: false,
                forgiving: false,
                counted: true,
            };
            let began = clock.monotonic();
            index.query(query).await?;
            of_query.push(clock.monotonic().saturating_sub(began));
        }
        times.extend(of_query.iter().copied());
        each.insert(query.to_owned(), part(&mut of_query, 0.5));
    }
    let cpu_ms = ms(cpu_time()?.saturating_sub(cpu_before)) / times.len() as f64;
    Ok(json!({
        "measure": "words",
        "documents": size,
        "documents_per_s": (size as f64 / indexed.as_secs_f64()).round(),
        "cpu_ms_per_query": cpu_ms,
        "p50_ms": part(&mut times, 0.5),
        "p99_ms": part(&mut times, 0.99),
        "p50_ms_of_each": each,
    }))
}

fn id(n: usize) -> DocumentId {
    DocumentId(Uuid::from_u128(n as u128 + 1))
}

fn changes(first: usize, vectors: &[Vector]) -> Vec<VectorChange> {
    let document = |(n, vector): (usize, &Vector)| {
        VectorChange::Put(EmbeddedDocument {
            tenant_id: TENANT,
            document_id: id(n),
            name: format!("{n}.txt"),
            media_type: Some("text/plain".into()),
            particulars: Particulars::default(),
            source: n.to_string(),
            passages: Some(vec![Passage { page: 1, start: 0, end: 500, vector: vector.to_vec() }]),
        })
    };
    (first..).zip(vectors).map(document).collect()
}

fn ask(vector: &Vector) -> VectorQuery {
    VectorQuery { tenant_id: TENANT, vector: vector.to_vec(), limit: WANTED, filters: Vec::new() }
}

fn product(a: &Vector, b: &Vector) -> f32 {
    // In parts: a sum of one number after the other cannot be computed side by side.
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for at in 0..8 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum()
}

fn unit(vector: &Vector) -> Vector {
    let length = product(vector, vector).sqrt().max(f32::MIN_POSITIVE);
    vector.map(|x| x / length)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The time that this part of all were not slower than.
fn part(times: &mut [Duration], part: f64) -> Value {
    times.sort_unstable();
    let place = ((times.len() as f64 * part).ceil() as usize).saturating_sub(1);
    json!((times.get(place).copied().map_or(0.0, ms) * 100.0).round() / 100.0)
}

/// What this process holds, in bytes.
fn memory() -> Answer<usize> {
    let pages = field("/proc/self/statm", 1)?;
    Ok(pages as usize * 4_096)
}

/// What all threads of this process have computed, to the nanosecond.
fn cpu_time() -> Answer<Duration> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        sum += field(&task?.path().join("schedstat").to_string_lossy(), 0).unwrap_or(0);
    }
    Ok(Duration::from_nanos(sum))
}

fn field(path: &str, at: usize) -> Answer<u64> {
    let bytes = read_capped(File::open(path)?, 4_096, "a file of the kernel")?;
    let text = String::from_utf8(bytes)?;
    Ok(text.split_whitespace().nth(at).ok_or("a field is missing")?.parse()?)
}
