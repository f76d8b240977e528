//! Looking at tasks while a process works on them.

use std::process::Child;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::Mill;

/// A task as its row tells it, with the file name of its item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) state: String,
    pub(crate) owner: Option<Vec<u8>>,
    /// From now on.
    pub(crate) lease_left: Option<Duration>,
    pub(crate) attempt: u32,
    pub(crate) lost: u32,
}

/// All tasks that have not ended, or nothing while there is no database to ask.
pub(crate) fn open_tasks(mill: &Mill) -> Vec<Task> {
    tasks(mill)
        .into_iter()
        .filter(|task| ["queued", "held", "running"].contains(&task.state.as_str()))
        .collect()
}

/// All tasks, or nothing while there is no database to ask.
pub(crate) fn tasks(mill: &Mill) -> Vec<Task> {
    read(mill).unwrap_or_default()
}

fn read(mill: &Mill) -> rusqlite::Result<Vec<Task>> {
    let path = mill.data().join("docmill.db");
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = connection.prepare(
        "SELECT i.name, t.kind, t.state, t.owner, t.lease_until - unixepoch('subsec') * 1000, t.attempt, t.lost
         FROM task t JOIN ingestion i USING (ingestion_id) ORDER BY i.name, t.task_id",
    )?;
    let rows = statement.query_map([], |row| {
        let left: Option<f64> = row.get(4)?;
        Ok(Task {
            name: row.get(0)?,
            kind: row.get(1)?,
            state: row.get(2)?,
            owner: row.get(3)?,
            lease_left: left.map(|ms| Duration::from_millis(ms.max(0.0) as u64)),
            attempt: row.get(5)?,
            lost: row.get(6)?,
        })
    })?;
    rows.collect()
}

/// Looks until something holds; whoever works must not end before it does.
#[track_caller]
pub(crate) fn until(worker: &mut Child, what: &str, mut holds: impl FnMut() -> bool) {
    while !holds() {
        let ended = worker.try_wait().unwrap();
        assert!(ended.is_none() || holds(), "the process ended ({ended:?}) before this was so: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
