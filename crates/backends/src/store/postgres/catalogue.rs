//! What the documents of a tenant have in common: tags, near duplicates, and what meanings say.
//!
//! Whoever changes tags holds the row of the counter `catalogue` first: counts are made from what is there, and two who
//! looked at the same would both count it.

use std::collections::{BTreeSet, HashMap};

use docmill_core::id::{BlobKey, DocumentId, TenantId};
use docmill_core::ports::catalogue::{COMPARED_TAGS, ComparedTag, Entry, TagName, TagQuery, Uncatalogued};
use docmill_core::sketch::{NearLine, Sketch};
use docmill_core::tag::{self, MergeAnswer, TagCursor, TagLine, TagsAnswer};
use docmill_core::understanding::{Judgement, Understanding};
use docmill_core::{Error, Result};
use futures::TryStreamExt as _;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::row::Row as _;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::super::shared::catalogue::{
    Changes, Found, Merge, Nearest, Tag, Wanted, named, plan_merge, shown_name, vector_bytes, vector_of,
};
use super::row::{Columns, json, sql_error, text, text_opt};
use super::tx::Tx;

pub(super) async fn catalogued(conn: &mut PgConnection) -> Result<i64> {
    query_scalar::<Postgres, i64>("SELECT value FROM counter WHERE name = 'catalogue'")
        .fetch_one(conn)
        .await
        .map_err(sql_error("read how far the catalogue is"))
}

pub(super) async fn uncatalogued(
    conn: &mut PgConnection,
    after: i64,
    limit: usize,
) -> Result<Vec<Uncatalogued>> {
    let rows = query::<Postgres>(
        "SELECT d.change_seq, d.tenant_id, d.document_id, d.removed, d.transcription_key, u.body
         FROM document d
           LEFT JOIN ingestion i ON i.ingestion_id = d.understood_in
           LEFT JOIN understanding u ON u.ingestion_id = i.ingestion_id AND u.step = i.understood_by
         WHERE d.change_seq > $1 ORDER BY d.change_seq LIMIT $2",
    )
    .bind(after)
    .bind(limit as i64)
    .fetch_all(conn)
    .await
    .map_err(sql_error("read changes"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(Uncatalogued {
                seq: c.get()?,
                tenant_id: c.tenant()?,
                document_id: c.document()?,
                removed: c.flag()?,
                transcription: c.get::<Option<String>>()?.map(BlobKey::stored),
                tags: c.json_opt::<Understanding>()?.map(|understood| understood.tags).unwrap_or_default(),
            })
        })
        .collect()
}

/// Takes entries, if the catalogue stands where they begin.
pub(super) async fn catalogue(tx: &mut Tx, entries: &[Entry], from: i64, upto: i64) -> Result<bool> {
    let moved = query::<Postgres>("UPDATE counter SET value = $2 WHERE name = 'catalogue' AND value = $1")
        .bind(from)
        .bind(upto)
        .execute(tx.conn())
        .await
        .map_err(sql_error("move the catalogue on"))?
        .rows_affected();
    if moved == 0 {
        return Ok(false);
    }
    enter(tx, entries).await?;
    Ok(true)
}

/// Forgets what the catalogue holds of a document.
pub(super) async fn forget(tx: &mut Tx, tenant: TenantId, document: DocumentId) -> Result<()> {
    hold(tx).await?;
    enter(tx, &[Entry { tenant_id: tenant, document_id: document, tags: Vec::new(), sketch: None }]).await?;
    query::<Postgres>("DELETE FROM judgement WHERE document_id = $1 AND tenant_id = $2")
        .bind(document.0)
        .bind(tenant.0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("forget what a meaning says"))?;
    Ok(())
}

/// Keeps others from changing tags until the transaction ends.
async fn hold(tx: &mut Tx) -> Result<()> {
    query::<Postgres>("SELECT 1 FROM counter WHERE name = 'catalogue' FOR UPDATE")
        .execute(tx.conn())
        .await
        .map_err(sql_error("hold the catalogue"))?;
    Ok(())
}

async fn enter(tx: &mut Tx, entries: &[Entry]) -> Result<()> {
    let wanted = Wanted::of(entries);
    let changes = Changes::between(&wanted, &merged(tx, &wanted).await?, &held(tx, entries).await?);
    write_rows(
        tx,
        "DELETE FROM document_tag d USING unnest($1::uuid[], $2::text[], $3::uuid[]) AS g (tenant_id, key, document_id)
         WHERE d.tenant_id = g.tenant_id AND d.key = g.key AND d.document_id = g.document_id",
        &changes.dropped,
    )
    .await?;
    write_rows(
        tx,
        "INSERT INTO document_tag (tenant_id, key, document_id)
           SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[]) ON CONFLICT DO NOTHING",
        &changes.added,
    )
    .await?;
    count(tx, &wanted, &changes).await?;
    sketch(tx, entries).await
}

async fn write_rows(tx: &mut Tx, sql: &'static str, rows: &[(TenantId, String, DocumentId)]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    query::<Postgres>(sql)
        .bind(rows.iter().map(|row| row.0.0).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.1.clone()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.2.0).collect::<Vec<_>>())
        .execute(tx.conn())
        .await
        .map_err(sql_error("change the tags of documents"))?;
    Ok(())
}

/// Those of the wanted tags that were merged into others.
async fn merged(tx: &mut Tx, wanted: &Wanted) -> Result<HashMap<Tag, String>> {
    let (tenants, keys): (Vec<Uuid>, Vec<String>) =
        wanted.names.keys().map(|(tenant, key)| (tenant.0, key.clone())).unzip();
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = query::<Postgres>(
        "SELECT t.tenant_id, t.key, t.into_key FROM tag t
           JOIN unnest($1::uuid[], $2::text[]) AS w (tenant_id, key) ON t.tenant_id = w.tenant_id AND t.key = w.key
         WHERE t.into_key IS NOT NULL",
    )
    .bind(tenants)
    .bind(keys)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up tags"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(((c.tenant()?, c.get()?), c.get()?))
        })
        .collect()
}

/// The keys that documents have now.
async fn held(tx: &mut Tx, entries: &[Entry]) -> Result<HashMap<DocumentId, BTreeSet<String>>> {
    let rows = query::<Postgres>("SELECT document_id, key FROM document_tag WHERE document_id = ANY($1)")
        .bind(entries.iter().map(|entry| entry.document_id.0).collect::<Vec<_>>())
        .fetch_all(tx.conn())
        .await
        .map_err(sql_error("look up tags"))?;
    let mut held: HashMap<DocumentId, BTreeSet<String>> = HashMap::new();
    for row in &rows {
        let mut c = Columns::new(row);
        held.entry(c.document()?).or_default().insert(c.get()?);
    }
    Ok(held)
}

/// More documents have a tag, or fewer. Tags that none has are forgotten, unless others were merged into them.
async fn count(tx: &mut Tx, wanted: &Wanted, changes: &Changes) -> Result<()> {
    if changes.counts.is_empty() {
        return Ok(());
    }
    let (mut tenants, mut keys, mut names, mut more) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (tag, by) in &changes.counts {
        tenants.push(tag.0.0);
        keys.push(tag.1.clone());
        names.push(wanted.names.get(tag).unwrap_or(&tag.1).clone());
        more.push(*by);
    }
    query::<Postgres>(
        "INSERT INTO tag (tenant_id, key, name, documents)
           SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])
         ON CONFLICT (tenant_id, key) DO UPDATE SET documents = greatest(0, tag.documents + excluded.documents)",
    )
    .bind(&tenants)
    .bind(&keys)
    .bind(&names)
    .bind(&more)
    .execute(tx.conn())
    .await
    .map_err(sql_error("count tags"))?;
    if more.iter().all(|by| *by > 0) {
        return Ok(());
    }
    query::<Postgres>(
        "WITH gone AS (
           DELETE FROM tag t USING unnest($1::uuid[], $2::text[]) AS g (tenant_id, key)
           WHERE t.tenant_id = g.tenant_id AND t.key = g.key AND t.documents <= 0 AND t.into_key IS NULL
             AND NOT EXISTS (SELECT 1 FROM tag m WHERE m.tenant_id = t.tenant_id AND m.into_key = t.key)
           RETURNING t.tenant_id, t.key)
         DELETE FROM tag_meaning m USING gone WHERE m.tenant_id = gone.tenant_id AND m.key = gone.key",
    )
    .bind(&tenants)
    .bind(&keys)
    .execute(tx.conn())
    .await
    .map_err(sql_error("forget tags"))?;
    Ok(())
}

async fn sketch(tx: &mut Tx, entries: &[Entry]) -> Result<()> {
    let bare: Vec<Uuid> =
        entries.iter().filter(|entry| entry.sketch.is_none()).map(|entry| entry.document_id.0).collect();
    if !bare.is_empty() {
        query::<Postgres>("DELETE FROM sketch WHERE tenant_id = ANY($1) AND document_id = ANY($2)")
            .bind(
                entries
                    .iter()
                    .map(|entry| entry.tenant_id.0)
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect::<Vec<_>>(),
            )
            .bind(bare)
            .execute(tx.conn())
            .await
            .map_err(sql_error("forget what is left of a text"))?;
    }
    let (mut tenants, mut documents, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        if let Some(sketch) = &entry.sketch {
            tenants.push(entry.tenant_id.0);
            documents.push(entry.document_id.0);
            bodies.push(sketch.as_bytes().to_vec());
        }
    }
    if tenants.is_empty() {
        return Ok(());
    }
    query::<Postgres>(
        "INSERT INTO sketch (tenant_id, document_id, body) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[])
         ON CONFLICT (tenant_id, document_id) DO UPDATE SET body = excluded.body",
    )
    .bind(tenants)
    .bind(documents)
    .bind(bodies)
    .execute(tx.conn())
    .await
    .map_err(sql_error("keep what is left of a text"))?;
    Ok(())
}

pub(super) async fn tags(conn: &mut PgConnection, tenant: TenantId, wanted: &TagQuery) -> Result<TagsAnswer> {
    let limit = wanted.limit.max(1);
    let after = wanted.cursor.as_deref().map(TagCursor::parse).transpose()?;
    let (most, behind) = after.map_or((i64::MAX, String::new()), |after| {
        (i64::try_from(after.documents).unwrap_or(i64::MAX), after.key)
    });
    let rows = query::<Postgres>(
        "SELECT key, name, documents FROM tag
         WHERE tenant_id = $1 AND into_key IS NULL AND documents > 0 AND documents <= $2
           AND (documents < $2 OR key > $3) AND ($4::text IS NULL OR strpos(key, $4) > 0)
         ORDER BY documents DESC, key LIMIT $5",
    )
    .bind(tenant.0)
    .bind(most)
    .bind(text(&behind))
    .bind(wanted.containing.as_deref().map(text))
    .bind((limit + 1) as i64)
    .fetch_all(conn)
    .await
    .map_err(sql_error("list tags"))?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        let key: String = c.get()?;
        found.push((key, TagLine { tag: c.get()?, documents: c.count()? }));
    }
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found
        .last()
        .filter(|_| more)
        .map(|(key, line)| TagCursor { documents: line.documents, key: key.clone() }.text());
    Ok(TagsAnswer { items: found.into_iter().map(|(_, line)| line).collect(), next })
}

pub(super) async fn tag_names(
    conn: &mut PgConnection,
    tenant: TenantId,
    keys: &[String],
) -> Result<Vec<Option<String>>> {
    let rows = query::<Postgres>(
        "SELECT t.key, coalesce(i.name, t.name) FROM tag t
           LEFT JOIN tag i ON i.tenant_id = t.tenant_id AND i.key = t.into_key
         WHERE t.tenant_id = $1 AND t.key = ANY($2)",
    )
    .bind(tenant.0)
    .bind(keys.iter().map(|key| text(key)).collect::<Vec<_>>())
    .fetch_all(conn)
    .await
    .map_err(sql_error("look up tags"))?;
    let mut names: HashMap<String, String> = HashMap::new();
    for row in &rows {
        let mut c = Columns::new(row);
        names.insert(c.get()?, c.get()?);
    }
    Ok(keys.iter().map(|key| names.get(key).cloned()).collect())
}

/// Makes one tag of two. Whatever was merged into the one that goes is merged into the one that stays, so that no way is
/// longer than a step.
pub(super) async fn merge(
    tx: &mut Tx,
    tenant: TenantId,
    from: &str,
    into: &str,
) -> Result<Option<MergeAnswer>> {
    hold(tx).await?;
    let (from_key, into_key) = (tag::asked_key(from)?, tag::asked_key(into)?);
    let (found, other) = (look_up(tx, tenant, &from_key).await?, look_up(tx, tenant, &into_key).await?);
    let (stays, moved) = match plan_merge(found, &into_key, other.as_ref())? {
        None => return Ok(None),
        Some(Merge::Done(stays)) => (stays, 0),
        Some(Merge::Move { from, into: stays, new, turned }) => {
            if new {
                query::<Postgres>("INSERT INTO tag (tenant_id, key, name, documents) VALUES ($1, $2, $3, 0)")
                    .bind(tenant.0)
                    .bind(&stays)
                    .bind(shown_name(into, &stays))
                    .execute(tx.conn())
                    .await
                    .map_err(sql_error("make a tag"))?;
            }
            if turned {
                query::<Postgres>("UPDATE tag SET into_key = NULL WHERE tenant_id = $1 AND key = $2")
                    .bind(tenant.0)
                    .bind(&stays)
                    .execute(tx.conn())
                    .await
                    .map_err(sql_error("merge tags"))?;
            }
            let moved = move_documents(tx, tenant, &from, &stays).await?;
            (stays, moved)
        }
    };
    let row = query::<Postgres>("SELECT name, documents FROM tag WHERE tenant_id = $1 AND key = $2")
        .bind(tenant.0)
        .bind(&stays)
        .fetch_optional(tx.conn())
        .await
        .map_err(sql_error("look up a tag"))?
        .ok_or_else(|| Error::bug("a tag vanished while another was merged into it"))?;
    let mut c = Columns::new(&row);
    Ok(Some(MergeAnswer { tag: TagLine { tag: c.get()?, documents: c.count()? }, moved }))
}

/// How many documents had the one that goes.
async fn move_documents(tx: &mut Tx, tenant: TenantId, from: &str, into: &str) -> Result<u64> {
    let mut moved = 0;
    for sql in [
        "INSERT INTO document_tag (tenant_id, key, document_id)
           SELECT tenant_id, $3, document_id FROM document_tag WHERE tenant_id = $1 AND key = $2
         ON CONFLICT DO NOTHING",
        "DELETE FROM document_tag WHERE tenant_id = $1 AND key = $2 AND $3::text IS NOT NULL",
        "UPDATE tag SET into_key = $3, documents = 0 WHERE tenant_id = $1 AND (key = $2 OR into_key = $2)",
        "UPDATE tag SET documents = (SELECT count(*) FROM document_tag WHERE tenant_id = $1 AND key = $3)
         WHERE tenant_id = $1 AND key = $3 AND $2::text IS NOT NULL",
        "DELETE FROM tag_meaning WHERE tenant_id = $1 AND key = $2 AND $3::text IS NOT NULL",
    ] {
        let touched = query::<Postgres>(sql)
            .bind(tenant.0)
            .bind(from)
            .bind(into)
            .execute(tx.conn())
            .await
            .map_err(sql_error("merge tags"))?
            .rows_affected();
        if sql.starts_with("DELETE FROM document_tag") {
            moved = touched;
        }
    }
    Ok(moved)
}

async fn look_up(tx: &mut Tx, tenant: TenantId, key: &str) -> Result<Option<Found>> {
    let row = query::<Postgres>("SELECT key, into_key FROM tag WHERE tenant_id = $1 AND key = $2")
        .bind(tenant.0)
        .bind(key)
        .fetch_optional(tx.conn())
        .await
        .map_err(sql_error("look up a tag"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    Ok(Some(Found { key: c.get()?, into_key: c.get()? }))
}

pub(super) async fn unembedded(conn: &mut PgConnection, model: &str, limit: usize) -> Result<Vec<TagName>> {
    let rows = query::<Postgres>(
        "SELECT n.tenant_id, t.key, t.name FROM tenant n CROSS JOIN LATERAL (
           SELECT key, name FROM tag WHERE tenant_id = n.tenant_id AND into_key IS NULL AND documents > 0
           ORDER BY documents DESC, key LIMIT $1) t
         WHERE NOT EXISTS (SELECT 1 FROM tag_meaning m
           WHERE m.tenant_id = n.tenant_id AND m.key = t.key AND m.model = $2) LIMIT $3",
    )
    .bind(COMPARED_TAGS as i64)
    .bind(model)
    .bind(limit as i64)
    .fetch_all(conn)
    .await
    .map_err(sql_error("list tags"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(TagName { tenant_id: c.tenant()?, key: c.get()?, name: c.get()? })
        })
        .collect()
}

/// A tag that was forgotten or merged in the meantime means nothing any more.
pub(super) async fn embed(tx: &mut Tx, model: &str, tags: &[(TagName, Vec<f32>)]) -> Result<()> {
    query::<Postgres>(
        "INSERT INTO tag_meaning (tenant_id, key, model, vector)
           SELECT t.tenant_id, t.key, $3, e.vector
           FROM unnest($1::uuid[], $2::text[], $4::bytea[]) AS e (tenant_id, key, vector)
             JOIN tag t ON t.tenant_id = e.tenant_id AND t.key = e.key AND t.into_key IS NULL
         ON CONFLICT (tenant_id, key) DO UPDATE SET model = excluded.model, vector = excluded.vector",
    )
    .bind(tags.iter().map(|(tag, _)| tag.tenant_id.0).collect::<Vec<_>>())
    .bind(tags.iter().map(|(tag, _)| tag.key.clone()).collect::<Vec<_>>())
    .bind(model)
    .bind(tags.iter().map(|(_, vector)| vector_bytes(vector)).collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("keep what tags mean"))?;
    Ok(())
}

pub(super) async fn compared(
    conn: &mut PgConnection,
    tenant: TenantId,
    model: &str,
) -> Result<Vec<ComparedTag>> {
    let rows = query::<Postgres>(
        "SELECT t.name, t.documents, m.vector FROM tag t
           LEFT JOIN tag_meaning m ON m.tenant_id = t.tenant_id AND m.key = t.key AND m.model = $3
         WHERE t.tenant_id = $1 AND t.into_key IS NULL AND t.documents > 0
         ORDER BY t.documents DESC, t.key LIMIT $2",
    )
    .bind(tenant.0)
    .bind(COMPARED_TAGS as i64)
    .bind(model)
    .fetch_all(conn)
    .await
    .map_err(sql_error("list tags"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            let line = TagLine { tag: c.get()?, documents: c.count()? };
            let meaning: Option<&[u8]> = c.get()?;
            Ok(ComparedTag { line, meaning: meaning.and_then(vector_of) })
        })
        .collect()
}

/// Compares one with all, as they come from the server.
pub(super) async fn near(
    conn: &mut PgConnection,
    tenant: TenantId,
    document: DocumentId,
) -> Result<Vec<NearLine>> {
    let doing = "look for near duplicates";
    let own = query_scalar::<Postgres, Vec<u8>>(
        "SELECT body FROM sketch WHERE tenant_id = $1 AND document_id = $2",
    )
    .bind(tenant.0)
    .bind(document.0)
    .fetch_optional(&mut *conn)
    .await
    .map_err(sql_error(doing))?;
    let Some(own) = own.as_deref().and_then(Sketch::from_bytes) else { return Ok(Vec::new()) };
    let mut nearest = Nearest::of(own);
    {
        let mut rows = query::<Postgres>(
            "SELECT document_id, body FROM sketch WHERE tenant_id = $1 AND document_id <> $2",
        )
        .bind(tenant.0)
        .bind(document.0)
        .fetch(&mut *conn);
        while let Some(row) = rows.try_next().await.map_err(sql_error(doing))? {
            let body: &[u8] = row.try_get(1).map_err(sql_error(doing))?;
            nearest.look_at(|| row.try_get::<Uuid, _>(0).ok().map(DocumentId), body);
        }
    }
    let found = nearest.best();
    let rows = query::<Postgres>(
        "SELECT document_id, name, title FROM document
         WHERE tenant_id = $1 AND document_id = ANY($2) AND NOT removed",
    )
    .bind(tenant.0)
    .bind(found.iter().map(|(_, id)| id.0).collect::<Vec<_>>())
    .fetch_all(conn)
    .await
    .map_err(sql_error(doing))?;
    let mut names = HashMap::new();
    for row in &rows {
        let mut c = Columns::new(row);
        names.insert(c.document()?, (c.get()?, c.get()?));
    }
    Ok(named(&found, names))
}

pub(super) async fn judge(tx: &mut Tx, judged: &[(TenantId, DocumentId, Option<Judgement>)]) -> Result<()> {
    for (tenant, document, judgement) in judged {
        let done = match judgement {
            Some(judgement) => {
                query::<Postgres>(
                    "INSERT INTO judgement (document_id, tenant_id, body)
                       SELECT document_id, tenant_id, $3 FROM document
                       WHERE document_id = $1 AND tenant_id = $2 AND NOT removed
                     ON CONFLICT (document_id) DO UPDATE SET body = excluded.body",
                )
                .bind(document.0)
                .bind(tenant.0)
                .bind(json(judgement)?)
                .execute(tx.conn())
                .await
            }
            None => {
                query::<Postgres>("DELETE FROM judgement WHERE document_id = $1 AND tenant_id = $2")
                    .bind(document.0)
                    .bind(tenant.0)
                    .execute(tx.conn())
                    .await
            }
        };
        done.map_err(sql_error("keep what a meaning says"))?;
    }
    // Few documents are told by their meaning alone: hardly any row is locked, and a deadlock with ends is repeated.
    let kind = |judgement: &Option<Judgement>| text_opt(judgement.as_ref().and_then(|j| j.kind.as_deref()));
    let changed = query::<Postgres>(
        "UPDATE document d SET judged_kind = u.kind
         FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS u (tenant_id, document_id, kind)
         WHERE d.document_id = u.document_id AND d.tenant_id = u.tenant_id AND NOT d.removed
           AND d.judged_kind IS DISTINCT FROM u.kind
         RETURNING d.tenant_id, d.document_id, d.kind IS NULL",
    )
    .bind(judged.iter().map(|(tenant, ..)| tenant.0).collect::<Vec<_>>())
    .bind(judged.iter().map(|(_, document, _)| document.0).collect::<Vec<_>>())
    .bind(judged.iter().map(|(.., judgement)| kind(judgement)).collect::<Vec<_>>())
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("keep what a meaning says"))?;
    // Indexes hold what a document is, too: who follows the change log looks again where words do not tell.
    for row in &changed {
        let mut c = Columns::new(row);
        let (tenant, document) = (c.tenant()?, c.document()?);
        if c.flag()? {
            tx.document_changed(tenant, document, None);
        }
    }
    Ok(())
}

pub(super) async fn judgement(
    conn: &mut PgConnection,
    tenant: TenantId,
    document: DocumentId,
) -> Result<Option<Judgement>> {
    let row = query::<Postgres>("SELECT body FROM judgement WHERE document_id = $1 AND tenant_id = $2")
        .bind(document.0)
        .bind(tenant.0)
        .fetch_optional(conn)
        .await
        .map_err(sql_error("look up what a meaning says"))?;
    match row {
        Some(row) => Columns::new(&row).json_opt(),
        None => Ok(None),
    }
}
