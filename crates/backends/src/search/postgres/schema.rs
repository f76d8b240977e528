//! The tables of the index. An older version is dropped and built again from the store: that takes minutes.

use crate::postgres::derived::{Derived, state};

/// The index.
pub(super) static INDEX: Derived = Derived {
    what: "the text index",
    // For `schema.sql`, `lexeme`, `rows` and the rules of `words` and `stems`.
    version: 2,
    lock: 0x646f_636d_0003,
    extension: None,
    make: include_str!("schema.sql"),
    // Version 1 had no words apart.
    remove: "DROP TABLE text_index_state, text_index_tenant, text_index_row; DROP TABLE IF EXISTS text_index_word",
    upgrade: None,
    turn: "5 seconds",
    state: state!("text_index_state"),
};
