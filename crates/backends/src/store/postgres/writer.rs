//! Reports that wait together are committed together: one transaction of statements over many rows.
//!
//! There is no lingering: a lone report commits at once, and while it does the next group gathers. A group that fails
//! is repeated one by one, so that only the offender gets the error.

use std::collections::HashSet;

use docmill_core::ports::store::{Commit, Committed};
use docmill_core::{Error, ErrorKind, Result, crash};
use tokio::sync::{mpsc, oneshot};

use super::commit;
use super::db::{Begin, Db};
use super::tx::{Aftermath, transact};

/// Reports in one transaction.
const MAX_GROUP: usize = 128;

struct Job {
    commit: Commit,
    reply: oneshot::Sender<Result<Committed>>,
}

/// The handle to the writer. Dropping it lets the writer finish what waits.
pub(super) struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Writer {
    /// Starts it. `after` is told about every committed transaction, before anyone is answered.
    pub(super) fn start(db: Db, after: impl Fn(Aftermath) + Send + Sync + 'static) -> Self {
        let (jobs, waiting) = mpsc::unbounded_channel();
        tokio::spawn(run(db, waiting, after));
        Self { jobs }
    }

    /// Answers once the report is durable.
    pub(super) async fn commit(&self, commit: Commit) -> Result<Committed> {
        let (reply, answer) = oneshot::channel();
        let gone = || Error::unavailable("the store's writer has stopped");
        self.jobs.send(Job { commit, reply }).map_err(|_| gone())?;
        answer.await.map_err(|e| gone().with_source(e))?
    }
}

async fn run(db: Db, mut waiting: mpsc::UnboundedReceiver<Job>, after: impl Fn(Aftermath)) {
    let mut arrived = Vec::with_capacity(MAX_GROUP);
    // The same task reported again before the first report is through: it waits for the next group.
    let mut later = Vec::new();
    loop {
        arrived.append(&mut later);
        if arrived.is_empty() && waiting.recv_many(&mut arrived, MAX_GROUP).await == 0 {
            return;
        }
        while arrived.len() < MAX_GROUP
            && let Ok(job) = waiting.try_recv()
        {
            arrived.push(job);
        }
        let mut group = Vec::with_capacity(arrived.len());
        let mut tasks = HashSet::new();
        for job in arrived.drain(..) {
            if tasks.insert(job.commit.task_id) { group.push(job) } else { later.push(job) }
        }
        commit_group(&db, group, &after).await;
    }
}

async fn commit_group(db: &Db, group: Vec<Job>, after: &impl Fn(Aftermath)) {
    let commits: Vec<&Commit> = group.iter().map(|j| &j.commit).collect();
    match commit_together(db, &commits, after).await {
        Ok(answers) => {
            for (job, answer) in group.into_iter().zip(answers) {
                reply(job, Ok(answer));
            }
        }
        // Nothing about the reports themselves is wrong, and asking a server that is down for each of them would
        // keep everyone waiting.
        Err(error) if group.len() == 1 || error.kind() != ErrorKind::Bug => {
            for job in group {
                reply(job, Err(note(&error)));
            }
        }
        Err(error) => {
            tracing::error!(error = %error.chain(), reports = group.len(), "a group failed; repeating it one by one");
            for job in group {
                let answer = commit_together(db, &[&job.commit], after).await;
                let answer =
                    answer.and_then(|mut a| a.pop().ok_or_else(|| Error::bug("a report left no answer")));
                reply(job, answer);
            }
        }
    }
}

async fn commit_together(db: &Db, commits: &[&Commit], after: &impl Fn(Aftermath)) -> Result<Vec<Committed>> {
    let (answers, aftermath) = transact!(db, Begin::Durable, |tx| commit::commit(&mut tx, commits).await)?;
    crash::point("store.group.before_reply");
    after(aftermath);
    Ok(answers)
}

fn reply(job: Job, answer: Result<Committed>) {
    // A caller that went away does not want the answer; what was written stays written.
    drop(job.reply.send(answer));
}

/// The same error once more: errors carry their cause and cannot be cloned.
fn note(error: &Error) -> Error {
    docmill_core::error::ErrorNote::from(error).into()
}
