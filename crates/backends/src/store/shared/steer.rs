//! What a person does to single items: what runs again when dead letters are replayed, and what must not go on beside it.

use std::collections::BTreeSet;

use docmill_core::Error;
use docmill_core::clock::Timestamp;
use docmill_core::id::TaskId;
use docmill_core::ingestion::IngestionStatus;
use docmill_core::state::TaskState;

/// A task of an ingestion of which dead letters are replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::store) struct Piece {
    pub(in crate::store) task_id: TaskId,
    pub(in crate::store) state: TaskState,
    /// The join that waits for it, if it is a part.
    pub(in crate::store) join_id: Option<i64>,
    /// It is a join itself.
    pub(in crate::store) joins: bool,
    pub(in crate::store) queued_at: Timestamp,
}

impl Piece {
    fn is_wanted(&self, wanted: &BTreeSet<TaskId>) -> bool {
        matches!(self.state, TaskState::Dead | TaskState::Dropped) && wanted.contains(&self.task_id)
    }

    fn is_fanned(&self) -> bool {
        self.joins || self.join_id.is_some()
    }
}

/// What becomes of the tasks of one ingestion when dead letters of it are replayed.
#[derive(Default, PartialEq, Eq, Debug)]
pub(in crate::store) struct Revival {
    /// Dead letters that run again.
    pub(in crate::store) replay: Vec<Piece>,
    /// Joins of which parts run again, and how many of them.
    pub(in crate::store) reopen: Vec<(Piece, i64)>,
    /// Parts that were cancelled while such a join still counted them: it would wait for them for ever.
    pub(in crate::store) recall: Vec<Piece>,
    /// Open tasks that what runs again leads to.
    pub(in crate::store) cancel: Vec<Piece>,
    /// Dead letters that what runs again leads to, or what is open already.
    pub(in crate::store) drop: Vec<Piece>,
}

impl Revival {
    /// How many dead letters there are less.
    pub(in crate::store) fn dead(&self) -> i64 {
        let joins = self.reopen.iter().map(|(join, _)| join);
        let all = self.replay.iter().chain(joins).chain(&self.drop);
        all.filter(|piece| piece.state == TaskState::Dead).count() as i64
    }

    /// Whether anything is put back to work.
    pub(in crate::store) fn runs(&self) -> bool {
        !self.replay.is_empty()
    }
}

/// An ingestion is a chain of tasks that may fan out to parts once. What runs again leads to everything behind it once
/// more. If that went on from what was known before, whichever came first would end the ingestion, and what the other
/// one finds would never be seen: so only the foremost of what is to be done goes on. `tasks` are those of one ingestion,
/// all that are open or wanted at least, and joins with their cancelled parts.
pub(in crate::store) fn revival(tasks: &[Piece], wanted: &BTreeSet<TaskId>) -> Revival {
    let wanted: Vec<Piece> = tasks.iter().filter(|t| t.is_wanted(wanted)).copied().collect();
    let open: Vec<Piece> = tasks.iter().filter(|t| t.state.is_open()).copied().collect();
    let mut revival = Revival::default();
    let all = || wanted.iter().chain(&open);
    let order = |t: &Piece| (t.queued_at, t.state.is_open(), t.task_id);
    // Whatever is dead or open beside parts and their join comes after them.
    let (fanned, first) = (all().any(Piece::is_fanned), all().map(order).min());
    let goes_on = |t: &Piece| if fanned { t.is_fanned() } else { Some(order(t)) == first };
    let (replay, drop): (Vec<Piece>, Vec<Piece>) = wanted.iter().copied().partition(goes_on);
    revival.drop = drop;
    if replay.is_empty() {
        return revival;
    }
    revival.cancel = open.iter().filter(|t| !goes_on(t)).copied().collect();
    for join in tasks.iter().filter(|t| t.joins) {
        let is_its = |part: &&Piece| part.join_id == Some(join.task_id.0);
        let parts = replay.iter().filter(is_its).count() as i64;
        if parts > 0 {
            revival.reopen.push((*join, parts));
            let cancelled = tasks.iter().filter(is_its).filter(|t| t.state == TaskState::Cancelled);
            revival.recall.extend(cancelled);
        }
    }
    let reopened = |t: &Piece| revival.reopen.iter().any(|(join, _)| join.task_id == t.task_id);
    revival.replay = replay.into_iter().filter(|t| !reopened(t)).collect();
    revival
}

/// Why a retry found nothing to start again.
pub(in crate::store) fn nothing_to_retry(status: IngestionStatus, has_document: bool) -> &'static str {
    match status {
        IngestionStatus::InProgress => "in progress",
        IngestionStatus::Failed if !has_document => "never received: ingest its path again",
        IngestionStatus::Failed => "nothing to retry: use reprocess",
        IngestionStatus::Completed => "completed: use reprocess",
        IngestionStatus::Skipped => "skipped: use reprocess",
        IngestionStatus::Cancelled => "cancelled: use reprocess",
    }
}

/// Of which batches dead letters are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::store) enum Of {
    Any,
    Cancelled,
    Others,
}

impl Of {
    /// Whether the batch has to be a cancelled one; none if that does not matter.
    pub(in crate::store) fn cancelled(self) -> Option<bool> {
        match self {
            Self::Any => None,
            Self::Cancelled => Some(true),
            Self::Others => Some(false),
        }
    }
}

/// Why a retry of everything leaves a dead letter alone: somebody has stopped its batch.
pub(in crate::store) const OF_A_CANCELLED_BATCH: &str = "of a cancelled batch: retry it by its id";

/// No dead letter has this number.
pub(in crate::store) fn no_dead_letter(id: TaskId) -> Error {
    Error::not_found(format!("there is no dead letter {id}"))
        .with_hint("`docmill dead list` shows those that are there")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: i64 = 1_000;

    fn task(id: i64, state: TaskState, queued_at: i64) -> Piece {
        let (task_id, queued_at) = (TaskId(id), Timestamp(queued_at));
        Piece { task_id, state, join_id: None, joins: false, queued_at }
    }

    fn join(id: i64, state: TaskState) -> Piece {
        Piece { joins: true, ..task(id, state, 0) }
    }

    fn part(id: i64, state: TaskState) -> Piece {
        Piece { join_id: Some(1), ..task(id, state, 0) }
    }

    #[test]
    fn part_runs_again_and_what_followed_its_join_does_not_go_on() {
        let tasks = [
            join(1, TaskState::Done),
            part(2, TaskState::Dead),
            part(3, TaskState::Done),
            task(4, TaskState::Dead, LATER),
            task(5, TaskState::Queued, LATER),
        ];
        let revival = revival(&tasks, &BTreeSet::from([TaskId(2), TaskId(4)]));
        assert_eq!((&revival.replay, &revival.reopen), (&vec![tasks[1]], &vec![(tasks[0], 1)]));
        assert_eq!((&revival.cancel, &revival.drop), (&vec![tasks[4]], &vec![tasks[3]]));
        assert_eq!((revival.recall.len(), revival.dead()), (0, 2));
    }

    #[test]
    fn siblings_of_a_part_go_on() {
        let tasks = [
            join(1, TaskState::Waiting),
            part(2, TaskState::Dead),
            part(3, TaskState::Running),
            part(4, TaskState::Cancelled),
        ];
        let revival = revival(&tasks, &BTreeSet::from([TaskId(2)]));
        assert_eq!((revival.cancel.len(), revival.drop.len()), (0, 0));
        assert_eq!((revival.reopen, revival.recall), (vec![(tasks[0], 1)], vec![tasks[3]]));
    }

    #[test]
    fn dead_join_waits_for_its_part() {
        let tasks = [join(1, TaskState::Dead), part(2, TaskState::Dead)];
        let both = revival(&tasks, &BTreeSet::from([TaskId(1), TaskId(2)]));
        assert_eq!((&both.replay, both.dead()), (&vec![tasks[1]], 2));
        let alone = revival(&tasks, &BTreeSet::from([TaskId(1)]));
        assert_eq!((alone.replay, alone.reopen), (vec![tasks[0]], Vec::new()));
    }

    #[test]
    fn only_the_foremost_of_a_chain_goes_on() {
        let dead = [task(1, TaskState::Dead, 0), task(2, TaskState::Dead, LATER)];
        let both = revival(&dead, &BTreeSet::from([TaskId(2), TaskId(1)]));
        assert_eq!((both.replay, both.drop), (vec![dead[0]], vec![dead[1]]));
        let behind = [dead[0], task(3, TaskState::Running, LATER)];
        let first = revival(&behind, &BTreeSet::from([TaskId(1)]));
        assert_eq!((first.replay, first.cancel), (vec![behind[0]], vec![behind[1]]));
        let before = [task(4, TaskState::Running, 0), dead[1]];
        let second = revival(&before, &BTreeSet::from([TaskId(2)]));
        assert_eq!((second.cancel.len(), second.runs(), second.drop), (0, false, vec![dead[1]]));
    }

    #[test]
    fn nothing_overtakes_parts_that_are_at_work() {
        let tasks =
            [join(1, TaskState::Waiting), part(2, TaskState::Running), task(3, TaskState::Dead, LATER)];
        let revival = revival(&tasks, &BTreeSet::from([TaskId(3)]));
        assert_eq!((revival.runs(), revival.drop, revival.cancel), (false, vec![tasks[2]], Vec::new()));
    }
}
