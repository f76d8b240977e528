//! Brings a database file to this version's schema. Forward only, one transaction a migration.

use docmill_core::{Error, Result};
use rusqlite::Connection;

use super::row::sql_error;

const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_engine", include_str!("../../../../../migrations/sqlite/0001_engine.sql")),
    ("0002_trees", include_str!("../../../../../migrations/sqlite/0002_trees.sql")),
    ("0003_cheap_writes", include_str!("../../../../../migrations/sqlite/0003_cheap_writes.sql")),
    ("0004_access", include_str!("../../../../../migrations/sqlite/0004_access.sql")),
    ("0005_lists", include_str!("../../../../../migrations/sqlite/0005_lists.sql")),
    ("0006_understanding", include_str!("../../../../../migrations/sqlite/0006_understanding.sql")),
    (
        "0007_understanding_apart",
        include_str!("../../../../../migrations/sqlite/0007_understanding_apart.sql"),
    ),
    ("0008_usage", include_str!("../../../../../migrations/sqlite/0008_usage.sql")),
    ("0009_records", include_str!("../../../../../migrations/sqlite/0009_records.sql")),
    ("0010_catalogue", include_str!("../../../../../migrations/sqlite/0010_catalogue.sql")),
    ("0011_senders", include_str!("../../../../../migrations/sqlite/0011_senders.sql")),
    ("0012_kinds", include_str!("../../../../../migrations/sqlite/0012_kinds.sql")),
    ("0013_other", include_str!("../../../../../migrations/sqlite/0013_other.sql")),
];

/// The schema this build works with.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Applies what is missing. A database from a newer docmill is refused and left as it is.
pub(super) fn migrate(conn: &mut Connection) -> Result<()> {
    let found: u32 =
        conn.query_row("PRAGMA user_version", [], |r| r.get(0)).map_err(sql_error("read schema version"))?;
    if found > SCHEMA_VERSION {
        return Err(Error::conflict(format!(
            "the data directory has schema version {found}, and this docmill knows versions up to {SCHEMA_VERSION}"
        ))
        .with_hint("it was last used by a newer docmill: use that one, or another --data directory"));
    }
    for (index, (name, sql)) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        let tx = conn.transaction().map_err(sql_error("begin migration"))?;
        tx.execute_batch(sql).map_err(sql_error(name))?;
        tx.pragma_update(None, "user_version", index as u32 + 1).map_err(sql_error(name))?;
        tx.commit().map_err(sql_error(name))?;
        tracing::info!(migration = name, "schema migrated");
    }
    Ok(())
}

/// The schema that all migrations together make, as text to compare with the committed dump.
pub fn schema_dump() -> Result<String> {
    let mut conn = Connection::open_in_memory().map_err(sql_error("open"))?;
    migrate(&mut conn)?;
    let mut statement = conn
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name")
        .map_err(sql_error("dump schema"))?;
    let rows = statement.query_map([], |r| r.get::<_, String>(0)).map_err(sql_error("dump schema"))?;
    let mut out = String::new();
    for row in rows {
        out.push_str(&row.map_err(sql_error("dump schema"))?);
        out.push_str(";\n\n");
    }
    Ok(out)
}
