//! Which tables and columns there are, in an order in which every row comes after those it refers to. The stores are
//! tested against it: a migration that adds a table or a column must say here what becomes of it.

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Whole numbers and times.
    Integer,
    /// Yes or no.
    Flag,
    /// Any number.
    Real,
    /// Text, among it JSON.
    Text,
    /// Hashes and keys.
    Bytes,
    /// UUIDs.
    Id,
}

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// As in the database.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// A table.
#[derive(PartialEq, Eq, Debug)]
pub struct Table {
    /// As in the database.
    pub name: &'static str,
    /// Names each row once, and gives the order in which rows go: those that others of the same table refer to first.
    pub key: &'static [&'static str],
    /// A mere start leaves rows in it, so they do not make a store one that is in use.
    pub incidental: bool,
    /// Everything in it.
    pub columns: &'static [Column],
}

impl Table {
    /// The table of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Where a column stands in a row.
    pub fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == column)
    }

    /// The key's columns.
    pub fn key_columns(&self) -> impl Iterator<Item = Column> {
        self.key.iter().filter_map(|name| self.columns.iter().find(|c| c.name == *name).copied())
    }
}

/// The table that is there while a store is half done, and says so.
pub const MARKER: &str = "transfer";

/// Tables that are not moved, and why.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("worker", "who works where ends with the processes; nobody works on a store that is frozen"),
    ("outbox", "on PostgreSQL only; folded, and so empty, in a store that is frozen"),
    ("schema_version", "of the database itself"),
];

/// Every table that is moved, in this order.
pub static TABLES: &[Table] = &[
    Table {
        name: "tenant",
        key: &["tenant_id"],
        incidental: true,
        columns: &[id("tenant_id"), text("name"), integer("event_floor"), integer("created_at")],
    },
    Table {
        name: "source",
        key: &["source_id"],
        incidental: false,
        columns: &[id("source_id"), id("tenant_id"), text("kind"), text("name"), integer("created_at")],
    },
    Table {
        name: "batch",
        key: &["batch_id"],
        incidental: false,
        columns: &[
            id("batch_id"),
            id("tenant_id"),
            text("name"),
            text("kind"),
            text("state"),
            flag("paused"),
            integer("priority"),
            integer("expected"),
            integer("received"),
            integer("children"),
            integer("open"),
            integer("completed"),
            integer("failed"),
            integer("skipped"),
            integer("cancelled"),
            integer("duplicates"),
            integer("dead"),
            integer("change_seq"),
            integer("created_at"),
            integer("started_at"),
            integer("sealed_at"),
            integer("finished_at"),
        ],
    },
    Table {
        name: "document",
        key: &["document_id"],
        incidental: false,
        columns: &[
            id("document_id"),
            id("tenant_id"),
            bytes("content_hash"),
            integer("bytes"),
            text("name"),
            text("blob_key"),
            text("media_type"),
            text("title"),
            text("transcription_key"),
            flag("needs_review"),
            integer("last_generation"),
            integer("current_generation"),
            id("current_ingestion_id"),
            integer("change_seq"),
            integer("created_at"),
            flag("removed"),
            id("understood_in"),
            id("record_in"),
            text("kind"),
            text("judged_kind"),
        ],
    },
    Table {
        name: "ingestion",
        // A member lies one deeper than its container, whatever their ids are.
        key: &["depth", "ingestion_id"],
        incidental: false,
        columns: &[
            id("ingestion_id"),
            id("tenant_id"),
            id("document_id"),
            id("batch_id"),
            id("source_id"),
            text("uploader"),
            text("source_metadata"),
            text("origin"),
            bytes("receipt_key"),
            text("name"),
            id("parent_id"),
            integer("position"),
            bytes("run_fingerprint"),
            integer("depth"),
            flag("superseded"),
            integer("generation"),
            integer("priority"),
            flag("duplicate"),
            text("status"),
            text("result"),
            text("skip_reason"),
            text("error"),
            text("problems"),
            flag("needs_review"),
            integer("attempt"),
            text("media_type"),
            integer("page_count"),
            integer("word_count"),
            text("language"),
            real("quality"),
            text("title"),
            text("transcription_key"),
            integer("created_at"),
            integer("started_at"),
            integer("progress_at"),
            integer("completed_at"),
            text("understood_by"),
        ],
    },
    Table {
        name: "task",
        key: &["task_id"],
        incidental: false,
        columns: &[
            integer("task_id"),
            id("tenant_id"),
            id("ingestion_id"),
            id("document_id"),
            id("batch_id"),
            text("kind"),
            text("stage"),
            text("state"),
            text("size"),
            integer("units"),
            integer("priority"),
            integer("run_at"),
            integer("order_key"),
            integer("epoch"),
            id("owner"),
            integer("lease_until"),
            integer("attempt"),
            integer("size_attempt"),
            integer("lost"),
            text("payload"),
            text("error"),
            integer("join_id"),
            integer("open_parts"),
            integer("reported_epoch"),
            integer("next_task_id"),
            integer("duration_ms"),
            integer("queued_at"),
            integer("finished_at"),
        ],
    },
    Table {
        name: "task_failure",
        key: &["task_id", "epoch"],
        incidental: false,
        columns: &[
            integer("task_id"),
            integer("epoch"),
            integer("attempt"),
            text("size"),
            text("outcome"),
            text("error"),
            integer("duration_ms"),
            integer("at"),
        ],
    },
    Table {
        name: "step_result",
        key: &["ingestion_id", "step", "fingerprint"],
        incidental: false,
        columns: &[
            id("ingestion_id"),
            text("step"),
            bytes("fingerprint"),
            id("tenant_id"),
            flag("degraded"),
            flag("reused"),
            text("body"),
            integer("attempt"),
            integer("duration_ms"),
            integer("at"),
        ],
    },
    Table {
        name: "understanding",
        key: &["ingestion_id", "step"],
        incidental: false,
        columns: &[id("ingestion_id"), text("step"), id("tenant_id"), text("body")],
    },
    Table {
        name: "tag",
        key: &["tenant_id", "key"],
        incidental: false,
        columns: &[id("tenant_id"), text("key"), text("name"), integer("documents"), text("into_key")],
    },
    Table {
        name: "document_tag",
        key: &["tenant_id", "key", "document_id"],
        incidental: false,
        columns: &[id("tenant_id"), text("key"), id("document_id")],
    },
    Table {
        name: "tag_meaning",
        key: &["tenant_id", "key"],
        incidental: false,
        columns: &[id("tenant_id"), text("key"), text("model"), bytes("vector")],
    },
    Table {
        name: "sketch",
        key: &["tenant_id", "document_id"],
        incidental: false,
        columns: &[id("tenant_id"), id("document_id"), bytes("body")],
    },
    Table {
        name: "judgement",
        key: &["document_id"],
        incidental: false,
        columns: &[id("document_id"), id("tenant_id"), text("body")],
    },
    Table {
        name: "usage",
        key: &["tenant_id", "call"],
        incidental: false,
        columns: &[
            id("tenant_id"),
            text("call"),
            id("ingestion_id"),
            text("step"),
            text("provider"),
            text("model"),
            integer("tokens_in"),
            integer("tokens_out"),
            real("cost"),
            integer("at"),
        ],
    },
    Table {
        name: "schema",
        key: &["tenant_id", "name", "version"],
        incidental: false,
        columns: &[id("tenant_id"), text("name"), integer("version"), text("body"), integer("created_at")],
    },
    Table {
        name: "record",
        key: &["ingestion_id"],
        incidental: false,
        columns: &[
            id("ingestion_id"),
            id("tenant_id"),
            id("document_id"),
            text("schema"),
            integer("version"),
            text("body"),
            flag("valid"),
            real("confidence"),
            text("model"),
            integer("tokens_in"),
            integer("tokens_out"),
            integer("missing"),
            text("reasons"),
            integer("at"),
        ],
    },
    Table {
        name: "review",
        key: &["ingestion_id"],
        incidental: false,
        columns: &[
            id("ingestion_id"),
            id("tenant_id"),
            id("document_id"),
            text("schema"),
            text("state"),
            text("reasons"),
            real("confidence"),
            integer("missing"),
            text("locked_by"),
            integer("locked_until"),
            integer("created_at"),
            integer("decided_at"),
        ],
    },
    Table {
        name: "review_action",
        key: &["ingestion_id", "seq"],
        incidental: false,
        columns: &[
            id("ingestion_id"),
            integer("seq"),
            id("tenant_id"),
            id("document_id"),
            text("schema"),
            integer("at"),
            text("actor"),
            text("action"),
            text("reason"),
            text("changes"),
            text("pages"),
        ],
    },
    Table {
        name: "review_sender",
        key: &["tenant_id", "schema", "mark", "ingestion_id", "seq"],
        incidental: false,
        columns: &[
            id("tenant_id"),
            text("schema"),
            text("mark"),
            id("ingestion_id"),
            integer("seq"),
            integer("at"),
            id("document_id"),
        ],
    },
    Table {
        name: "artifact",
        key: &["ingestion_id", "name"],
        incidental: false,
        columns: &[
            id("ingestion_id"),
            text("name"),
            text("blob_key"),
            bytes("hash"),
            integer("bytes"),
            text("media_type"),
        ],
    },
    Table {
        name: "manifest",
        key: &["ingestion_id", "fingerprint"],
        incidental: false,
        columns: &[
            id("ingestion_id"),
            bytes("fingerprint"),
            id("tenant_id"),
            id("batch_id"),
            integer("declared"),
            integer("emitted"),
            integer("refused"),
            flag("ended"),
            flag("superseded"),
            integer("tree_members"),
            integer("tree_bytes"),
        ],
    },
    Table {
        name: "event",
        key: &["tenant_id", "last_seq"],
        incidental: true,
        columns: &[id("tenant_id"), integer("last_seq"), integer("first_seq"), integer("at"), text("body")],
    },
    Table {
        name: "api_key",
        key: &["key_id"],
        incidental: false,
        columns: &[
            id("key_id"),
            id("tenant_id"),
            text("name"),
            text("role"),
            bytes("hash"),
            text("shown"),
            integer("created_at"),
            integer("revoked_at"),
        ],
    },
    Table {
        name: "audit_log",
        key: &["tenant_id", "seq"],
        incidental: true,
        columns: &[
            id("tenant_id"),
            integer("seq"),
            integer("at"),
            text("actor"),
            id("key_id"),
            text("request_id"),
            text("action"),
            text("subject"),
            text("detail"),
            bytes("previous"),
            bytes("hash"),
        ],
    },
    Table {
        name: "idempotency",
        key: &["tenant_id", "key"],
        incidental: true,
        columns: &[id("tenant_id"), text("key"), bytes("fingerprint"), text("answer"), integer("at")],
    },
    Table { name: "paused_kind", key: &["kind"], incidental: false, columns: &[text("kind")] },
    Table { name: "counter", key: &["name"], incidental: true, columns: &[text("name"), integer("value")] },
];

const fn id(name: &'static str) -> Column {
    Column { name, kind: Kind::Id }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: Kind::Integer }
}

const fn flag(name: &'static str) -> Column {
    Column { name, kind: Kind::Flag }
}

const fn real(name: &'static str) -> Column {
    Column { name, kind: Kind::Real }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}

const fn bytes(name: &'static str) -> Column {
    Column { name, kind: Kind::Bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_key_of_its_own_columns() {
        for table in TABLES {
            assert!(!table.key.is_empty(), "{}", table.name);
            assert_eq!(table.key_columns().count(), table.key.len(), "{}", table.name);
            assert!(LEFT_OUT.iter().all(|(left_out, _)| *left_out != table.name), "{}", table.name);
        }
    }
}
