//! What entries change in the catalogue, given what it holds of their documents: rows to add and to drop, and by how much
//! tags are more or less frequent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::catalogue::{Entry, MAX_NEAR};
use docmill_core::sketch::{NearLine, Sketch};
use docmill_core::{Error, Result, tag};

/// A tag of a tenant, by its key.
pub(crate) type Tag = (TenantId, String);

/// The tags that entries have, by their keys.
pub(crate) struct Wanted {
    documents: Vec<(TenantId, DocumentId, BTreeSet<String>)>,
    /// Each tag as it is first written.
    pub(crate) names: BTreeMap<Tag, String>,
}

impl Wanted {
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut names = BTreeMap::new();
        let documents = entries
            .iter()
            .map(|entry| {
                let mut keys = BTreeSet::new();
                for name in &entry.tags {
                    let Some(key) = tag::key(name) else { continue };
                    names.entry((entry.tenant_id, key.clone())).or_insert_with(|| shown_name(name, &key));
                    keys.insert(key);
                }
                (entry.tenant_id, entry.document_id, keys)
            })
            .collect();
        Self { documents, names }
    }
}

/// A name in one line, as long as its key at most.
pub(crate) fn shown_name(name: &str, key: &str) -> String {
    let name = name.replace('\0', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().count() > key.chars().count() { key.to_owned() } else { name }
}

/// What is to be written.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) added: Vec<(TenantId, String, DocumentId)>,
    pub(crate) dropped: Vec<(TenantId, String, DocumentId)>,
    /// How many more documents have a tag.
    pub(crate) counts: BTreeMap<Tag, i64>,
}

impl Changes {
    /// `merged` says which of the wanted tags are another by now, `held` which keys documents have.
    pub(crate) fn between(
        wanted: &Wanted,
        merged: &HashMap<Tag, String>,
        held: &HashMap<DocumentId, BTreeSet<String>>,
    ) -> Self {
        let mut changes = Self::default();
        let none = BTreeSet::new();
        for (tenant, document, keys) in &wanted.documents {
            let keys: BTreeSet<String> =
                keys.iter().map(|key| merged.get(&(*tenant, key.clone())).unwrap_or(key).clone()).collect();
            let held = held.get(document).unwrap_or(&none);
            for key in keys.difference(held) {
                changes.added.push((*tenant, key.clone(), *document));
                *changes.counts.entry((*tenant, key.clone())).or_default() += 1;
            }
            for key in held.difference(&keys) {
                changes.dropped.push((*tenant, key.clone(), *document));
                *changes.counts.entry((*tenant, key.clone())).or_default() -= 1;
            }
        }
        changes.counts.retain(|_, more| *more != 0);
        // In the order of their table: neighbours lie on one page.
        changes.added.sort_unstable();
        changes.dropped.sort_unstable();
        changes
    }
}

/// The nearest of many, gathered one by one.
pub(crate) struct Nearest {
    of: Sketch,
    found: Vec<(f32, DocumentId)>,
}

impl Nearest {
    pub(crate) fn of(sketch: Sketch) -> Self {
        Self { of: sketch, found: Vec::new() }
    }

    pub(crate) fn look_at(&mut self, document: impl FnOnce() -> Option<DocumentId>, sketch: &[u8]) {
        let similarity = self.of.similarity(sketch);
        if similarity >= Sketch::NEAR
            && let Some(document) = document()
        {
            self.found.push((similarity, document));
            // A form that thousands use must not fill the memory.
            if self.found.len() >= 64 * MAX_NEAR {
                self.keep_best();
            }
        }
    }

    fn keep_best(&mut self) {
        self.found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.found.truncate(MAX_NEAR);
    }

    /// The best of them, nearest first.
    pub(crate) fn best(mut self) -> Vec<(f32, DocumentId)> {
        self.keep_best();
        self.found
    }
}

/// With the names of those that are still there.
pub(crate) fn named(
    found: &[(f32, DocumentId)],
    mut names: HashMap<DocumentId, (String, Option<String>)>,
) -> Vec<NearLine> {
    found
        .iter()
        .filter_map(|(similarity, document_id)| {
            let (name, title) = names.remove(document_id)?;
            Some(NearLine { document_id: *document_id, name, title, similarity: *similarity })
        })
        .collect()
}

/// A vector as it is stored.
pub(crate) fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A stored vector; none where the model could not tell.
pub(crate) fn vector_of(bytes: &[u8]) -> Option<Vec<f32>> {
    let (values, _) = bytes.as_chunks::<4>();
    (!values.is_empty()).then(|| values.iter().map(|value| f32::from_le_bytes(*value)).collect())
}

/// A tag as a merge finds it.
pub(crate) struct Found {
    pub(crate) key: String,
    /// What it was merged into.
    pub(crate) into_key: Option<String>,
}

/// What a merge comes to.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Merge {
    /// It was done before; this is the tag that stays.
    Done(String),
    /// All that the first has goes to the second.
    Move {
        from: String,
        into: String,
        /// The second has to be made.
        new: bool,
        /// The second was merged into the first: it stands for itself again.
        turned: bool,
    },
}

/// What merging `from` into the tag of the key `into` comes to; none if there is no tag `from`.
pub(crate) fn plan_merge(from: Option<Found>, into_key: &str, into: Option<&Found>) -> Result<Option<Merge>> {
    let Some(from) = from else { return Ok(None) };
    if from.key == into_key {
        return Err(Error::invalid_request(format!("`{into_key}` cannot be merged into itself")));
    }
    let stays = into.and_then(|into| into.into_key.as_deref());
    if let Some(other) = from.into_key {
        if other == into_key || stays == Some(other.as_str()) {
            return Ok(Some(Merge::Done(other)));
        }
        return Err(Error::conflict(format!("`{}` was merged into `{other}` before", from.key))
            .with_hint(format!("merge `{other}`, which has its documents now")));
    }
    let turned = stays == Some(from.key.as_str());
    let target = if turned { into_key } else { stays.unwrap_or(into_key) };
    Ok(Some(Merge::Move { into: target.to_owned(), new: into.is_none(), turned, from: from.key }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: &str, into_key: Option<&str>) -> Found {
        Found { key: key.into(), into_key: into_key.map(Into::into) }
    }

    fn moved(from: &str, into: &str, new: bool, turned: bool) -> Merge {
        Merge::Move { from: from.into(), into: into.into(), new, turned }
    }

    #[test]
    fn merge_follows_what_was_merged_before() {
        let plan = |from: Found, into_key: &str, into: Found| plan_merge(Some(from), into_key, Some(&into));
        let free = |key: &str| found(key, None);
        assert_eq!(plan_merge(None, "b", Some(&free("b"))).unwrap(), None);
        assert_eq!(plan_merge(Some(free("a")), "b", None).unwrap(), Some(moved("a", "b", true, false)));
        let onward = plan(free("a"), "b", found("b", Some("c"))).unwrap();
        assert_eq!(onward, Some(moved("a", "c", false, false)));
        let turned = plan(free("a"), "b", found("b", Some("a"))).unwrap();
        assert_eq!(turned, Some(moved("a", "b", false, true)));
        let again = plan(found("a", Some("b")), "b", free("b")).unwrap();
        assert_eq!(again, Some(Merge::Done("b".into())));
        assert!(plan(found("a", Some("x")), "b", free("b")).is_err(), "its documents are elsewhere");
        assert!(plan(free("a"), "a", free("a")).is_err());
    }

    #[test]
    fn vector_comes_back_and_an_empty_one_is_none() {
        assert_eq!(vector_of(&vector_bytes(&[0.5, -2.0])), Some(vec![0.5, -2.0]));
        assert_eq!(vector_of(&[]), None);
    }
}
