//! What the documents of a tenant have in common: tags, near duplicates, and what meanings say.

use std::collections::{BTreeSet, HashMap};

use docmill_core::id::{BlobKey, DocumentId, TenantId};
use docmill_core::ports::catalogue::{COMPARED_TAGS, ComparedTag, Entry, TagName, TagQuery, Uncatalogued};
use docmill_core::sketch::{NearLine, Sketch};
use docmill_core::tag::{self, MergeAnswer, TagCursor, TagLine, TagsAnswer};
use docmill_core::understanding::{Judgement, Understanding};
use docmill_core::{Error, Result};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::shared::catalogue::{
    Changes, Found, Merge, Nearest, Tag, Wanted, named, plan_merge, shown_name, vector_bytes, vector_of,
};
use super::look::{collect, first};
use super::row::{Columns, json, sql_error};
use super::tx::Tx;

pub(super) fn catalogued(conn: &Connection) -> Result<i64> {
    conn.prepare_cached("SELECT value FROM counter WHERE name = 'catalogue'")
        .and_then(|mut s| s.query_row([], |r| r.get(0)))
        .map_err(sql_error("read how far the catalogue is"))
}

pub(super) fn uncatalogued(conn: &Connection, after: i64, limit: usize) -> Result<Vec<Uncatalogued>> {
    let sql = "SELECT d.change_seq, d.tenant_id, d.document_id, d.removed, d.transcription_key, u.body
      FROM document d
        LEFT JOIN ingestion i ON i.ingestion_id = d.understood_in
        LEFT JOIN understanding u ON u.ingestion_id = i.ingestion_id AND u.step = i.understood_by
      WHERE d.change_seq > ?1 ORDER BY d.change_seq LIMIT ?2";
    collect(conn, "read changes", sql, params![after, limit as i64], |c| {
        Ok(Uncatalogued {
            seq: c.get()?,
            tenant_id: c.tenant()?,
            document_id: c.document()?,
            removed: c.flag()?,
            transcription: c.get::<Option<String>>()?.map(BlobKey::stored),
            tags: c.json_opt::<Understanding>()?.map(|understood| understood.tags).unwrap_or_default(),
        })
    })
}

/// Takes entries, if the catalogue stands where they begin.
pub(super) fn catalogue(tx: &Tx<'_>, entries: &[Entry], from: i64, upto: i64) -> Result<bool> {
    let moved = tx
        .sql("UPDATE counter SET value = ?2 WHERE name = 'catalogue' AND value = ?1")?
        .execute([from, upto])
        .map_err(sql_error("move the catalogue on"))?;
    if moved == 0 {
        return Ok(false);
    }
    enter(tx, entries)?;
    Ok(true)
}

/// Forgets what the catalogue holds of a document.
pub(super) fn forget(tx: &Tx<'_>, tenant: TenantId, document: DocumentId) -> Result<()> {
    enter(tx, &[Entry { tenant_id: tenant, document_id: document, tags: Vec::new(), sketch: None }])?;
    tx.sql("DELETE FROM judgement WHERE document_id = ?1 AND tenant_id = ?2")?
        .execute(params![document.as_bytes(), tenant.as_bytes()])
        .map_err(sql_error("forget what a meaning says"))?;
    Ok(())
}

fn enter(tx: &Tx<'_>, entries: &[Entry]) -> Result<()> {
    let wanted = Wanted::of(entries);
    let changes = Changes::between(&wanted, &merged(tx, &wanted)?, &held(tx, entries)?);
    for (tenant, key, document) in &changes.dropped {
        tx.sql("DELETE FROM document_tag WHERE tenant_id = ?1 AND key = ?2 AND document_id = ?3")?
            .execute(params![tenant.as_bytes(), key, document.as_bytes()])
            .map_err(sql_error("take a tag away"))?;
    }
    for (tenant, key, document) in &changes.added {
        tx.sql("INSERT INTO document_tag (tenant_id, key, document_id) VALUES (?1, ?2, ?3)")?
            .execute(params![tenant.as_bytes(), key, document.as_bytes()])
            .map_err(sql_error("add a tag"))?;
    }
    for ((tenant, key), more) in &changes.counts {
        count(tx, *tenant, key, wanted.names.get(&(*tenant, key.clone())), *more)?;
    }
    for entry in entries {
        sketch(tx, entry)?;
    }
    Ok(())
}

/// Those of the wanted tags that were merged into others.
fn merged(tx: &Tx<'_>, wanted: &Wanted) -> Result<HashMap<Tag, String>> {
    let mut merged = HashMap::new();
    let mut statement =
        tx.sql("SELECT into_key FROM tag WHERE tenant_id = ?1 AND key = ?2 AND into_key IS NOT NULL")?;
    for tag in wanted.names.keys() {
        let into: Option<String> = statement
            .query_row(params![tag.0.as_bytes(), tag.1], |r| r.get(0))
            .optional()
            .map_err(sql_error("look up a tag"))?;
        merged.extend(into.map(|into| (tag.clone(), into)));
    }
    Ok(merged)
}

/// The keys that documents have now.
fn held(tx: &Tx<'_>, entries: &[Entry]) -> Result<HashMap<DocumentId, BTreeSet<String>>> {
    let mut statement = tx.sql("SELECT key FROM document_tag WHERE document_id = ?1")?;
    let mut held = HashMap::new();
    for entry in entries {
        let keys: BTreeSet<String> = statement
            .query_map([entry.document_id.as_bytes()], |r| r.get(0))
            .and_then(Iterator::collect)
            .map_err(sql_error("look up tags"))?;
        held.insert(entry.document_id, keys);
    }
    Ok(held)
}

/// So many more documents have a tag, or fewer. One that none has is forgotten, unless others were merged into it.
fn count(tx: &Tx<'_>, tenant: TenantId, key: &str, name: Option<&String>, more: i64) -> Result<()> {
    // Nothing is returned: SQLite would make a temporary table for that, ten times a document.
    let counted = tx
        .sql("UPDATE tag SET documents = max(0, documents + ?3) WHERE tenant_id = ?1 AND key = ?2")?
        .execute(params![tenant.as_bytes(), key, more])
        .map_err(sql_error("count a tag"))?;
    if counted == 0 && more > 0 {
        let name = name.map_or(key, String::as_str);
        tx.sql("INSERT INTO tag (tenant_id, key, name, documents) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![tenant.as_bytes(), key, name, more])
            .map_err(sql_error("count a tag"))?;
    }
    if more > 0 {
        return Ok(());
    }
    let gone = tx
        .sql(
            "DELETE FROM tag WHERE tenant_id = ?1 AND key = ?2 AND documents = 0 AND into_key IS NULL
             AND NOT EXISTS (SELECT 1 FROM tag m WHERE m.tenant_id = ?1 AND m.into_key = ?2)",
        )?
        .execute(params![tenant.as_bytes(), key])
        .map_err(sql_error("forget a tag"))?;
    if gone > 0 {
        tx.sql("DELETE FROM tag_meaning WHERE tenant_id = ?1 AND key = ?2")?
            .execute(params![tenant.as_bytes(), key])
            .map_err(sql_error("forget a tag"))?;
    }
    Ok(())
}

fn sketch(tx: &Tx<'_>, entry: &Entry) -> Result<()> {
    let (tenant, document) = (entry.tenant_id.as_bytes(), entry.document_id.as_bytes());
    match &entry.sketch {
        Some(sketch) => tx
            .sql("INSERT OR REPLACE INTO sketch (tenant_id, document_id, body) VALUES (?1, ?2, ?3)")?
            .execute(params![tenant, document, sketch.as_bytes()]),
        None => tx
            .sql("DELETE FROM sketch WHERE tenant_id = ?1 AND document_id = ?2")?
            .execute(params![tenant, document]),
    }
    .map_err(sql_error("keep what is left of a text"))?;
    Ok(())
}

pub(super) fn tags(conn: &Connection, tenant: TenantId, query: &TagQuery) -> Result<TagsAnswer> {
    let limit = query.limit.max(1);
    let after = query.cursor.as_deref().map(TagCursor::parse).transpose()?;
    let sql = "SELECT key, name, documents FROM tag
      WHERE tenant_id = ?1 AND into_key IS NULL AND documents > 0 AND documents <= ?2
        AND (documents < ?2 OR key > ?3) AND (?4 IS NULL OR instr(key, ?4) > 0)
      ORDER BY documents DESC, key LIMIT ?5";
    let (most, behind) = after.map_or((i64::MAX, String::new()), |after| {
        (i64::try_from(after.documents).unwrap_or(i64::MAX), after.key)
    });
    let args = params![tenant.as_bytes(), most, behind, query.containing, (limit + 1) as i64];
    let mut found: Vec<(String, TagLine)> = collect(conn, "list tags", sql, args, |c| {
        Ok((c.get()?, TagLine { tag: c.get()?, documents: c.count()? }))
    })?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found
        .last()
        .filter(|_| more)
        .map(|(key, line)| TagCursor { documents: line.documents, key: key.clone() }.text());
    Ok(TagsAnswer { items: found.into_iter().map(|(_, line)| line).collect(), next })
}

pub(super) fn tag_names(conn: &Connection, tenant: TenantId, keys: &[String]) -> Result<Vec<Option<String>>> {
    let mut statement = conn
        .prepare_cached(
            "SELECT coalesce(i.name, t.name) FROM tag t
               LEFT JOIN tag i ON i.tenant_id = t.tenant_id AND i.key = t.into_key
             WHERE t.tenant_id = ?1 AND t.key = ?2",
        )
        .map_err(sql_error("look up tags"))?;
    keys.iter()
        .map(|key| {
            statement
                .query_row(params![tenant.as_bytes(), key], |r| r.get(0))
                .optional()
                .map_err(sql_error("look up tags"))
        })
        .collect()
}

/// Makes one tag of two. Whatever was merged into the one that goes is merged into the one that stays, so that no way is
/// longer than a step.
pub(super) fn merge(tx: &Tx<'_>, tenant: TenantId, from: &str, into: &str) -> Result<Option<MergeAnswer>> {
    let (from_key, into_key) = (tag::asked_key(from)?, tag::asked_key(into)?);
    let target = look_up(tx, tenant, &into_key)?;
    let plan = plan_merge(look_up(tx, tenant, &from_key)?, &into_key, target.as_ref())?;
    let (stays, moved) = match plan {
        None => return Ok(None),
        Some(Merge::Done(stays)) => (stays, 0),
        Some(Merge::Move { from, into: stays, new, turned }) => {
            if new {
                run(
                    tx,
                    "INSERT INTO tag (tenant_id, key, name, documents) VALUES (?1, ?2, ?3, 0)",
                    params![tenant.as_bytes(), stays, shown_name(into, &stays)],
                )?;
            }
            if turned {
                run(
                    tx,
                    "UPDATE tag SET into_key = NULL WHERE tenant_id = ?1 AND key = ?2",
                    params![tenant.as_bytes(), stays],
                )?;
            }
            let moved = move_documents(tx, tenant, &from, &stays)?;
            (stays, moved)
        }
    };
    let sql = "SELECT name, documents FROM tag WHERE tenant_id = ?1 AND key = ?2";
    let tag = first(tx.conn(), "look up a tag", sql, params![tenant.as_bytes(), stays], |c| {
        Ok(TagLine { tag: c.get()?, documents: c.count()? })
    })?
    .ok_or_else(|| Error::bug("a tag vanished while another was merged into it"))?;
    Ok(Some(MergeAnswer { tag, moved: moved as u64 }))
}

/// How many documents had the one that goes.
fn move_documents(tx: &Tx<'_>, tenant: TenantId, from: &str, into: &str) -> Result<usize> {
    let both = params![tenant.as_bytes(), from, into];
    run(
        tx,
        "INSERT OR IGNORE INTO document_tag (tenant_id, key, document_id)
           SELECT tenant_id, ?3, document_id FROM document_tag WHERE tenant_id = ?1 AND key = ?2",
        both,
    )?;
    let gone = params![tenant.as_bytes(), from];
    let moved = run(tx, "DELETE FROM document_tag WHERE tenant_id = ?1 AND key = ?2", gone)?;
    run(
        tx,
        "UPDATE tag SET into_key = ?3, documents = 0 WHERE tenant_id = ?1 AND (key = ?2 OR into_key = ?2)",
        both,
    )?;
    run(
        tx,
        "UPDATE tag SET documents = (SELECT count(*) FROM document_tag WHERE tenant_id = ?1 AND key = ?2)
         WHERE tenant_id = ?1 AND key = ?2",
        params![tenant.as_bytes(), into],
    )?;
    run(tx, "DELETE FROM tag_meaning WHERE tenant_id = ?1 AND key = ?2", gone)?;
    Ok(moved)
}

fn run(tx: &Tx<'_>, sql: &str, args: impl rusqlite::Params) -> Result<usize> {
    tx.sql(sql)?.execute(args).map_err(sql_error("merge tags"))
}

fn look_up(tx: &Tx<'_>, tenant: TenantId, key: &str) -> Result<Option<Found>> {
    let sql = "SELECT key, into_key FROM tag WHERE tenant_id = ?1 AND key = ?2";
    first(tx.conn(), "look up a tag", sql, params![tenant.as_bytes(), key], |c| {
        Ok(Found { key: c.get()?, into_key: c.get()? })
    })
}

/// The most frequent tags of tenant `?1`.
const COMPARED: &str = "SELECT key, name, documents FROM tag
  WHERE tenant_id = ?1 AND into_key IS NULL AND documents > 0 ORDER BY documents DESC, key LIMIT ?2";

fn tenant_of(c: &mut Columns<'_, '_>) -> Result<TenantId> {
    c.tenant()
}

pub(super) fn unembedded(conn: &Connection, model: &str, limit: usize) -> Result<Vec<TagName>> {
    let tenants = collect(conn, "list tenants", "SELECT tenant_id FROM tenant", [], tenant_of)?;
    let sql = format!(
        "SELECT t.key, t.name FROM ({COMPARED}) t WHERE NOT EXISTS (
           SELECT 1 FROM tag_meaning m WHERE m.tenant_id = ?1 AND m.key = t.key AND m.model = ?3) LIMIT ?4"
    );
    let mut out = Vec::new();
    for tenant_id in tenants {
        let args = params![tenant_id.as_bytes(), COMPARED_TAGS as i64, model, (limit - out.len()) as i64];
        out.extend(collect(conn, "list tags", &sql, args, |c| {
            Ok(TagName { tenant_id, key: c.get()?, name: c.get()? })
        })?);
        if out.len() >= limit {
            break;
        }
    }
    Ok(out)
}

/// A tag that was forgotten or merged in the meantime means nothing any more.
pub(super) fn embed(tx: &Tx<'_>, model: &str, tags: &[(TagName, Vec<f32>)]) -> Result<()> {
    for (tag, vector) in tags {
        tx.sql(
            "INSERT OR REPLACE INTO tag_meaning (tenant_id, key, model, vector)
               SELECT tenant_id, key, ?3, ?4 FROM tag WHERE tenant_id = ?1 AND key = ?2 AND into_key IS NULL",
        )?
        .execute(params![tag.tenant_id.as_bytes(), tag.key, model, vector_bytes(vector)])
        .map_err(sql_error("keep what a tag means"))?;
    }
    Ok(())
}

pub(super) fn compared(conn: &Connection, tenant: TenantId, model: &str) -> Result<Vec<ComparedTag>> {
    let sql = format!(
        "SELECT t.name, t.documents, m.vector FROM ({COMPARED}) t
           LEFT JOIN tag_meaning m ON m.tenant_id = ?1 AND m.key = t.key AND m.model = ?3
         ORDER BY t.documents DESC, t.key"
    );
    collect(conn, "list tags", &sql, params![tenant.as_bytes(), COMPARED_TAGS as i64, model], |c| {
        Ok(ComparedTag {
            line: TagLine { tag: c.get()?, documents: c.count()? },
            meaning: c.get::<Option<Vec<u8>>>()?.as_deref().and_then(vector_of),
        })
    })
}

/// Compares one with all: a hundred thousand take some ten milliseconds, and nothing has to be kept for it.
pub(super) fn near(conn: &Connection, tenant: TenantId, document: DocumentId) -> Result<Vec<NearLine>> {
    let doing = "look for near duplicates";
    let own: Option<Vec<u8>> = conn
        .prepare_cached("SELECT body FROM sketch WHERE tenant_id = ?1 AND document_id = ?2")
        .and_then(|mut s| {
            s.query_row(params![tenant.as_bytes(), document.as_bytes()], |r| r.get(0)).optional()
        })
        .map_err(sql_error(doing))?;
    let Some(own) = own.as_deref().and_then(Sketch::from_bytes) else { return Ok(Vec::new()) };
    let mut nearest = Nearest::of(own);
    let mut statement = conn
        .prepare_cached("SELECT document_id, body FROM sketch WHERE tenant_id = ?1 AND document_id <> ?2")
        .map_err(sql_error(doing))?;
    let mut rows =
        statement.query(params![tenant.as_bytes(), document.as_bytes()]).map_err(sql_error(doing))?;
    while let Some(row) = rows.next().map_err(sql_error(doing))? {
        let (id, body) =
            (row.get_ref(0).map_err(sql_error(doing))?, row.get_ref(1).map_err(sql_error(doing))?);
        let id = || DocumentId::from_slice(id.as_blob().ok()?).ok();
        nearest.look_at(id, body.as_blob().unwrap_or_default());
    }
    let found = nearest.best();
    let mut names = HashMap::new();
    for (_, id) in &found {
        let sql =
            "SELECT name, title FROM document WHERE document_id = ?1 AND tenant_id = ?2 AND removed = 0";
        let line =
            first(conn, doing, sql, params![id.as_bytes(), tenant.as_bytes()], |c| Ok((c.get()?, c.get()?)))?;
        names.extend(line.map(|line| (*id, line)));
    }
    Ok(named(&found, names))
}

pub(super) fn judge(tx: &mut Tx<'_>, judged: &[(TenantId, DocumentId, Option<Judgement>)]) -> Result<()> {
    for (tenant, document, judgement) in judged {
        match judgement {
            Some(judgement) => tx
                .sql(
                    "INSERT OR REPLACE INTO judgement (document_id, tenant_id, body)
                       SELECT document_id, tenant_id, ?3 FROM document
                       WHERE document_id = ?1 AND tenant_id = ?2 AND removed = 0",
                )?
                .execute(params![document.as_bytes(), tenant.as_bytes(), json(judgement)?]),
            None => tx
                .sql("DELETE FROM judgement WHERE document_id = ?1 AND tenant_id = ?2")?
                .execute(params![document.as_bytes(), tenant.as_bytes()]),
        }
        .map_err(sql_error("keep what a meaning says"))?;
        let kind = judgement.as_ref().and_then(|judgement| judgement.kind.as_deref());
        // Indexes hold what a document is, too: who follows the change log looks again where words do not tell.
        let number = tx.next_change()?;
        let changed: Option<bool> = tx
            .sql(
                "UPDATE document SET judged_kind = ?3, change_seq = iif(kind IS NULL, ?4, change_seq)
                 WHERE document_id = ?1 AND tenant_id = ?2 AND removed = 0 AND judged_kind IS NOT ?3
                 RETURNING kind IS NULL",
            )?
            .query_row(params![document.as_bytes(), tenant.as_bytes(), kind, number], |row| row.get(0))
            .optional()
            .map_err(sql_error("keep what a meaning says"))?;
        if changed == Some(true) {
            tx.take_change(number);
        }
    }
    Ok(())
}

fn judgement_of(c: &mut Columns<'_, '_>) -> Result<Option<Judgement>> {
    c.json_opt()
}

pub(super) fn judgement(
    conn: &Connection,
    tenant: TenantId,
    document: DocumentId,
) -> Result<Option<Judgement>> {
    let sql = "SELECT body FROM judgement WHERE document_id = ?1 AND tenant_id = ?2";
    let found = first(
        conn,
        "look up what a meaning says",
        sql,
        params![document.as_bytes(), tenant.as_bytes()],
        judgement_of,
    )?;
    Ok(found.flatten())
}
