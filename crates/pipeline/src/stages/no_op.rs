//! `no-op`: nothing, at once or after a wait. Benchmarks queue it to measure what the engine and the store cost by
//! themselves, and how workers share work that mostly waits.

use std::time::Duration;

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::ports::store::Done;
use docmill_core::task::{Lease, TaskKind};

use super::payload::Payload;
use super::{Context, TaskHandler};
use crate::plan::Outcome;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("no-op");

/// The longest wait that a task may ask for.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// The handler.
pub struct NoOp;

#[async_trait]
impl TaskHandler for NoOp {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        if let Some(ms) = Payload::parse(lease.payload.as_deref())?.wait_ms {
            tokio::time::sleep(Duration::from_millis(ms.into()).min(MAX_WAIT)).await;
        }
        cx.done(lease, Outcome::Nothing, Done::default())
    }
}
