//! Renewals and heartbeats, on a thread and a connection of their own: a lease must not run out because commits queue
//! for connections, or because the other threads are busy.

use std::time::Duration;

use docmill_core::id::{Epoch, TaskId, WorkerId};
use docmill_core::{Error, Result};
use sqlx_core::query::query;
use sqlx_postgres::{PgPool, Postgres};
use tokio::sync::{mpsc, oneshot};

use super::claim::{self, RENEW};
use super::db::Time;
use super::row::{Columns, is_connection_lost, sql_error};
use super::worker::BEAT;

/// As long as the server may be gone before a renewal says so; the worker tries again by itself.
const PATIENCE: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

enum Job {
    Renew {
        worker: WorkerId,
        held: Vec<(TaskId, Epoch)>,
        lease: Duration,
        reply: oneshot::Sender<Result<Vec<TaskId>>>,
    },
    Beat {
        worker: WorkerId,
        reply: oneshot::Sender<Result<bool>>,
    },
}

/// The handle to the thread. It ends when the handle is dropped.
pub(super) struct Renewer {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Renewer {
    /// Starts the thread. `connect` makes its pool of one connection, which belongs to the thread's own runtime.
    pub(super) fn start(connect: impl FnOnce() -> PgPool + Send + 'static, time: Time) -> Result<Self> {
        let (jobs, mut waiting) = mpsc::unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Error::unavailable("cannot start the renewer's runtime").with_source(e))?;
        std::thread::Builder::new()
            .name("docmill-renewer".into())
            .spawn(move || {
                runtime.block_on(async {
                    let pool = connect();
                    while let Some(job) = waiting.recv().await {
                        run(&pool, &time, job).await;
                    }
                    pool.close().await;
                });
            })
            .map_err(|e| Error::unavailable("cannot start the renewer's thread").with_source(e))?;
        Ok(Self { jobs })
    }

    pub(super) async fn renew(
        &self,
        worker: WorkerId,
        held: Vec<(TaskId, Epoch)>,
        lease: Duration,
    ) -> Result<Vec<TaskId>> {
        let (reply, answer) = oneshot::channel();
        self.ask(Job::Renew { worker, held, lease, reply }, answer).await
    }

    /// False if the worker is not on the list.
    pub(super) async fn beat(&self, worker: WorkerId) -> Result<bool> {
        let (reply, answer) = oneshot::channel();
        self.ask(Job::Beat { worker, reply }, answer).await
    }

    async fn ask<T>(&self, job: Job, answer: oneshot::Receiver<Result<T>>) -> Result<T> {
        let gone = || Error::unavailable("the store's renewer has stopped");
        self.jobs.send(job).ok().ok_or_else(gone)?;
        answer.await.map_err(|e| gone().with_source(e))?
    }
}

async fn run(pool: &PgPool, time: &Time, job: Job) {
    // A caller that went away does not want the answer; what was renewed stays renewed.
    match job {
        Job::Renew { worker, held, lease, reply } => {
            drop(reply.send(again(async || renew(pool, time, worker, &held, lease).await).await));
        }
        Job::Beat { worker, reply } => {
            drop(reply.send(again(async || beat(pool, time, worker).await).await));
        }
    }
}

/// Both jobs may be done twice, so a lost connection is replaced and the job repeated, for a short while.
async fn again<T>(mut job: impl AsyncFnMut() -> std::result::Result<T, sqlx_core::Error>) -> Result<T> {
    let mut pause = FIRST_PAUSE;
    let mut waited = Duration::ZERO;
    loop {
        match job().await {
            Ok(answer) => return Ok(answer),
            Err(error) if is_connection_lost(&error) && waited < PATIENCE => {
                tokio::time::sleep(pause).await;
                waited += pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(error) => return Err(sql_error("renew leases")(error)),
        }
    }
}

async fn renew(
    pool: &PgPool,
    time: &Time,
    worker: WorkerId,
    held: &[(TaskId, Epoch)],
    lease: Duration,
) -> std::result::Result<Vec<TaskId>, sqlx_core::Error> {
    let mut conn = pool.acquire().await?;
    let now = time.now_raw(&mut conn).await?;
    let rows = query::<Postgres>(RENEW)
        .bind(held.iter().map(|h| h.0.0).collect::<Vec<_>>())
        .bind(held.iter().map(|h| h.1.0).collect::<Vec<_>>())
        .bind(worker.0)
        .bind(now.plus(lease).0)
        .fetch_all(&mut *conn)
        .await?;
    let mut renewed = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        if let (Ok(task), Ok(epoch)) = (c.task(), c.get()) {
            renewed.push((task, Epoch(epoch)));
        }
    }
    Ok(claim::lost(held, &renewed))
}

async fn beat(pool: &PgPool, time: &Time, worker: WorkerId) -> std::result::Result<bool, sqlx_core::Error> {
    let mut conn = pool.acquire().await?;
    let now = time.now_raw(&mut conn).await?;
    let noted = query::<Postgres>(BEAT).bind(worker.0).bind(now.0).execute(&mut *conn).await?;
    Ok(noted.rows_affected() > 0)
}
