//! Full text on PostgreSQL, shared by any number of processes.
//!
//! Text is cut into words here, by the rules that every index of docmill has, and reaches the server as finished
//! `tsvector` and `tsquery` values; the server's own dictionaries and parsers take no part. Each batch of changes is
//! one transaction with the watermark. Every statement names its tenant, and time is limited for every query.
//!
//! Next: `schema` (tables and their version), `lexeme` (how words are spelled in the index), `rows` (how a document
//! becomes rows, however long it is), `apply`, `query` and `search` (from what was meant to hits), `wire`.

mod apply;
mod lexeme;
mod query;
mod rows;
mod schema;
mod search;
mod wire;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::id::TenantId;
use docmill_core::ports::TextIndex;
use docmill_core::ports::text_index::{IndexChange, TextHits, TextQuery};
use docmill_core::{Error, Result};
use sqlx_core::connection::Connection as _;
use sqlx_core::query_as::query_as;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, Postgres};
use tantivy::tokenizer::TextAnalyzer;
use tokio::sync::OnceCell;
use uuid::Uuid;

use self::schema::{VERSION, other_version};
use super::{meaning, words};
use crate::postgres::{connect_options, failure};

/// A connection that cannot be had within this time is an outage.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that has been idle for so long is asked whether it still lives before it is used.
const FRESH: Duration = Duration::from_secs(1);

/// A turn ends by itself after so long, if the process that had it is gone or very slow.
const TURN: &str = "5 seconds";

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

/// What there is once the tables are known to be there.
struct Ready {
    pool: PgPool,
    /// This process, where it asks for a turn.
    holder: Uuid,
}

impl PostgresIndex {
    /// The index in the database at `url`, which may be that of the store. Connects when it is first used.
    pub fn new(url: &str, options: Options) -> Result<Self> {
        let connect = connect_options("the text index", url, "docmill search", options.query_timeout)?
            .options(SETTINGS);
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
        self.ready.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Ready> {
        let mut conn = PgConnection::connect_with(&self.connect).await.map_err(|e| {
            broken("connect to its database")(e).with_hint("check the URL of the text index and its server")
        })?;
        schema::prepare(&mut conn).await?;
        let holder = query_scalar::<Postgres, Uuid>("SELECT gen_random_uuid()")
            .fetch_one(&mut conn)
            .await
            .map_err(broken("get a name for this process"))?;
        conn.close().await.map_err(broken("close a connection"))?;
        let pool = PgPoolOptions::new()
            // One is for changes, the others for queries.
            .max_connections(self.options.max_connections.max(2))
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire(|conn, since| {
                Box::pin(async move {
                    if since.idle_for >= FRESH {
                        conn.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(self.connect.clone());
        Ok(Ready { pool, holder })
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
        if version == VERSION { Ok(watermark) } else { Err(other_version(version)) }
    }

    async fn turn(&self) -> Result<Option<i64>> {
        let ready = self.ready().await?;
        // A row that somebody holds at this moment belongs to somebody who has the turn.
        query_scalar::<Postgres, i64>(
            "UPDATE text_index_state SET holder = $1, held_until = clock_timestamp() + $2::text::interval
             WHERE only_one IN (
               SELECT only_one FROM text_index_state
               WHERE version = $3 AND (holder IS NULL OR holder = $1 OR held_until < clock_timestamp())
               FOR UPDATE SKIP LOCKED)
             RETURNING watermark",
        )
        .bind(ready.holder)
        .bind(TURN)
        .bind(VERSION)
        .fetch_optional(&ready.pool)
        .await
        .map_err(broken("give a turn"))
    }

    async fn apply(&self, changes: Vec<IndexChange>, from: i64, upto: i64) -> Result<bool> {
        apply::apply(&self.ready().await?.pool, &self.analyzer, changes, from, upto).await
    }

    async fn query(&self, query: TextQuery) -> Result<TextHits> {
        let meaning = meaning::of(&mut self.analyzer.clone(), &query)?;
        let limit = query.limit.min(meaning::MAX_HITS);
        let hits = match limit {
            0 => Vec::new(),
            _ => search::hits(&self.ready().await?.pool, query.tenant_id, &meaning, limit).await?,
        };
        Ok(TextHits { hits, words: meaning.words })
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

    async fn clear(&self) -> Result<()> {
        apply::clear(&self.ready().await?.pool).await
    }

    fn fold(&self, word: &str) -> String {
        words::fold(&mut self.analyzer.clone(), word)
    }
}

/// Translates a driver error; `doing` says what was being done.
fn broken(doing: &'static str) -> impl FnOnce(sqlx_core::Error) -> Error {
    move |error| failure("the text index", doing, error)
}
