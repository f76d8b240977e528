//! What workers report: the one place where results become current. A group of reports is one transaction of
//! statements over many rows; each report is judged by its own epoch, and everything it brings along happens in
//! that transaction or not at all.

use std::collections::{BTreeMap, HashMap, HashSet};

use docmill_core::artifact::Artifact;
use docmill_core::error::ErrorNote;
use docmill_core::event::{EventBody, EventStatus, EventType};
use docmill_core::id::{BlobKey, ContentHash, Epoch, IngestionId, TaskId};
use docmill_core::ingestion::{Facts, IngestionEnd};
use docmill_core::ports::store::{Commit, Committed, Done, ManifestEnd, Outcome, StepRecord};
use docmill_core::state::{TaskEvent, TaskState, transition};
use docmill_core::task::{Lease, NewTask, Size, order_key};
use docmill_core::{Error, Result, crash};
use serde_json::json;
use sqlx_core::query::query;
use sqlx_postgres::Postgres;

use super::children;
use super::finish::Ending;
use super::records::{self, Extracted};
use super::row::{json as to_json, sql_error, text, text_opt};
use super::task::{self, BareLease, Begin, Belongs, TaskRow, lease_columns};
use super::tx::Tx;
use super::understanding::{self, Understood};
use super::usage::{self, Paid};

/// An ingestion shows its progress this often: each note costs a row that is written.
const PROGRESS_EVERY_MS: i64 = 1_000;

/// The new state of a task that was reported.
struct Change {
    task_id: TaskId,
    state: TaskState,
    next: Option<TaskId>,
    duration_ms: Option<i64>,
    finished: bool,
    run_at: i64,
    order_key: i64,
    size: Size,
    units: u32,
    attempt: u32,
    size_attempt: u32,
    error: Option<String>,
}

impl Change {
    /// Everything stays as it is but the state.
    fn to(state: TaskState, row: &TaskRow) -> Self {
        Self {
            task_id: row.task_id,
            state,
            next: None,
            duration_ms: None,
            finished: true,
            run_at: row.run_at.0,
            order_key: order_key(row.run_at, row.belongs.priority),
            size: row.size,
            units: row.units,
            attempt: row.attempt,
            size_attempt: row.size_attempt,
            error: None,
        }
    }
}

/// A failure, for the timeline.
struct Failure {
    task_id: TaskId,
    epoch: Epoch,
    attempt: u32,
    size: Size,
    outcome: &'static str,
    error: String,
}

/// What is found out about an ingestion.
#[derive(Default)]
struct Progress {
    facts: Facts,
    failed: bool,
    charge: u32,
    started_at: Option<i64>,
    understood_by: Option<String>,
}

impl Progress {
    /// Later facts win.
    fn learn(&mut self, facts: &Facts) {
        fn keep<T: Clone>(known: &mut Option<T>, new: Option<&T>) {
            if let Some(new) = new {
                *known = Some(new.clone());
            }
        }
        keep(&mut self.facts.media_type, facts.media_type.as_ref());
        keep(&mut self.facts.page_count, facts.page_count.as_ref());
        keep(&mut self.facts.word_count, facts.word_count.as_ref());
        keep(&mut self.facts.language, facts.language.as_ref());
        keep(&mut self.facts.quality, facts.quality.as_ref());
        keep(&mut self.facts.title, facts.title.as_ref());
        keep(&mut self.facts.transcription, facts.transcription.as_ref());
    }
}

/// What a group of reports adds up to. Maps are ordered: rows are locked in the order of their keys.
#[derive(Default)]
pub(super) struct Reports {
    changes: Vec<Change>,
    failures: Vec<Failure>,
    records: BTreeMap<(IngestionId, String, ContentHash), Record>,
    artifacts: BTreeMap<(IngestionId, String), Artifact>,
    progress: BTreeMap<IngestionId, Progress>,
    understood: BTreeMap<(IngestionId, String), Understood>,
    paid: Vec<Paid>,
    extracted: Vec<Extracted>,
    manifests: Vec<(Belongs, ManifestEnd)>,
}

struct Record {
    belongs: Belongs,
    made: StepRecord,
    attempt: u32,
    duration_ms: i64,
}

/// An answer that may still lack its lease.
enum Answer {
    Stale,
    Accepted,
    /// The task that the report hands on, already leased.
    Continued(BareLease),
    /// The same report as before, and the task that the first one handed on.
    Repeated(TaskId),
}

/// Accepts reports, each under its own epoch, or says that they come too late.
pub(super) async fn commit(tx: &mut Tx, commits: &[&Commit]) -> Result<Vec<Committed>> {
    let mut answers: Vec<Option<Committed>> = vec![None; commits.len()];
    let mut left: Vec<usize> = (0..commits.len()).collect();
    while !left.is_empty() {
        // The same task once more in one call finds what its first report has written.
        let mut tasks = HashSet::new();
        let (now, later): (Vec<usize>, Vec<usize>) =
            left.into_iter().partition(|at| tasks.insert(commits[*at].task_id));
        let round: Vec<&Commit> = now.iter().map(|at| commits[*at]).collect();
        for (at, answer) in now.into_iter().zip(commit_distinct(tx, &round).await?) {
            answers[at] = Some(answer);
        }
        left = later;
    }
    answers.into_iter().map(|a| a.ok_or_else(|| Error::bug("a report left no answer"))).collect()
}

/// No task is reported twice in `commits`.
async fn commit_distinct(tx: &mut Tx, commits: &[&Commit]) -> Result<Vec<Committed>> {
    let ids: Vec<TaskId> = commits.iter().map(|c| c.task_id).collect();
    let rows = task::lock(tx, &ids).await?;
    crash::point("store.commit.fenced");
    let mut reports = Reports::default();
    let mut answers = Vec::with_capacity(commits.len());
    for commit in commits {
        answers.push(match rows.get(&commit.task_id) {
            None => Answer::Stale,
            Some(row) if row.reported_epoch == Some(commit.epoch.0) => match row.next_task_id {
                Some(next) => Answer::Repeated(TaskId(next)),
                None => Answer::Accepted,
            },
            Some(row) if !row.held_under(commit.epoch) => Answer::Stale,
            Some(row) => reports.accept(tx, commit, row).await?,
        });
    }
    reports.write(tx).await?;
    lease_out(tx, answers).await
}

impl Reports {
    async fn accept(&mut self, tx: &mut Tx, commit: &Commit, row: &TaskRow) -> Result<Answer> {
        match &commit.outcome {
            Outcome::Done(done) => self.accept_done(tx, commit, row, done).await,
            Outcome::Retry { error, run_at, size, units, charged } => {
                let again = Change {
                    finished: false,
                    run_at: run_at.0,
                    order_key: order_key(*run_at, row.belongs.priority),
                    size: *size,
                    units: *units,
                    ..Change::to(tx.queued_or_held(row.belongs.batch_id)?, row)
                };
                self.accept_retry(tx, commit, row, error, again, *charged)
            }
            Outcome::Dead { error, charged, end, next } => {
                self.bury(tx, commit.epoch, row, error, *charged, end.as_ref())?;
                if let Some(new) = next {
                    task::add(tx, &row.belongs, new, Begin::Queued { join: None }).await?;
                }
                Ok(Answer::Accepted)
            }
        }
    }

    async fn accept_done(
        &mut self,
        tx: &mut Tx,
        commit: &Commit,
        row: &TaskRow,
        done: &Done,
    ) -> Result<Answer> {
        let belongs = &row.belongs;
        let duration_ms = commit.duration.as_millis() as i64;
        if let Some(record) = &done.record {
            let key = (belongs.ingestion_id, record.step.as_str().to_owned(), record.fingerprint);
            let (belongs, made) = (*belongs, record.clone());
            self.records.insert(key, Record { belongs, made, attempt: row.attempt, duration_ms });
        }
        for artifact in &done.artifacts {
            self.artifacts.insert((belongs.ingestion_id, artifact.name.clone()), artifact.clone());
        }
        let progress = self.progress.entry(belongs.ingestion_id).or_default();
        progress.learn(&done.facts);
        self.paid.extend(Paid::by(row, done));
        self.extracted.extend(Extracted::by(row, done)?);
        if let Some((step, understood)) = Understood::by(row, done)? {
            progress.understood_by = Some(step.clone());
            self.understood.insert((belongs.ingestion_id, step), understood);
        }
        progress.started_at.get_or_insert(tx.now.minus(commit.duration).0);
        if let Some(manifest) = &done.manifest {
            self.manifests.push((*belongs, manifest.clone()));
        }
        let (next, answer) = match (&done.next, &done.fan_out) {
            (Some(_), Some(_)) => return Err(Error::bug("a task cannot both continue and fan out")),
            (Some(new), None) => {
                let (id, lease) = hand_on(tx, commit, row, new).await?;
                (Some(id), lease.map_or(Answer::Accepted, Answer::Continued))
            }
            (None, Some(fan_out)) => {
                let begin = Begin::Waiting { parts: fan_out.parts.len() };
                let join = task::add(tx, belongs, &fan_out.join, begin).await?;
                for part in &fan_out.parts {
                    task::add(tx, belongs, part, Begin::Queued { join: Some(join) }).await?;
                }
                (None, Answer::Accepted)
            }
            (None, None) => (None, Answer::Accepted),
        };
        self.changes.push(Change {
            next,
            duration_ms: Some(duration_ms),
            ..Change::to(apply(row.state, TaskEvent::Succeed)?, row)
        });
        tx.part_ended(row.join_id);
        if let Some(end) = &done.end {
            tx.end(Ending { ingestion_id: belongs.ingestion_id, end: end.clone() });
        }
        tx.event(belongs.tenant_id, finished(row, EventStatus::Success, None));
        Ok(answer)
    }

    fn accept_retry(
        &mut self,
        tx: &mut Tx,
        commit: &Commit,
        row: &TaskRow,
        error: &ErrorNote,
        mut again: Change,
        charged: bool,
    ) -> Result<Answer> {
        apply(row.state, TaskEvent::Retry)?;
        let charge = u32::from(charged);
        let escalated = again.size != row.size;
        again.attempt = row.attempt + charge;
        again.size_attempt = if escalated { 0 } else { row.size_attempt + charge };
        again.error = Some(to_json(error)?);
        self.changes.push(again);
        tx.aftermath.work = true;
        let outcome = if escalated { "escalated" } else { "retry" };
        self.note_failure(commit.epoch, row, error, charge, outcome)?;
        Ok(Answer::Accepted)
    }

    /// Makes a dead letter of a task.
    pub(super) fn bury(
        &mut self,
        tx: &mut Tx,
        epoch: Epoch,
        row: &TaskRow,
        error: &ErrorNote,
        charged: bool,
        end: Option<&IngestionEnd>,
    ) -> Result<()> {
        let charge = u32::from(charged);
        self.changes.push(Change {
            attempt: row.attempt + charge,
            size_attempt: row.size_attempt + charge,
            error: Some(to_json(error)?),
            ..Change::to(apply(row.state, TaskEvent::Die)?, row)
        });
        self.note_failure(epoch, row, error, charge, "dead")?;
        tx.part_ended(row.join_id);
        if let Some(batch) = row.belongs.batch_id {
            tx.batch(row.belongs.tenant_id, batch).dead += 1;
        }
        tx.event(row.belongs.tenant_id, finished(row, EventStatus::Error, Some(error)));
        if let Some(end) = end {
            tx.end(Ending { ingestion_id: row.belongs.ingestion_id, end: end.clone() });
        }
        Ok(())
    }

    fn note_failure(
        &mut self,
        epoch: Epoch,
        row: &TaskRow,
        error: &ErrorNote,
        charge: u32,
        outcome: &'static str,
    ) -> Result<()> {
        self.failures.push(Failure {
            task_id: row.task_id,
            epoch,
            attempt: row.attempt + charge,
            size: row.size,
            outcome,
            error: to_json(error)?,
        });
        let progress = self.progress.entry(row.belongs.ingestion_id).or_default();
        progress.charge += charge;
        progress.failed = true;
        Ok(())
    }

    /// Writes what was gathered, a statement a table.
    pub(super) async fn write(self, tx: &mut Tx) -> Result<()> {
        store_records(tx, &self.records).await?;
        store_artifacts(tx, &self.artifacts).await?;
        understanding::keep(tx, &self.understood).await?;
        usage::keep(tx, &self.paid).await?;
        records::keep(tx, &self.extracted).await?;
        note_progress(tx, &self.progress).await?;
        for (belongs, manifest) in &self.manifests {
            children::end_run(tx, belongs, manifest).await?;
        }
        note_failures(tx, &self.failures).await?;
        change_tasks(tx, &self.changes).await?;
        // Now, and not at the end: a claim in the same transaction may take what they have queued.
        task::insert_gathered(tx).await?;
        crash::point("store.commit.next");
        Ok(())
    }
}

/// The next task: leased at once to the worker that reports, or queued.
async fn hand_on(
    tx: &mut Tx,
    commit: &Commit,
    row: &TaskRow,
    new: &NewTask,
) -> Result<(TaskId, Option<BareLease>)> {
    let belongs = &row.belongs;
    match (commit.continue_for, row.owner) {
        // What is paused does not go on just because its worker is at hand.
        (Some(lease), Some(worker))
            if tx.queued_or_held(belongs.batch_id)? == TaskState::Queued
                && !tx.is_paused(&new.kind).await? =>
        {
            let until = tx.now.plus(lease);
            let id = task::add(tx, belongs, new, Begin::Leased { worker, until }).await?;
            Ok((id, Some(task::new_lease(id, belongs, new, worker, until))))
        }
        _ => Ok((task::add(tx, belongs, new, Begin::Queued { join: None }).await?, None)),
    }
}

/// Gives the answers their leases: what a report has just found out is in them.
async fn lease_out(tx: &mut Tx, answers: Vec<Answer>) -> Result<Vec<Committed>> {
    let mut bare = Vec::new();
    let repeated: Vec<i64> =
        answers.iter().filter_map(|a| if let Answer::Repeated(id) = a { Some(id.0) } else { None }).collect();
    if !repeated.is_empty() {
        // The first answer, as far as it still holds.
        let rows = query::<Postgres>(concat!(
            "SELECT ",
            lease_columns!(),
            " FROM task WHERE task_id = ANY($1) AND state = 'running' AND epoch = 1"
        ))
        .bind(repeated)
        .fetch_all(tx.conn())
        .await
        .map_err(sql_error("load tasks"))?;
        for row in &rows {
            bare.push(task::read_lease(row)?);
        }
    }
    let mut wanted = Vec::with_capacity(answers.len());
    for answer in answers {
        wanted.push(match answer {
            Answer::Stale => None,
            Answer::Accepted => Some(None),
            Answer::Repeated(id) => Some(Some(id)),
            Answer::Continued(lease) => {
                let id = lease.task_id;
                bare.push(lease);
                Some(Some(id))
            }
        });
    }
    let leases = task::with_subjects(tx, bare).await?;
    let mut leases: HashMap<TaskId, Lease> = leases.into_iter().map(|l| (l.task_id, l)).collect();
    Ok(wanted
        .into_iter()
        .map(|wanted| match wanted {
            None => Committed::Stale,
            Some(id) => Committed::Accepted { next: id.and_then(|id| leases.remove(&id)).map(Box::new) },
        })
        .collect())
}

async fn store_records(
    tx: &mut Tx,
    records: &BTreeMap<(IngestionId, String, ContentHash), Record>,
) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    query::<Postgres>(
        "INSERT INTO step_result (ingestion_id, step, fingerprint, tenant_id, degraded, reused, body, attempt,
           duration_ms, at)
         SELECT u.*, $10
         FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::uuid[], $5::boolean[], $6::boolean[], $7::text[],
           $8::bigint[], $9::bigint[]) AS u
         ON CONFLICT (ingestion_id, step, fingerprint) DO UPDATE SET degraded = excluded.degraded,
           reused = excluded.reused, body = excluded.body, attempt = excluded.attempt,
           duration_ms = excluded.duration_ms, at = excluded.at",
    )
    .bind(records.keys().map(|k| k.0.0).collect::<Vec<_>>())
    .bind(records.keys().map(|k| text(&k.1)).collect::<Vec<_>>())
    .bind(records.keys().map(|k| k.2.0.to_vec()).collect::<Vec<_>>())
    .bind(records.values().map(|r| r.belongs.tenant_id.0).collect::<Vec<_>>())
    .bind(records.values().map(|r| r.made.degraded).collect::<Vec<_>>())
    .bind(records.values().map(|r| r.made.reused).collect::<Vec<_>>())
    .bind(records.values().map(|r| to_json(&r.made)).collect::<Result<Vec<_>>>()?)
    .bind(records.values().map(|r| i64::from(r.attempt)).collect::<Vec<_>>())
    .bind(records.values().map(|r| r.duration_ms).collect::<Vec<_>>())
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("store results"))?;
    crash::point("store.commit.result");
    Ok(())
}

async fn store_artifacts(tx: &mut Tx, artifacts: &BTreeMap<(IngestionId, String), Artifact>) -> Result<()> {
    if artifacts.is_empty() {
        return Ok(());
    }
    query::<Postgres>(
        "INSERT INTO artifact (ingestion_id, name, blob_key, hash, bytes, media_type)
         SELECT u.* FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::text[]) AS u
         ON CONFLICT (ingestion_id, name) DO UPDATE SET blob_key = excluded.blob_key, hash = excluded.hash,
           bytes = excluded.bytes, media_type = excluded.media_type",
    )
    .bind(artifacts.keys().map(|k| k.0.0).collect::<Vec<_>>())
    .bind(artifacts.values().map(|a| text(&a.name)).collect::<Vec<_>>())
    .bind(artifacts.values().map(|a| text(a.key.as_str())).collect::<Vec<_>>())
    .bind(artifacts.values().map(|a| a.hash.0.to_vec()).collect::<Vec<_>>())
    .bind(artifacts.values().map(|a| a.bytes as i64).collect::<Vec<_>>())
    .bind(artifacts.values().map(|a| text(&a.media_type)).collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("store artifacts"))?;
    crash::point("store.commit.artifact");
    Ok(())
}

async fn note_progress(tx: &mut Tx, progress: &BTreeMap<IngestionId, Progress>) -> Result<()> {
    if progress.is_empty() {
        return Ok(());
    }
    let facts = || progress.values().map(|p| &p.facts);
    query::<Postgres>(
        "UPDATE ingestion i SET media_type = coalesce(u.media_type, i.media_type),
           page_count = coalesce(u.page_count, i.page_count), word_count = coalesce(u.word_count, i.word_count),
           language = coalesce(u.language, i.language), quality = coalesce(u.quality, i.quality),
           title = coalesce(u.title, i.title), transcription_key = coalesce(u.transcription, i.transcription_key),
           understood_by = coalesce(u.understood_by, i.understood_by),
           attempt = i.attempt + u.charge, started_at = coalesce(i.started_at, u.started_at), progress_at = $1
         FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::double precision[],
           $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::boolean[], $14::text[])
           AS u (ingestion_id, media_type, page_count, word_count, language, quality, title, transcription, charge,
             started_at, news, understood_by)
         WHERE i.ingestion_id = u.ingestion_id
           AND (u.news OR i.started_at IS NULL OR i.progress_at <= $1 - $13)",
    )
    .bind(tx.now.0)
    .bind(progress.keys().map(|i| i.0).collect::<Vec<_>>())
    .bind(facts().map(|f| text_opt(f.media_type.as_deref())).collect::<Vec<_>>())
    .bind(facts().map(|f| f.page_count.map(i64::from)).collect::<Vec<_>>())
    .bind(facts().map(|f| f.word_count.map(|n| n as i64)).collect::<Vec<_>>())
    .bind(facts().map(|f| text_opt(f.language.as_deref())).collect::<Vec<_>>())
    .bind(facts().map(|f| f.quality.map(f64::from)).collect::<Vec<_>>())
    .bind(facts().map(|f| text_opt(f.title.as_deref())).collect::<Vec<_>>())
    .bind(facts().map(|f| text_opt(f.transcription.as_ref().map(BlobKey::as_str))).collect::<Vec<_>>())
    .bind(progress.values().map(|p| i64::from(p.charge)).collect::<Vec<_>>())
    .bind(progress.values().map(|p| p.started_at).collect::<Vec<_>>())
    .bind(progress.values().map(|p| p.failed || p.facts != Facts::default()).collect::<Vec<_>>())
    .bind(PROGRESS_EVERY_MS)
    .bind(progress.values().map(|p| p.understood_by.as_deref()).collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("note facts"))?;
    Ok(())
}

async fn note_failures(tx: &mut Tx, failures: &[Failure]) -> Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    query::<Postgres>(
        "INSERT INTO task_failure (task_id, epoch, attempt, size, outcome, error, at)
         SELECT u.*, $7
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[]) AS u
         ON CONFLICT (task_id, epoch) DO UPDATE SET attempt = excluded.attempt, size = excluded.size,
           outcome = excluded.outcome, error = excluded.error, at = excluded.at",
    )
    .bind(failures.iter().map(|f| f.task_id.0).collect::<Vec<_>>())
    .bind(failures.iter().map(|f| f.epoch.0).collect::<Vec<_>>())
    .bind(failures.iter().map(|f| i64::from(f.attempt)).collect::<Vec<_>>())
    .bind(failures.iter().map(|f| f.size.name()).collect::<Vec<_>>())
    .bind(failures.iter().map(|f| f.outcome).collect::<Vec<_>>())
    .bind(failures.iter().map(|f| f.error.as_str()).collect::<Vec<_>>())
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("note failures"))?;
    Ok(())
}

async fn change_tasks(tx: &mut Tx, changes: &[Change]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    query::<Postgres>(
        "UPDATE task t SET state = u.state, owner = NULL, lease_until = NULL, lost = 0, reported_epoch = t.epoch,
           next_task_id = u.next_task_id, duration_ms = coalesce(u.duration_ms, t.duration_ms),
           finished_at = CASE WHEN u.finished THEN $1 ELSE t.finished_at END, run_at = u.run_at,
           order_key = u.order_key, size = u.size, units = u.units, attempt = u.attempt,
           size_attempt = u.size_attempt, error = coalesce(u.error, t.error)
         FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[], $7::bigint[], $8::bigint[],
           $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[])
           AS u (task_id, state, next_task_id, duration_ms, finished, run_at, order_key, size, units, attempt,
             size_attempt, error)
         WHERE t.task_id = u.task_id",
    )
    .bind(tx.now.0)
    .bind(changes.iter().map(|c| c.task_id.0).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.state.name()).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.next.map(|n| n.0)).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.duration_ms).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.finished).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.run_at).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.order_key).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.size.name()).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| i64::from(c.units)).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| i64::from(c.attempt)).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| i64::from(c.size_attempt)).collect::<Vec<_>>())
    .bind(changes.iter().map(|c| c.error.as_deref()).collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("change tasks"))?;
    Ok(())
}

fn finished(row: &TaskRow, status: EventStatus, error: Option<&ErrorNote>) -> EventBody {
    EventBody {
        batch_id: row.belongs.batch_id,
        document_id: row.belongs.document_id,
        ingestion_id: Some(row.belongs.ingestion_id),
        task_kind: Some(row.kind.clone()),
        status,
        detail: error.map(|e| json!({ "kind": e.kind, "message": e.message })),
        ..EventBody::new(EventType::TaskFinished)
    }
}

/// The state machine's word, as docmill's error.
pub(super) fn apply(state: TaskState, event: TaskEvent) -> Result<TaskState> {
    transition(state, event)
        .map_err(|e| Error::bug("the store was asked for an impossible step").with_source(e))
}
