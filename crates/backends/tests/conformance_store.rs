//! Every store against the one list of what a store must do.

#[cfg(feature = "postgres")]
mod postgres_server;

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::store::sqlite::SqliteStore;
use docmill_core::clock::SystemIds;
use docmill_core::ports::Store;
use docmill_testkit::conformance::{self, Backend, store};

fn main() -> ExitCode {
    let sqlite = Backend::<dyn Store>::embedded("sqlite", |place| async move {
        let path = place.dir().join("docmill.db");
        Ok(Arc::new(SqliteStore::open(&path, place.clock(), Arc::new(SystemIds))?) as Arc<dyn Store>)
    });
    let mut trials = store::suite().against([sqlite]);
    #[cfg(feature = "postgres")]
    {
        let postgres =
            Backend::<dyn Store>::asked_by(postgres_server::VARIABLE, "postgres", |place| async move {
                Ok(Arc::new(postgres_server::open(&place).await?) as Arc<dyn Store>)
            });
        trials.extend(store::suite().against([postgres]));
    }
    conformance::run(trials)
}
