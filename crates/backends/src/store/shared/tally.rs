//! Tasks by kind and state, put together from rows.

use std::collections::BTreeMap;

use docmill_core::answer::TaskCounts;
use docmill_core::task::TaskKind;

#[derive(Default)]
pub(in crate::store) struct Tasks(BTreeMap<String, TaskCounts>);

impl Tasks {
    /// So many tasks of this kind are in this state.
    pub(in crate::store) fn add(&mut self, state: &str, kind: String, n: u64) {
        let counts = self.0.entry(kind).or_default();
        match state {
            "queued" => counts.queued += n,
            "held" => counts.held += n,
            "running" => counts.running += n,
            "dead" => counts.dead += n,
            _ => {}
        }
    }
}

impl From<Tasks> for Vec<(TaskKind, TaskCounts)> {
    fn from(tasks: Tasks) -> Self {
        tasks.0.into_iter().map(|(kind, counts)| (TaskKind::stored(kind), counts)).collect()
    }
}
