//! Full text on PostgreSQL, shared by any number of processes.
//!
//! Text is cut into words here, by the rules that every index of docmill has, and reaches the server as finished
//! `tsvector` and `tsquery` values; the server's own dictionaries and parsers take no part. Each batch of changes is
//! one transaction with the watermark. Every statement names its tenant, and time is limited for every query.
//!
//! Next: `schema` (tables and their version), `lexeme` (how words are spelled in the index), `rows` (how a document
//! becomes rows, however long it is), `apply`, `query` and `search` (from what was meant to hits), `near` (words that are
//! spelled nearly so), `facets`, `wire`.

mod apply;
mod facets;
mod lexeme;
mod near;
mod query;
mod rows;
mod schema;
mod search;
mod wire;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::Facets;
use docmill_core::ports::text_index::{IndexChange, TextHits, TextQuery};
use docmill_core::{Error, Result};
use sqlx_core::query_as::query_as;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnectOptions, Postgres};
use tantivy::tokenizer::TextAnalyzer;
use tokio::sync::OnceCell;

use self::schema::INDEX;
use super::{meaning, stems, words};
use crate::postgres::connect_options;
use crate::postgres::derived::Ready;

/// What the server says when it has stopped a statement that took too long.
const TIMED_OUT: &str = "57014";

/// How queries are run: by the index of words and nothing else, whatever the planner thinks of it, as its guesses about
/// a growing table are old and looking into every document is never right.
const SETTINGS: [(&str, &str); 6] = [
    ("enable_seqscan", "off"),
    ("plan_cache_mode", "force_custom_plan"),
    ("jit", "off"),
    ("max_parallel_workers_per_gather", "0"),
    ("work_mem", "16MB"),
    // Turns need not survive anything; batches say that they must.
    ("synchronous_commit", "off"),
];

/// Opens the index of a `postgres:` URL. It connects when it is first used: [`PostgresIndex::open`] does so at once.
pub(super) fn from_url(rest: &str, _data_dir: &Path) -> Result<Arc<dyn TextIndex>> {
    Ok(Arc::new(PostgresIndex::new(&format!("postgres:{rest}"), Options::default())?))
}

/// How the index uses its server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Connections of this process at most.
    pub max_connections: u32,
    /// A query that runs longer is stopped.
    pub query_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_connections: 4, query_timeout: Duration::from_secs(10) }
    }
}

/// The index on a PostgreSQL server.
pub struct PostgresIndex {
    connect: PgConnectOptions,
    options: Options,
    ready: OnceCell<Ready>,
    analyzer: TextAnalyzer,
}

impl PostgresIndex {
    /// The index in the database at `url`, which may be that of the store. Connects when it is first used.
    pub fn new(url: &str, options: Options) -> Result<Self> {
        let connect = connect_options(INDEX.what, url, "docmill search", options.query_timeout)?;
        Ok(Self { connect, options, ready: OnceCell::new(), analyzer: words::analyzer() })
    }

    /// Connects to the database at `url`, which may be that of the store, and makes the tables of the index if they are
    /// not there. Tables of an older version are dropped, with a warning in the log; the watermark is then zero.
    pub async fn open(url: &str, options: Options) -> Result<Self> {
        let index = Self::new(url, options)?;
        index.ready().await?;
        Ok(index)
    }

    /// Closes its connections, and waits until they are closed.
    pub async fn close(&self) {
        if let Some(ready) = self.ready.get() {
            ready.pool.close().await;
        }
    }

    async fn ready(&self) -> Result<&Ready> {
        let max_connections = self.options.max_connections;
        self.ready.get_or_try_init(|| INDEX.connect(&self.connect, &SETTINGS, max_connections)).await
    }
}

#[async_trait]
impl TextIndex for PostgresIndex {
    async fn watermark(&self) -> Result<i64> {
        let (version, watermark): (i32, i64) =
            query_as::<Postgres, _>("SELECT version, watermark FROM text_index_state")
                .fetch_one(&self.ready().await?.pool)
                .await
                .map_err(broken("read its watermark"))?;
        if version == INDEX.version { Ok(watermark) } else { Err(INDEX.other_version(version)) }
    }

    async fn turn(&self) -> Result<Option<i64>> {
        if !INDEX.take_turn(self.ready().await?).await? {
            return Ok(None);
        }
        self.watermark().await.map(Some)
    }

    async fn apply(&self, changes: Vec<IndexChange>, from: i64, upto: i64) -> Result<bool> {
        apply::apply(&self.ready().await?.pool, &self.analyzer, changes, from, upto).await
    }

    async fn query(&self, query: TextQuery) -> Result<TextHits> {
        let mut meaning = meaning::of(&mut self.analyzer.clone(), &query)?;
        let limit = query.limit.min(meaning::MAX_HITS);
        let mut found = TextHits::default();
        if limit > 0 {
            let pool = &self.ready().await?.pool;
            near::resolve(pool, query.tenant_id, &mut meaning, query.forgiving).await?;
            (found.hits, found.total, found.facets) =
                search::hits(pool, query.tenant_id, &meaning, limit, query.counted).await?;
        }
        (found.words, found.instead) = (meaning.words, meaning.instead);
        Ok(found)
    }

    async fn facets(&self, tenant: TenantId, documents: &[DocumentId]) -> Result<Facets> {
        facets::of_documents(&self.ready().await?.pool, tenant, documents).await
    }

    async fn count(&self, tenant: TenantId) -> Result<u64> {
        let documents =
            query_scalar::<Postgres, i64>("SELECT documents FROM text_index_tenant WHERE tenant_id = $1")
                .bind(tenant.0)
                .fetch_optional(&self.ready().await?.pool)
                .await
                .map_err(broken("count documents"))?;
        Ok(documents.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
    }

    async fn rewind(&self) -> Result<()> {
        apply::rewind(&self.ready().await?.pool).await
    }

    async fn clear(&self) -> Result<()> {
        apply::clear(&self.ready().await?.pool).await
    }

    fn fold(&self, word: &str) -> String {
        words::fold(&mut self.analyzer.clone(), word)
    }

    fn alike(&self, word: &str, other: &str) -> bool {
        stems::are_alike(word, other)
    }
}

/// Translates a driver error; `doing` says what was being done.
fn broken(doing: &'static str) -> impl FnOnce(sqlx_core::Error) -> Error {
    INDEX.broken(doing)
}
