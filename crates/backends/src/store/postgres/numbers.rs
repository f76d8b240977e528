//! Numbers of tasks, taken from the server in blocks: a task is known by its number before its row is written, and
//! most tasks cost no question.
//!
//! A block belongs to the transaction that took it until that has committed. Before, a crash of the server may undo the
//! taking, and the server would give the same block to somebody else.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use docmill_core::Result;
use docmill_core::id::TaskId;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};

use super::row::sql_error;

/// What the sequence `task_number` counts by.
const BLOCK: i64 = 64;

/// Blocks that are begun. Numbers that are lost with the process, or with a transaction, are never used.
#[derive(Default)]
pub(super) struct Numbers(Mutex<VecDeque<Range<i64>>>);

/// What is left of the block that a transaction has taken.
#[derive(Default)]
pub(super) struct Taken(Range<i64>);

impl Numbers {
    /// The next number for a transaction on `conn` that has `taken` a block already, or does so now.
    pub(super) async fn next(&self, taken: &mut Taken, conn: &mut PgConnection) -> Result<TaskId> {
        if let Some(id) = taken.0.next().map(TaskId).or_else(|| self.shared()) {
            return Ok(id);
        }
        let first: i64 = query_scalar::<Postgres, i64>("SELECT nextval('task_number')")
            .fetch_one(conn)
            .await
            .map_err(sql_error("number a task"))?;
        taken.0 = first + 1..first + BLOCK;
        Ok(TaskId(first))
    }

    /// The transaction has committed: others may use what it has left.
    pub(super) fn share(&self, taken: Taken) {
        if !taken.0.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(taken.0);
        }
    }

    fn shared(&self) -> Option<TaskId> {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let block = blocks.front_mut()?;
        let id = block.next().map(TaskId);
        if block.is_empty() {
            blocks.pop_front();
        }
        id
    }
}
