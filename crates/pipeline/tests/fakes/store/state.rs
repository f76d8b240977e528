//! What the store in memory holds, and how items and tasks change it.

use std::collections::BTreeMap;
use std::time::Duration;

use docmill_core::artifact::Artifact;
use docmill_core::clock::Timestamp;
use docmill_core::id::{ContentHash, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use docmill_core::ingestion::{Facts, IngestionEnd};
use docmill_core::ports::store::{Arrival, ChangedDocument, Done, ManifestEnd, StepRecord, StoredContent};
use docmill_core::record::NewRecord;
use docmill_core::state::TaskState;
use docmill_core::task::{Attempts, Lease, NewTask, Subject, SubjectDocument};
use docmill_core::understanding::Judgement;

#[derive(Default)]
pub(super) struct State {
    pub(super) tasks: Vec<Task>,
    pub(super) ingestions: Vec<Ingestion>,
    pub(super) documents: BTreeMap<ContentHash, StoredContent>,
    pub(super) records: Vec<StepRecord>,
    pub(super) extracted: Vec<NewRecord>,
    pub(super) manifests: Vec<ManifestEnd>,
    pub(super) workers: Vec<WorkerId>,
    pub(super) log: Vec<String>,
    pub(super) changes: Vec<ChangedDocument>,
    pub(super) judged: BTreeMap<DocumentId, Option<Judgement>>,
}

pub(super) struct Task {
    pub(super) lease: Lease,
    pub(super) state: TaskState,
    pub(super) run_at: Timestamp,
    /// The join that waits for this part.
    pub(super) join: Option<TaskId>,
    /// Parts that this join waits for.
    pub(super) open_parts: usize,
}

pub(super) struct Ingestion {
    pub(super) id: IngestionId,
    pub(super) name: String,
    pub(super) end: Option<IngestionEnd>,
    pub(super) facts: Facts,
    pub(super) artifacts: Vec<Artifact>,
}

impl State {
    pub(super) fn push(&mut self, now: Timestamp, new: NewTask, subject: Subject, waiting: usize) -> TaskId {
        let task_id = TaskId(self.tasks.len() as i64 + 1);
        let lease = Lease {
            task_id,
            epoch: Epoch(0),
            worker_id: WorkerId(uuid::Uuid::nil()),
            until: now,
            kind: new.kind,
            stage: new.stage,
            size: new.size,
            units: new.units,
            priority: 50,
            attempts: Attempts::default(),
            payload: new.payload,
            failing_since: None,
            waited: None,
            subject,
        };
        let to = if waiting > 0 { TaskState::Waiting } else { TaskState::Queued };
        self.tasks.push(Task { lease, state: to, run_at: now, join: None, open_parts: waiting });
        task_id
    }

    pub(super) fn arrive(
        &mut self,
        now: Timestamp,
        tenant_id: TenantId,
        (ingestion_id, name, depth): (IngestionId, &str, u32),
        arrival: Arrival,
    ) -> (Option<DocumentId>, bool) {
        let mut ingestion = Ingestion {
            id: ingestion_id,
            name: name.to_owned(),
            end: None,
            facts: Facts::default(),
            artifacts: Vec::new(),
        };
        let (document, duplicate) = match arrival {
            Arrival::Refused(end) => {
                ingestion.end = Some(end);
                (None, false)
            }
            Arrival::Content(content, first) => {
                let duplicate = self.documents.contains_key(&content.hash);
                let content = self.documents.entry(content.hash).or_insert(content).clone();
                let subject = Subject {
                    tenant_id,
                    batch_id: None,
                    ingestion_id,
                    document: Some(SubjectDocument {
                        document_id: content.document_id,
                        content_hash: content.hash,
                        key: content.key,
                        bytes: content.bytes,
                    }),
                    name: name.to_owned(),
                    depth,
                    media_type: None,
                    duplicate,
                };
                self.push(now, first, subject, 0);
                (Some(content.document_id), duplicate)
            }
        };
        self.ingestions.push(ingestion);
        (document, duplicate)
    }

    pub(super) fn finish(
        &mut self,
        now: Timestamp,
        task: TaskId,
        done: Done,
        lease: Option<Duration>,
    ) -> Option<Lease> {
        let index = task.0 as usize - 1;
        let Lease { subject, worker_id, .. } = self.tasks[index].lease.clone();
        let ingestion = self.ingestions.iter_mut().find(|i| i.id == subject.ingestion_id).unwrap();
        ingestion.artifacts.extend(done.artifacts);
        ingestion.facts = done.facts;
        if done.end.is_some() {
            ingestion.end = done.end;
        }
        self.records.extend(done.record);
        self.extracted.extend(done.extracted.map(|record| *record));
        self.manifests.extend(done.manifest);
        if let Some(fan) = done.fan_out {
            let join = self.push(now, fan.join, subject.clone(), fan.parts.len());
            for part in fan.parts {
                let part = self.push(now, part, subject.clone(), 0);
                self.tasks[part.0 as usize - 1].join = Some(join);
            }
        }
        self.part_ended(task);
        let next = self.push(now, done.next?, subject, 0);
        let next = &mut self.tasks[next.0 as usize - 1];
        let lease = lease?;
        next.state = TaskState::Running;
        next.lease.epoch.0 += 1;
        next.lease.attempts.lost += 1;
        next.lease.worker_id = worker_id;
        next.lease.until = now.plus(lease);
        Some(next.lease.clone())
    }

    pub(super) fn part_ended(&mut self, task: TaskId) {
        let Some(join) = self.tasks[task.0 as usize - 1].join else { return };
        let join = &mut self.tasks[join.0 as usize - 1];
        join.open_parts -= 1;
        if join.open_parts == 0 {
            join.state = TaskState::Queued;
        }
    }
}
