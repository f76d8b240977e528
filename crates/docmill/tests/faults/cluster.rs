//! A database server and a blob server that nobody else uses, and places of docmill on them.

use std::sync::Arc;

use docmill_core::Result;
use docmill_testkit::faults::OwnServer;
use rustix::process::Signal;
use tokio::runtime::Runtime;

use crate::postgres_server;
use crate::support::Mill;

/// How the servers are started.
pub(crate) const POSTGRES: &str = "DOCMILL_TEST_POSTGRES_COMMAND";
const S3: &str = "DOCMILL_TEST_S3_COMMAND";

/// What the S3 server has.
const BUCKET: &str = "docmill-test";

/// Leases are short, so that what was stopped is taken over soon; a blob server that restarts is waited for.
const SETTINGS: [(&str, &str); 6] = [
    ("DOCMILL_ENGINE_LEASE", "3s"),
    ("DOCMILL_ENGINE_RENEW_EVERY", "500ms"),
    ("DOCMILL_ENGINE_SWEEP_EVERY", "1s"),
    ("DOCMILL_BLOBS_RETRY_FOR", "5m"),
    ("AWS_ACCESS_KEY_ID", "test"),
    ("AWS_SECRET_ACCESS_KEY", "test"),
];

/// Both servers.
pub(crate) struct Cluster {
    postgres: OwnServer,
    s3: OwnServer,
    runtime: Arc<Runtime>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self {
            postgres: OwnServer::start(&command(POSTGRES), &[]),
            s3: OwnServer::start(&command(S3), &[]),
            runtime: Arc::new(Runtime::new().unwrap()),
        }
    }

    /// An empty place with a database and a folder of blobs of that name.
    pub(crate) fn place(&self, name: &str) -> (Mill, Database) {
        let server = format!("postgres://postgres@127.0.0.1:{}", self.postgres.port());
        let (admin, url) = (format!("{server}/postgres"), format!("{server}/{name}"));
        self.runtime.block_on(postgres_server::run(&admin, &format!("CREATE DATABASE {name}"))).unwrap();
        let blobs = format!("s3://{BUCKET}/{name}");
        let endpoint = format!("http://127.0.0.1:{}", self.s3.port());
        let mill = Mill::new().with_settings(&SETTINGS).with_settings(&[
            ("DOCMILL_STORE_URL", &url),
            ("DOCMILL_BLOBS_URL", &blobs),
            ("DOCMILL_BLOBS_ENDPOINT", &endpoint),
        ]);
        (mill, Database { url, runtime: Arc::clone(&self.runtime) })
    }

    /// The database server crashes and comes back.
    pub(crate) fn restart_database(&mut self) {
        self.postgres.end(Signal::QUIT);
        self.postgres.start_again();
    }

    /// The blob server is killed and comes back.
    pub(crate) fn restart_blobs(&mut self) {
        self.s3.end(Signal::KILL);
        self.s3.start_again();
    }
}

fn command(variable: &str) -> String {
    let command = std::env::var_os(variable).and_then(|value| value.into_string().ok());
    command.unwrap_or_else(|| panic!("{variable} says how a server is started; see .ci/with-servers"))
}

/// Questions to a database, each on a connection of its own.
pub(crate) struct Database {
    url: String,
    runtime: Arc<Runtime>,
}

impl Database {
    /// The one number that `sql` gives as text; none if it is null, or nobody answers.
    pub(crate) fn number(&self, sql: &str) -> Option<i64> {
        self.column(sql).ok()?.first()?.parse().ok()
    }

    /// The first column of all rows.
    pub(crate) fn column(&self, sql: &str) -> Result<Vec<String>> {
        self.runtime.block_on(postgres_server::texts(&self.url, sql))
    }

    /// Ends each connection to this database with so many chances of a hundred.
    pub(crate) fn cut(&self, percent: u64) {
        let sql = format!(
            "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() * 100 < {percent}"
        );
        self.column(&sql).unwrap();
    }
}
