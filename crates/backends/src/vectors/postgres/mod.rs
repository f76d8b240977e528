//! Vectors on a PostgreSQL server with pgvector, shared by any number of processes: numbers of half size under a graph
//! (HNSW), which the server walks on until enough of the tenant's passages are found.
//!
//! Each batch of changes is one transaction with the watermark. Every statement names its tenant.

mod apply;
mod schema;

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::VectorIndex;
use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::ports::filter::Filter;
use docmill_core::ports::vector_index::{VectorChange, VectorHit, VectorQuery};
use docmill_core::{Error, Result};
use sqlx_core::query_as::query_as;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnectOptions, Postgres};
use tokio::sync::OnceCell;
use uuid::Uuid;

use self::schema::INDEX;
use super::MAX_HITS;
use crate::postgres::derived::Ready;
use crate::postgres::filter::SqlFilter;
use crate::postgres::{connect_options, text};

/// A query that runs longer is stopped.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// One is for changes, the others for questions.
const MAX_CONNECTIONS: u32 = 4;

/// How questions are answered: by the graph, which is walked on where a filter or another tenant takes what was found.
const SETTINGS: [(&str, &str); 4] = [
    ("hnsw.ef_search", "200"),
    ("hnsw.iterative_scan", "relaxed_order"),
    ("jit", "off"),
    ("max_parallel_workers_per_gather", "0"),
];

/// Passages that are asked for, for each document that is wanted.
const PASSAGES_PER_DOCUMENT: usize = 4;

const NEAREST: &str = "
SELECT p.document_id, (p.vector <#> $2::text::halfvec(384))::float8 AS away, p.page, p.begins, p.ends
FROM vector_index_passage p WHERE p.tenant_id = $1 ORDER BY p.vector <#> $2::text::halfvec(384) LIMIT $3";

const NEAREST_FITTING: &str = "
SELECT p.document_id, (p.vector <#> $2::text::halfvec(384))::float8 AS away, p.page, p.begins, p.ends
FROM vector_index_passage p JOIN vector_index_document d USING (tenant_id, document_id)
WHERE p.tenant_id = $1 AND d.name = ALL ($4) AND d.media_type = ALL ($5) AND d.kind = ALL ($6)
  AND d.language = ALL ($7) AND d.tags @> $8
  AND ($9::integer IS NULL OR d.day >= $9) AND ($10::integer IS NULL OR d.day <= $10)
ORDER BY p.vector <#> $2::text::halfvec(384) LIMIT $3";

/// The index on a PostgreSQL server.
pub struct PostgresVectors {
    connect: PgConnectOptions,
    ready: OnceCell<Ready>,
}

impl PostgresVectors {
    /// The index in the database at `url`, which may be that of the store. Connects when it is first used.
    pub fn new(url: &str) -> Result<Self> {
        let connect = connect_options(INDEX.what, url, "docmill vectors", QUERY_TIMEOUT)?;
        Ok(Self { connect, ready: OnceCell::new() })
    }

    async fn ready(&self) -> Result<&Ready> {
        self.ready.get_or_try_init(|| INDEX.connect(&self.connect, &SETTINGS, MAX_CONNECTIONS)).await
    }

    /// The nearest passages, nearest first.
    async fn passages(
        &self,
        query: &VectorQuery,
        filter: &Filter<'_>,
        count: usize,
    ) -> Result<Vec<VectorHit>> {
        let sql = if filter.is_empty() { NEAREST } else { NEAREST_FITTING };
        let mut asked = query_as::<Postgres, (Uuid, f64, i64, i64, i64)>(sql)
            .bind(query.tenant_id.0)
            .bind(written(&query.vector)?)
            .bind(i64::try_from(count).unwrap_or(i64::MAX));
        if !filter.is_empty() {
            asked = SqlFilter::of(filter).bind(asked);
        }
        let rows =
            asked.fetch_all(&self.ready().await?.pool).await.map_err(broken("look for what is near"))?;
        Ok(rows
            .into_iter()
            .map(|(document, away, page, start, end)| VectorHit {
                document_id: DocumentId(document),
                score: -away as f32,
                page: number(page),
                start: number(start),
                end: number(end),
            })
            .collect())
    }
}

#[async_trait]
impl VectorIndex for PostgresVectors {
    async fn watermark(&self, model: &str) -> Result<i64> {
        let (version, known, watermark): (i32, String, i64) =
            query_as::<Postgres, _>("SELECT version, model, watermark FROM vector_index_state")
                .fetch_one(&self.ready().await?.pool)
                .await
                .map_err(broken("read its watermark"))?;
        if version != INDEX.version {
            return Err(INDEX.other_version(version));
        }
        Ok(if known == model { watermark } else { 0 })
    }

    async fn turn(&self, model: &str) -> Result<Option<i64>> {
        if !INDEX.take_turn(self.ready().await?).await? {
            return Ok(None);
        }
        self.watermark(model).await.map(Some)
    }

    async fn sources(
        &self,
        model: &str,
        tenant: TenantId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<String>>> {
        let rows: Vec<(Uuid, String)> = query_as::<Postgres, _>(
            "SELECT d.document_id, d.source FROM vector_index_document d, vector_index_state s
             WHERE d.tenant_id = $1 AND d.document_id = ANY ($2) AND s.model = $3",
        )
        .bind(tenant.0)
        .bind(documents.iter().map(|id| id.0).collect::<Vec<_>>())
        .bind(text(model))
        .fetch_all(&self.ready().await?.pool)
        .await
        .map_err(broken("read what is known"))?;
        let mut known: HashMap<Uuid, String> = rows.into_iter().collect();
        Ok(documents.iter().map(|id| known.remove(&id.0)).collect())
    }

    async fn apply(&self, model: &str, changes: Vec<VectorChange>, from: i64, upto: i64) -> Result<bool> {
        apply::apply(&self.ready().await?.pool, model, changes, from, upto).await
    }

    async fn nearest(&self, query: VectorQuery) -> Result<Vec<VectorHit>> {
        let filter = Filter::of(&query.filters)?;
        let limit = query.limit.min(MAX_HITS);
        if limit == 0 {
            return Ok(Vec::new());
        }
        // One document may have all the nearest passages: then more of them are asked for.
        let mut count = limit * PASSAGES_PER_DOCUMENT;
        loop {
            let passages = self.passages(&query, &filter, count).await?;
            let all = passages.len() < count;
            let mut best: HashMap<DocumentId, VectorHit> = HashMap::new();
            for hit in passages {
                let known = best.entry(hit.document_id).or_insert_with(|| hit.clone());
                if hit.score > known.score {
                    *known = hit;
                }
            }
            if best.len() >= limit || all || count >= MAX_HITS * PASSAGES_PER_DOCUMENT {
                let mut hits: Vec<VectorHit> = best.into_values().collect();
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document_id.cmp(&b.document_id)));
                hits.truncate(limit);
                return Ok(hits);
            }
            count *= 4;
        }
    }

    async fn vectors(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<Vec<f32>>> {
        query_scalar::<Postgres, Vec<f32>>(
            "SELECT vector::real[] FROM vector_index_passage WHERE tenant_id = $1 AND document_id = $2 ORDER BY number",
        )
        .bind(tenant.0)
        .bind(document.0)
        .fetch_all(&self.ready().await?.pool)
        .await
        .map_err(broken("read vectors"))
    }

    async fn count(&self, tenant: TenantId) -> Result<u64> {
        query_scalar::<Postgres, i64>("SELECT count(*) FROM vector_index_passage WHERE tenant_id = $1")
            .bind(tenant.0)
            .fetch_one(&self.ready().await?.pool)
            .await
            .map(i64::unsigned_abs)
            .map_err(broken("count passages"))
    }

    async fn rewind(&self) -> Result<()> {
        apply::rewind(&self.ready().await?.pool).await
    }
}

/// A vector as pgvector reads it.
fn written(vector: &[f32]) -> Result<String> {
    if vector.len() != DIMENSIONS || !vector.iter().all(|x| x.is_finite()) {
        return Err(Error::invalid_request(format!(
            "a vector has {} numbers; it needs {DIMENSIONS}, all of them finite",
            vector.len()
        )));
    }
    let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
    Ok(format!("[{}]", numbers.join(",")))
}

fn number(stored: i64) -> u32 {
    u32::try_from(stored).unwrap_or(u32::MAX)
}

/// Translates a driver error; `doing` says what was being done.
fn broken(doing: &'static str) -> impl FnOnce(sqlx_core::Error) -> Error {
    INDEX.broken(doing)
}
