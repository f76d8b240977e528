//! An outermost container with all containers inside it. Its manifest row counts what came out of all of them,
//! so that archives inside archives cannot multiply without end.

use docmill_core::Result;
use docmill_core::id::{ContentHash, IngestionId};
use docmill_core::ports::store::ChildChunk;
use rusqlite::params;

use super::super::shared::tree::{Ancestor, Tree, Way};
use super::row::{Columns, sql_error};
use super::tx::Tx;

/// Climbs from the container that is being unpacked; its manifest row is there already.
pub(super) fn load(tx: &Tx<'_>, container: IngestionId, chunk: &ChildChunk) -> Result<Tree> {
    let mut statement = tx.sql(
        "WITH RECURSIVE up (id, parent_id, run, document_id, height) AS (
           SELECT ingestion_id, parent_id, run_fingerprint, document_id, 0 FROM ingestion WHERE ingestion_id = ?1
           UNION ALL
           SELECT i.ingestion_id, i.parent_id, i.run_fingerprint, i.document_id, up.height + 1
             FROM ingestion i JOIN up ON i.ingestion_id = up.parent_id)
         SELECT up.id, up.parent_id IS NULL, up.run, d.content_hash, d.bytes
           FROM up JOIN document d ON d.document_id = up.document_id ORDER BY up.height",
    )?;
    let mut rows =
        statement.query([container.as_bytes()]).map_err(sql_error("look up the containers of a member"))?;
    let mut containers = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("look up the containers of a member"))? {
        let mut c = Columns::new(row);
        containers.push(Ancestor {
            id: c.ingestion()?,
            outermost: c.flag()?,
            found_by: c.get::<Option<[u8; 32]>>()?.map(ContentHash),
            content: c.hash()?,
            bytes: c.count()?,
        });
    }
    let way = Way::up(container, chunk, containers)?;
    let (members, bytes) = tx
        .sql("SELECT tree_members, tree_bytes FROM manifest WHERE ingestion_id = ?1 AND fingerprint = ?2")?
        .query_row(params![way.root.as_bytes(), way.run.0], |r| {
            Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?))
        })
        .map_err(sql_error("look up what a container gave so far"))?;
    Ok(Tree::resumed(way, chunk, members as u64, bytes as u64))
}

/// Keeps the count.
pub(super) fn store(tx: &Tx<'_>, tree: &Tree) -> Result<()> {
    tx.sql(
        "UPDATE manifest SET tree_members = ?3, tree_bytes = ?4 WHERE ingestion_id = ?1 AND fingerprint = ?2",
    )?
    .execute(params![
        tree.root.as_bytes(),
        tree.run.0,
        tree.expansion.members() as i64,
        tree.expansion.bytes() as i64
    ])
    .map_err(sql_error("count what a container gave"))?;
    Ok(())
}
