//! What was made lately, up to a weight; what was asked for longest ago goes first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Values by key. Everything is in memory, and nothing here is the only copy of anything.
pub(super) struct Kept<K, V> {
    capacity: u64,
    weight: u64,
    /// Counts up with each use.
    uses: u64,
    entries: HashMap<K, Entry<V>>,
    /// Keys by their last use.
    by_use: BTreeMap<u64, K>,
}

struct Entry<V> {
    value: V,
    weight: u64,
    used: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Kept<K, V> {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, weight: 0, uses: 0, entries: HashMap::new(), by_use: BTreeMap::new() }
    }

    /// The value, which counts as used.
    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.get_mut(key)?;
        self.uses += 1;
        self.by_use.remove(&entry.used);
        entry.used = self.uses;
        self.by_use.insert(self.uses, key.clone());
        Some(entry.value.clone())
    }

    /// Keeps a value instead of others, unless it is heavier than all of them may be.
    pub(super) fn put(&mut self, key: K, value: V, weight: u64) {
        self.remove(&key);
        if weight > self.capacity {
            return;
        }
        while self.weight + weight > self.capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { break };
            if let Some(gone) = self.entries.remove(&oldest) {
                self.weight -= gone.weight;
            }
        }
        self.uses += 1;
        self.weight += weight;
        self.by_use.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { value, weight, used: self.uses });
    }

    pub(super) fn remove(&mut self, key: &K) {
        if let Some(gone) = self.entries.remove(key) {
            self.weight -= gone.weight;
            self.by_use.remove(&gone.used);
        }
    }

    /// Forgets all keys of which this is true.
    pub(super) fn forget(&mut self, gone: impl Fn(&K, &V) -> bool) {
        let keys: Vec<K> = self
            .entries
            .iter()
            .filter(|(key, entry)| gone(key, &entry.value))
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut kept = Kept::new(10);
        kept.put("a", 1, 4);
        kept.put("b", 2, 4);
        assert_eq!(kept.get(&"a"), Some(1));
        kept.put("c", 3, 4);
        assert_eq!((kept.get(&"a"), kept.get(&"b"), kept.get(&"c")), (Some(1), None, Some(3)));
        assert_eq!(kept.weight, 8);
    }

    #[test]
    fn what_is_too_heavy_is_not_kept_and_drives_nothing_out() {
        let mut kept = Kept::new(10);
        kept.put("a", 1, 4);
        kept.put("b", 2, 11);
        assert_eq!((kept.get(&"a"), kept.get(&"b")), (Some(1), None));
    }

    #[test]
    fn replaced_and_forgotten_values_weigh_nothing() {
        let mut kept = Kept::new(10);
        kept.put("a", 1, 9);
        kept.put("a", 2, 3);
        assert_eq!((kept.get(&"a"), kept.weight), (Some(2), 3));
        kept.forget(|key, _| *key == "a");
        assert_eq!((kept.get(&"a"), kept.weight, kept.by_use.len()), (None, 0, 0));
    }
}
