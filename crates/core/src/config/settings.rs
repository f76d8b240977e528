//! The validated settings. How they are written down and merged is `options`; this is what code receives.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::llm::LlmSettings;
use crate::limits::{GIB, Limits, MIB};
use crate::ocr::{OcrEngine, OcrMode};
use crate::task::DEFAULT_PRIORITY;

/// Everything that can be set.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Where the embedded store, blobs and index lie.
    pub data: PathBuf,
    /// `sqlite:` (in the data directory), with or without a path after it, or `postgres://…`.
    pub store_url: String,
    /// The queue, as a URL.
    pub queue_url: String,
    /// How a store on a server is used.
    pub store: StoreSettings,
    /// `file:` (in the data directory) or a path after it, or another store's URL.
    pub blobs_url: String,
    /// How a blob store that is a server is reached.
    pub blobs: BlobSettings,
    /// The tenant that commands work for.
    pub tenant: String,
    /// Where `serve` listens.
    pub listen: String,
    /// How requests are answered.
    pub http: HttpSettings,
    /// How work is done.
    pub engine: EngineSettings,
    /// How children are fenced in.
    pub sandbox: SandboxSettings,
    /// How pages are shown to people.
    pub view: ViewSettings,
    /// Tried on encrypted documents.
    pub passwords: Vec<String>,
    /// The library of the second engine for PDF files; empty means the one that was fetched.
    pub pdfium: PathBuf,
    /// How text is recognised in pictures.
    pub ocr: OcrSettings,
    /// How documents are understood without one.
    pub understand: UnderstandSettings,
    /// Which language model is asked, and how.
    pub llm: LlmSettings,
    /// Which documents records are taken from.
    pub extract: ExtractSettings,
    /// Caps.
    pub limits: Limits,
    /// How long events are kept.
    pub event_retention: Duration,
    /// What is logged, and how.
    pub log: LogSettings,
    /// Where metrics are shown beside `listen`; empty means nowhere.
    pub metrics_listen: String,
    /// Where spans go.
    pub otel: OtelSettings,
}

impl Settings {
    /// The defaults for a data directory.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            store_url: "sqlite:".into(),
            queue_url: "store:".into(),
            store: StoreSettings::default(),
            blobs_url: "file:".into(),
            blobs: BlobSettings::default(),
            tenant: "local".into(),
            listen: "127.0.0.1:8420".into(),
            http: HttpSettings::default(),
            engine: EngineSettings::default(),
            sandbox: SandboxSettings::default(),
            view: ViewSettings::default(),
            passwords: Vec::new(),
            pdfium: PathBuf::new(),
            ocr: OcrSettings::default(),
            understand: UnderstandSettings::default(),
            llm: LlmSettings::default(),
            extract: ExtractSettings::default(),
            limits: Limits::default(),
            event_retention: Duration::from_hours(24 * 30),
            log: LogSettings::default(),
            metrics_listen: String::new(),
            otel: OtelSettings::default(),
        }
    }
}

/// How a store on a server is used.
#[derive(Clone, PartialEq, Debug)]
pub struct StoreSettings {
    /// Connections of one process at most, beside one for renewals.
    pub max_connections: u32,
    /// A statement that runs longer is stopped.
    pub statement_timeout: Duration,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { max_connections: 10, statement_timeout: Duration::from_secs(30) }
    }
}

/// How requests are answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpSettings {
    /// Connections at once.
    pub max_connections: u32,
    /// Requests that bring documents at once.
    pub max_uploads: u32,
    /// Of one key; 0 means any number.
    pub requests_per_second: u32,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self { max_connections: 4096, max_uploads: 128, requests_per_second: 1000 }
    }
}

/// How a blob store that is a server is reached.
#[derive(Clone, PartialEq, Debug)]
pub struct BlobSettings {
    /// The server's address; empty means what the variables say, and otherwise the product's own.
    pub endpoint: String,
    /// The region; empty means what the variables say.
    pub region: String,
    /// For how long a request that failed is tried again.
    pub retry_for: Duration,
    /// What the environment says to every program that uses such a store.
    pub variables: CloudVariables,
}

impl Default for BlobSettings {
    fn default() -> Self {
        Self {
            endpoint: String::new(),
            region: String::new(),
            retry_for: Duration::from_secs(30),
            variables: CloudVariables::default(),
        }
    }
}

/// How text is recognised in pictures.
#[derive(Clone, PartialEq, Debug)]
pub struct OcrSettings {
    /// With what.
    pub engine: OcrEngine,
    /// Which pages.
    pub mode: OcrMode,
    /// Names of Tesseract's models.
    pub languages: Vec<String>,
    /// Below this quality more is tried.
    pub threshold: f64,
    /// Tesseract's library; empty means where the system keeps it.
    pub library: PathBuf,
    /// The folder of Tesseract's models; empty means where the system keeps them.
    pub tessdata: PathBuf,
}

impl Default for OcrSettings {
    fn default() -> Self {
        Self {
            engine: OcrEngine::Auto,
            mode: OcrMode::Auto,
            languages: vec!["eng".into()],
            threshold: 0.7,
            library: PathBuf::new(),
            tessdata: PathBuf::new(),
        }
    }
}

/// Which documents records are taken from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtractSettings {
    /// `type=schema`, or one name where both are called the same. Empty means none, and so does `off`.
    pub schemas: Vec<String>,
    /// When a language model is asked for fields.
    pub ask: Ask,
}

/// When a language model is asked for the fields of documents that come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ask {
    /// Rules are all there is.
    Never,
    /// For what a person would have to look at, and for nothing else.
    #[default]
    Doubtful,
    /// For every field of every record.
    Always,
}

impl Ask {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Never, Self::Doubtful, Self::Always];

    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Doubtful => "doubtful",
            Self::Always => "always",
        }
    }
}

impl Default for ExtractSettings {
    fn default() -> Self {
        let schemas = ["invoice", "receipt", "statement=bank_statement", "contract=nda"];
        Self { schemas: schemas.map(str::to_owned).to_vec(), ask: Ask::default() }
    }
}

impl ExtractSettings {
    /// Takes no records.
    pub const OFF: &'static str = "off";

    /// The schema for documents of this type.
    pub fn schema_of(&self, kind: &str) -> Option<&str> {
        self.pairs().find(|(known, _)| *known == kind).map(|(_, schema)| schema)
    }

    /// Types and their schemas.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let named = self.schemas.iter().filter(|entry| *entry != Self::OFF);
        named.map(|entry| {
            entry
                .split_once('=')
                .map_or((entry.as_str(), entry.as_str()), |(kind, schema)| (kind.trim(), schema.trim()))
        })
    }
}

/// What is logged, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogSettings {
    /// The least important that is logged.
    pub level: LogLevel,
    /// How a line looks.
    pub format: LogFormat,
}

/// How important a log line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LogLevel {
    /// Needs a person.
    Error,
    /// Something did not go as it should, and docmill deals with it.
    #[default]
    Warn,
    /// What goes on: a line for every attempt at a task.
    Info,
    /// How.
    Debug,
    /// Everything, also of the libraries inside.
    Trace,
}

impl LogLevel {
    /// Every level, the most important first.
    pub const ALL: &'static [Self] = &[Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Variables of the environment that are not docmill's own, such as `AWS_ACCESS_KEY_ID`. They hold secrets, so they
/// are no settings: nothing prints their values, and no file can set them.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct CloudVariables(BTreeMap<String, String>);

impl CloudVariables {
    /// What their names begin with.
    pub const PREFIX: &str = "AWS_";

    /// Those of `variables` that belong here. An empty value counts as none.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let ours = |(name, value): &(String, String)| name.starts_with(Self::PREFIX) && !value.is_empty();
        Self(variables.into_iter().filter(ours).collect())
    }

    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl fmt::Debug for CloudVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// How a log line looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// Every format.
    pub const ALL: &'static [Self] = &[Self::Text, Self::Json];

    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// Where spans go.
#[derive(Clone, PartialEq, Debug)]
pub struct OtelSettings {
    /// A collector, as a URL; empty means nowhere.
    pub endpoint: String,
    /// The share of ingestions that are traced, from 0 to 1.
    pub sample: f64,
}

impl Default for OtelSettings {
    fn default() -> Self {
        Self { endpoint: String::new(), sample: 1.0 }
    }
}

/// How work is claimed and done.
#[derive(Clone, PartialEq, Debug)]
pub struct EngineSettings {
    /// Slots of this worker.
    pub slots: u32,
    /// Slots a large task takes.
    pub slots_large: u32,
    /// Tasks taken in one claim.
    pub claim_max: usize,
    /// How long work may be kept without renewing.
    pub lease: Duration,
    /// How often leases are renewed.
    pub renew_every: Duration,
    /// How often expired leases are looked for.
    pub sweep_every: Duration,
    /// How long running work may go on after SIGTERM.
    pub shutdown_grace: Duration,
    /// A task without progress for so long is cancelled.
    pub stall_limit: Duration,
    /// Default priority of new batches.
    pub priority: u8,
    /// Kinds this worker takes; empty means all.
    pub kinds: Vec<String>,
    /// Per kind.
    pub per_kind: BTreeMap<String, KindSettings>,
    /// A PDF with more pages than this is transcribed in parts of so many pages.
    pub pages_per_part: u32,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            slots: 8,
            slots_large: 5,
            claim_max: 256,
            lease: Duration::from_mins(1),
            renew_every: Duration::from_secs(15),
            sweep_every: Duration::from_secs(15),
            shutdown_grace: Duration::from_mins(10),
            stall_limit: Duration::from_mins(10),
            priority: DEFAULT_PRIORITY,
            kinds: Vec::new(),
            per_kind: BTreeMap::new(),
            pages_per_part: 200,
        }
    }
}

/// Limits of one kind of task.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct KindSettings {
    /// At most so many at once.
    pub concurrency: Option<u32>,
    /// At most so many starts a second.
    pub per_second: Option<f64>,
}

/// What to do where the kernel lacks a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Use what there is, and say so in `doctor`.
    #[default]
    BestEffort,
    /// Refuse to run without Landlock and seccomp.
    Required,
}

/// How documents are understood on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnderstandSettings {
    /// Files of label sets.
    pub labels: Vec<String>,
}

/// How children are fenced in.
#[derive(Clone, PartialEq, Debug)]
pub struct SandboxSettings {
    /// What to do where a layer is missing.
    pub mode: SandboxMode,
    /// Children at once; 0 means one for each core.
    pub children: u32,
    /// Documents a child reads before it is replaced.
    pub recycle_after: u32,
    /// Memory of a child on small.
    pub memory_bytes: u64,
    /// Memory of a child on large.
    pub memory_bytes_large: u64,
    /// CPU time without a page or a member.
    pub cpu_without_progress: Duration,
    /// Wall time without a page or a member.
    pub wall_without_progress: Duration,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            mode: SandboxMode::BestEffort,
            children: 0,
            recycle_after: 600,
            memory_bytes: GIB,
            memory_bytes_large: 4 * GIB,
            cpu_without_progress: Duration::from_mins(1),
            wall_without_progress: Duration::from_mins(2),
        }
    }
}

/// How pages are shown to people.
#[derive(Clone, PartialEq, Debug)]
pub struct ViewSettings {
    /// Children that draw at once; 0 means one for two cores, and two at least.
    pub children: u32,
    /// Pictures and words that are kept for the next who looks.
    pub memory_bytes: u64,
}

impl Default for ViewSettings {
    fn default() -> Self {
        Self { children: 0, memory_bytes: 64 * MIB }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_never_print_their_values() {
        let pairs = [("AWS_SECRET_ACCESS_KEY", "hush"), ("AWS_REGION", ""), ("HOME", "/nowhere")];
        let variables = CloudVariables::of(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(variables.get("AWS_SECRET_ACCESS_KEY"), Some("hush"));
        assert_eq!((variables.get("AWS_REGION"), variables.get("HOME")), (None, None));
        assert_eq!(format!("{variables:?}"), r#"{"AWS_SECRET_ACCESS_KEY"}"#);
    }
}
