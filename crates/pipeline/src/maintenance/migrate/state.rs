//! All rows of a store as a number and a hash for each table, so that two stores can be compared.

use std::collections::BTreeMap;

use docmill_core::Result;
use docmill_core::id::ContentHash;
use docmill_core::ports::Transfer;
use docmill_core::ports::transfer::{TABLES, Table, Value};
use sha2::{Digest as _, Sha256};

use super::{Progress, Watch};

/// What one table holds.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sum {
    rows: u64,
    hash: ContentHash,
}

/// What a store holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct State {
    tables: Vec<(&'static str, Sum)>,
    /// Values that the other store cannot hold as they are.
    pub(super) replaced: u64,
}

impl State {
    /// Reads everything, as it will be in the store `into`.
    pub(super) async fn of(
        transfer: &dyn Transfer,
        into: Option<&dyn Transfer>,
        doing: &str,
        watch: Watch<'_>,
    ) -> Result<Self> {
        let mut state = Self { tables: Vec::new(), replaced: 0 };
        for table in TABLES {
            let doing = format!("{doing}: {}", table.name);
            let (sum, replaced) = sum(transfer, table, into, &doing, watch).await?;
            state.tables.push((table.name, sum));
            state.replaced += replaced;
        }
        Ok(state)
    }

    /// Whether a store holds just this. One that holds something else is mostly found out by its first table.
    pub(super) async fn is_held_by(&self, transfer: &dyn Transfer, watch: Watch<'_>) -> Result<bool> {
        for (table, (name, expected)) in TABLES.iter().zip(&self.tables) {
            let (found, _) = sum(transfer, table, None, &format!("comparing: {name}"), watch).await?;
            if found != *expected {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The first table in which another store differs, in words.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let differs = self.tables.iter().zip(&other.tables).find(|(mine, theirs)| mine != theirs);
        differs.map(|((name, mine), (_, theirs))| {
            if mine.rows == theirs.rows {
                format!("the {} rows of `{name}` are not the same", mine.rows)
            } else {
                format!("`{name}` has {} rows instead of {}", theirs.rows, mine.rows)
            }
        })
    }

    /// One hash for everything.
    pub(super) fn hash(&self) -> ContentHash {
        let mut hasher = Sha256::new();
        hasher.update(b"docmill state v1");
        for (name, sum) in &self.tables {
            hasher.update(name.as_bytes());
            hasher.update([0]);
            hasher.update(sum.rows.to_be_bytes());
            hasher.update(sum.hash.0);
        }
        ContentHash(hasher.finalize().into())
    }

    /// Rows of all tables.
    pub(super) fn rows(&self) -> u64 {
        self.tables.iter().map(|(_, sum)| sum.rows).sum()
    }

    /// Rows of one table.
    pub(super) fn rows_of(&self, table: &str) -> u64 {
        self.tables.iter().find(|(name, _)| *name == table).map_or(0, |(_, sum)| sum.rows)
    }

    /// Rows of each table.
    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        self.tables.iter().map(|(name, sum)| ((*name).to_owned(), sum.rows)).collect()
    }
}

async fn sum(
    transfer: &dyn Transfer,
    table: &'static Table,
    into: Option<&dyn Transfer>,
    doing: &str,
    watch: Watch<'_>,
) -> Result<(Sum, u64)> {
    let mut pieces = transfer.rows(table, None).await?;
    let (mut hasher, mut rows, mut replaced) = (Sha256::new(), 0, 0);
    while let Some(piece) = pieces.recv().await {
        for mut row in piece? {
            replaced += into.map_or(0, |into| into.fit(&mut row));
            for value in &row {
                feed(&mut hasher, value);
            }
            rows += 1;
        }
        watch(Progress { doing: doing.to_owned(), done: rows, of: rows });
    }
    Ok((Sum { rows, hash: ContentHash(hasher.finalize().into()) }, replaced))
}

/// A value so that no two lists of values look alike: its kind, its length, itself.
fn feed(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Integer(n) => {
            hasher.update(b"i");
            hasher.update(n.to_be_bytes());
        }
        Value::Flag(flag) => hasher.update(if *flag { b"y" } else { b"-" }),
        Value::Real(n) => {
            hasher.update(b"r");
            // SQLite keeps no sign of zero.
            hasher.update(if *n == 0.0 { 0.0_f64 } else { *n }.to_be_bytes());
        }
        Value::Text(text) => feed_bytes(hasher, *b"t", text.as_bytes()),
        Value::Bytes(bytes) => feed_bytes(hasher, *b"b", bytes),
        Value::Id(id) => {
            hasher.update(b"u");
            hasher.update(id.as_bytes());
        }
    }
}

fn feed_bytes(hasher: &mut Sha256, kind: [u8; 1], bytes: &[u8]) {
    hasher.update(kind);
    hasher.update((bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(values: &[Value]) -> [u8; 32] {
        let mut hasher = Sha256::new();
        for value in values {
            feed(&mut hasher, value);
        }
        hasher.finalize().into()
    }

    #[test]
    fn lists_of_values_that_differ_have_other_hashes() {
        let text = |text: &str| Value::Text(text.into());
        let lists = [
            vec![text("ab"), text("c")],
            vec![text("a"), text("bc")],
            vec![text("abc")],
            vec![Value::Bytes(b"abc".to_vec())],
            vec![Value::Null],
            vec![],
            vec![text("")],
            vec![Value::Integer(0)],
            vec![Value::Flag(false)],
            vec![Value::Flag(true)],
            vec![Value::Real(1.0)],
            vec![Value::Integer(1)],
        ];
        for (n, list) in lists.iter().enumerate() {
            for other in &lists[n + 1..] {
                assert_ne!(hash(list), hash(other), "{list:?} {other:?}");
            }
        }
        assert_eq!(hash(&[Value::Real(-0.0)]), hash(&[Value::Real(0.0)]));
    }

    #[test]
    fn difference_names_the_table_and_what_is_wrong_with_it() {
        let sum = |rows, of: &[u8]| Sum { rows, hash: ContentHash::of(of) };
        let state = |batch| State { tables: vec![("tenant", sum(1, b"t")), ("batch", batch)], replaced: 0 };
        let one = state(sum(3, b"b"));
        assert_eq!(one.difference(&one), None);
        let fewer = one.difference(&state(sum(2, b"c")));
        assert_eq!(fewer.as_deref(), Some("`batch` has 2 rows instead of 3"));
        let other = one.difference(&state(sum(3, b"c")));
        assert_eq!(other.as_deref(), Some("the 3 rows of `batch` are not the same"));
    }
}
