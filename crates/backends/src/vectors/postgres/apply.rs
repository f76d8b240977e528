//! Writing a batch and the watermark in one transaction.

use docmill_core::Result;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::vector_index::{EmbeddedDocument, VectorChange};
use sqlx_core::query::query;
use sqlx_core::query_as::query_as;
use sqlx_core::raw_sql::raw_sql;
use sqlx_postgres::{PgConnection, PgPool, Postgres};

use super::{broken, written};
use crate::postgres::text;

/// Writes a batch; false if the index is not at `from`.
pub(super) async fn apply(
    pool: &PgPool,
    model: &str,
    changes: Vec<VectorChange>,
    from: i64,
    upto: i64,
) -> Result<bool> {
    let mut tx = pool.begin().await.map_err(broken("begin a batch"))?;
    let (known, watermark): (String, i64) =
        query_as::<Postgres, _>("SELECT model, watermark FROM vector_index_state FOR UPDATE")
            .fetch_one(&mut *tx)
            .await
            .map_err(broken("read its watermark"))?;
    let same = known == model;
    if from != if same { watermark } else { 0 } {
        tx.rollback().await.map_err(broken("give up a batch"))?;
        return Ok(false);
    }
    if !same {
        raw_sql("TRUNCATE vector_index_document, vector_index_passage")
            .execute(&mut *tx)
            .await
            .map_err(broken("forget another model"))?;
    }
    for change in changes {
        match change {
            VectorChange::Remove(tenant, document) => remove(&mut tx, tenant, document).await?,
            VectorChange::Put(document) => put(&mut tx, document).await?,
        }
    }
    query::<Postgres>("UPDATE vector_index_state SET model = $1, watermark = $2, holder = NULL")
        .bind(text(model))
        .bind(upto)
        .execute(&mut *tx)
        .await
        .map_err(broken("move its watermark"))?;
    tx.commit().await.map_err(broken("end a batch"))?;
    Ok(true)
}

/// The state is taken first, as a batch takes it: one that is being applied ends before, and the next finds no source
/// that is its own.
pub(super) async fn rewind(pool: &PgPool) -> Result<()> {
    raw_sql(
        "BEGIN; UPDATE vector_index_state SET watermark = 0, holder = NULL;
         UPDATE vector_index_document SET source = ''; COMMIT",
    )
    .execute(pool)
    .await
    .map_err(broken("begin again"))?;
    Ok(())
}

async fn remove(tx: &mut PgConnection, tenant: TenantId, document: DocumentId) -> Result<()> {
    for sql in [
        "DELETE FROM vector_index_passage WHERE tenant_id = $1 AND document_id = $2",
        "DELETE FROM vector_index_document WHERE tenant_id = $1 AND document_id = $2",
    ] {
        query::<Postgres>(sql)
            .bind(tenant.0)
            .bind(document.0)
            .execute(&mut *tx)
            .await
            .map_err(broken("take out a document"))?;
    }
    Ok(())
}

async fn put(tx: &mut PgConnection, document: EmbeddedDocument) -> Result<()> {
    let EmbeddedDocument { tenant_id, document_id, name, media_type, particulars: known, source, passages } =
        document;
    let day = known.date.and_then(|day| i32::try_from(day.0).ok());
    let tags: Vec<String> = known.tags.iter().map(|tag| text(tag)).collect();
    let Some(passages) = passages else {
        query::<Postgres>(
            "UPDATE vector_index_document SET name = $3, media_type = $4, kind = $5, language = $6, day = $7, tags = $8
             WHERE tenant_id = $1 AND document_id = $2",
        )
        .bind(tenant_id.0)
        .bind(document_id.0)
        .bind(text(&name))
        .bind(media_type.as_deref().map(text))
        .bind(known.kind.as_deref().map(text))
        .bind(known.language.as_deref().map(text))
        .bind(day)
        .bind(tags)
        .execute(&mut *tx)
        .await
        .map_err(broken("rename a document"))?;
        return Ok(());
    };
    remove(tx, tenant_id, document_id).await?;
    query::<Postgres>(
        "INSERT INTO vector_index_document (tenant_id, document_id, source, name, media_type, kind, language, day, tags)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(tenant_id.0)
    .bind(document_id.0)
    .bind(text(&source))
    .bind(text(&name))
    .bind(media_type.as_deref().map(text))
    .bind(known.kind.as_deref().map(text))
    .bind(known.language.as_deref().map(text))
    .bind(day)
    .bind(tags)
    .execute(&mut *tx)
    .await
    .map_err(broken("put in a document"))?;
    query::<Postgres>(
        "INSERT INTO vector_index_passage (tenant_id, document_id, number, page, begins, ends, vector)
         SELECT $1, $2, u.number, u.page, u.begins, u.ends, u.vector::halfvec(384)
         FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
           WITH ORDINALITY AS u (page, begins, ends, vector, number)",
    )
    .bind(tenant_id.0)
    .bind(document_id.0)
    .bind(passages.iter().map(|p| i64::from(p.page)).collect::<Vec<_>>())
    .bind(passages.iter().map(|p| i64::from(p.start)).collect::<Vec<_>>())
    .bind(passages.iter().map(|p| i64::from(p.end)).collect::<Vec<_>>())
    .bind(passages.iter().map(|p| written(&p.vector)).collect::<Result<Vec<_>>>()?)
    .execute(&mut *tx)
    .await
    .map_err(broken("put in passages"))?;
    Ok(())
}
