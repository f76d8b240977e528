//! The validated settings. How they are written down and merged is `options`; this is what code receives.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::{GIB, Limits};
use crate::task::DEFAULT_PRIORITY;

/// Everything that can be set.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Where the embedded store, blobs and index lie.
    pub data: PathBuf,
    /// `sqlite:` (in the data directory) or a path after it.
    pub store_url: String,
    /// `file:` (in the data directory) or a path after it.
    pub blobs_url: String,
    /// The tenant that commands work for.
    pub tenant: String,
    /// Where `serve` listens.
    pub listen: String,
    /// How work is done.
    pub engine: EngineSettings,
    /// How children are fenced in.
    pub sandbox: SandboxSettings,
    /// Caps.
    pub limits: Limits,
    /// How long events are kept.
    pub event_retention: Duration,
}

impl Settings {
    /// The defaults for a data directory.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            store_url: "sqlite:".into(),
            blobs_url: "file:".into(),
            tenant: "local".into(),
            listen: "127.0.0.1:8420".into(),
            engine: EngineSettings::default(),
            sandbox: SandboxSettings::default(),
            limits: Limits::default(),
            event_retention: Duration::from_hours(24 * 30),
        }
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
