//! Bringing the index further: one transaction a batch.
//!
//! The row of the state is taken first. Whoever does not get it, or finds the watermark elsewhere than expected, goes
//! away: another process applies, or has applied, the same changes. Words are cut and counted on a thread of their
//! own while the server stores what came before.

use std::collections::{BTreeMap, BTreeSet};

use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::text_index::{IndexChange, IndexedDocument};
use docmill_core::{Error, Result, crash};
use sqlx_core::query::query;
use sqlx_core::query_as::query_as;
use sqlx_core::sql_str::SqlSafeStr as _;
use sqlx_postgres::{PgConnection, PgPool, PgTransaction, Postgres};
use tantivy::tokenizer::TextAnalyzer;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::broken;
use super::rows::{self, Row, Shape};
use super::schema::INDEX;

/// A statement takes this much of vectors, or one row that is larger.
const CHUNK_BYTES: usize = 4 << 20;

/// Chunks that wait for the server while the next is made.
const CHUNKS_AHEAD: usize = 2;

/// Durable, unlike the turns that other statements of these connections take, and with the time that a large index
/// needs, also to the process that cuts texts into words between two statements; a process that has lost its server is
/// noticed by the connection.
const BEGIN: &str = "BEGIN; SET LOCAL synchronous_commit = on; SET LOCAL statement_timeout = '10min';
    SET LOCAL idle_in_transaction_session_timeout = '1min'";

/// What becomes of a document by a batch: its last version, or nothing. In the order of their ids, so that what was
/// made together lies together.
type Last = BTreeMap<(TenantId, DocumentId), Option<IndexedDocument>>;

/// How the numbers of documents change: all, long ones, spilled ones.
type Counts = BTreeMap<TenantId, [i64; 3]>;

/// Applies a batch; `false` if the watermark is not at `from`, or if somebody else is at it.
pub(super) async fn apply(
    pool: &PgPool,
    analyzer: &TextAnalyzer,
    changes: Vec<IndexChange>,
    from: i64,
    upto: i64,
) -> Result<bool> {
    let mut tx = begin(pool).await?;
    if !take(&mut tx, from).await? {
        tx.rollback().await.map_err(broken("leave a batch to another process"))?;
        return Ok(false);
    }
    let mut last = Last::new();
    for change in changes {
        match change {
            IndexChange::Put(document) => {
                last.insert((document.tenant_id, document.document_id), Some(document));
            }
            IndexChange::Remove(tenant, document) => {
                last.insert((tenant, document), None);
            }
        }
    }
    let mut counts = remove(&mut tx, &last).await?;
    add(&mut tx, analyzer, last, &mut counts).await?;
    count(&mut tx, &counts).await?;
    // With the batch ends the turn.
    query::<Postgres>("UPDATE text_index_state SET watermark = $1, holder = NULL, held_until = NULL")
        .bind(upto)
        .execute(&mut *tx)
        .await
        .map_err(broken("move its watermark"))?;
    crash::point("index.before_commit");
    tx.commit().await.map_err(broken("commit a batch"))?;
    crash::point("index.after_commit");
    Ok(true)
}

/// Goes back to the beginning. A batch that is being applied ends first, and one that was read before is refused then,
/// because the watermark is not where it begins.
pub(super) async fn rewind(pool: &PgPool) -> Result<()> {
    let mut tx = begin(pool).await?;
    to_beginning(&mut tx).await?;
    tx.commit().await.map_err(broken("begin again"))
}

/// Empties the index. Queries wait for it, and it for them.
pub(super) async fn clear(pool: &PgPool) -> Result<()> {
    let mut tx = begin(pool).await?;
    to_beginning(&mut tx).await?;
    query::<Postgres>("TRUNCATE text_index_row, text_index_tenant, text_index_word")
        .execute(&mut *tx)
        .await
        .map_err(broken("be emptied"))?;
    tx.commit().await.map_err(broken("be emptied"))
}

async fn to_beginning(conn: &mut PgConnection) -> Result<()> {
    query::<Postgres>("UPDATE text_index_state SET watermark = 0, holder = NULL, held_until = NULL")
        .execute(conn)
        .await
        .map(drop)
        .map_err(broken("begin again"))
}

async fn begin(pool: &PgPool) -> Result<PgTransaction<'static>> {
    pool.begin_with(BEGIN.into_sql_str()).await.map_err(broken("begin a batch"))
}

/// Takes the state for this transaction; whether it is where it should be.
async fn take(conn: &mut PgConnection, from: i64) -> Result<bool> {
    // Nobody waits here: whoever has the row is applying these changes, or clears what they would be added to.
    let state: Option<(i32, i64)> =
        query_as::<Postgres, _>("SELECT version, watermark FROM text_index_state FOR UPDATE SKIP LOCKED")
            .fetch_optional(conn)
            .await
            .map_err(broken("read its watermark"))?;
    match state {
        Some((version, watermark)) if version == INDEX.version => Ok(watermark == from),
        Some((other, _)) => Err(INDEX.other_version(other)),
        None => Ok(false),
    }
}

/// Removes what is replaced and what is to go.
async fn remove(conn: &mut PgConnection, last: &Last) -> Result<Counts> {
    if last.is_empty() {
        return Ok(Counts::new());
    }
    let (tenants, documents): (Vec<Uuid>, Vec<Uuid>) = last.keys().map(|(t, d)| (t.0, d.0)).unzip();
    let gone: Vec<(Uuid, i64, i64, i64)> = query_as::<Postgres, _>(
        "WITH gone AS (
           DELETE FROM text_index_row r USING unnest($1::uuid[], $2::uuid[]) AS k (tenant_id, document_id)
           WHERE r.document_id = k.document_id AND r.tenant_id = k.tenant_id RETURNING r.tenant_id, r.shape)
         SELECT tenant_id, count(*) FILTER (WHERE shape < 3), count(*) FILTER (WHERE shape IN (1, 2)),
           count(*) FILTER (WHERE shape = 2)
         FROM gone GROUP BY tenant_id",
    )
    .bind(tenants)
    .bind(documents)
    .fetch_all(conn)
    .await
    .map_err(broken("remove documents"))?;
    Ok(gone
        .into_iter()
        .map(|(tenant, all, long, spilled)| (TenantId(tenant), [-all, -long, -spilled]))
        .collect())
}

/// Adds what is new.
async fn add(
    conn: &mut PgConnection,
    analyzer: &TextAnalyzer,
    last: Last,
    counts: &mut Counts,
) -> Result<()> {
    let (chunks, mut made) = mpsc::channel(CHUNKS_AHEAD);
    let mut analyzer = analyzer.clone();
    let maker = tokio::task::spawn_blocking(move || make_chunks(&mut analyzer, last, &chunks));
    while let Some(chunk) = made.recv().await {
        for row in &chunk {
            let count = counts.entry(row.tenant_id).or_default();
            count[0] += i64::from(row.shape != Shape::Part);
            count[1] += i64::from(matches!(row.shape, Shape::Long | Shape::Spilled));
            count[2] += i64::from(row.shape == Shape::Spilled);
        }
        insert(conn, &chunk).await?;
        note_words(conn, &chunk).await?;
    }
    maker.await.map_err(|e| Error::bug("cutting texts into words was cut short").with_source(e))?
}

/// Makes rows and hands them on. If nobody takes them any more, the batch has been given up.
fn make_chunks(analyzer: &mut TextAnalyzer, last: Last, chunks: &mpsc::Sender<Vec<Row>>) -> Result<()> {
    let send = |chunk| match chunks.blocking_send(chunk) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::cancelled("a batch of the text index was given up")),
    };
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    for document in last.into_values().flatten() {
        rows::make(analyzer, &document, &mut |row| {
            bytes += row.words.bytes();
            chunk.push(row);
            if bytes >= CHUNK_BYTES {
                bytes = 0;
                send(std::mem::take(&mut chunk))?;
            }
            Ok(())
        })?;
    }
    if chunk.is_empty() { Ok(()) } else { send(chunk) }
}

async fn insert(conn: &mut PgConnection, rows: &[Row]) -> Result<()> {
    query::<Postgres>(
        // An array of arrays would have to be a rectangle: tags come in one line each, which no tag breaks.
        "INSERT INTO text_index_row (tenant_id, document_id, part, shape, text_words, name, media_type, words, kind,
           language, day, tags)
         SELECT u.tenant_id, u.document_id, u.part, u.shape, u.text_words, u.name, u.media_type, u.words, u.kind,
           u.language, u.day, string_to_array(u.tags, E'\n')
         FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::smallint[], $5::integer[], $6::text[], $7::text[],
           $8::tsvector[], $9::text[], $10::text[], $11::integer[], $12::text[])
           AS u (tenant_id, document_id, part, shape, text_words, name, media_type, words, kind, language, day, tags)",
    )
    .bind(rows.iter().map(|r| r.tenant_id.0).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.document_id.0).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.part).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.shape as i16).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.text_words).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.name.as_str()).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.media_type.as_deref()).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| &r.words).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.kind.as_deref()).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.language.as_deref()).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.day).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.tags.join("\n")).collect::<Vec<_>>())
    .execute(conn)
    .await
    .map(|_| ())
    .map_err(broken("add documents"))
}

/// Adds to the list of words.
async fn note_words(conn: &mut PgConnection, rows: &[Row]) -> Result<()> {
    // In order: neighbours in the table are written together.
    let words: BTreeSet<(TenantId, &str)> = rows
        .iter()
        .flat_map(|row| row.vocabulary.iter().map(|word| (row.tenant_id, word.as_str())))
        .collect();
    let (tenants, words): (Vec<Uuid>, Vec<&str>) =
        words.into_iter().map(|(tenant, word)| (tenant.0, word)).unzip();
    query::<Postgres>(
        "INSERT INTO text_index_word (tenant_id, word) SELECT u.* FROM unnest($1::uuid[], $2::text[]) AS u
         ON CONFLICT DO NOTHING",
    )
    .bind(tenants)
    .bind(words)
    .execute(conn)
    .await
    .map(|_| ())
    .map_err(broken("note words"))
}

async fn count(conn: &mut PgConnection, counts: &Counts) -> Result<()> {
    let of = |which: usize| counts.values().map(|count| count[which]).collect::<Vec<i64>>();
    query::<Postgres>(
        "INSERT INTO text_index_tenant AS t (tenant_id, documents, long_documents, spilled_documents)
         SELECT u.* FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS u
         ON CONFLICT (tenant_id) DO UPDATE SET documents = t.documents + excluded.documents,
           long_documents = t.long_documents + excluded.long_documents,
           spilled_documents = t.spilled_documents + excluded.spilled_documents",
    )
    .bind(counts.keys().map(|tenant| tenant.0).collect::<Vec<_>>())
    .bind(of(0))
    .bind(of(1))
    .bind(of(2))
    .execute(conn)
    .await
    .map(|_| ())
    .map_err(broken("count documents"))
}
