//! The file that keeps the vectors: a small SQLite database of its own. What is written, and how far that goes, is one
//! transaction. A file that is damaged or of another version is thrown away, as everything in it can be made again.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::ports::filter::{Day, Filter, Particulars};
use docmill_core::ports::vector_index::{EmbeddedDocument, VectorChange};
use docmill_core::{Error, ErrorKind, Result};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::vector;

const NAME: &str = "vectors.db";

/// Raise it when the tables or what is in them change.
const VERSION: i64 = 2;

/// From version 1, which knew less of documents. The vectors stay, as they are dear; the follower goes over all documents
/// again and finds that of each only what is known about it is new.
const UPGRADE: &str = "
ALTER TABLE document ADD COLUMN kind TEXT;
ALTER TABLE document ADD COLUMN language TEXT;
ALTER TABLE document ADD COLUMN day INTEGER;
ALTER TABLE document ADD COLUMN tags TEXT NOT NULL DEFAULT '';
UPDATE state SET watermark = 0;";

const TABLES: &str = "
CREATE TABLE state (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), model TEXT NOT NULL, watermark INTEGER NOT NULL) STRICT;
INSERT INTO state VALUES (1, '', 0);
CREATE TABLE document (
  id          INTEGER PRIMARY KEY,
  tenant_id   BLOB NOT NULL,
  document_id BLOB NOT NULL,
  source      TEXT NOT NULL,
  name        TEXT NOT NULL,
  media_type  TEXT,
  kind        TEXT,
  language    TEXT,
  day         INTEGER, -- 20240309
  tags        TEXT NOT NULL DEFAULT '', -- in a line each
  UNIQUE (tenant_id, document_id)
) STRICT;
CREATE TABLE passage (
  id       INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  page     INTEGER NOT NULL,
  start    INTEGER NOT NULL,
  end      INTEGER NOT NULL,
  vector   BLOB    NOT NULL
) STRICT;
CREATE INDEX passage_document ON passage (document);";

/// Where a passage stands, and what it means.
pub(super) struct Kept {
    pub(super) page: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) vector: [f32; DIMENSIONS],
}

/// What a batch did, for whoever holds the vectors in memory.
#[derive(Default)]
pub(super) struct Applied {
    /// Vectors of another model have gone.
    pub(super) emptied: bool,
    pub(super) removed: Vec<(TenantId, DocumentId)>,
    /// With the row that each passage has now.
    pub(super) put: Vec<(TenantId, DocumentId, i64, Box<[f32; DIMENSIONS]>)>,
}

pub(super) struct File {
    conn: Connection,
}

impl File {
    /// Opens the file in `dir`, or begins an empty one.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir).map_err(|e| {
            Error::unavailable(format!("cannot make the directory `{}` of the vector index", dir.display()))
                .with_source(e)
        })?;
        let path = dir.join(NAME);
        let opened = Self::try_open(&path);
        match opened {
            Ok(Some(file)) => return Ok(file),
            Ok(None) => {
                tracing::warn!(path = %path.display(), "the vector index is of another version and is built again");
            }
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tracing::warn!(path = %path.display(), error = %error.chain(), "the vector index is damaged and is built again");
            }
            Err(error) => return Err(error),
        }
        for name in [NAME.to_owned(), format!("{NAME}-wal"), format!("{NAME}-shm")] {
            match std::fs::remove_file(dir.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::unavailable("cannot throw away a vector index").with_source(error));
                }
                _ => {}
            }
        }
        Self::try_open(&path)?.ok_or_else(|| Error::bug("a new vector index has another version"))
    }

    fn try_open(path: &Path) -> Result<Option<Self>> {
        let conn = Connection::open(path).map_err(broken("open"))?;
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;",
        )
        .map_err(broken("open"))?;
        let version: i64 =
            conn.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(broken("open"))?;
        match version {
            0 => {
                let sql = format!("BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;");
                conn.execute_batch(&sql).map_err(broken("begin"))?;
            }
            1 => {
                let sql = format!("BEGIN; {UPGRADE} PRAGMA user_version = {VERSION}; COMMIT;");
                conn.execute_batch(&sql).map_err(broken("bring up to date"))?;
            }
            VERSION => {}
            _ => return Ok(None),
        }
        Ok(Some(Self { conn }))
    }

    /// The model, and how far it is.
    pub(super) fn state(&self) -> Result<(String, i64)> {
        self.conn
            .query_row("SELECT model, watermark FROM state", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(broken("read"))
    }

    /// Writes a batch; `None` if the file is not at `from`.
    pub(super) fn apply(
        &mut self,
        model: &str,
        changes: Vec<VectorChange>,
        from: i64,
        upto: i64,
    ) -> Result<Option<Applied>> {
        let (known, watermark) = self.state()?;
        let same = known == model;
        if from != if same { watermark } else { 0 } {
            return Ok(None);
        }
        let mut applied = Applied { emptied: !same, ..Applied::default() };
        let tx = self.conn.transaction().map_err(broken("write to"))?;
        if !same {
            tx.execute_batch("DELETE FROM passage; DELETE FROM document;").map_err(broken("empty"))?;
        }
        for change in changes {
            match change {
                VectorChange::Remove(tenant, document) => {
                    remove(&tx, tenant, document)?;
                    applied.removed.push((tenant, document));
                }
                VectorChange::Put(document) => put(&tx, document, &mut applied)?,
            }
        }
        tx.execute("UPDATE state SET model = ?1, watermark = ?2", params![model, upto])
            .map_err(broken("write to"))?;
        tx.commit().map_err(broken("write to"))?;
        Ok(Some(applied))
    }

    pub(super) fn rewind(&self) -> Result<()> {
        self.conn
            .execute_batch("BEGIN; UPDATE document SET source = ''; UPDATE state SET watermark = 0; COMMIT;")
            .map_err(broken("begin again with"))
    }

    pub(super) fn sources(&self, tenant: TenantId, documents: &[DocumentId]) -> Result<Vec<Option<String>>> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT source FROM document WHERE tenant_id = ?1 AND document_id = ?2")
            .map_err(broken("read"))?;
        documents
            .iter()
            .map(|id| {
                let row = statement.query_row(params![tenant.as_bytes(), id.as_bytes()], |row| row.get(0));
                row.optional().map_err(broken("read"))
            })
            .collect()
    }

    /// Everything there is, passage by passage.
    pub(super) fn each(
        &self,
        mut take: impl FnMut(TenantId, DocumentId, i64, &[f32; DIMENSIONS]),
    ) -> Result<()> {
        let mut statement = self
            .conn
            .prepare(
                "SELECT d.tenant_id, d.document_id, p.id, p.vector FROM passage p JOIN document d ON d.id = p.document",
            )
            .map_err(broken("read"))?;
        let mut rows = statement.query([]).map_err(broken("read"))?;
        while let Some(row) = rows.next().map_err(broken("read"))? {
            let kept =
                row.get_ref(3).map_err(broken("read"))?.as_blob().map_err(|e| broken("read")(e.into()))?;
            take(
                TenantId(id(row, 0)?),
                DocumentId(id(row, 1)?),
                row.get(2).map_err(broken("read"))?,
                &loaded(kept)?,
            );
        }
        Ok(())
    }

    /// A passage of a document by its row; nothing if it is gone, and the row another's now.
    pub(super) fn passage(&self, tenant: TenantId, document: DocumentId, row: i64) -> Result<Option<Kept>> {
        let mut statement = self
            .conn
            .prepare_cached(
                "SELECT p.page, p.start, p.end, p.vector FROM passage p JOIN document d ON d.id = p.document
                 WHERE p.id = ?1 AND d.tenant_id = ?2 AND d.document_id = ?3",
            )
            .map_err(broken("read"))?;
        let found = statement
            .query_row(params![row, tenant.as_bytes(), document.as_bytes()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, Vec<u8>>(3)?))
            })
            .optional()
            .map_err(broken("read"))?;
        let Some((page, start, end, kept)) = found else { return Ok(None) };
        Ok(Some(Kept { page, start, end, vector: loaded(&kept)? }))
    }

    /// The documents of a tenant that a filter takes.
    pub(super) fn fitting(&self, tenant: TenantId, filter: &Filter<'_>) -> Result<HashSet<DocumentId>> {
        let mut statement = self
            .conn
            .prepare_cached(
                "SELECT document_id, name, media_type, kind, language, day, tags FROM document WHERE tenant_id = ?1",
            )
            .map_err(broken("read"))?;
        let mut rows = statement.query([tenant.as_bytes()]).map_err(broken("read"))?;
        let mut fitting = HashSet::new();
        while let Some(row) = rows.next().map_err(broken("read"))? {
            let (name, media_type): (String, Option<String>) =
                (row.get(1).map_err(broken("read"))?, row.get(2).map_err(broken("read"))?);
            if filter.fits(&name, media_type.as_deref(), &particulars(row).map_err(broken("read"))?) {
                fitting.insert(DocumentId(id(row, 0)?));
            }
        }
        Ok(fitting)
    }

    /// The vectors of a document, in the order of its passages.
    pub(super) fn vectors(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<Vec<f32>>> {
        let mut statement = self
            .conn
            .prepare_cached(
                "SELECT p.vector FROM passage p JOIN document d ON d.id = p.document
                 WHERE d.tenant_id = ?1 AND d.document_id = ?2 ORDER BY p.id",
            )
            .map_err(broken("read"))?;
        let rows: Vec<Vec<u8>> = statement
            .query_map(params![tenant.as_bytes(), document.as_bytes()], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(broken("read"))?;
        rows.iter().map(|kept| loaded(kept).map(|vector| vector.to_vec())).collect()
    }

    pub(super) fn counts(&self) -> Result<HashMap<TenantId, u64>> {
        let mut statement = self
            .conn
            .prepare(
                "SELECT d.tenant_id, count(*) FROM passage p JOIN document d ON d.id = p.document GROUP BY d.tenant_id",
            )
            .map_err(broken("read"))?;
        let mut rows = statement.query([]).map_err(broken("read"))?;
        let mut counts = HashMap::new();
        while let Some(row) = rows.next().map_err(broken("read"))? {
            counts
                .insert(TenantId(id(row, 0)?), row.get::<_, i64>(1).map_err(broken("read"))?.unsigned_abs());
        }
        Ok(counts)
    }
}

fn remove(conn: &Connection, tenant: TenantId, document: DocumentId) -> Result<()> {
    conn.prepare_cached("DELETE FROM document WHERE tenant_id = ?1 AND document_id = ?2")
        .and_then(|mut statement| statement.execute(params![tenant.as_bytes(), document.as_bytes()]))
        .map_err(broken("write to"))?;
    Ok(())
}

fn put(conn: &Connection, document: EmbeddedDocument, applied: &mut Applied) -> Result<()> {
    let EmbeddedDocument { tenant_id, document_id, name, media_type, particulars: known, source, passages } =
        document;
    let (day, tags) = (known.date.map(|day| day.0), in_lines(&known.tags));
    let Some(passages) = passages else {
        conn.prepare_cached(
            "UPDATE document SET name = ?3, media_type = ?4, kind = ?5, language = ?6, day = ?7, tags = ?8
             WHERE tenant_id = ?1 AND document_id = ?2",
        )
        .and_then(|mut s| {
            let (tenant, document) = (tenant_id.as_bytes(), document_id.as_bytes());
            s.execute(params![tenant, document, name, media_type, known.kind, known.language, day, tags])
        })
        .map_err(broken("write to"))?;
        return Ok(());
    };
    remove(conn, tenant_id, document_id)?;
    applied.removed.push((tenant_id, document_id));
    conn.prepare_cached(
        "INSERT INTO document (tenant_id, document_id, source, name, media_type, kind, language, day, tags)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )
    .and_then(|mut s| {
        let (tenant, document) = (tenant_id.as_bytes(), document_id.as_bytes());
        s.execute(params![tenant, document, source, name, media_type, known.kind, known.language, day, tags])
    })
    .map_err(broken("write to"))?;
    let document = conn.last_insert_rowid();
    let mut insert = conn
        .prepare_cached(
            "INSERT INTO passage (document, page, start, end, vector) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .map_err(broken("write to"))?;
    for passage in passages {
        let numbers = vector::checked(&passage.vector)?;
        insert
            .execute(params![document, passage.page, passage.start, passage.end, vector::kept(numbers)])
            .map_err(broken("write to"))?;
        applied.put.push((tenant_id, document_id, conn.last_insert_rowid(), Box::new(*numbers)));
    }
    Ok(())
}

fn in_lines(tags: &[String]) -> String {
    tags.iter().map(|tag| tag.replace('\n', " ")).collect::<Vec<_>>().join("\n")
}

/// From the columns that [`File::fitting`] asks for.
fn particulars(row: &Row<'_>) -> rusqlite::Result<Particulars> {
    let tags: String = row.get(6)?;
    Ok(Particulars {
        kind: row.get(3)?,
        language: row.get(4)?,
        date: row.get::<_, Option<u32>>(5)?.map(Day),
        tags: tags.lines().map(str::to_owned).collect(),
    })
}

fn id(row: &Row<'_>, column: usize) -> Result<Uuid> {
    row.get::<_, [u8; 16]>(column).map(Uuid::from_bytes).map_err(broken("read"))
}

fn loaded(kept: &[u8]) -> Result<[f32; DIMENSIONS]> {
    vector::loaded(kept)
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, "a vector in the index has another length"))
}

/// Translates an error of SQLite; `doing` says what was being done.
fn broken(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
    move |error| {
        let kind = match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                ErrorKind::Corrupt
            }
            Some(rusqlite::ErrorCode::DiskFull) => ErrorKind::DiskFull,
            _ => ErrorKind::Unavailable,
        };
        Error::new(kind, format!("cannot {doing} the vector index")).with_source(error)
    }
}
