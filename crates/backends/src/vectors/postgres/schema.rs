//! The tables of the index, and whether the server can have them. What is in them is dear, so an older version is brought
//! up to date.

use docmill_core::{Error, ErrorKind};

use crate::postgres::derived::{Derived, state};
use crate::postgres::is_connection_lost;

/// The index.
pub(super) static INDEX: Derived = Derived {
    what: "the vector index",
    version: 2,
    lock: 0x646f_636d_0005,
    extension: Some(("CREATE EXTENSION IF NOT EXISTS vector", no_extension)),
    make: include_str!("schema.sql"),
    remove: "DROP TABLE vector_index_state, vector_index_document, vector_index_passage",
    upgrade: Some((1, UPGRADE)),
    // A model may work for some seconds on a batch.
    turn: "60 seconds",
    state: state!("vector_index_state"),
};

/// Version 1 knew less of documents. The follower goes over all of them again and finds that of each only what is known
/// about it is new.
const UPGRADE: &str = r#"
ALTER TABLE vector_index_document ADD COLUMN kind text COLLATE "C", ADD COLUMN language text COLLATE "C",
  ADD COLUMN day integer, ADD COLUMN tags text[] COLLATE "C" NOT NULL DEFAULT '{}';
UPDATE vector_index_state SET version = 2, watermark = 0, holder = NULL, held_until = NULL"#;

fn no_extension(error: sqlx_core::Error) -> Error {
    if is_connection_lost(&error) {
        return INDEX.broken("make its tables")(error);
    }
    Error::new(ErrorKind::MissingDependency, "the database has no pgvector, which search by meaning needs")
        .with_hint("install pgvector 0.8 on the server, and let an administrator run `CREATE EXTENSION vector` in this database")
        .with_source(error)
}
