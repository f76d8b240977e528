//! All rows out of the database, and all rows into one. The table `transfer` is there while a database is half done, and
//! nothing else opens it then.
//!
//! Everything goes over one connection. On the side that gives it holds one transaction with a lock on every table: all
//! that is read is one state, others can look but not write, and the server lets go when this process ends, however it
//! ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::clock::{Clock, IdGen};
use docmill_core::id::{BlobKey, WorkerId};
use docmill_core::ports::Transfer;
use docmill_core::ports::transfer::{
    Column, Found, Holder, Kind, MARKER, Mark, NamedBlob, Origin, Pieces, Row, TABLES, Table, Value,
    half_done, in_use,
};
use docmill_core::{Error, Result, crash};
use futures::TryStreamExt as _;
use sqlx_core::connection::Connection as _;
use sqlx_core::executor::Executor as _;
use sqlx_core::query::{Query, query};
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::raw_sql::raw_sql;
use sqlx_core::row::Row as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::{PgArguments, PgConnection, PgRow, Postgres};
use tokio::sync::{Mutex, MutexGuard, mpsc};
use uuid::Uuid;

use super::super::shared::marker::{self, ORIGIN};
use super::super::shared::pieces::{
    PIECES_AHEAD, Piece, Sender, names, report_end, row_size, select, select_blobs,
};
use super::migrate;
use super::open::{Options, PostgresStore};
use super::row::{Columns, code, json, sql_error, text};
use crate::postgres::connect_options;

/// Held while everything is moved out of or into a database; an arbitrary number, but always this one.
const LOCK: i64 = 0x646f_636d_0003;

/// What the server knows the connections of a move by.
const NAME: &str = "docmill migrate";

/// A worker that has shown no sign of life for so long is dead: it renews its leases four times as often.
const SILENT: Duration = Duration::from_mins(1);

/// The server knows a connection for a moment after it was closed, and after a kill until its statement has ended.
const LOOKS: u32 = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Others may have left something to number between a look and the lock.
const FOLDS: u32 = 5;

/// The whole of a database.
pub struct PostgresTransfer {
    place: String,
    conn: Arc<Mutex<PgConnection>>,
    store: Arc<PostgresStore>,
}

impl PostgresTransfer {
    /// Opens the side that gives, and the store behind it.
    pub async fn open_source(
        url: &str,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<(Arc<PostgresStore>, Self)> {
        let (conn, place) = connect(url).await?;
        let store = Arc::new(PostgresStore::open(url, options(), clock, ids).await?);
        Ok((Arc::clone(&store), Self { place, conn, store }))
    }

    /// Opens the side that takes, and the store behind it.
    pub async fn open_target(
        url: &str,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<(Arc<PostgresStore>, Self)> {
        let (conn, place) = connect(url).await?;
        let store = Arc::new(PostgresStore::open_half_done(url, options(), clock, ids).await?);
        Ok((Arc::clone(&store), Self { place, conn, store }))
    }

    async fn conn(&self) -> MutexGuard<'_, PgConnection> {
        self.conn.lock().await
    }
}

fn options() -> Options {
    Options { name: NAME.into(), ..Options::default() }
}

/// The connection that everything goes over. Nobody else moves this database, and nobody uses it.
async fn connect(url: &str) -> Result<(Arc<Mutex<PgConnection>>, String)> {
    // A table is read by one statement, however long that takes.
    let connect = connect_options("the store", url, NAME, Duration::ZERO)?;
    let place = format!(
        "postgres://{}:{}/{}",
        connect.get_host(),
        connect.get_port(),
        connect.get_database().unwrap_or_default()
    );
    let mut conn = PgConnection::connect_with(&connect).await.map_err(|e| {
        sql_error("connect to its database")(e).with_hint("check the URL of the store and its server")
    })?;
    // A user from whom policies hide rows is told so, instead of moving what is left.
    conn.execute(
        "SET lock_timeout = '15s'; SET idle_in_transaction_session_timeout = 0; SET row_security = off",
    )
    .await
    .map_err(sql_error("prepare a connection"))?;
    take(&mut conn, &place).await?;
    refuse_company(&mut conn, &place).await?;
    migrate::migrate(&mut conn).await?;
    Ok((Arc::new(Mutex::new(conn)), place))
}

/// Takes the database for this move, until the connection ends.
async fn take(conn: &mut PgConnection, place: &str) -> Result<()> {
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        let mine = query_scalar::<Postgres, bool>("SELECT pg_try_advisory_lock($1)")
            .bind(LOCK)
            .fetch_one(&mut *conn)
            .await
            .map_err(sql_error("ask for its database"))?;
        if mine {
            return Ok(());
        }
    }
    Err(Error::conflict(format!("another `docmill migrate` has {place}, or it is both sides of this one"))
        .with_hint("wait until that one has ended, or name another database"))
}

/// Refuses a database that other docmill processes are connected to.
async fn refuse_company(conn: &mut PgConnection, place: &str) -> Result<()> {
    let mut company = String::new();
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        company = query_scalar::<Postgres, String>(
            "SELECT coalesce(string_agg(DISTINCT coalesce(host(client_addr), 'the server itself'), ', '), '')
             FROM pg_stat_activity WHERE datname = current_database()
               AND application_name LIKE 'docmill%' AND application_name NOT LIKE $1 || '%'",
        )
        .bind(NAME)
        .fetch_one(&mut *conn)
        .await
        .map_err(sql_error("look who is connected"))?;
        if company.is_empty() {
            return Ok(());
        }
    }
    Err(Error::conflict(format!("other docmill processes are connected to {place}, from {company}"))
        .with_hint(
            "end every `docmill serve` and `docmill work` that uses it, then run `docmill migrate` again",
        ))
}

/// Refuses a database that is half done.
pub(super) async fn refuse_half_done(conn: &mut PgConnection) -> Result<()> {
    match origin(conn).await? {
        Some(origin) => Err(half_done("the database", &origin)),
        None => Ok(()),
    }
}

#[async_trait]
impl Transfer for PostgresTransfer {
    fn place(&self) -> &str {
        &self.place
    }

    async fn rows(&self, table: &'static Table, after: Option<&[Value]>) -> Result<Pieces<Row>> {
        let (send, pieces) = mpsc::channel(PIECES_AHEAD);
        let (conn, after, sender) = (Arc::clone(&self.conn), after.map(<[Value]>::to_vec), send.clone());
        let reading = tokio::spawn(async move {
            read_rows(&mut *conn.lock().await, table, after.as_deref(), &sender).await
        });
        report_end(send, reading);
        Ok(pieces)
    }

    async fn blobs(&self, after: Option<&BlobKey>) -> Result<Pieces<NamedBlob>> {
        let (send, pieces) = mpsc::channel(PIECES_AHEAD);
        let (conn, after, sender) = (Arc::clone(&self.conn), after.cloned(), send.clone());
        let reading =
            tokio::spawn(async move { read_blobs(&mut *conn.lock().await, after.as_ref(), &sender).await });
        report_end(send, reading);
        Ok(pieces)
    }

    async fn holders(&self) -> Result<Vec<Holder>> {
        holders(&mut *self.conn().await).await
    }

    async fn freeze(&self) -> Result<()> {
        let tables: Vec<&str> = TABLES.iter().map(|table| table.name).chain(["worker"]).collect();
        // Writers wait for this lock and are told that the server does not answer in time. The outbox is not locked:
        // whoever fills it writes to another table as well, and whoever empties it looks into it all the time.
        let lock =
            format!("BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE {} IN SHARE MODE", tables.join(", "));
        for _ in 0..FOLDS {
            self.store.fold_everything().await?;
            let mut conn = self.conn().await;
            conn.execute(AssertSqlSafe(lock.clone())).await.map_err(sql_error("stop all writes"))?;
            let left: bool = query_scalar::<Postgres, bool>("SELECT EXISTS (SELECT 1 FROM outbox)")
                .fetch_one(&mut *conn)
                .await
                .map_err(sql_error("look into the outbox"))?;
            let holders = if left { Vec::new() } else { holders(&mut conn).await? };
            if !left && holders.is_empty() {
                return Ok(());
            }
            conn.execute("ROLLBACK").await.map_err(sql_error("let go of its tables"))?;
            if let Some(holder) = holders.first() {
                return Err(Error::conflict(format!(
                    "worker {} ({}) still has work",
                    holder.worker_id, holder.place
                ))
                .with_hint("end it, then run `docmill migrate` again"));
            }
        }
        Err(Error::conflict(format!("something keeps writing to {}", self.place))
            .with_hint("end every docmill process that uses it, then run `docmill migrate` again"))
    }

    async fn found(&self) -> Result<Found> {
        found(&mut *self.conn().await).await
    }

    fn fit(&self, row: &mut Row) -> u64 {
        let mut replaced = 0;
        for value in row {
            if let Value::Text(held) = value
                && held.contains('\0')
            {
                *held = text(held);
                replaced += 1;
            }
        }
        replaced
    }

    async fn begin(&self, origin: &Origin) -> Result<()> {
        let mut conn = self.conn().await;
        let mut tx = conn.begin().await.map_err(sql_error("begin a copy"))?;
        if let Found::InUse(table) = found(&mut tx).await? {
            return Err(in_use(&self.place, table));
        }
        let tables: Vec<&str> = TABLES.iter().map(|table| table.name).chain(["worker", "outbox"]).collect();
        let sql = format!(
            "TRUNCATE {}; DROP TABLE IF EXISTS {MARKER};
             CREATE TABLE {MARKER} (step text COLLATE \"C\" NOT NULL PRIMARY KEY, body text NOT NULL)",
            tables.join(", ")
        );
        raw_sql(AssertSqlSafe(sql)).execute(&mut *tx).await.map_err(sql_error("mark a copy as half done"))?;
        write_mark(&mut tx, ORIGIN, &json(origin)?).await?;
        tx.commit().await.map_err(sql_error("begin a copy"))?;
        // From now on nobody can open it; somebody may have a moment ago.
        if let Err(error) = refuse_company(&mut conn, &self.place).await {
            drop_marker(&mut conn).await?;
            return Err(error);
        }
        Ok(())
    }

    async fn import(&self, table: &'static Table, rows: Vec<Row>, mark: &Mark) -> Result<()> {
        let mut conn = self.conn().await;
        let mut tx = conn.begin().await.map_err(sql_error("begin a chunk"))?;
        insert(&mut tx, table, rows).await?;
        write_mark(&mut tx, table.name, &json(mark)?).await?;
        crash::point("migrate.chunk.before_commit");
        tx.commit().await.map_err(sql_error("commit a chunk"))?;
        crash::point("migrate.chunk.after_commit");
        Ok(())
    }

    async fn mark(&self, step: &str, mark: &Mark) -> Result<()> {
        write_mark(&mut *self.conn().await, step, &json(mark)?).await
    }

    async fn finish(&self) -> Result<()> {
        let mut conn = self.conn().await;
        query::<Postgres>(
            "SELECT setval('task_number', (SELECT coalesce(max(task_id), 0) + 1 FROM task), false)",
        )
        .execute(&mut *conn)
        .await
        .map_err(sql_error("go on with the numbers of tasks"))?;
        let tables: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        // The server knows nothing yet about what it was given at one go, and would choose poor plans at first.
        raw_sql(AssertSqlSafe(format!("ANALYZE {}", tables.join(", "))))
            .execute(&mut *conn)
            .await
            .map_err(sql_error("look over its tables"))?;
        crash::point("migrate.finish.before_commit");
        drop_marker(&mut conn).await
    }
}

async fn drop_marker(conn: &mut PgConnection) -> Result<()> {
    raw_sql(AssertSqlSafe(format!("DROP TABLE {MARKER}")))
        .execute(conn)
        .await
        .map(drop)
        .map_err(sql_error("take off the mark of a copy"))
}

/// What a half-done database is a copy of.
async fn origin(conn: &mut PgConnection) -> Result<Option<Origin>> {
    let there: bool = query_scalar::<Postgres, bool>("SELECT to_regclass($1) IS NOT NULL")
        .bind(MARKER)
        .fetch_one(&mut *conn)
        .await
        .map_err(sql_error("look for the mark of a copy"))?;
    if !there {
        return Ok(None);
    }
    let sql = format!("SELECT body FROM {MARKER} WHERE step = $1");
    let body: String = query_scalar::<Postgres, String>(AssertSqlSafe(sql))
        .bind(ORIGIN)
        .fetch_one(conn)
        .await
        .map_err(sql_error("read the mark of a copy"))?;
    marker::read(&body).map(Some)
}

async fn found(conn: &mut PgConnection) -> Result<Found> {
    if let Some(origin) = origin(conn).await? {
        return Ok(Found::HalfDone(origin, marks(conn).await?));
    }
    for table in TABLES.iter().filter(|table| !table.incidental) {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
        let any: bool = query_scalar::<Postgres, bool>(AssertSqlSafe(sql))
            .fetch_one(&mut *conn)
            .await
            .map_err(sql_error("look whether it is empty"))?;
        if any {
            return Ok(Found::InUse(table.name));
        }
    }
    Ok(Found::Empty)
}

async fn marks(conn: &mut PgConnection) -> Result<BTreeMap<String, Mark>> {
    let sql = format!("SELECT step, body FROM {MARKER} WHERE step <> $1");
    let rows = query::<Postgres>(AssertSqlSafe(sql))
        .bind(ORIGIN)
        .fetch_all(conn)
        .await
        .map_err(sql_error("read the mark of a copy"))?;
    let mut marks = BTreeMap::new();
    for row in &rows {
        let mut c = Columns::new(row);
        let (step, body): (String, String) = (c.get()?, c.get()?);
        marks.insert(step, marker::read(&body)?);
    }
    Ok(marks)
}

async fn write_mark(conn: &mut PgConnection, step: &str, body: &str) -> Result<()> {
    let sql = format!(
        "INSERT INTO {MARKER} (step, body) VALUES ($1, $2) ON CONFLICT (step) DO UPDATE SET body = excluded.body"
    );
    query::<Postgres>(AssertSqlSafe(sql))
        .bind(step)
        .bind(body)
        .execute(conn)
        .await
        .map(drop)
        .map_err(sql_error("note how far a copy is"))
}

/// All rows by one statement: a list for each column.
async fn insert(conn: &mut PgConnection, table: &'static Table, rows: Vec<Row>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns = names(table.columns.iter().map(|c| c.name));
    let lists: Vec<String> = table
        .columns
        .iter()
        .enumerate()
        .map(|(n, c)| format!("${}::{}[]", n + 1, sql_type(c.kind)))
        .collect();
    let sql = format!("INSERT INTO {} ({columns}) SELECT * FROM unnest({})", table.name, lists.join(", "));
    let mut by_column: Vec<Vec<Value>> =
        table.columns.iter().map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        for (list, value) in by_column.iter_mut().zip(row) {
            list.push(value);
        }
    }
    let mut statement = query::<Postgres>(AssertSqlSafe(sql));
    for (column, list) in table.columns.iter().zip(by_column) {
        statement = bind_list(statement, table, column, list)?;
    }
    match statement.execute(conn).await {
        Ok(_) => Ok(()),
        Err(e) if code(&e).as_deref() == Some("23505") => {
            Err(Error::conflict(format!("two rows of `{}` cannot be told apart on PostgreSQL", table.name))
                .with_hint(
                    "names that differ only in a NUL character become the same there; rename one of them",
                )
                .with_source(e))
        }
        Err(e) => Err(sql_error(&format!("take rows of `{}`", table.name))(e)),
    }
}

fn sql_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "bigint",
        Kind::Flag => "boolean",
        Kind::Real => "double precision",
        Kind::Text => "text",
        Kind::Bytes => "bytea",
        Kind::Id => "uuid",
    }
}

type Statement<'q> = Query<'q, Postgres, PgArguments>;

/// Binds the values of one column, each of which is of the column's kind or null.
fn bind_list<'q>(
    statement: Statement<'q>,
    table: &Table,
    column: &Column,
    list: Vec<Value>,
) -> Result<Statement<'q>> {
    macro_rules! bind {
        ($variant:ident) => {{
            let mut values = Vec::with_capacity(list.len());
            for value in list {
                values.push(match value {
                    Value::Null => None,
                    Value::$variant(value) => Some(value),
                    _ => return Err(unexpected(table, column)),
                });
            }
            statement.bind(values)
        }};
    }
    Ok(match column.kind {
        Kind::Integer => bind!(Integer),
        Kind::Flag => bind!(Flag),
        Kind::Real => bind!(Real),
        Kind::Text => bind!(Text),
        Kind::Bytes => bind!(Bytes),
        Kind::Id => bind!(Id),
    })
}

fn bind_one<'q>(statement: Statement<'q>, value: &Value) -> Statement<'q> {
    match value.clone() {
        Value::Null => statement.bind(None::<i64>),
        Value::Integer(n) => statement.bind(n),
        Value::Flag(flag) => statement.bind(flag),
        Value::Real(n) => statement.bind(n),
        Value::Text(text) => statement.bind(text),
        Value::Bytes(bytes) => statement.bind(bytes),
        Value::Id(id) => statement.bind(id),
    }
}

async fn read_rows(
    conn: &mut PgConnection,
    table: &'static Table,
    after: Option<&[Value]>,
    send: &Sender<Row>,
) -> Result<()> {
    let doing = format!("give rows of `{}`", table.name);
    let mut statement = query::<Postgres>(AssertSqlSafe(select(table, after.is_some(), |n| format!("${n}"))));
    for value in after.unwrap_or_default() {
        statement = bind_one(statement, value);
    }
    let mut rows = statement.fetch(conn);
    let mut piece = Piece::new();
    while let Some(row) = rows.try_next().await.map_err(sql_error(&doing))? {
        let values = read_row(&row, table)?;
        let bytes = row_size(&values);
        if let Some(full) = piece.push(values, bytes)
            && send.send(Ok(full)).await.is_err()
        {
            return Ok(());
        }
    }
    send_rest(piece, send).await;
    Ok(())
}

fn read_row(row: &PgRow, table: &'static Table) -> Result<Row> {
    let read = |(place, column): (usize, &Column)| {
        let value = match column.kind {
            Kind::Integer => row.try_get::<Option<i64>, _>(place).map(|v| v.map(Value::Integer)),
            Kind::Flag => row.try_get::<Option<bool>, _>(place).map(|v| v.map(Value::Flag)),
            Kind::Real => row.try_get::<Option<f64>, _>(place).map(|v| v.map(Value::Real)),
            Kind::Text => row.try_get::<Option<String>, _>(place).map(|v| v.map(Value::Text)),
            Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(place).map(|v| v.map(Value::Bytes)),
            Kind::Id => row.try_get::<Option<Uuid>, _>(place).map(|v| v.map(Value::Id)),
        };
        value.map(|v| v.unwrap_or(Value::Null)).map_err(|e| unexpected(table, column).with_source(e))
    };
    table.columns.iter().enumerate().map(read).collect()
}

async fn read_blobs(
    conn: &mut PgConnection,
    after: Option<&BlobKey>,
    send: &Sender<NamedBlob>,
) -> Result<()> {
    let statement = query::<Postgres>(AssertSqlSafe(select_blobs("$1")));
    let mut rows = statement.bind(after.map_or("", BlobKey::as_str).to_owned()).fetch(conn);
    let mut piece = Piece::new();
    while let Some(row) = rows.try_next().await.map_err(sql_error("name its blobs"))? {
        let mut c = Columns::new(&row);
        let blob = NamedBlob { key: BlobKey::stored(c.get::<String>()?), bytes: c.count()?, hash: c.hash()? };
        if let Some(full) = piece.push(blob, size_of::<NamedBlob>())
            && send.send(Ok(full)).await.is_err()
        {
            return Ok(());
        }
    }
    send_rest(piece, send).await;
    Ok(())
}

async fn send_rest<T>(piece: Piece<T>, send: &Sender<T>) {
    if let Some(rest) = piece.rest()
        && send.send(Ok(rest)).await.is_err()
    {
        tracing::debug!("whoever took the rows is gone");
    }
}

fn unexpected(table: &Table, column: &Column) -> Error {
    Error::bug(format!("column `{}` of `{}` is not what it is described as", column.name, table.name))
}

/// Workers that are listed, and owners of work that are not. One that was heard of lately, or whose lease is not over,
/// may come back.
async fn holders(conn: &mut PgConnection) -> Result<Vec<Holder>> {
    let rows = query::<Postgres>(
        "WITH t AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now)
         SELECT w.worker_id, w.host, w.pid, w.seen_at > t.now - $1
             OR EXISTS (SELECT 1 FROM task r WHERE r.state = 'running' AND r.owner = w.worker_id AND r.lease_until > t.now)
           FROM worker w, t
         UNION ALL
         SELECT r.owner, NULL, NULL, max(r.lease_until) > min(t.now) FROM task r, t
           WHERE r.state = 'running' AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.worker_id = r.owner)
           GROUP BY r.owner",
    )
    .bind(SILENT.as_millis() as i64)
    .fetch_all(conn)
    .await
    .map_err(sql_error("look who has work"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            let worker_id: WorkerId = c.worker()?;
            let (host, pid): (Option<String>, Option<i64>) = (c.get()?, c.get()?);
            let place = marker::place(host.as_deref(), pid);
            Ok(Holder { worker_id, place, lives: c.flag()? })
        })
        .collect()
}
