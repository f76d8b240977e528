//! Every full-text index against the suite of its port.

#[cfg(feature = "postgres")]
mod postgres_server;

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::search::TantivyIndex;
use docmill_core::ports::TextIndex;
use docmill_testkit::conformance::{self, Backend, text_index};

fn main() -> ExitCode {
    let tantivy = Backend::embedded("tantivy", |place| async move {
        Ok(Arc::new(TantivyIndex::open(&place.dir().join("index"))?) as Arc<dyn TextIndex>)
    });
    let mut trials = text_index::suite().against([tantivy]);
    #[cfg(feature = "postgres")]
    {
        use docmill_backends::search::postgres::{Options, PostgresIndex};
        let postgres =
            Backend::<dyn TextIndex>::asked_by(postgres_server::VARIABLE, "postgres", |place| async move {
                let url = postgres_server::database(&place).await?;
                Ok(Arc::new(PostgresIndex::open(&url, Options::default()).await?) as Arc<dyn TextIndex>)
            });
        trials.extend(text_index::suite().against([postgres]));
    }
    conformance::run(trials)
}
