//! Named places where a test may kill the process. In production nothing is installed and a point costs one
//! atomic load.
//!
//! The crash matrix (`crates/docmill/tests/crash_matrix.rs`) starts the real binary once for each name below,
//! has it killed there with SIGKILL, starts it again and asserts the invariants of `ARCHITECTURE.md`.

use std::sync::OnceLock;

/// Every point, in flow order.
pub const POINTS: &[&str] = &[
    "batch.open.before",
    "batch.open.after",
    "receive.before_blob",
    "receive.after_blob",
    "receive.before_row",
    "receive.after_row",
    "batch.seal.before",
    "batch.seal.after",
    "store.receive.document",
    "store.receive.ingestion",
    "store.receive.task",
    "store.group.begin",
    "store.group.before_commit",
    "store.group.after_commit",
    "store.group.before_reply",
    "store.claim.before",
    "store.claim.after",
    "store.commit.fenced",
    "store.commit.result",
    "store.commit.artifact",
    "store.commit.next",
    "store.commit.end",
    "store.commit.events",
    "store.children.manifest",
    "store.children.row",
    "store.children.counted",
    "worker.registered",
    "engine.after_claim",
    "engine.before_run",
    "engine.after_run",
    "engine.before_commit",
    "engine.after_commit",
    "engine.before_continue",
    "engine.before_renew",
    "engine.after_renew",
    "intake.after_sniff",
    "unpack.begin",
    "unpack.before_child_blob",
    "unpack.after_child_blob",
    "unpack.before_chunk",
    "unpack.after_chunk",
    "unpack.before_end",
    "transcribe.after_read",
    "transcribe.before_artifact",
    "transcribe.after_artifact",
    "classify.answered",
    "classify.answer_kept",
    "extract.answered",
    "extract.answer_kept",
    "sweep.before",
    "sweep.after",
    "index.before_read",
    "index.before_apply",
    "index.after_apply",
    "index.before_commit",
    "index.after_commit",
    "catalogue.before_apply",
    "catalogue.after_apply",
    "shutdown.before_release",
    "shutdown.after_release",
    "migrate.frozen",
    "migrate.begun",
    "migrate.blob.before",
    "migrate.blob.after",
    "migrate.blobs.marked",
    "migrate.chunk.before_commit",
    "migrate.chunk.after_commit",
    "migrate.checked",
    "migrate.finish.before_commit",
    "migrate.finished",
];

static HOOK: OnceLock<Box<dyn Fn(&'static str) + Send + Sync>> = OnceLock::new();

/// Installs what happens at each point. Only the first call counts.
pub fn install(hook: impl Fn(&'static str) + Send + Sync + 'static) -> bool {
    HOOK.set(Box::new(hook)).is_ok()
}

/// Marks a place. `name` must be listed in [`POINTS`].
#[inline]
pub fn point(name: &'static str) {
    if let Some(hook) = HOOK.get() {
        debug_assert!(POINTS.contains(&name), "crash point `{name}` is not listed");
        hook(name);
    }
}
