//! An outermost container with all containers inside it. Its manifest row counts what came out of all of them,
//! so that archives inside archives cannot multiply without end.

use docmill_core::Result;
use docmill_core::id::IngestionId;
use docmill_core::ports::store::ChildChunk;
use sqlx_core::query::query;
use sqlx_postgres::Postgres;

use super::super::shared::tree::{Ancestor, Tree, Way};
use super::row::{Columns, sql_error};
use super::tx::Tx;

/// Climbs from the container that is being unpacked; its manifest row is there already. The root's row stays locked:
/// containers inside one another are unpacked by different workers and count on the same row.
pub(super) async fn load(tx: &mut Tx, container: IngestionId, chunk: &ChildChunk) -> Result<Tree> {
    let rows = query::<Postgres>(
        "WITH RECURSIVE up (id, parent_id, run, document_id, height) AS (
           SELECT ingestion_id, parent_id, run_fingerprint, document_id, 0 FROM ingestion WHERE ingestion_id = $1
           UNION ALL
           SELECT i.ingestion_id, i.parent_id, i.run_fingerprint, i.document_id, up.height + 1
             FROM ingestion i JOIN up ON i.ingestion_id = up.parent_id)
         SELECT up.id, up.parent_id IS NULL, up.run, d.content_hash, d.bytes
           FROM up JOIN document d ON d.document_id = up.document_id ORDER BY up.height",
    )
    .bind(container.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up the containers of a member"))?;
    let mut containers = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        containers.push(Ancestor {
            id: c.ingestion()?,
            outermost: c.flag()?,
            found_by: c.hash_opt()?,
            content: c.hash()?,
            bytes: c.count()?,
        });
    }
    let way = Way::up(container, chunk, containers)?;
    let row = query::<Postgres>(
        "SELECT tree_members, tree_bytes FROM manifest WHERE ingestion_id = $1 AND fingerprint = $2 FOR UPDATE",
    )
    .bind(way.root.0)
    .bind(way.run.0.as_slice())
    .fetch_one(tx.conn())
    .await
    .map_err(sql_error("look up what a container gave so far"))?;
    let mut c = Columns::new(&row);
    let (members, bytes) = (c.count()?, c.count()?);
    Ok(Tree::resumed(way, chunk, members, bytes))
}

/// Keeps the count.
pub(super) async fn store(tx: &mut Tx, tree: &Tree) -> Result<()> {
    query::<Postgres>(
        "UPDATE manifest SET tree_members = $3, tree_bytes = $4 WHERE ingestion_id = $1 AND fingerprint = $2",
    )
    .bind(tree.root.0)
    .bind(tree.run.0.as_slice())
    .bind(tree.expansion.members() as i64)
    .bind(tree.expansion.bytes() as i64)
    .execute(tx.conn())
    .await
    .map_err(sql_error("count what a container gave"))?;
    Ok(())
}
