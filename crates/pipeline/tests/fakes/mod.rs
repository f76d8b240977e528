//! Ports in memory, small and scripted: enough of each to drive the engine through its scenarios. Whether a real
//! store keeps its promises is the conformance suite's business, not this one's.

pub(crate) mod blobs;
pub(crate) mod embedder;
pub(crate) mod extractor;
pub(crate) mod index;
pub(crate) mod ocr;
pub(crate) mod reader;
pub(crate) mod spans;
pub(crate) mod store;
pub(crate) mod vectors;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use docmill_core::clock::{Clock, CountingIds, ScriptedEntropy, Timestamp};
use docmill_core::config::Settings;
use docmill_core::id::TenantId;
use docmill_core::ingestion::{IngestionStatus, Origin};
use docmill_core::metrics::Metrics;
use docmill_core::ports::understander::{Piece, Understood};
use docmill_core::problem::ResultCode;
use docmill_core::understanding::Understanding;
use docmill_pipeline::{Deps, EngineHandle, EngineOptions, Offer, Offered, Service, stages};

use blobs::FakeBlobs;
use embedder::FakeEmbedder;
use extractor::FirstWord;
use index::FakeIndex;
use ocr::FakeOcr;
use reader::FakeReader;
use spans::FakeSpans;
use store::FakeStore;
use vectors::FakeVectors;

/// The clock of tokio's paused time: both move together, and only when everybody waits.
pub(crate) struct PausedClock {
    start: tokio::time::Instant,
    /// Somebody has set the wall clock, by so many milliseconds.
    set: AtomicI64,
}

impl PausedClock {
    fn new() -> Arc<Self> {
        Arc::new(Self { start: tokio::time::Instant::now(), set: AtomicI64::new(0) })
    }

    /// Sets the wall clock ahead; the other does not notice.
    pub(crate) fn set_ahead(&self, by: Duration) {
        self.set.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }
}

/// Where the wall clock of every test begins.
pub(crate) const BEGIN: Timestamp = Timestamp(1_800_000_000_000);

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        Timestamp(BEGIN.plus(self.monotonic()).0 + self.set.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A docmill made of fakes.
pub(crate) struct World {
    pub(crate) store: Arc<FakeStore>,
    pub(crate) blobs: Arc<FakeBlobs>,
    pub(crate) reader: Arc<FakeReader>,
    pub(crate) ocr: Arc<FakeOcr>,
    pub(crate) ocr_again: Arc<FakeOcr>,
    pub(crate) embedder: Arc<FakeEmbedder>,
    pub(crate) vectors: Arc<FakeVectors>,
    pub(crate) spans: Arc<FakeSpans>,
    pub(crate) clock: Arc<PausedClock>,
    pub(crate) service: Service,
    pub(crate) tenant: TenantId,
    _data: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let clock = PausedClock::new();
        let store = Arc::new(FakeStore::new(Arc::clone(&clock) as Arc<dyn Clock>));
        Self::around(clock, store, FakeIndex::default(), change)
    }

    /// One of several processes on the same store and index.
    pub(crate) fn of_process(store: &Arc<FakeStore>, index: FakeIndex) -> Self {
        let clock = PausedClock::new();
        Self::around(clock, Arc::clone(store), index, |_| {})
    }

    fn around(
        clock: Arc<PausedClock>,
        store: Arc<FakeStore>,
        index: FakeIndex,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut settings = Settings::new(data.path().to_owned());
        change(&mut settings);
        let blobs = Arc::new(FakeBlobs::default());
        let reader = Arc::new(FakeReader::default());
        let ocr = Arc::new(FakeOcr::default());
        let ocr_again = Arc::new(FakeOcr::default());
        let spans = Arc::new(FakeSpans::default());
        let (embedder, vectors) = (Arc::new(FakeEmbedder::default()), Arc::new(FakeVectors::default()));
        let kinds: Vec<_> = stages::ALL.iter().map(|handler| handler.kind()).collect();
        let deps = Deps {
            store: Arc::clone(&store) as _,
            blobs: Arc::clone(&blobs) as _,
            reader: Arc::clone(&reader) as _,
            viewer: Arc::clone(&reader) as _,
            ocr: Arc::clone(&ocr) as _,
            ocr_again: Arc::clone(&ocr_again) as _,
            embedder: Arc::clone(&embedder) as _,
            understander: Arc::new(FirstLine),
            extractor: Arc::new(FirstWord),
            llm: None,
            generator: Arc::new(NoGenerator),
            index: Arc::new(index),
            vectors: Arc::clone(&vectors) as _,
            clock: Arc::clone(&clock) as _,
            ids: Arc::new(CountingIds::new(BEGIN)),
            entropy: Arc::new(ScriptedEntropy::new([0.5])),
            settings: Arc::new(settings),
            metrics: Arc::new(Metrics::new(&kinds, "test")),
            spans: Some(Arc::clone(&spans) as _),
        };
        let tenant = TenantId(uuid::Uuid::from_u128(7));
        Self {
            store,
            blobs,
            reader,
            ocr,
            ocr_again,
            embedder,
            vectors,
            spans,
            clock,
            service: Service::new(deps),
            tenant,
            _data: data,
        }
    }

    pub(crate) async fn offer(&self, name: &str, content: &'static [u8]) {
        let offers = vec![offer(name, Offered::Bytes(Bytes::from_static(content)))];
        self.service.receive(self.tenant, offers).await.unwrap();
    }

    pub(crate) fn engine(&self) -> EngineHandle {
        let settings = &self.service.deps().settings.engine;
        self.service.start_engine(EngineOptions::new(settings)).unwrap()
    }

    /// Works until nothing is left to do.
    pub(crate) async fn work(&self) {
        let settings = &self.service.deps().settings.engine;
        let options = EngineOptions { exit_when_idle: true, ..EngineOptions::new(settings) };
        self.service.start_engine(options).unwrap().wait().await;
    }

    /// How the ingestion of that name ended.
    pub(crate) fn end(&self, name: &str) -> Option<(IngestionStatus, ResultCode)> {
        self.store.end(name).map(|end| (end.status, end.result))
    }
}

pub(crate) fn offer(name: &str, content: Offered) -> Offer {
    Offer {
        batch_id: None,
        origin: Origin::Uploader("test".into()),
        path: name.into(),
        path_bytes: name.as_bytes().to_vec(),
        name: name.into(),
        source_metadata: serde_json::Value::Null,
        priority: 50,
        content,
    }
}

/// Takes the first line for the title; fails where the name says so.
struct FirstLine;

impl docmill_core::ports::Understander for FirstLine {
    fn identity(&self) -> &'static str {
        "first-line"
    }

    fn understand(
        &self,
        transcript: &docmill_core::artifact::Transcript,
        name: &str,
        _: Timestamp,
    ) -> docmill_core::Result<Option<Understood>> {
        assert!(!name.starts_with("maddening"), "told to panic");
        if name.starts_with("puzzling") {
            return Err(docmill_core::Error::bug("told to fail"));
        }
        let first = transcript.pages.iter().flat_map(|page| page.text.lines()).next();
        let kind = name.contains("note").then(|| "note".to_owned());
        let understanding = Understanding { kind, ..Understanding::default() };
        Ok(Some(Understood { title: first.map(str::to_owned), understanding }))
    }

    /// Each line is one.
    fn pieces(&self, transcript: &docmill_core::artifact::Transcript, most: usize) -> Vec<Piece> {
        let lines =
            transcript.pages.iter().flat_map(|page| page.text.lines().map(|line| (page.number, line)));
        lines
            .map(|(page, line)| Piece { page, start: 0, end: line.len(), text: line.to_owned() })
            .take(most)
            .collect()
    }

    fn sketch(&self, _: &docmill_core::artifact::Transcript) -> Option<docmill_core::sketch::Sketch> {
        None
    }

    fn descriptions(&self) -> Vec<String> {
        vec!["what a note is".into()]
    }

    /// A note, if the description was embedded.
    fn judge(
        &self,
        _: &docmill_core::artifact::Transcript,
        descriptions: &[Vec<f32>],
        pieces: &[Vec<f32>],
    ) -> docmill_core::Result<Option<docmill_core::understanding::Judgement>> {
        let kind = (descriptions.len() == 1 && !pieces.is_empty()).then(|| "note".to_owned());
        Ok(Some(docmill_core::understanding::Judgement { kind, ..Default::default() }))
    }
}

/// Makes nothing: no scenario asks for test documents.
struct NoGenerator;

impl docmill_core::ports::Generator for NoGenerator {
    fn make(
        &self,
        _: &docmill_core::generate::Order,
        _: u32,
    ) -> docmill_core::Result<docmill_core::generate::Sample> {
        Err(docmill_core::Error::bug("nothing is made here"))
    }
}
