//! An outermost container with all containers inside it. Its manifest row counts what came out of all of them,
//! so that archives inside archives cannot multiply without end.

use docmill_core::expansion::Expansion;
use docmill_core::id::{ContentHash, IngestionId};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::store::{Arrival, ChildChunk};
use docmill_core::{Error, Result, text};
use rusqlite::params;

use super::row::sql_error;
use super::tx::Tx;

/// The tree that a chunk of members goes into.
pub(super) struct Tree {
    root: IngestionId,
    /// Of the run that unpacked the root: another run counts anew.
    run: ContentHash,
    /// What the containers hold that the members lie in.
    ancestors: Vec<ContentHash>,
    expansion: Expansion,
}

impl Tree {
    /// Climbs from the container that is being unpacked; its manifest row is there already.
    pub(super) fn load(tx: &Tx<'_>, container: IngestionId, chunk: &ChildChunk) -> Result<Self> {
        let mut statement = tx.sql(
            "WITH RECURSIVE up (id, parent_id, run, document_id) AS (
               SELECT ingestion_id, parent_id, run_fingerprint, document_id FROM ingestion WHERE ingestion_id = ?1
               UNION ALL
               SELECT i.ingestion_id, i.parent_id, i.run_fingerprint, i.document_id
                 FROM ingestion i JOIN up ON i.ingestion_id = up.parent_id)
             SELECT up.id, up.parent_id IS NULL, up.run, d.content_hash, d.bytes
               FROM up JOIN document d ON d.document_id = up.document_id",
        )?;
        let rows = statement
            .query_map([container.as_bytes()], |r| {
                Ok((
                    r.get::<_, [u8; 16]>(0)?,
                    r.get::<_, bool>(1)?,
                    r.get::<_, Option<[u8; 32]>>(2)?,
                    ContentHash(r.get(3)?),
                    r.get::<_, i64>(4)?,
                ))
            })
            .map_err(sql_error("look up the containers of a member"))?;
        let mut ancestors = Vec::new();
        let mut run = chunk.fingerprint;
        let mut root = None;
        for row in rows {
            let (id, outermost, found_by, content, bytes) =
                row.map_err(sql_error("look up the containers of a member"))?;
            ancestors.push(content);
            if outermost {
                root = Some((IngestionId::from_slice(&id)?, bytes as u64));
            } else if let Some(found_by) = found_by {
                run = ContentHash(found_by);
            }
        }
        let Some((root, packed)) = root else {
            return Err(Error::bug(format!("container {container} has no outermost container")));
        };
        let (members, bytes) = tx
            .sql(
                "SELECT tree_members, tree_bytes FROM manifest WHERE ingestion_id = ?1 AND fingerprint = ?2",
            )?
            .query_row(params![root.as_bytes(), run.0], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?)))
            .map_err(sql_error("look up what a container gave so far"))?;
        let expansion = Expansion::resumed(chunk.tree, packed, members as u64, bytes as u64);
        Ok(Self { root, run, ancestors, expansion })
    }

    /// Counts one more member, or says which limit it would pass.
    pub(super) fn admit(&mut self, arrival: &Arrival) -> Result<()> {
        let mut next = self.expansion;
        next.add_member()?;
        if let Arrival::Content(content, _) = arrival {
            next.add_bytes(content.bytes)?;
        }
        self.expansion = next;
        Ok(())
    }

    /// How a member ends at once that is one of the containers it lies in: unpacking it would never end.
    pub(super) fn refusal(&self, path: &str, arrival: &Arrival) -> Option<IngestionEnd> {
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

    /// Keeps the count.
    pub(super) fn store(&self, tx: &Tx<'_>) -> Result<()> {
        tx.sql(
            "UPDATE manifest SET tree_members = ?3, tree_bytes = ?4 WHERE ingestion_id = ?1 AND fingerprint = ?2",
        )?
        .execute(params![
            self.root.as_bytes(),
            self.run.0,
            self.expansion.members() as i64,
            self.expansion.bytes() as i64
        ])
        .map_err(sql_error("count what a container gave"))?;
        Ok(())
    }
}
