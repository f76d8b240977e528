//! `no-op`: nothing. Benchmarks queue it to measure what the engine and the store cost by themselves.

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::ports::store::Done;
use docmill_core::task::{Lease, TaskKind};

use super::{Context, TaskHandler};
use crate::plan::Outcome;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("no-op");

/// The handler.
pub struct NoOp;

#[async_trait]
impl TaskHandler for NoOp {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        cx.done(lease, Outcome::Nothing, Done::default())
    }
}
