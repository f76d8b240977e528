//! What followers and maintenance read: the change log, reusable results, blob keys.

use std::collections::HashSet;

use docmill_core::Result;
use docmill_core::artifact::Artifact;
use docmill_core::clock::Timestamp;
use docmill_core::id::{BlobKey, ContentHash, IngestionId, TenantId};
use docmill_core::ports::filter::Particulars;
use docmill_core::ports::store::{ChangedDocument, StepRecord};
use docmill_core::task::TaskKind;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::claim::tenants_in_turn;
use super::heads::Head;
use super::look::kind;
use super::row::{Columns, sql_error, text};

fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) async fn changes(
    conn: &mut PgConnection,
    after: i64,
    limit: usize,
) -> Result<Vec<ChangedDocument>> {
    let rows = query::<Postgres>(concat!(
        "SELECT d.change_seq, d.tenant_id, d.document_id, d.removed, d.name, d.title, d.media_type, d.transcription_key,
           coalesce(c.language, i.language), ",
        kind!(),
        ",
           (SELECT u.body FROM understanding u WHERE u.ingestion_id = i.ingestion_id AND u.step = i.understood_by)
         FROM document d
           LEFT JOIN ingestion c ON c.ingestion_id = d.current_ingestion_id
           LEFT JOIN ingestion i ON i.ingestion_id = d.understood_in
         WHERE d.change_seq > $1 ORDER BY d.change_seq LIMIT $2"
    ))
    .bind(after)
    .bind(at_most(limit))
    .fetch_all(conn)
    .await
    .map_err(sql_error("read changes"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(ChangedDocument {
                seq: c.get()?,
                tenant_id: c.tenant()?,
                document_id: c.document()?,
                removed: c.flag()?,
                name: c.get()?,
                title: c.get()?,
                media_type: c.get()?,
                transcription: c.get::<Option<String>>()?.map(BlobKey::stored),
                particulars: Particulars::of(c.get()?, c.get()?, c.json_opt()?.unwrap_or_default()),
            })
        })
        .collect()
}

pub(super) async fn last_change(conn: &mut PgConnection) -> Result<i64> {
    query_scalar::<Postgres, i64>("SELECT value FROM counter WHERE name = 'change_seq'")
        .fetch_one(conn)
        .await
        .map_err(sql_error("read the change number"))
}

pub(super) async fn find_step(
    conn: &mut PgConnection,
    tenant: TenantId,
    step: &TaskKind,
    fingerprint: &ContentHash,
) -> Result<Option<StepRecord>> {
    let row = query::<Postgres>(
        "SELECT s.body, u.body FROM step_result s
           LEFT JOIN understanding u ON u.ingestion_id = s.ingestion_id AND u.step = s.step
         WHERE s.tenant_id = $1 AND s.step = $2 AND s.fingerprint = $3 AND NOT s.degraded AND NOT s.reused LIMIT 1",
    )
    .bind(tenant.0)
    .bind(text(step.as_str()))
    .bind(fingerprint.0.as_slice())
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look for a result"))?;
    match row {
        Some(row) => {
            let mut c = Columns::new(&row);
            let (record, understanding) = (c.json_opt::<StepRecord>()?, c.json_opt()?);
            Ok(record.map(|record| record.with_understanding(understanding)))
        }
        None => Ok(None),
    }
}

pub(super) async fn artifacts(
    conn: &mut PgConnection,
    ingestion: IngestionId,
    prefix: &str,
) -> Result<Vec<Artifact>> {
    let rows = query::<Postgres>(
        "SELECT name, blob_key, hash, bytes, media_type FROM artifact
         WHERE ingestion_id = $1 AND starts_with(name, $2) ORDER BY name",
    )
    .bind(ingestion.0)
    .bind(text(prefix))
    .fetch_all(conn)
    .await
    .map_err(sql_error("list artifacts"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(Artifact {
                name: c.get()?,
                key: BlobKey::stored(c.get::<String>()?),
                hash: c.hash()?,
                bytes: c.count()?,
                media_type: c.get()?,
            })
        })
        .collect()
}

/// The queues of these kinds, from their beginning, for all tenants that have any.
pub(super) async fn queues(conn: &mut PgConnection, kinds: &[TaskKind]) -> Result<Vec<Head>> {
    let tenants =
        query_scalar::<Postgres, Uuid>(concat!(tenants_in_turn!(), " SELECT tenant_id FROM tenants"))
            .bind(Uuid::nil())
            .bind(i64::from(i32::MAX))
            .fetch_all(conn)
            .await
            .map_err(sql_error("look for tenants"))?;
    let of = |tenant: Uuid| {
        kinds.iter().map(move |kind| Head {
            tenant_id: TenantId(tenant),
            kind: text(kind.as_str()),
            key: i64::MIN,
        })
    };
    Ok(tenants.into_iter().flat_map(of).collect())
}

/// When the next task in these queues is due. Most of a long queue is due, so the first question ends at the first
/// row of each; only queues of nothing but later tasks are looked through.
pub(super) async fn next_due(
    conn: &mut PgConnection,
    queues: &[Head],
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    const DUE: &str =
        "SELECT t.run_at FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS q (tenant_id, kind, start)
         CROSS JOIN LATERAL (
           SELECT run_at FROM task WHERE state = 'queued' AND tenant_id = q.tenant_id AND kind = q.kind
             AND order_key >= q.start AND run_at <= $4 AND kind NOT IN (SELECT kind FROM paused_kind)
           ORDER BY order_key LIMIT 1) AS t LIMIT 1";
    const LATER: &str = "SELECT min(t.run_at) FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS q (tenant_id, kind, start)
         CROSS JOIN LATERAL (
           SELECT min(run_at) AS run_at FROM task WHERE state = 'queued' AND tenant_id = q.tenant_id AND kind = q.kind
             AND order_key >= q.start AND run_at > $4 AND kind NOT IN (SELECT kind FROM paused_kind)) AS t";
    if queues.is_empty() {
        return Ok(None);
    }
    for sql in [DUE, LATER] {
        let found: Option<Option<i64>> = query_scalar::<Postgres, Option<i64>>(sql)
            .bind(queues.iter().map(|q| q.tenant_id.0).collect::<Vec<_>>())
            .bind(queues.iter().map(|q| q.kind.as_str()).collect::<Vec<_>>())
            .bind(queues.iter().map(|q| q.key).collect::<Vec<_>>())
            .bind(now.0)
            .fetch_optional(&mut *conn)
            .await
            .map_err(sql_error("look for work"))?;
        if let Some(at) = found.flatten() {
            return Ok(Some(Timestamp(at)));
        }
    }
    Ok(None)
}

pub(super) async fn open_tasks(
    conn: &mut PgConnection,
    kinds: &[TaskKind],
    tenant: Option<TenantId>,
) -> Result<u64> {
    let kinds: Vec<&str> = kinds.iter().map(TaskKind::as_str).collect();
    query_scalar::<Postgres, i64>(
        "SELECT (SELECT count(*) FROM task WHERE state = 'queued' AND kind = ANY($1)
             AND kind NOT IN (SELECT kind FROM paused_kind) AND ($2::uuid IS NULL OR tenant_id = $2))
           + (SELECT count(*) FROM task WHERE state = 'running' AND ($2::uuid IS NULL OR tenant_id = $2))",
    )
    .bind(kinds)
    .bind(tenant.map(|t| t.0))
    .fetch_one(conn)
    .await
    .map(|n| u64::try_from(n).unwrap_or(0))
    .map_err(sql_error("count tasks"))
}

/// Keys that rows name, in order.
pub(super) async fn blob_keys(
    conn: &mut PgConnection,
    after: Option<&BlobKey>,
    limit: usize,
) -> Result<Vec<BlobKey>> {
    // Each side is cut by itself, so that a page costs a page and not a sort of everything.
    let rows = query_scalar::<Postgres, String>(
        "SELECT blob_key FROM (
           (SELECT blob_key FROM document WHERE blob_key > $1 ORDER BY blob_key LIMIT $2)
           UNION (SELECT blob_key FROM artifact WHERE blob_key > $1 ORDER BY blob_key LIMIT $2)) AS k
         ORDER BY blob_key LIMIT $2",
    )
    .bind(text(after.map_or("", BlobKey::as_str)))
    .bind(at_most(limit))
    .fetch_all(conn)
    .await
    .map_err(sql_error("list blob keys"))?;
    Ok(rows.into_iter().map(BlobKey::stored).collect())
}

/// Which of these keys a row names. The key of an original holds the document's id, so both look-ups are by an index.
pub(super) async fn referenced(conn: &mut PgConnection, keys: &[BlobKey]) -> Result<Vec<bool>> {
    let documents: Vec<Uuid> = keys.iter().filter_map(BlobKey::original_of).map(|d| d.0).collect();
    let others: Vec<String> =
        keys.iter().filter(|k| k.original_of().is_none()).map(|k| text(k.as_str())).collect();
    let found: HashSet<String> = query_scalar::<Postgres, String>(
        "SELECT blob_key FROM document WHERE document_id = ANY($1)
         UNION ALL SELECT blob_key FROM artifact WHERE blob_key = ANY($2)",
    )
    .bind(documents)
    .bind(others)
    .fetch_all(conn)
    .await
    .map_err(sql_error("look up blob keys"))?
    .into_iter()
    .collect();
    Ok(keys.iter().map(|k| found.contains(k.as_str())).collect())
}
