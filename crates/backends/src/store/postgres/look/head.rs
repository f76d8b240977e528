//! The heads of documents: enough for a search hit, a download or a selection.

use std::collections::HashMap;

use docmill_core::Result;
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{BlobKey, DocumentId, TenantId};
use docmill_core::ports::store::{DocumentHead, Selected, Selection};
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, PgRow, Postgres};

use super::super::super::shared::look::Types;
use super::super::row::{Columns, sql_error, text};
use super::{evidence, evidence_from, kind, resolve, state};

macro_rules! head_columns {
    () => {
        "d.document_id, d.name, d.title, d.media_type, d.bytes, d.blob_key, d.transcription_key"
    };
}

fn read(c: &mut Columns<'_>) -> Result<DocumentHead> {
    Ok(DocumentHead {
        document_id: c.document()?,
        name: c.get()?,
        title: c.get()?,
        media_type: c.get()?,
        bytes: c.count()?,
        key: BlobKey::stored(c.get::<String>()?),
        transcription: c.get::<Option<String>>()?.map(BlobKey::stored),
    })
}

/// In the order in which they were asked for.
pub(in super::super) async fn heads(
    conn: &mut PgConnection,
    tenant: TenantId,
    ids: &[DocumentId],
) -> Result<Vec<DocumentHead>> {
    let rows = query::<Postgres>(concat!(
        "SELECT ",
        head_columns!(),
        " FROM document d WHERE d.document_id = ANY($1) AND d.tenant_id = $2 AND NOT d.removed"
    ))
    .bind(ids.iter().map(|d| d.0).collect::<Vec<_>>())
    .bind(tenant.0)
    .fetch_all(conn)
    .await
    .map_err(sql_error("look up documents"))?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in &rows {
        let head = read(&mut Columns::new(row))?;
        found.insert(head.document_id, head);
    }
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

pub(in super::super) async fn head(
    conn: &mut PgConnection,
    tenant: TenantId,
    id: &str,
) -> Result<Option<DocumentHead>> {
    match resolve(conn, tenant, id).await? {
        Some(id) => Ok(heads(conn, tenant, &[id]).await?.into_iter().next()),
        None => Ok(None),
    }
}

pub(in super::super) async fn select(
    conn: &mut PgConnection,
    tenant: TenantId,
    selection: &Selection,
    now: Timestamp,
) -> Result<Vec<Selected>> {
    macro_rules! select {
        ($($only:expr),+) => {
            concat!(
                "SELECT ",
                head_columns!(),
                ", d.content_hash,
                   EXISTS (SELECT 1 FROM ingestion b WHERE b.document_id = d.document_id AND b.status = 'in_progress'),
                   d.kind, ",
                evidence!(),
                evidence_from!(),
                "WHERE d.tenant_id = $1 AND NOT d.removed AND ($2::uuid[] IS NULL OR d.document_id = ANY($2))
                   AND ($3::text IS NULL OR d.media_type = $3)
                   AND ($4::text IS NULL OR starts_with(d.media_type, $4)) AND ",
                $($only,)+
                " ORDER BY d.document_id"
            )
        };
    }
    // Beside an OR no index is of use.
    let sql = match selection.kind {
        Some(_) => select!(kind!(), " = $5"),
        None => select!("$5::text IS NULL"),
    };
    let types = Types::of(selection.media_type.as_deref());
    let rows = query::<Postgres>(sql)
        .bind(tenant.0)
        .bind((!selection.ids.is_empty()).then(|| selection.ids.iter().map(|d| d.0).collect::<Vec<_>>()))
        .bind(types.exactly.map(text))
        .bind(types.prefix.map(text))
        .bind(selection.kind.as_deref().map(text))
        .fetch_all(conn)
        .await
        .map_err(sql_error("select documents"))?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let (selected, state) = read_selected(row, now)?;
        if selection.state.is_none_or(|s| s == state) {
            found.push(selected);
        }
    }
    Ok(found)
}

fn read_selected(row: &PgRow, now: Timestamp) -> Result<(Selected, DocumentState)> {
    let mut c = Columns::new(row);
    let head = read(&mut c)?;
    let (hash, busy, kind) = (c.hash()?, c.flag()?, c.get()?);
    let (state, _) = state(&mut c, now)?;
    Ok((Selected { head, hash, kind, busy }, state))
}
