//! Every full-text index against the suite of its port.

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::search::TantivyIndex;
use docmill_core::ports::TextIndex;
use docmill_testkit::conformance::{self, Backend, text_index};

fn main() -> ExitCode {
    let tantivy = Backend::embedded("tantivy", |place| async move {
        Ok(Arc::new(TantivyIndex::open(&place.dir().join("index"))?) as Arc<dyn TextIndex>)
    });
    conformance::run(text_index::suite().against([tantivy]))
}
