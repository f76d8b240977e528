//! What can be set about the pool.

use std::path::PathBuf;
use std::time::Duration;

use docmill_core::limits::{GIB, KIB, MIB};
use docmill_core::metrics::ChildMeter;

/// What to do when the machine lacks a layer of the sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sandbox {
    /// Refuse to read anything unless Landlock and seccomp hold.
    #[default]
    Required,
    /// Take what there is; `docmill doctor` shows it.
    BestEffort,
}

/// The settings of a [`ChildPool`](super::ChildPool).
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// The binary to start; `/proc/self/exe` survives an upgrade that replaces the file.
    pub program: PathBuf,
    /// The arguments before `--parent` and `--memory`, which the pool adds.
    pub args: Vec<String>,
    /// Children that work at the same time.
    pub max_children: usize,
    /// Slow documents that may go on beside them.
    pub max_detached: usize,
    /// A child is replaced after so many documents.
    pub recycle_after: u64,
    /// Documents in one frame.
    pub frame_max_orders: usize,
    /// Bytes of content in one frame.
    pub frame_max_bytes: u64,
    /// Larger documents are passed as a descriptor, each in a frame of its own.
    pub inline_up_to: u64,
    /// What one document of a shared frame may put out before it is read again alone.
    pub framed_output_bytes: u64,
    /// A document that takes longer no longer holds up others…
    pub slow_after: Duration,
    /// …and neither does one that takes so much CPU, which on an idle machine is sooner.
    pub slow_after_cpu: Duration,
    /// An idle child is ended after this.
    pub idle_after: Duration,
    /// How long a child may take to start.
    pub ready_within: Duration,
    /// Whether the layers are needed.
    pub sandbox: Sandbox,
    /// The memory of the child that `layers()` starts; documents bring their own limit.
    pub memory_bytes: u64,
    /// Tried on documents that are encrypted.
    pub passwords: Vec<String>,
    /// Counts the children.
    pub meter: ChildMeter,
}

impl PoolSettings {
    /// The defaults, with `program` as the binary to start.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            program: program.into(),
            args: ["__child", "--role", "parse"].map(Into::into).to_vec(),
            max_children: cores,
            max_detached: 4,
            recycle_after: 600,
            frame_max_orders: 32,
            frame_max_bytes: MIB,
            inline_up_to: 64 * KIB,
            framed_output_bytes: 4 * MIB,
            slow_after: Duration::from_millis(500),
            slow_after_cpu: Duration::from_millis(20),
            idle_after: Duration::from_secs(30),
            ready_within: Duration::from_secs(30),
            sandbox: Sandbox::default(),
            memory_bytes: GIB,
            passwords: Vec::new(),
            meter: ChildMeter::default(),
        }
    }
}
