//! All rows out of the file, and all rows into one. The table `transfer` is there while a file is half done, and nothing
//! else opens it then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use docmill_core::id::{BlobKey, WorkerId};
use docmill_core::ports::Transfer;
use docmill_core::ports::transfer::{
    Column, Found, Holder, Kind, MARKER, Mark, NamedBlob, Origin, Pieces, Row, TABLES, Table, Value,
    half_done, in_use,
};
use docmill_core::{Error, Result, crash};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params, params_from_iter};
use tokio::sync::mpsc;

use super::super::shared::marker::{self, ORIGIN};
use super::super::shared::pieces::{
    PIECES_AHEAD, Piece, Sender, names, report_end, row_size, select, select_blobs,
};
use super::row::{Columns, json, sql_error};
use super::{migrate, open, readers};

/// The whole of a database file.
pub struct SqliteTransfer {
    path: PathBuf,
    place: String,
    writer: Arc<Mutex<Connection>>,
}

impl SqliteTransfer {
    /// Opens or makes the file. The caller owns the data directory.
    pub fn open(path: &Path) -> Result<Self> {
        let mut conn = open::connect(path)?;
        // A copy has the references of what it was copied from; checking each of them again finds nothing new.
        conn.pragma_update(None, "foreign_keys", false).map_err(sql_error("prepare its file"))?;
        migrate::migrate(&mut conn)?;
        Ok(Self { path: path.to_owned(), place: place(path), writer: Arc::new(Mutex::new(conn)) })
    }

    /// Runs `work` on the connection that writes.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let writer = Arc::clone(&self.writer);
        blocking(move || work(&mut writer.lock().unwrap_or_else(PoisonError::into_inner))).await
    }

    /// Runs `look` on a connection of its own.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let path = self.path.clone();
        blocking(move || look(&readers::open(&path)?)).await
    }
}

#[async_trait]
impl Transfer for SqliteTransfer {
    fn place(&self) -> &str {
        &self.place
    }

    async fn rows(&self, table: &'static Table, after: Option<&[Value]>) -> Result<Pieces<Row>> {
        let (send, pieces) = mpsc::channel(PIECES_AHEAD);
        let (path, after, sender) = (self.path.clone(), after.map(<[Value]>::to_vec), send.clone());
        let reading = tokio::task::spawn_blocking(move || read_rows(&path, table, after.as_deref(), &sender));
        report_end(send, reading);
        Ok(pieces)
    }

    async fn blobs(&self, after: Option<&BlobKey>) -> Result<Pieces<NamedBlob>> {
        let (send, pieces) = mpsc::channel(PIECES_AHEAD);
        let (path, after, sender) = (self.path.clone(), after.cloned(), send.clone());
        let reading = tokio::task::spawn_blocking(move || read_blobs(&path, after.as_ref(), &sender));
        report_end(send, reading);
        Ok(pieces)
    }

    async fn holders(&self) -> Result<Vec<Holder>> {
        self.look(holders).await
    }

    async fn freeze(&self) -> Result<()> {
        // The lock on the data directory keeps others away; this one also keeps away what does not ask for that.
        self.write(|conn| conn.execute_batch("BEGIN IMMEDIATE").map_err(sql_error("stop all writes")))
            .await?;
        let Some(holder) = self.holders().await?.into_iter().next() else { return Ok(()) };
        self.write(|conn| conn.execute_batch("ROLLBACK").map_err(sql_error("let go of its file"))).await?;
        Err(Error::conflict(format!("worker {} ({}) still has work", holder.worker_id, holder.place))
            .with_hint("end it, then run `docmill migrate` again"))
    }

    async fn found(&self) -> Result<Found> {
        self.look(found).await
    }

    fn fit(&self, _row: &mut Row) -> u64 {
        0
    }

    async fn begin(&self, origin: &Origin) -> Result<()> {
        let (place, body) = (self.place.clone(), json(origin)?);
        self.write(move |conn| {
            let tx = conn.transaction().map_err(sql_error("begin a copy"))?;
            if let Found::InUse(table) = found(&tx)? {
                return Err(in_use(&place, table));
            }
            for table in TABLES.iter().rev().map(|table| table.name).chain(["worker"]) {
                tx.execute(&format!("DELETE FROM {table}"), []).map_err(sql_error("empty its tables"))?;
            }
            tx.execute_batch(&format!(
                "DROP TABLE IF EXISTS {MARKER};
                 CREATE TABLE {MARKER} (step TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;"
            ))
            .map_err(sql_error("mark a copy as half done"))?;
            write_mark(&tx, ORIGIN, &body)?;
            tx.commit().map_err(sql_error("begin a copy"))
        })
        .await
    }

    async fn import(&self, table: &'static Table, rows: Vec<Row>, mark: &Mark) -> Result<()> {
        let mark = json(mark)?;
        self.write(move |conn| {
            let tx = conn.transaction().map_err(sql_error("begin a chunk"))?;
            insert(&tx, table, &rows)?;
            write_mark(&tx, table.name, &mark)?;
            crash::point("migrate.chunk.before_commit");
            tx.commit().map_err(sql_error("commit a chunk"))?;
            crash::point("migrate.chunk.after_commit");
            Ok(())
        })
        .await
    }

    async fn mark(&self, step: &str, mark: &Mark) -> Result<()> {
        let (step, mark) = (step.to_owned(), json(mark)?);
        self.write(move |conn| write_mark(conn, &step, &mark)).await
    }

    async fn finish(&self) -> Result<()> {
        // The next task gets the number after the highest there is, without being told.
        self.write(|conn| {
            crash::point("migrate.finish.before_commit");
            conn.execute_batch(&format!("DROP TABLE {MARKER}"))
                .map_err(sql_error("take off the mark of a copy"))
        })
        .await
    }
}

/// Refuses a file that is half done.
pub(super) fn refuse_half_done(conn: &Connection, path: &Path) -> Result<()> {
    match origin(conn)? {
        Some(origin) => Err(half_done(&place(path), &origin)),
        None => Ok(()),
    }
}

fn place(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| Error::bug("moving rows was cut short").with_source(e))?
}

/// What a half-done file is a copy of.
fn origin(conn: &Connection) -> Result<Option<Origin>> {
    let there = conn
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", [MARKER], |_| Ok(()))
        .optional()
        .map_err(sql_error("look for the mark of a copy"))?;
    if there.is_none() {
        return Ok(None);
    }
    let body: String = conn
        .query_row(&format!("SELECT body FROM {MARKER} WHERE step = ?1"), [ORIGIN], |r| r.get(0))
        .map_err(sql_error("read the mark of a copy"))?;
    marker::read(&body).map(Some)
}

fn found(conn: &Connection) -> Result<Found> {
    if let Some(origin) = origin(conn)? {
        return Ok(Found::HalfDone(origin, marks(conn)?));
    }
    for table in TABLES.iter().filter(|table| !table.incidental) {
        let any: bool = conn
            .query_row(&format!("SELECT EXISTS (SELECT 1 FROM {})", table.name), [], |r| r.get(0))
            .map_err(sql_error("look whether it is empty"))?;
        if any {
            return Ok(Found::InUse(table.name));
        }
    }
    Ok(Found::Empty)
}

fn marks(conn: &Connection) -> Result<BTreeMap<String, Mark>> {
    let failed = || sql_error("read the mark of a copy");
    let mut statement =
        conn.prepare(&format!("SELECT step, body FROM {MARKER} WHERE step <> ?1")).map_err(failed())?;
    let rows = statement
        .query_map([ORIGIN], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?)))
        .map_err(failed())?;
    let mut marks = BTreeMap::new();
    for row in rows {
        let (step, body) = row.map_err(failed())?;
        marks.insert(step, marker::read(&body)?);
    }
    Ok(marks)
}

fn write_mark(conn: &Connection, step: &str, body: &str) -> Result<()> {
    conn.prepare_cached(&format!(
        "INSERT INTO {MARKER} (step, body) VALUES (?1, ?2) ON CONFLICT (step) DO UPDATE SET body = excluded.body"
    ))
    .and_then(|mut s| s.execute(params![step, body]))
    .map(drop)
    .map_err(sql_error("note how far a copy is"))
}

fn insert(tx: &Transaction<'_>, table: &Table, rows: &[Row]) -> Result<()> {
    let columns = names(table.columns.iter().map(|c| c.name));
    let values: Vec<String> = (1..=table.columns.len()).map(|n| format!("?{n}")).collect();
    let sql = format!("INSERT INTO {} ({columns}) VALUES ({})", table.name, values.join(", "));
    let doing = format!("take rows of `{}`", table.name);
    let mut statement = tx.prepare_cached(&sql).map_err(sql_error(&doing))?;
    for row in rows {
        statement.execute(params_from_iter(row.iter().map(bound))).map_err(sql_error(&doing))?;
    }
    Ok(())
}

fn bound(value: &Value) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Integer(n) => ValueRef::Integer(*n),
        Value::Flag(flag) => ValueRef::Integer(i64::from(*flag)),
        Value::Real(n) => ValueRef::Real(*n),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Bytes(bytes) => ValueRef::Blob(bytes),
        Value::Id(id) => ValueRef::Blob(id.as_bytes()),
    })
}

fn read_rows(path: &Path, table: &'static Table, after: Option<&[Value]>, send: &Sender<Row>) -> Result<()> {
    let conn = readers::open(path)?;
    let doing = format!("give rows of `{}`", table.name);
    let sql = select(table, after.is_some(), |n| format!("?{n}"));
    let mut statement = conn.prepare(&sql).map_err(sql_error(&doing))?;
    let bound = params_from_iter(after.unwrap_or_default().iter().map(bound));
    let mut rows = statement.query(bound).map_err(sql_error(&doing))?;
    let mut piece = Piece::new();
    while let Some(row) = rows.next().map_err(sql_error(&doing))? {
        let values: Row = table
            .columns
            .iter()
            .enumerate()
            .map(|(place, column)| {
                let found = row.get_ref(place).map_err(sql_error(&doing))?;
                value(column.kind, found).ok_or_else(|| unexpected(table, column))
            })
            .collect::<Result<_>>()?;
        let bytes = row_size(&values);
        if let Some(full) = piece.push(values, bytes)
            && send.blocking_send(Ok(full)).is_err()
        {
            return Ok(());
        }
    }
    send_rest(piece, send);
    Ok(())
}

fn read_blobs(path: &Path, after: Option<&BlobKey>, send: &Sender<NamedBlob>) -> Result<()> {
    let conn = readers::open(path)?;
    let doing = "name its blobs";
    let mut statement = conn.prepare(&select_blobs("?1")).map_err(sql_error(doing))?;
    let mut rows = statement.query([after.map_or("", BlobKey::as_str)]).map_err(sql_error(doing))?;
    let mut piece = Piece::new();
    while let Some(row) = rows.next().map_err(sql_error(doing))? {
        let mut c = Columns::new(row);
        let blob = NamedBlob { key: BlobKey::stored(c.get::<String>()?), bytes: c.count()?, hash: c.hash()? };
        if let Some(full) = piece.push(blob, size_of::<NamedBlob>())
            && send.blocking_send(Ok(full)).is_err()
        {
            return Ok(());
        }
    }
    send_rest(piece, send);
    Ok(())
}

fn send_rest<T>(piece: Piece<T>, send: &Sender<T>) {
    if let Some(rest) = piece.rest()
        && send.blocking_send(Ok(rest)).is_err()
    {
        tracing::debug!("whoever took the rows is gone");
    }
}

/// What a stored value is; none if it is nothing of that kind.
fn value(kind: Kind, found: ValueRef<'_>) -> Option<Value> {
    Some(match (kind, found) {
        (_, ValueRef::Null) => Value::Null,
        (Kind::Integer, ValueRef::Integer(n)) => Value::Integer(n),
        (Kind::Flag, ValueRef::Integer(n)) => Value::Flag(n != 0),
        (Kind::Real, ValueRef::Real(n)) => Value::Real(n),
        (Kind::Text, ValueRef::Text(text)) => Value::Text(std::str::from_utf8(text).ok()?.to_owned()),
        (Kind::Bytes, ValueRef::Blob(bytes)) => Value::Bytes(bytes.to_owned()),
        (Kind::Id, ValueRef::Blob(bytes)) => Value::Id(uuid::Uuid::from_slice(bytes).ok()?),
        _ => return None,
    })
}

fn unexpected(table: &Table, column: &Column) -> Error {
    Error::corrupt(format!(
        "the store holds something unexpected in column `{}` of `{}`",
        column.name, table.name
    ))
    .with_hint("restore a backup (`docmill restore`)")
}

/// Workers that are listed, and owners of work that are not. Whoever opened this owns the data directory, so none of them
/// lives.
fn holders(conn: &Connection) -> Result<Vec<Holder>> {
    let doing = "look who has work";
    let mut statement = conn
        .prepare(
            "SELECT worker_id, host, pid FROM worker
             UNION ALL SELECT DISTINCT owner, NULL, NULL FROM task
               WHERE state = 'running' AND owner NOT IN (SELECT worker_id FROM worker)",
        )
        .map_err(sql_error(doing))?;
    let mut rows = statement.query([]).map_err(sql_error(doing))?;
    let mut holders = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error(doing))? {
        let mut c = Columns::new(row);
        let worker_id: WorkerId = c.worker()?;
        let (host, pid): (Option<String>, Option<i64>) = (c.get()?, c.get()?);
        let place = marker::place(host.as_deref(), pid);
        holders.push(Holder { worker_id, place, lives: false });
    }
    Ok(holders)
}
