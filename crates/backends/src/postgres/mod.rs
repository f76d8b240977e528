//! What everything on a PostgreSQL server shares: how it connects, what it can store, and what the server's errors
//! mean. `what` is the name of the caller in messages: `the store`, `the text index`.

pub(crate) mod derived;
pub(crate) mod filter;

use std::borrow::Cow;
use std::str::FromStr as _;
use std::time::Duration;

use docmill_core::{Error, ErrorKind, Result};
use sqlx_core::error::DatabaseError;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnectOptions, PgConnection, Postgres};

/// What every connection is set to.
pub(crate) fn connect_options(
    what: &str,
    url: &str,
    name: &str,
    statement_timeout: Duration,
) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url).map_err(|e| {
        Error::invalid_config(format!("the URL of {what} is not one of PostgreSQL"))
            .with_hint("write `postgres://user:password@host:5432/database`")
            .with_source(e)
    })?;
    let millis = statement_timeout.as_millis().to_string();
    let half_millis = (statement_timeout / 2).as_millis().to_string();
    Ok(options.application_name(name).options([
        ("statement_timeout", millis.as_str()),
        ("lock_timeout", half_millis.as_str()),
        // A process that stops in the middle of a transaction holds its locks, and nobody can take its work over while
        // it does. docmill itself never thinks that long between two statements.
        ("idle_in_transaction_session_timeout", half_millis.as_str()),
        ("default_transaction_isolation", "read committed"),
    ]))
}

/// Refuses a database that cannot hold every text.
pub(crate) async fn check_encoding(what: &str, conn: &mut PgConnection) -> Result<()> {
    let encoding: String = query_scalar::<Postgres, String>("SELECT current_setting('server_encoding')")
        .fetch_one(conn)
        .await
        .map_err(|e| failure(what, "ask for the encoding of its database", e))?;
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(Error::invalid_config(format!(
        "the database of {what} has the encoding {encoding}, and docmill needs UTF8"
    ))
    .with_hint("make another one: `CREATE DATABASE docmill ENCODING 'UTF8' TEMPLATE template0`"))
}

/// The server's own code of an error (SQLSTATE), if it came from the server.
pub(crate) fn code(error: &sqlx_core::Error) -> Option<String> {
    error.as_database_error().and_then(DatabaseError::code).map(Cow::into_owned)
}

/// Whether the connection, not the statement, is at fault.
pub(crate) fn is_connection_lost(error: &sqlx_core::Error) -> bool {
    use sqlx_core::Error as E;
    match error {
        E::Io(_) | E::Tls(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed | E::Protocol(_) => true,
        // 57P01–57P05: the server ends or begins; class 08: the connection itself.
        _ => code(error).is_some_and(|c| c.starts_with("57P0") || c.starts_with("08")),
    }
}

/// Translates a driver error; `doing` says what was being done.
pub(crate) fn failure(what: &str, doing: &str, error: sqlx_core::Error) -> Error {
    let code = code(&error).unwrap_or_default();
    let (kind, hint) = judge(&code, is_connection_lost(&error));
    let mut failure = Error::new(kind, format!("{what} cannot {doing}"));
    if let Some(hint) = hint {
        failure = failure.with_hint(hint);
    }
    failure.with_source(error)
}

fn judge(code: &str, connection_lost: bool) -> (ErrorKind, Option<&'static str>) {
    match code {
        "53100" => (
            ErrorKind::DiskFull,
            Some("free some disk space on the database server; work goes on by itself then"),
        ),
        "25006" => (
            ErrorKind::Unavailable,
            Some(
                "the database takes no writes: point `store` at the primary server, or make it writable again",
            ),
        ),
        "57014" | "55P03" => (
            ErrorKind::Unavailable,
            Some("the database did not answer in time; look for long transactions and locks on it"),
        ),
        "53300" => (
            ErrorKind::Unavailable,
            Some("let the database server take more connections, or run fewer workers"),
        ),
        "42501" => (
            ErrorKind::Unavailable,
            Some("the database user may not do this: make it the owner of docmill's tables"),
        ),
        "54000" | "22001" => (ErrorKind::InvalidRequest, Some("a name or key is too long for the database")),
        "XX001" | "XX002" => (ErrorKind::Corrupt, Some("restore a backup of the database")),
        _ if connection_lost => (ErrorKind::Unavailable, None),
        // 53: resources; 58: the server's own files; 28 and 3D: it refuses us; 40: collisions that did not end.
        _ if ["53", "58", "28", "3D", "40"].iter().any(|class| code.starts_with(class)) => {
            (ErrorKind::Unavailable, None)
        }
        _ => (ErrorKind::Bug, None),
    }
}

/// Text as the database can hold it: everything but NUL, which hostile names contain.
pub(crate) fn text(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_becomes_a_kind() {
        for (code, kind) in [
            ("53100", ErrorKind::DiskFull),
            ("25006", ErrorKind::Unavailable),
            ("57014", ErrorKind::Unavailable),
            ("53300", ErrorKind::Unavailable),
            ("40P01", ErrorKind::Unavailable),
            ("28P01", ErrorKind::Unavailable),
            ("54000", ErrorKind::InvalidRequest),
            ("XX001", ErrorKind::Corrupt),
            ("42601", ErrorKind::Bug),
        ] {
            assert_eq!(judge(code, false).0, kind, "{code}");
        }
        assert_eq!(judge("", true).0, ErrorKind::Unavailable);
    }

    #[test]
    fn nobody_holds_a_lock_longer_than_others_wait_for_it() {
        let options = connect_options("a test", "postgres://x@y/z", "test", Duration::from_secs(30)).unwrap();
        let options = options.get_options().unwrap();
        for limit in ["lock_timeout=15000", "idle_in_transaction_session_timeout=15000"] {
            assert!(options.contains(limit), "{options}");
        }
    }

    #[test]
    fn nul_is_the_only_character_that_changes() {
        assert_eq!(text("a\0b\u{1}ü"), "a\u{fffd}b\u{1}ü");
    }
}
