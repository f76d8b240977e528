//! What people say of records: who looks at which, what they decide, and what can be learnt from it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::clock::Timestamp;
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{DocumentId, IngestionId, TenantId};
use docmill_core::review::{
    Change, Correction, CorrectionLine, CorrectionsAnswer, DecidedAnswer, Decision, LockAnswer, QueueCursor,
    Review, ReviewAction, ReviewId, ReviewLine, ReviewQuery, ReviewState, ReviewsAnswer, obstacle,
};
use docmill_core::words::PageWords;
use serde_json::json;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::super::shared::reviews::{ActionCursor, no_review};
use super::records::body;
use super::row::{Columns, json as to_json, sql_error, text, text_opt};
use super::tx::Tx;

macro_rules! line_columns {
    () => {
        "v.ingestion_id, v.document_id, d.name, d.title, v.schema, v.confidence, v.reasons, v.missing, v.created_at,
         v.locked_by, v.locked_until, v.state"
    };
}

fn line(c: &mut Columns<'_>, now: Timestamp) -> Result<(ReviewLine, f64)> {
    let (review_id, document_id) = (c.ingestion()?, c.document()?);
    let (name, title, schema) = (c.get()?, c.get()?, c.get()?);
    let confidence: f64 = c.get()?;
    let reasons = c.json_opt()?.unwrap_or_default();
    let (fields_missing, created_at) = (c.int()?, c.time()?);
    let (locked_by, locked_until) = (c.get()?, c.time_opt()?);
    let line = ReviewLine {
        review_id,
        document_id,
        ingestion_id: review_id,
        name,
        title,
        schema,
        confidence: confidence as f32,
        reasons,
        fields_missing,
        created_at,
        locked_by,
        locked_until,
        state: c.word(ReviewState::from_name)?,
    };
    Ok((line.unless_ended(now), confidence))
}

macro_rules! listed {
    ($state:literal) => {
        concat!(
            "SELECT ",
            line_columns!(),
            " FROM review v JOIN document d ON d.document_id = v.document_id
              WHERE v.tenant_id = $1 AND v.state ",
            $state,
            " AND ($2::text IS NULL OR v.schema = $2)
              AND ($3::double precision IS NULL OR (v.confidence, v.ingestion_id) > ($3, $4::uuid))
              ORDER BY v.confidence, v.ingestion_id LIMIT $5"
        )
    };
}

pub(super) async fn reviews(
    conn: &mut PgConnection,
    tenant: TenantId,
    asked: &ReviewQuery,
    now: Timestamp,
) -> Result<ReviewsAnswer> {
    let after = asked.cursor.as_deref().map(QueueCursor::parse).transpose()?;
    let sql =
        if asked.done { listed!("IN ('accepted', 'corrected', 'rejected')") } else { listed!("= 'open'") };
    let rows = query::<Postgres>(sql)
        .bind(tenant.0)
        .bind(text_opt(asked.schema.as_deref()))
        .bind(after.map(|c| c.confidence))
        .bind(after.map(|c| c.id.0))
        .bind(i64::try_from(asked.limit).unwrap_or(i64::MAX - 1) + 1)
        .fetch_all(&mut *conn)
        .await
        .map_err(sql_error("list reviews"))?;
    let mut found: Vec<(ReviewLine, f64)> =
        rows.iter().map(|row| line(&mut Columns::new(row), now)).collect::<Result<_>>()?;
    let more = found.len() > asked.limit;
    found.truncate(asked.limit);
    let next = found
        .last()
        .filter(|_| more)
        .map(|(line, confidence)| QueueCursor { confidence: *confidence, id: line.review_id }.to_text());
    let open =
        query_scalar::<Postgres, i64>("SELECT count(*) FROM review WHERE tenant_id = $1 AND state = 'open'")
            .bind(tenant.0)
            .fetch_one(conn)
            .await
            .map_err(sql_error("count reviews"))?;
    let items = found.into_iter().map(|(line, _)| line).collect();
    Ok(ReviewsAnswer { items, next, open: u64::try_from(open).unwrap_or(0) })
}

pub(super) async fn review(
    conn: &mut PgConnection,
    tenant: TenantId,
    id: ReviewId,
    now: Timestamp,
) -> Result<Option<Review>> {
    let row = query::<Postgres>(concat!(
        "SELECT ",
        line_columns!(),
        ", r.version, r.body, coalesce(i.page_count, c.page_count)
          FROM review v JOIN document d ON d.document_id = v.document_id JOIN record r ON r.ingestion_id = v.ingestion_id
            JOIN ingestion i ON i.ingestion_id = v.ingestion_id
            LEFT JOIN ingestion c ON c.ingestion_id = d.current_ingestion_id
          WHERE v.ingestion_id = $1 AND v.tenant_id = $2"
    ))
    .bind(id.0)
    .bind(tenant.0)
    .fetch_optional(&mut *conn)
    .await
    .map_err(sql_error("look up a review"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    let (line, _) = line(&mut c, now)?;
    let version = c.int()?;
    let extraction = body(&mut c)?;
    let page_count = c.int_opt()?;
    let rows = query::<Postgres>(
        "SELECT at, actor, action, reason, changes FROM review_action WHERE ingestion_id = $1 AND tenant_id = $2
         ORDER BY seq",
    )
    .bind(id.0)
    .bind(tenant.0)
    .fetch_all(conn)
    .await
    .map_err(sql_error("read what was decided"))?;
    let history = rows.iter().map(|row| {
        let mut c = Columns::new(row);
        Ok(ReviewAction {
            at: c.time()?,
            by: c.get()?,
            action: c.word(ReviewState::from_name)?,
            reason: c.get()?,
            changes: c.json_opt()?.unwrap_or_default(),
        })
    });
    let history = history.collect::<Result<_>>()?;
    Ok(Some(Review { line, version, extraction, page_count, history }))
}

/// Locks a review, if nothing keeps `who` from deciding, and its document before it: so does the end of an ingestion.
async fn free(tx: &mut Tx, tenant: TenantId, id: ReviewId, who: &str) -> Result<DocumentId> {
    let document = query_scalar::<Postgres, Uuid>(
        "SELECT d.document_id FROM document d WHERE d.tenant_id = $2 AND d.document_id =
           (SELECT v.document_id FROM review v WHERE v.ingestion_id = $1 AND v.tenant_id = $2) FOR UPDATE",
    )
    .bind(id.0)
    .bind(tenant.0)
    .fetch_optional(tx.conn())
    .await
    .map_err(sql_error("look up a review"))?;
    let Some(document) = document else { return Err(no_review(id)) };
    let row = query::<Postgres>(
        "SELECT state, locked_by, locked_until FROM review WHERE ingestion_id = $1 AND tenant_id = $2 FOR UPDATE",
    )
    .bind(id.0)
    .bind(tenant.0)
    .fetch_optional(tx.conn())
    .await
    .map_err(sql_error("look up a review"))?;
    let Some(row) = row else { return Err(no_review(id)) };
    let mut c = Columns::new(&row);
    let (state, by, until) = (c.word(ReviewState::from_name)?, c.get::<Option<String>>()?, c.time_opt()?);
    match obstacle((state, by.as_deref(), until), id, who, tx.now) {
        Some(error) => Err(error),
        None => Ok(DocumentId(document)),
    }
}

pub(super) async fn lock(
    tx: &mut Tx,
    tenant: TenantId,
    id: ReviewId,
    who: &str,
    hold: Option<Duration>,
) -> Result<LockAnswer> {
    let who = text(who);
    free(tx, tenant, id, &who).await?;
    let until = hold.map(|hold| tx.now.plus(hold));
    let by = hold.map(|_| who);
    query::<Postgres>("UPDATE review SET locked_by = $2, locked_until = $3 WHERE ingestion_id = $1")
        .bind(id.0)
        .bind(by.as_deref())
        .bind(until.map(|t| t.0))
        .execute(tx.conn())
        .await
        .map_err(sql_error("lock a review"))?;
    Ok(LockAnswer { review_id: id, locked_by: by, locked_until: until })
}

pub(super) async fn decide(tx: &mut Tx, tenant: TenantId, decision: &Decision) -> Result<DecidedAnswer> {
    let (id, by) = (decision.review_id, text(&decision.by));
    let now = tx.now.0;
    let document = free(tx, tenant, id, &by).await?;
    let schema = query_scalar::<Postgres, String>(
        "UPDATE review SET state = $2, locked_by = NULL, locked_until = NULL, decided_at = $3
         WHERE ingestion_id = $1 RETURNING schema",
    )
    .bind(id.0)
    .bind(decision.state.name())
    .bind(now)
    .fetch_one(tx.conn())
    .await
    .map_err(sql_error("decide a review"))?;
    let pages = decision.corrected.as_ref().map(|corrected| to_json(&corrected.pages)).transpose()?;
    query::<Postgres>(
        "INSERT INTO review_action (ingestion_id, seq, tenant_id, document_id, schema, at, actor, action, reason,
           changes, pages)
         SELECT $1, coalesce(max(seq), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10
         FROM review_action WHERE ingestion_id = $1",
    )
    .bind(id.0)
    .bind(tenant.0)
    .bind(document.0)
    .bind(schema)
    .bind(now)
    .bind(&by)
    .bind(decision.state.name())
    .bind(text_opt(decision.reason.as_deref()))
    .bind(to_json(&decision.changes)?)
    .bind(pages)
    .execute(tx.conn())
    .await
    .map_err(sql_error("take a decision down"))?;
    if let Some(corrected) = decision.corrected.as_ref().filter(|corrected| !corrected.senders.is_empty()) {
        let senders: Vec<String> = corrected.senders.iter().map(|mark| text(mark)).collect();
        query::<Postgres>(
            "INSERT INTO review_sender (tenant_id, schema, mark, ingestion_id, seq, at, document_id)
             SELECT a.tenant_id, a.schema, m.mark, a.ingestion_id, a.seq, a.at, a.document_id
             FROM review_action a CROSS JOIN unnest($2::text[]) AS m (mark)
             WHERE a.ingestion_id = $1 AND a.seq = (SELECT max(seq) FROM review_action WHERE ingestion_id = $1)
             ON CONFLICT DO NOTHING",
        )
        .bind(id.0)
        .bind(senders)
        .execute(tx.conn())
        .await
        .map_err(sql_error("note the sender of a correction"))?;
    }
    if let Some(corrected) = &decision.corrected {
        let after = &corrected.after;
        query::<Postgres>("UPDATE record SET body = $2, valid = $3, confidence = $4 WHERE ingestion_id = $1")
            .bind(id.0)
            .bind(to_json(after)?)
            .bind(after.valid)
            .bind(f64::from(after.confidence))
            .execute(tx.conn())
            .await
            .map_err(sql_error("correct a record"))?;
    }
    for sql in [
        "UPDATE document SET needs_review = false WHERE document_id = $1 AND record_in = $2",
        "UPDATE ingestion SET needs_review = false WHERE document_id = $1 AND ingestion_id = $2",
    ] {
        query::<Postgres>(sql)
            .bind(document.0)
            .bind(id.0)
            .execute(tx.conn())
            .await
            .map_err(sql_error("clear a flag"))?;
    }
    let detail = Some(json!({ "review": decision.state }));
    let event = EventBody { document_id: Some(document), detail, ..EventBody::new(EventType::Notification) };
    tx.event(tenant, EventBody { ingestion_id: Some(id), ..event });
    let next = query_scalar::<Postgres, Uuid>(
        "SELECT ingestion_id FROM review WHERE tenant_id = $1 AND state = 'open'
           AND (locked_until IS NULL OR locked_until <= $2 OR locked_by = $3)
         ORDER BY confidence, ingestion_id LIMIT 1",
    )
    .bind(tenant.0)
    .bind(now)
    .bind(&by)
    .fetch_optional(tx.conn())
    .await
    .map_err(sql_error("look for the next review"))?;
    Ok(DecidedAnswer { review_id: id, state: decision.state, next: next.map(IngestionId) })
}

pub(super) async fn corrections(
    conn: &mut PgConnection,
    tenant: TenantId,
    schema: &str,
    senders: &[String],
    limit: usize,
) -> Result<Vec<Correction>> {
    let senders: Vec<String> = senders.iter().map(|mark| text(mark)).collect();
    // The newest of each mark come first: a mark of the buyer stands on the documents of all senders.
    let rows = query::<Postgres>(
        "WITH placed AS (
           SELECT ingestion_id, seq, at,
             row_number() OVER (PARTITION BY mark ORDER BY at DESC, ingestion_id, seq DESC) AS place
           FROM review_sender WHERE tenant_id = $1 AND schema = $2 AND mark = ANY($3)),
         chosen AS (
           SELECT ingestion_id, seq FROM placed GROUP BY ingestion_id, seq, at ORDER BY min(place), at DESC LIMIT $4)
         SELECT a.changes, a.pages FROM chosen c
           JOIN review_action a ON a.ingestion_id = c.ingestion_id AND a.seq = c.seq
         WHERE a.tenant_id = $1 AND a.pages IS NOT NULL ORDER BY a.at DESC, a.ingestion_id, a.seq DESC",
    )
    .bind(tenant.0)
    .bind(text(schema))
    .bind(senders)
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(conn)
    .await
    .map_err(sql_error("look up corrections"))?;
    let mut found = Vec::new();
    for row in &rows {
        let mut c = Columns::new(row);
        let changes: BTreeMap<String, Change> = c.json_opt()?.unwrap_or_default();
        let pages: Arc<Vec<PageWords>> = Arc::new(c.json_opt()?.unwrap_or_default());
        let one = |(field, change)| Correction { field, change, pages: Arc::clone(&pages) };
        found.extend(changes.into_iter().map(one));
    }
    Ok(found)
}

pub(super) async fn corrections_made(
    conn: &mut PgConnection,
    tenant: TenantId,
    cursor: Option<&str>,
    limit: usize,
) -> Result<CorrectionsAnswer> {
    let after = cursor.map(ActionCursor::parse).transpose()?;
    let rows = query::<Postgres>(
        "SELECT at, ingestion_id, seq, actor, document_id, schema, changes FROM review_action
         WHERE tenant_id = $1 AND action = 'corrected'
           AND ($2::bigint IS NULL OR (at, ingestion_id, seq) > ($2, $3::uuid, $4::bigint))
         ORDER BY at, ingestion_id, seq LIMIT $5",
    )
    .bind(tenant.0)
    .bind(after.map(|c| c.at))
    .bind(after.map(|c| c.id.0))
    .bind(after.map(|c| c.seq))
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(conn)
    .await
    .map_err(sql_error("list corrections"))?;
    let (mut items, mut last) = (Vec::new(), None);
    for row in &rows {
        let mut c = Columns::new(row);
        let (at, id, seq) = (c.time()?, c.ingestion()?, c.get::<i64>()?);
        last = Some(ActionCursor { at: at.0, id, seq });
        let (by, document_id, schema): (String, _, String) = (c.get()?, c.document()?, c.get()?);
        let changes: BTreeMap<String, Change> = c.json_opt()?.unwrap_or_default();
        items.extend(changes.into_iter().map(|(field, change)| CorrectionLine {
            at,
            by: by.clone(),
            document_id,
            schema: schema.clone(),
            field,
            before: change.before,
            after: change.after,
            page: change.page,
            frame: change.frame,
        }));
    }
    let next = last.filter(|_| rows.len() == limit).map(ActionCursor::to_text);
    Ok(CorrectionsAnswer { items, next })
}

/// Forgets what a removed document said; that somebody decided something stays.
pub(super) const FORGET: [&str; 4] = [
    "DELETE FROM record WHERE document_id = $1",
    "DELETE FROM review WHERE document_id = $1",
    "DELETE FROM review_sender WHERE document_id = $1",
    "UPDATE review_action SET reason = NULL, changes = '{}', pages = NULL WHERE document_id = $1",
];
