//! Every store against the one list of what a store must do.

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
    conformance::run(store::suite().against([sqlite]))
}
