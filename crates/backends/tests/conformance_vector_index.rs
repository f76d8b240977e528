//! Every vector index against the suite of its port.

#[cfg(feature = "postgres")]
mod postgres_server;

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::vectors::FlatIndex;
use docmill_core::ports::VectorIndex;
use docmill_testkit::conformance::{self, Backend, vector_index};

fn main() -> ExitCode {
    let flat = Backend::embedded("flat", |place| async move {
        Ok(Arc::new(FlatIndex::new(&place.dir().join("vectors"))) as Arc<dyn VectorIndex>)
    });
    let mut trials = vector_index::suite().against([flat]);
    #[cfg(feature = "postgres")]
    {
        use docmill_backends::vectors::PostgresVectors;
        let postgres =
            Backend::<dyn VectorIndex>::asked_by(postgres_server::VARIABLE, "postgres", |place| async move {
                let url = postgres_server::database(&place).await?;
                Ok(Arc::new(PostgresVectors::new(&url)?) as Arc<dyn VectorIndex>)
            });
        trials.extend(vector_index::suite().against([postgres]));
    }
    conformance::run(trials)
}
