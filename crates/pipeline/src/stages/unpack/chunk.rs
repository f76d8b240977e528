//! Members of a container on their way into the store: gathered, made durable, then added in one fenced step.

use docmill_core::error::ErrorNote;
use docmill_core::expansion::ExpansionLimits;
use docmill_core::id::ContentHash;
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::store::{Arrival, ChildChunk, ChunkAnswer, NewChild};
use docmill_core::task::Lease;
use docmill_core::{Error, Result, crash};

use crate::plan;
use crate::stages::Context;
use crate::stages::payload::Payload;
use crate::stages::stored::{self, Body, Fresh};

/// At most so many members wait to be added.
const MAX_CHILDREN: usize = 64;
/// At most so many bytes of them wait in memory.
const MAX_BYTES: usize = 4 << 20;

/// Members that are complete but not yet added.
pub(super) struct Chunk<'a> {
    cx: &'a Context<'a>,
    lease: &'a Lease,
    fingerprint: ContentHash,
    /// Members the container said it has.
    pub(super) declared: Option<u64>,
    /// Members that were sent or wait to be.
    pub(super) met: u64,
    payload: Payload,
    waiting: Vec<Member>,
    bytes: usize,
}

struct Member {
    position: u64,
    path: String,
    content: std::result::Result<Fresh, ErrorNote>,
}

impl<'a> Chunk<'a> {
    /// Nothing yet.
    pub(super) fn new(cx: &'a Context<'a>, lease: &'a Lease, fingerprint: ContentHash) -> Result<Self> {
        let payload = Payload::parse(lease.payload.as_deref())?.carried();
        Ok(Self { cx, lease, fingerprint, declared: None, met: 0, payload, waiting: Vec::new(), bytes: 0 })
    }

    /// A member is complete.
    pub(super) async fn add(&mut self, position: u64, path: String, fresh: Fresh) -> Result<()> {
        if let Body::Memory(bytes) = &fresh.body {
            self.bytes += bytes.len();
        }
        self.push(Member { position, path, content: Ok(fresh) }).await
    }

    /// A member could not be had; it is accounted for all the same.
    pub(super) async fn add_failed(&mut self, position: u64, path: String, error: ErrorNote) -> Result<()> {
        self.push(Member { position, path, content: Err(error) }).await
    }

    async fn push(&mut self, member: Member) -> Result<()> {
        self.met += 1;
        self.waiting.push(member);
        if self.waiting.len() >= MAX_CHILDREN || self.bytes >= MAX_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// Adds what waits. Members that were added by an earlier attempt are simply sent again: their ids depend
    /// on the container, the fingerprint and the position alone.
    pub(super) async fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.cx.disk.check(self.cx.deps).await?;
        let mut places = Vec::new();
        let mut fresh = Vec::new();
        for member in std::mem::take(&mut self.waiting) {
            let refused = match member.content {
                Ok(content) => {
                    fresh.push(content);
                    None
                }
                Err(error) => Some(IngestionEnd::failed(error)),
            };
            places.push((member.position, member.path, refused));
        }
        self.bytes = 0;
        crash::point("unpack.before_child_blob");
        let settled = stored::settle(self.cx.deps, self.lease.subject.tenant_id, fresh).await?;
        crash::point("unpack.after_child_blob");
        self.cx.progress();

        let engine = &self.cx.deps.settings.engine;
        let mut settled = settled.into_iter();
        let mut proposed = Vec::new();
        let mut children = Vec::with_capacity(places.len());
        for (position, path, refused) in places {
            let arrival = if let Some(end) = refused {
                Arrival::Refused(end)
            } else {
                let place =
                    settled.next().ok_or_else(|| Error::bug("a member of a container lost its content"))?;
                proposed.push(place.clone());
                let first = plan::first(place.content.bytes, &self.payload, engine);
                Arrival::Content(place.content, first)
            };
            let name = file_name(&path);
            children.push(NewChild { position, path, name, arrival });
        }
        self.send(children, proposed).await
    }

    async fn send(&mut self, children: Vec<NewChild>, proposed: Vec<stored::Settled>) -> Result<()> {
        let sent = children.len();
        let chunk = ChildChunk {
            task_id: self.lease.task_id,
            epoch: self.lease.epoch,
            fingerprint: self.fingerprint,
            declared: self.declared,
            tree: ExpansionLimits::of_tree(&self.cx.deps.settings.limits),
            children,
        };
        crash::point("unpack.before_chunk");
        let answer = self.cx.deps.store.add_children(chunk).await?;
        crash::point("unpack.after_chunk");
        self.cx.progress();
        match answer {
            ChunkAnswer::Accepted(ids) => {
                stored::take_back(self.cx.deps, &proposed, &ids).await;
                Ok(())
            }
            ChunkAnswer::Full { taken, error } => {
                stored::take_back(self.cx.deps, &proposed, &taken).await;
                self.met -= sent.saturating_sub(taken.len()) as u64;
                Err(error.into())
            }
            ChunkAnswer::Stale => Err(Error::stale_lease(format!(
                "task {} was taken over while it unpacked `{}`",
                self.lease.task_id,
                docmill_core::text::shown(&self.lease.subject.name)
            ))
            .logged_as("the task was taken over while it unpacked")),
        }
    }
}

/// The last part of a path inside a container, whichever way its slashes lean.
fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn file_name_is_the_last_part_of_any_path() {
        assert_eq!(file_name("a/b/c.txt"), "c.txt");
        assert_eq!(file_name(r"a\b\c.txt"), "c.txt");
        assert_eq!(file_name("folder/"), "folder");
        assert_eq!(file_name(""), "");
    }
}
