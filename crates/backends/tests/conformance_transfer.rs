//! Every store against the one list of what moving everything needs.

#[cfg(feature = "postgres")]
mod postgres_server;

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use docmill_backends::store::sqlite::SqliteStore;
use docmill_backends::store::transfer::{self, Side};
use docmill_core::Result;
use docmill_core::clock::SystemIds;
use docmill_core::ports::Store;
use docmill_testkit::conformance::transfer::{Doors, Whole, suite};
use docmill_testkit::conformance::{self, Backend, Place};

/// A folder of files.
struct Files(Arc<Place>);

impl Files {
    async fn whole(&self, name: &str, side: Side) -> Result<Whole> {
        let url = format!("sqlite:{name}.db");
        transfer::open(&url, self.0.dir(), side, self.0.clock(), Arc::new(SystemIds)).await
    }
}

#[async_trait]
impl Doors for Files {
    async fn store(&self, name: &str) -> Result<Arc<dyn Store>> {
        let path = self.0.dir().join(format!("{name}.db"));
        Ok(Arc::new(SqliteStore::open(&path, self.0.clock(), Arc::new(SystemIds))?))
    }

    async fn source(&self, name: &str) -> Result<Whole> {
        self.whole(name, Side::Source).await
    }

    async fn target(&self, name: &str) -> Result<Whole> {
        self.whole(name, Side::Target).await
    }
}

#[cfg(feature = "postgres")]
mod databases {
    use docmill_backends::store::postgres::{Options, PostgresStore, Time};
    use docmill_core::Error;
    use docmill_core::clock::Clock;

    use super::postgres_server::TestDatabase;
    use super::{
        Arc, Doors, Place, Result, Side, Store, SystemIds, Whole, async_trait, postgres_server, transfer,
    };

    /// A server with a database for each name.
    pub(super) struct Databases(pub(super) Arc<Place>);

    impl Databases {
        async fn url(&self, name: &str) -> Result<String> {
            let server = self.0.url().ok_or_else(|| Error::bug("no server was asked for"))?;
            let name = format!("{}_{name}", self.0.name());
            if let Some(made) = TestDatabase::make(server, &name).await? {
                self.0.keep(made);
            }
            Ok(postgres_server::with_database(server, &name))
        }

        async fn whole(&self, name: &str, side: Side) -> Result<Whole> {
            let url = self.url(name).await?;
            transfer::open(&url, self.0.dir(), side, self.0.clock(), Arc::new(SystemIds)).await
        }
    }

    #[async_trait]
    impl Doors for Databases {
        async fn store(&self, name: &str) -> Result<Arc<dyn Store>> {
            let clock = self.0.clock();
            let time = Time::Of(Arc::clone(&clock) as Arc<dyn Clock>);
            // Not a name that a move takes for the company of others: a case closes its stores by dropping them, and
            // the server learns of that a little later.
            let options = Options { time, max_connections: 5, name: "test".into(), ..Options::default() };
            Ok(Arc::new(
                PostgresStore::open(&self.url(name).await?, options, clock, Arc::new(SystemIds)).await?,
            ))
        }

        async fn source(&self, name: &str) -> Result<Whole> {
            self.whole(name, Side::Source).await
        }

        async fn target(&self, name: &str) -> Result<Whole> {
            self.whole(name, Side::Target).await
        }
    }
}

fn main() -> ExitCode {
    let sqlite = Backend::<dyn Doors>::embedded("sqlite", |place| async move {
        Ok(Arc::new(Files(place)) as Arc<dyn Doors>)
    });
    let mut trials = suite().against([sqlite]);
    #[cfg(feature = "postgres")]
    {
        let postgres =
            Backend::<dyn Doors>::asked_by(postgres_server::VARIABLE, "postgres", |place| async move {
                Ok(Arc::new(databases::Databases(place)) as Arc<dyn Doors>)
            });
        trials.extend(suite().against([postgres]));
    }
    conformance::run(trials)
}
