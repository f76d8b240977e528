//! Reports that wait together are committed together: one transaction of statements over many rows, and with it the
//! claims that came along.
//!
//! There is no lingering: a lone exchange commits at once, and while it does the next group gathers. A group that
//! fails is repeated one by one, so that only the offender gets the error.

use std::collections::HashSet;
use std::sync::Arc;

use docmill_core::id::TaskId;
use docmill_core::ports::store::{ClaimSpec, Commit, Exchange};
use docmill_core::{Error, ErrorKind, Result, crash};
use tokio::sync::{mpsc, oneshot};

use super::super::shared::claim::Turn;
use super::super::shared::once_more;
use super::db::Db;
use super::heads::Heads;
use super::tx::{Aftermath, Tx, transact};
use super::{claim, commit};

/// Reports in one transaction, unless one caller brings more.
const MAX_REPORTS: usize = 128;

struct Job {
    reports: Vec<Arc<Commit>>,
    claim: Option<ClaimSpec>,
    reply: oneshot::Sender<Result<Exchange>>,
}

/// The handle to the writer. Dropping it lets the writer finish what waits.
pub(super) struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
}

/// What the writer works with.
struct Desk<F> {
    db: Db,
    turn: Arc<Turn>,
    heads: Arc<Heads>,
    after: F,
}

impl Writer {
    /// Starts it. `after` is told about every committed transaction, before anyone is answered.
    pub(super) fn start(
        db: Db,
        turn: Arc<Turn>,
        heads: Arc<Heads>,
        after: impl Fn(Aftermath) + Send + Sync + 'static,
    ) -> Self {
        let (jobs, waiting) = mpsc::unbounded_channel();
        tokio::spawn(run(Desk { db, turn, heads, after }, waiting));
        Self { jobs }
    }

    /// Answers once the reports are durable.
    pub(super) async fn exchange(
        &self,
        reports: Vec<Arc<Commit>>,
        claim: Option<ClaimSpec>,
    ) -> Result<Exchange> {
        let (reply, answer) = oneshot::channel();
        let gone = || Error::unavailable("the store's writer has stopped");
        self.jobs.send(Job { reports, claim, reply }).ok().ok_or_else(gone)?;
        answer.await.map_err(|e| gone().with_source(e))?
    }
}

async fn run(desk: Desk<impl Fn(Aftermath)>, mut waiting: mpsc::UnboundedReceiver<Job>) {
    // A task that is reported again before its first report is through waits for the next group.
    let mut later: Vec<Job> = Vec::new();
    loop {
        let mut arrived = std::mem::take(&mut later);
        if arrived.is_empty() && waiting.recv_many(&mut arrived, 1).await == 0 {
            return;
        }
        while arrived.iter().map(|j| j.reports.len()).sum::<usize>() < MAX_REPORTS
            && let Ok(job) = waiting.try_recv()
        {
            arrived.push(job);
        }
        let mut group = Vec::with_capacity(arrived.len());
        let mut tasks: HashSet<TaskId> = HashSet::new();
        for job in arrived {
            if job.reports.iter().any(|r| tasks.contains(&r.task_id)) {
                later.push(job);
            } else {
                tasks.extend(job.reports.iter().map(|r| r.task_id));
                group.push(job);
            }
        }
        commit_group(&desk, group).await;
    }
}

async fn commit_group(desk: &Desk<impl Fn(Aftermath)>, group: Vec<Job>) {
    match commit_together(desk, &group).await {
        Ok(answers) => {
            for (job, answer) in group.into_iter().zip(answers) {
                reply(job, Ok(answer));
            }
        }
        // Nothing about the reports themselves is wrong, and asking a server that is down for each of them would
        // keep everyone waiting.
        Err(error) if group.len() == 1 || error.kind() != ErrorKind::Bug => {
            for job in group {
                reply(job, Err(once_more(&error)));
            }
        }
        Err(error) => {
            tracing::error!(error = %error.chain(), "a group of reports failed; repeating it one by one");
            for job in group {
                let answer = commit_together(desk, std::slice::from_ref(&job)).await;
                let answer =
                    answer.and_then(|mut a| a.pop().ok_or_else(|| Error::bug("a report left no answer")));
                reply(job, answer);
            }
        }
    }
}

async fn commit_together(desk: &Desk<impl Fn(Aftermath)>, group: &[Job]) -> Result<Vec<Exchange>> {
    let (answers, aftermath) =
        transact!(&desk.db, |tx| exchange(&mut tx, group, &desk.turn, &desk.heads).await)?;
    crash::point("store.group.before_reply");
    (desk.after)(aftermath);
    Ok(answers)
}

async fn exchange(tx: &mut Tx, group: &[Job], turn: &Turn, heads: &Heads) -> Result<Vec<Exchange>> {
    tx.writes = group.len();
    let reports: Vec<&Commit> = group.iter().flat_map(|j| j.reports.iter().map(AsRef::as_ref)).collect();
    let mut committed = commit::commit(tx, &reports).await?.into_iter();
    let mut answers = Vec::with_capacity(group.len());
    for job in group {
        let claimed = match &job.claim {
            Some(spec) => claim::claim(tx, spec, turn, heads).await?,
            None => Vec::new(),
        };
        let committed = committed.by_ref().take(job.reports.len()).collect();
        answers.push(Exchange { committed, claimed });
    }
    Ok(answers)
}

fn reply(job: Job, answer: Result<Exchange>) {
    // A caller that went away does not want the answer; what was written stays written.
    drop(job.reply.send(answer));
}
