//! What people say of records: who looks at which, what they decide, and what can be learnt from it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::TenantId;
use docmill_core::review::{
    Change, Correction, CorrectionLine, CorrectionsAnswer, DecidedAnswer, Decision, LockAnswer, QueueCursor,
    Review, ReviewAction, ReviewId, ReviewLine, ReviewQuery, ReviewState, ReviewsAnswer, obstacle,
};
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};
use rusqlite::{Connection, params};
use serde_json::json;

use super::super::shared::reviews::{ActionCursor, no_review};
use super::look::{collect, first};
use super::records::ingestion_id;
use super::row::{Columns, json as to_json, sql_error};
use super::tx::Tx;

macro_rules! line_columns {
    () => {
        "v.ingestion_id, v.document_id, d.name, d.title, v.schema, v.confidence, v.reasons, v.missing, v.created_at,
         v.locked_by, v.locked_until, v.state"
    };
}

fn line(c: &mut Columns<'_, '_>, now: Timestamp) -> Result<(ReviewLine, f64)> {
    let (review_id, document_id) = (c.ingestion()?, c.document()?);
    let (name, title, schema) = (c.get()?, c.get()?, c.get()?);
    let confidence: f64 = c.get()?;
    let reasons = c.json_opt()?.unwrap_or_default();
    let (fields_missing, created_at) = (c.get()?, c.time()?);
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

fn count(c: &mut Columns<'_, '_>) -> Result<u64> {
    c.count()
}

pub(super) fn reviews(
    conn: &Connection,
    tenant: TenantId,
    query: &ReviewQuery,
    now: Timestamp,
) -> Result<ReviewsAnswer> {
    let after = query.cursor.as_deref().map(QueueCursor::parse).transpose()?;
    // Two statements: a condition that holds either way would be none for the index.
    let sql = if query.done {
        concat!(
            "SELECT ",
            line_columns!(),
            " FROM review v JOIN document d ON d.document_id = v.document_id
              WHERE v.tenant_id = ?1 AND v.state IN ('accepted', 'corrected', 'rejected')
                AND (?2 IS NULL OR v.schema = ?2) AND (?3 IS NULL OR (v.confidence, v.ingestion_id) > (?3, ?4))
              ORDER BY v.confidence, v.ingestion_id LIMIT ?5"
        )
    } else {
        concat!(
            "SELECT ",
            line_columns!(),
            " FROM review v JOIN document d ON d.document_id = v.document_id
              WHERE v.tenant_id = ?1 AND v.state = 'open'
                AND (?2 IS NULL OR v.schema = ?2) AND (?3 IS NULL OR (v.confidence, v.ingestion_id) > (?3, ?4))
              ORDER BY v.confidence, v.ingestion_id LIMIT ?5"
        )
    };
    let args = params![
        tenant.as_bytes(),
        query.schema,
        after.map(|c| c.confidence),
        after.as_ref().map(|c| c.id.as_bytes()),
        query.limit as i64 + 1
    ];
    let mut found = collect(conn, "list reviews", sql, args, |c| line(c, now))?;
    let more = found.len() > query.limit;
    found.truncate(query.limit);
    let next = found
        .last()
        .filter(|_| more)
        .map(|(line, confidence)| QueueCursor { confidence: *confidence, id: line.review_id }.to_text());
    let sql = "SELECT count(*) FROM review WHERE tenant_id = ?1 AND state = 'open'";
    let open = first(conn, "count reviews", sql, [tenant.as_bytes()], count)?.unwrap_or(0);
    Ok(ReviewsAnswer { items: found.into_iter().map(|(line, _)| line).collect(), next, open })
}

pub(super) fn review(
    conn: &Connection,
    tenant: TenantId,
    id: ReviewId,
    now: Timestamp,
) -> Result<Option<Review>> {
    let sql = concat!(
        "SELECT ",
        line_columns!(),
        ", r.version, r.body, coalesce(i.page_count, c.page_count)
          FROM review v JOIN document d ON d.document_id = v.document_id JOIN record r ON r.ingestion_id = v.ingestion_id
            JOIN ingestion i ON i.ingestion_id = v.ingestion_id
            LEFT JOIN ingestion c ON c.ingestion_id = d.current_ingestion_id
          WHERE v.ingestion_id = ?1 AND v.tenant_id = ?2"
    );
    let found = first(conn, "look up a review", sql, params![id.as_bytes(), tenant.as_bytes()], |c| {
        let (line, _) = line(c, now)?;
        let version = c.get()?;
        let extraction = c.json_opt()?.ok_or_else(|| Error::bug("a record has no body"))?;
        Ok(Review { line, version, extraction, page_count: c.get()?, history: Vec::new() })
    })?;
    let Some(mut review) = found else { return Ok(None) };
    let sql =
        "SELECT at, actor, action, reason, changes FROM review_action WHERE ingestion_id = ?1 ORDER BY seq";
    review.history = collect(conn, "read what was decided", sql, [id.as_bytes()], |c| {
        Ok(ReviewAction {
            at: c.time()?,
            by: c.get()?,
            action: c.word(ReviewState::from_name)?,
            reason: c.get()?,
            changes: c.json_opt()?.unwrap_or_default(),
        })
    })?;
    Ok(Some(review))
}

/// How a review stands, if nothing keeps `who` from deciding.
fn free(tx: &Tx<'_>, tenant: TenantId, id: ReviewId, who: &str) -> Result<()> {
    let sql = "SELECT state, locked_by, locked_until FROM review WHERE ingestion_id = ?1 AND tenant_id = ?2";
    let found = first(tx.conn(), "look up a review", sql, params![id.as_bytes(), tenant.as_bytes()], |c| {
        Ok((c.word(ReviewState::from_name)?, c.get::<Option<String>>()?, c.time_opt()?))
    })?;
    let (state, by, until) = found.ok_or_else(|| no_review(id))?;
    obstacle((state, by.as_deref(), until), id, who, tx.now).map_or(Ok(()), Err)
}

pub(super) fn lock(
    tx: &Tx<'_>,
    tenant: TenantId,
    id: ReviewId,
    who: &str,
    hold: Option<Duration>,
) -> Result<LockAnswer> {
    free(tx, tenant, id, who)?;
    let until = hold.map(|hold| tx.now.plus(hold));
    let by = hold.map(|_| who.to_owned());
    tx.sql("UPDATE review SET locked_by = ?2, locked_until = ?3 WHERE ingestion_id = ?1")?
        .execute(params![id.as_bytes(), by, until.map(|t| t.0)])
        .map_err(sql_error("lock a review"))?;
    Ok(LockAnswer { review_id: id, locked_by: by, locked_until: until })
}

pub(super) fn decide(tx: &mut Tx<'_>, tenant: TenantId, decision: &Decision) -> Result<DecidedAnswer> {
    let id = decision.review_id;
    free(tx, tenant, id, &decision.by)?;
    let sql = "UPDATE review SET state = ?2, locked_by = NULL, locked_until = NULL, decided_at = ?3
      WHERE ingestion_id = ?1 RETURNING document_id, schema";
    let args = params![id.as_bytes(), decision.state.name(), tx.now.0];
    let (document, schema) =
        first(tx.conn(), "decide a review", sql, args, |c| Ok((c.document()?, c.get::<String>()?)))?
            .ok_or_else(|| no_review(id))?;
    let pages = decision.corrected.as_ref().map(|corrected| to_json(&corrected.pages)).transpose()?;
    tx.sql(
        "INSERT INTO review_action (ingestion_id, seq, tenant_id, document_id, schema, at, actor, action, reason,
           changes, pages)
         SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
         FROM review_action WHERE ingestion_id = ?1",
    )?
    .execute(params![
        id.as_bytes(),
        tenant.as_bytes(),
        document.as_bytes(),
        schema,
        tx.now.0,
        decision.by,
        decision.state.name(),
        decision.reason,
        to_json(&decision.changes)?,
        pages,
    ])
    .map_err(sql_error("take a decision down"))?;
    for mark in decision.corrected.iter().flat_map(|corrected| &corrected.senders) {
        tx.sql(
            "INSERT INTO review_sender (tenant_id, schema, mark, ingestion_id, seq, at, document_id)
             SELECT tenant_id, schema, ?2, ingestion_id, max(seq), at, document_id FROM review_action
             WHERE ingestion_id = ?1 GROUP BY ingestion_id ON CONFLICT DO NOTHING",
        )?
        .execute(params![id.as_bytes(), mark])
        .map_err(sql_error("note the sender of a correction"))?;
    }
    if let Some(corrected) = &decision.corrected {
        let after = &corrected.after;
        tx.sql("UPDATE record SET body = ?2, valid = ?3, confidence = ?4 WHERE ingestion_id = ?1")?
            .execute(params![id.as_bytes(), to_json(after)?, after.valid, f64::from(after.confidence)])
            .map_err(sql_error("correct a record"))?;
    }
    tx.sql("UPDATE document SET needs_review = 0 WHERE document_id = ?1 AND record_in = ?2")?
        .execute(params![document.as_bytes(), id.as_bytes()])
        .map_err(sql_error("clear a flag"))?;
    tx.sql("UPDATE ingestion SET needs_review = 0 WHERE ingestion_id = ?1")?
        .execute([id.as_bytes()])
        .map_err(sql_error("clear a flag"))?;
    let detail = Some(json!({ "review": decision.state }));
    let event = EventBody { document_id: Some(document), detail, ..EventBody::new(EventType::Notification) };
    tx.event(tenant, EventBody { ingestion_id: Some(id), ..event });
    let next = "SELECT ingestion_id FROM review WHERE tenant_id = ?1 AND state = 'open'
        AND (locked_until IS NULL OR locked_until <= ?2 OR locked_by = ?3)
      ORDER BY confidence, ingestion_id LIMIT 1";
    let args = params![tenant.as_bytes(), tx.now.0, decision.by];
    let next = first(tx.conn(), "look for the next review", next, args, ingestion_id)?;
    Ok(DecidedAnswer { review_id: id, state: decision.state, next })
}

pub(super) fn corrections(
    conn: &Connection,
    tenant: TenantId,
    schema: &str,
    senders: &[String],
    limit: usize,
) -> Result<Vec<Correction>> {
    // The newest of each mark come first: a mark of the buyer stands on the documents of all senders.
    let sql = "WITH placed AS (
        SELECT ingestion_id, seq, at,
          row_number() OVER (PARTITION BY mark ORDER BY at DESC, ingestion_id, seq DESC) AS place
        FROM review_sender
        WHERE tenant_id = ?1 AND schema = ?2 AND mark IN (SELECT value FROM json_each(?3))),
      chosen AS (
        SELECT ingestion_id, seq FROM placed GROUP BY ingestion_id, seq, at ORDER BY min(place), at DESC LIMIT ?4)
      SELECT a.changes, a.pages FROM chosen c
        JOIN review_action a ON a.ingestion_id = c.ingestion_id AND a.seq = c.seq
      WHERE a.tenant_id = ?1 AND a.pages IS NOT NULL ORDER BY a.at DESC, a.ingestion_id, a.seq DESC";
    let args = params![tenant.as_bytes(), schema, to_json(&senders)?, limit as i64];
    let found = collect(conn, "look up corrections", sql, args, |c| {
        let changes: BTreeMap<String, Change> = c.json_opt()?.unwrap_or_default();
        let pages: Vec<PageWords> = c.json_opt()?.unwrap_or_default();
        let pages = Arc::new(pages);
        let one = move |(field, change)| Correction { field, change, pages: Arc::clone(&pages) };
        Ok(changes.into_iter().map(one).collect::<Vec<_>>())
    })?;
    Ok(found.into_iter().flatten().collect())
}

pub(super) fn corrections_made(
    conn: &Connection,
    tenant: TenantId,
    cursor: Option<&str>,
    limit: usize,
) -> Result<CorrectionsAnswer> {
    let after = cursor.map(ActionCursor::parse).transpose()?;
    let sql = "SELECT at, ingestion_id, seq, actor, document_id, schema, changes FROM review_action
      WHERE tenant_id = ?1 AND action = 'corrected' AND (?2 IS NULL OR (at, ingestion_id, seq) > (?2, ?3, ?4))
      ORDER BY at, ingestion_id, seq LIMIT ?5";
    let args = params![
        tenant.as_bytes(),
        after.map(|c| c.at),
        after.as_ref().map(|c| c.id.as_bytes()),
        after.map(|c| c.seq),
        limit as i64
    ];
    let found = collect(conn, "list corrections", sql, args, |c| {
        let (at, id, seq) = (c.time()?, c.ingestion()?, c.get::<i64>()?);
        let (by, document_id, schema): (String, _, String) = (c.get()?, c.document()?, c.get()?);
        let changes: BTreeMap<String, Change> = c.json_opt()?.unwrap_or_default();
        let one = |(field, change): (String, Change)| CorrectionLine {
            at,
            by: by.clone(),
            document_id,
            schema: schema.clone(),
            field,
            before: change.before,
            after: change.after,
            page: change.page,
            frame: change.frame,
        };
        let lines: Vec<CorrectionLine> = changes.into_iter().map(one).collect();
        Ok((ActionCursor { at: at.0, id, seq }, lines))
    })?;
    let next = found.last().filter(|_| found.len() == limit).map(|(cursor, _)| cursor.to_text());
    Ok(CorrectionsAnswer { items: found.into_iter().flat_map(|(_, lines)| lines).collect(), next })
}

/// Forgets what a removed document said; that somebody decided something stays.
pub(super) const FORGET: [&str; 4] = [
    "DELETE FROM record WHERE document_id = ?1",
    "DELETE FROM review WHERE document_id = ?1",
    "DELETE FROM review_sender WHERE document_id = ?1",
    "UPDATE review_action SET reason = NULL, changes = '{}', pages = NULL WHERE document_id = ?1",
];
