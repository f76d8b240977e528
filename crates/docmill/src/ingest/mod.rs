//! `docmill ingest`: walk, bring in, seal, wait, sum up.
//!
//! ```text
//! walk (a thread) → load (threads that open and read) → receive (several at once) → seal → wait → summary
//! ```
//!
//! The walker counts by itself what it met; the store counts what came in. Sealing stores the walker's count,
//! and from then on the two sides are compared. An interrupted run is not sealed, so its ledger stays open
//! until the same command is run again.

mod feed;
mod load;
mod make;
mod progress;
mod summary;
pub(crate) mod walk;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::answer::{AuditAnswer, IngestAnswer, StatusAnswer};
use docmill_core::batch::{BatchRun, BatchState, BatchTotals, NewBatch, Walk};
use docmill_core::call::Call;
use docmill_core::clock::IdGen as _;
use docmill_core::generate::Order;
use docmill_core::id::{BatchId, TenantId};
use docmill_pipeline::EngineOptions;
use uuid::Uuid;

use self::feed::Fed;
use self::progress::Progress;
use crate::context::{Context, Exit};
use crate::session::Session;
use crate::signals::Signals;

/// How long one question "is it done?" may take; the progress bar moves as often.
const ASK_FOR: Duration = Duration::from_millis(500);

/// How long running work may go on after Ctrl-C. It is handed back untouched, so little is worth waiting for.
const GRACE: Duration = Duration::from_secs(3);

/// What is brought in.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// Files and folders.
    Paths(Vec<PathBuf>),
    /// Standard input, under this name.
    Stdin(String),
    /// Test documents that are made on the way.
    Made(Order),
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) input: Input,
    pub(crate) batch: Option<String>,
    pub(crate) priority: u8,
    pub(crate) wait: bool,
}

/// Runs the whole of it.
pub(crate) async fn run(cx: &Context, mut request: Request) -> Result<Exit> {
    // Before anything starts: a path that does not exist stops everything.
    if let Input::Paths(paths) = &mut request.input {
        *paths = walk::roots(paths, &cx.settings.data)?;
    }
    let began = cx.clock.monotonic();
    let signals = Signals::listen()?;
    let session = Session::open(&cx.settings, &cx.clock, "ingest").await?;
    let outcome = async {
        if request.wait {
            session.need_engine(EngineOptions::new(&cx.settings.engine)).await?;
        }
        let mut work = Ingest { cx, session: &session, signals: &signals, request: &request, began };
        work.run().await
    };
    let outcome = outcome.await;
    let interrupted = signals.asked() || outcome.is_err();
    let closed =
        close(cx, session, &signals, if interrupted { GRACE } else { cx.settings.engine.shutdown_grace });
    let closed = closed.await;
    let exit = outcome?;
    closed?;
    Ok(exit)
}

/// Lets go of the session; a second signal does not wait for guests or running work.
async fn close(cx: &Context, session: Session, signals: &Signals, grace: Duration) -> Result<()> {
    if let Session::Owner(owner) = &session
        && owner.guests() > 0
        && !signals.asked()
    {
        cx.terminal
            .note("waiting for another docmill command that works through this one (Ctrl-C leaves at once)");
    }
    let owner = match session {
        Session::Owner(owner) => owner,
        guest @ Session::Guest(_) => return guest.close(grace).await,
    };
    tokio::select! {
        () = owner.alone() => {}
        () = signals.first() => {}
    }
    owner.close(grace, signals.second()).await
}

struct Ingest<'i> {
    cx: &'i Context,
    session: &'i Session,
    signals: &'i Signals,
    request: &'i Request,
    began: Duration,
}

impl Ingest<'_> {
    async fn run(&mut self) -> Result<Exit> {
        let run = self.open().await?;
        let mut progress = Progress::new(self.cx, self.began);
        let fed = {
            let feeding = feed::feed(self.cx, self.session, self.signals, self.request, run.batch_id);
            self.watching(feeding, &mut progress, run.batch_id).await?
        };
        if self.signals.asked() {
            progress.finish();
            return self.interrupted(run.batch_id, false).await;
        }
        let Fed { walked, known } = fed;
        let walk = Walk { walked, known, baseline: run.baseline };
        let mut totals: BatchTotals =
            self.session.ask(Call::SealBatch { batch_id: run.batch_id, walk }).await?;
        if !self.request.wait {
            progress.finish();
            return self.left_in_queue(&totals);
        }
        loop {
            progress.update(&totals, true);
            let asked = self.cx.clock.monotonic();
            let wait = Call::WaitBatch { batch_id: run.batch_id, wait_ms: ASK_FOR.as_millis() as u64 };
            tokio::select! {
                answer = self.session.ask(wait) => totals = answer?,
                () = self.signals.first() => {
                    progress.finish();
                    return self.interrupted(run.batch_id, true).await;
                }
            }
            // It answers before its time is up only if everything has ended and can be found.
            let ended =
                matches!(totals.state, BatchState::Finished | BatchState::Cancelled) && totals.open == 0;
            if ended && self.cx.clock.monotonic().saturating_sub(asked) < ASK_FOR {
                break;
            }
        }
        progress.finish();
        let exit = self.sum_up(&totals).await?;
        self.learn(&totals).await?;
        Ok(exit)
    }

    /// Waits until the documents can be found by their meaning, if nobody else goes on with that. Everything else is done.
    async fn learn(&self, totals: &BatchTotals) -> Result<()> {
        let mut told = false;
        let mut understood = None;
        while matches!(self.session, Session::Owner(_)) && !self.signals.asked() {
            let status: StatusAnswer = self.session.ask(Call::Status).await?;
            let Some(behind) = status.meanings.map(|m| totals.change_seq - m.watermark) else { break };
            // What a meaning tells of a document is a change of its own, which searches by words are to know, too.
            if behind <= 0 && status.index.watermark >= *understood.get_or_insert(status.index.last) {
                break;
            }
            if behind > 0 && !told && !self.cx.terminal.quiet {
                let documents =
                    crate::terminal::counted(behind.unsigned_abs(), "document means", "documents mean");
                self.cx.terminal.note(&format!(
                    "learning what {documents}, for search by meaning (Ctrl-C leaves that to the next `docmill serve` or `docmill work`)"
                ));
                told = true;
            }
            tokio::select! {
                () = tokio::time::sleep(ASK_FOR) => {}
                () = self.signals.first() => {}
            }
        }
        Ok(())
    }

    async fn open(&self) -> Result<BatchRun> {
        let batch_id = BatchId(docmill_core::clock::SystemIds.next());
        // A batch without a name is called by its id, so that an interrupted run can be resumed all the same.
        let name = self.request.batch.clone().unwrap_or_else(|| batch_id.to_string());
        let batch = NewBatch {
            tenant_id: TenantId(Uuid::nil()),
            batch_id,
            name: Some(name),
            kind: "files".into(),
            priority: self.request.priority,
        };
        let run: BatchRun = self.session.ask(Call::OpenBatch { batch }).await?;
        if run.resumed {
            let held = crate::terminal::counted(run.baseline, "item", "items");
            self.cx.terminal.note(&format!("resuming batch {} with {held}", run.batch_id));
        }
        Ok(run)
    }

    /// Runs `feeding` and shows how far the batch is meanwhile.
    async fn watching(
        &self,
        feeding: impl Future<Output = Result<Fed>>,
        progress: &mut Progress,
        batch_id: BatchId,
    ) -> Result<Fed> {
        tokio::pin!(feeding);
        let mut tick = tokio::time::interval(ASK_FOR);
        loop {
            tokio::select! {
                fed = &mut feeding => return fed,
                _ = tick.tick() => {
                    let totals: BatchTotals =
                        self.session.ask(Call::Batch { batch: batch_id.to_string() }).await?;
                    progress.update(&totals, false);
                }
            }
        }
    }

    fn answer(&self, totals: &BatchTotals) -> IngestAnswer {
        let elapsed = self.cx.clock.monotonic().saturating_sub(self.began);
        IngestAnswer {
            batch_id: totals.batch_id,
            received: totals.received,
            completed: totals.completed,
            failed: totals.failed,
            skipped: totals.skipped,
            cancelled: totals.cancelled,
            duplicates: totals.duplicates,
            children: totals.children,
            open: totals.open,
            dead: totals.dead,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }

    fn left_in_queue(&self, totals: &BatchTotals) -> Result<Exit> {
        let answer = self.answer(totals);
        if self.cx.terminal.json {
            self.cx.terminal.object(&answer)?;
        } else {
            self.cx.terminal.line(&summary::received(&answer))?;
        }
        if matches!(self.session, Session::Owner(_)) && answer.open > 0 {
            self.cx.terminal.note(
                "the work is left in the queue: the next `docmill work`, `docmill serve` or `docmill ingest` does it",
            );
        }
        Ok(Exit::Ok)
    }

    async fn interrupted(&self, batch_id: BatchId, sealed: bool) -> Result<Exit> {
        let totals: BatchTotals = self.session.ask(Call::Batch { batch: batch_id.to_string() }).await?;
        let answer = self.answer(&totals);
        if self.cx.terminal.json {
            self.cx.terminal.object(&answer)?;
        }
        let name = totals.name.unwrap_or_else(|| batch_id.to_string());
        let guest = matches!(self.session, Session::Guest(_));
        self.cx.terminal.note(&summary::interrupted(&answer, &name, sealed, totals.paused, guest));
        Ok(Exit::Interrupted)
    }

    async fn sum_up(&self, totals: &BatchTotals) -> Result<Exit> {
        let mut answer = self.answer(totals);
        let audit: AuditAnswer =
            self.session.ask(Call::Audit { batch: Some(totals.batch_id.to_string()) }).await?;
        // Members beyond a limit never came out of their containers: only the account knows of them.
        let left_inside: u64 = audit.containers.iter().map(|container| container.failed).sum();
        answer.failed += left_inside;
        answer.children += left_inside;
        if self.cx.terminal.json {
            self.cx.terminal.object(&answer)?;
        } else {
            self.cx.terminal.line(&summary::finished(&answer, &audit))?;
        }
        if !self.cx.terminal.quiet {
            let causes = summary::causes(self.session, totals.batch_id).await?;
            for line in summary::problems(&answer, &audit, &causes) {
                self.cx.terminal.note(&line);
            }
        }
        let well = answer.failed == 0 && answer.dead == 0 && audit.balanced;
        Ok(if well { Exit::Ok } else { Exit::SomeFailed })
    }
}

/// The settings that the loaders need, shared with their threads.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) batch_id: BatchId,
    pub(crate) uploader: Arc<str>,
    pub(crate) priority: u8,
}
