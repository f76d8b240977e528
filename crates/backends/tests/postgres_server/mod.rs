//! A database of its own for each test, on the server that `DOCMILL_TEST_POSTGRES` points to. It is copied from a
//! template that has been migrated once, and dropped when the test ends.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::sync::Arc;

use docmill_backends::store::postgres::{MIGRATIONS, Options, PostgresStore, Time};
use docmill_core::clock::{Clock, SteppingClock, SystemIds};
use docmill_core::id::ContentHash;
use docmill_core::{Error, Result};
use docmill_testkit::conformance::Place;
use sqlx_core::connection::Connection as _;
use sqlx_core::raw_sql::raw_sql;
use sqlx_core::row::Row as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::PgConnection;

/// Where the server is.
pub(crate) const VARIABLE: &str = "DOCMILL_TEST_POSTGRES";

/// The URL of the database of this place, made if it is not there.
pub(crate) async fn database(place: &Place) -> Result<String> {
    let server = place.url().ok_or_else(|| Error::bug("no server was asked for"))?.to_owned();
    let url = with_database(&server, &place.name());
    if let Some(made) = TestDatabase::make(&server, &place.name()).await? {
        place.keep(made);
    }
    Ok(url)
}

/// Opens the store of this place on the clock of the case.
pub(crate) async fn open(place: &Place) -> Result<PostgresStore> {
    open_at(&database(place).await?, place.clock()).await
}

/// Opens the store at `url` on a given clock.
pub(crate) async fn open_at(url: &str, clock: Arc<SteppingClock>) -> Result<PostgresStore> {
    let time = Time::Of(Arc::clone(&clock) as Arc<dyn Clock>);
    let options = Options { time, max_connections: 5, ..Options::default() };
    PostgresStore::open(url, options, clock, Arc::new(SystemIds)).await
}

/// `server` with another database.
pub(crate) fn with_database(server: &str, name: &str) -> String {
    let (base, query) = server.split_once('?').map_or((server, None), |(b, q)| (b, Some(q)));
    let base = match base.find("://").map(|at| at + 3) {
        Some(authority) => match base[authority..].find('/') {
            Some(slash) => &base[..authority + slash],
            None => base,
        },
        None => base,
    };
    match query {
        Some(query) => format!("{base}/{name}?{query}"),
        None => format!("{base}/{name}"),
    }
}

/// Runs statements outside any transaction of the store.
pub(crate) async fn run(url: &str, sql: &str) -> Result<()> {
    let mut conn = connect(url).await?;
    raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.map_err(failed(sql))?;
    conn.close().await.map_err(failed("close"))
}

/// The first column of all rows, as text.
pub(crate) async fn texts(url: &str, sql: &str) -> Result<Vec<String>> {
    let mut conn = connect(url).await?;
    let rows = raw_sql(AssertSqlSafe(sql.to_owned())).fetch_all(&mut conn).await.map_err(failed(sql))?;
    rows.iter().map(|row| row.try_get::<String, _>(0).map_err(failed(sql))).collect()
}

/// A connection of its own.
pub(crate) async fn connect(url: &str) -> Result<PgConnection> {
    PgConnection::connect(url).await.map_err(failed("connect"))
}

fn failed(doing: &str) -> impl FnOnce(sqlx_core::Error) -> Error + '_ {
    move |e| Error::unavailable(format!("the test server cannot do this: {doing}")).with_source(e)
}

/// A database that is dropped with this.
pub(crate) struct TestDatabase {
    server: String,
    name: String,
}

impl TestDatabase {
    /// Makes it; none if it is there already.
    pub(crate) async fn make(server: &str, name: &str) -> Result<Option<Self>> {
        let mut conn = connect(server).await?;
        if exists(&mut conn, name).await? {
            return Ok(None);
        }
        let template = template(server, &mut conn).await?;
        // Copying files is quicker than logging every page, and nobody writes to the template meanwhile.
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY");
        raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await.map_err(failed("make a database"))?;
        Ok(Some(Self { server: server.to_owned(), name: name.to_owned() }))
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        with_database(&self.server, &self.name)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let (server, sql) =
            (self.server.clone(), format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        // On a thread of its own: this may be dropped inside a runtime.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run(&server, &sql)).map_err(std::io::Error::other)
        });
        // A database that stays behind goes with its server.
        drop(dropped.join());
    }
}

async fn exists(conn: &mut PgConnection, name: &str) -> Result<bool> {
    let sql = format!("SELECT 1 FROM pg_database WHERE datname = '{name}'");
    let rows = raw_sql(AssertSqlSafe(sql)).fetch_all(conn).await.map_err(failed("look for a database"))?;
    Ok(!rows.is_empty())
}

/// The migrated template, made once for all tests of these migrations.
async fn template(server: &str, conn: &mut PgConnection) -> Result<String> {
    let all: String = MIGRATIONS.iter().map(|(_, sql)| *sql).collect();
    let name = format!("docmill_template_{}", ContentHash::of(all.as_bytes()).short());
    // Tests are processes of their own and all begin at once.
    raw_sql("SELECT pg_advisory_lock(77001)")
        .execute(&mut *conn)
        .await
        .map_err(failed("wait for the template"))?;
    let made = async {
        if exists(conn, &name).await? {
            return Ok(());
        }
        let unfinished = format!("{name}_unfinished");
        for sql in [
            format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"),
            format!("CREATE DATABASE {unfinished}"),
        ] {
            raw_sql(AssertSqlSafe(sql)).execute(&mut *conn).await.map_err(failed("make the template"))?;
        }
        let clock = Arc::new(docmill_core::clock::SystemClock::new());
        let url = with_database(server, &unfinished);
        let store = PostgresStore::open(&url, Options::default(), clock, Arc::new(SystemIds)).await?;
        store.close().await;
        let sql = format!("ALTER DATABASE {unfinished} RENAME TO {name}");
        raw_sql(AssertSqlSafe(sql)).execute(&mut *conn).await.map_err(failed("name the template"))?;
        Ok(())
    }
    .await;
    raw_sql("SELECT pg_advisory_unlock(77001)")
        .execute(&mut *conn)
        .await
        .map_err(failed("leave the template"))?;
    made.map(|()| name)
}
