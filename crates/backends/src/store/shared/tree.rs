//! An outermost container with all containers inside it: how much may still come out, and what would never end.

use docmill_core::expansion::Expansion;
use docmill_core::id::{ContentHash, IngestionId};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::store::{Arrival, ChildChunk};
use docmill_core::{Error, Result, text};

/// One container on the way up from the members that are being added.
pub(in crate::store) struct Ancestor {
    pub(in crate::store) id: IngestionId,
    /// Nothing is around it.
    pub(in crate::store) outermost: bool,
    /// The unpack run that found it.
    pub(in crate::store) found_by: Option<ContentHash>,
    pub(in crate::store) content: ContentHash,
    pub(in crate::store) bytes: u64,
}

/// The way up, before the count so far is known.
pub(in crate::store) struct Way {
    pub(in crate::store) root: IngestionId,
    /// Of the run that unpacked the root: another run counts anew.
    pub(in crate::store) run: ContentHash,
    packed: u64,
    ancestors: Vec<ContentHash>,
}

impl Way {
    /// `containers` begins with the one that is being unpacked.
    pub(in crate::store) fn up(
        container: IngestionId,
        chunk: &ChildChunk,
        containers: impl IntoIterator<Item = Ancestor>,
    ) -> Result<Self> {
        let mut ancestors = Vec::new();
        let mut run = chunk.fingerprint;
        let mut root = None;
        for ancestor in containers {
            ancestors.push(ancestor.content);
            if ancestor.outermost {
                root = Some((ancestor.id, ancestor.bytes));
            } else if let Some(found_by) = ancestor.found_by {
                run = found_by;
            }
        }
        match root {
            Some((root, packed)) => Ok(Self { root, run, packed, ancestors }),
            None => Err(Error::bug(format!("container {container} has no outermost container"))),
        }
    }
}

/// The tree that a chunk of members goes into.
pub(in crate::store) struct Tree {
    pub(in crate::store) root: IngestionId,
    pub(in crate::store) run: ContentHash,
    /// What the containers hold that the members lie in.
    ancestors: Vec<ContentHash>,
    pub(in crate::store) expansion: Expansion,
}

impl Tree {
    /// Goes on with the count that the root's manifest holds.
    pub(in crate::store) fn resumed(way: Way, chunk: &ChildChunk, members: u64, bytes: u64) -> Self {
        let Way { root, run, packed, ancestors } = way;
        Self { root, run, ancestors, expansion: Expansion::resumed(chunk.tree, packed, members, bytes) }
    }

    /// Counts one more member, or says which limit it would pass.
    pub(in crate::store) fn admit(&mut self, arrival: &Arrival) -> Result<()> {
        let mut next = self.expansion;
        next.add_member()?;
        if let Arrival::Content(content, _) = arrival {
            next.add_bytes(content.bytes)?;
        }
        self.expansion = next;
        Ok(())
    }

    /// How a member ends at once that is one of the containers it lies in: unpacking it would never end.
    pub(in crate::store) fn refusal(&self, path: &str, arrival: &Arrival) -> Option<IngestionEnd> {
        let Arrival::Content(content, _) = arrival else { return None };
        if !self.ancestors.contains(&content.hash) {
            return None;
        }
        let error = Error::bomb_suspected(format!(
            "`{}` is the same as a container it lies in; it is not unpacked again",
            text::shown(path)
        ));
        Some(IngestionEnd::failed((&error).into()))
    }
}
