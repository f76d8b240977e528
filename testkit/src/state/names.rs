//! Names in place of ids: the same in every run that did the same.

use std::collections::{BTreeMap, BTreeSet};

use docmill_core::id::{BatchId, DocumentId, IngestionId};
use uuid::Uuid;

use super::State;

/// The length of an id as text.
const ID_CHARS: usize = 36;

/// What every id is called.
pub(super) struct Names {
    of: BTreeMap<Uuid, String>,
    /// The folder that all items lay in, which no other run has.
    folder: Option<String>,
}

impl Names {
    pub(super) fn of(state: &State) -> Self {
        let mut names = Self { of: BTreeMap::new(), folder: folder(state) };
        names.name_batches(state);
        names.name_documents(state);
        names.name_ingestions(state);
        names
    }

    pub(super) fn batch(&self, id: BatchId) -> String {
        self.get(id.0)
    }

    pub(super) fn document(&self, id: DocumentId) -> String {
        self.get(id.0)
    }

    pub(super) fn ingestion(&self, id: IngestionId) -> String {
        self.get(id.0)
    }

    /// Replaces every id in a text, and cuts the folder off every path.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(id) = rest.get(..ID_CHARS).and_then(|id| Uuid::try_parse(id).ok()) {
                out.push_str(&self.get(id));
                rest = &rest[ID_CHARS..];
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        match &self.folder {
            Some(folder) => out.replace(folder, ""),
            None => out,
        }
    }

    fn get(&self, id: Uuid) -> String {
        self.of.get(&id).cloned().unwrap_or_else(|| "(an id)".to_owned())
    }

    /// By number, in the order in which they were opened.
    fn name_batches(&mut self, state: &State) {
        let batches: BTreeSet<Uuid> =
            state.events.iter().filter_map(|event| event.batch_id).map(|id| id.0).collect();
        self.of.extend(batches.into_iter().zip(1..).map(|(id, n)| (id, format!("batch {n}"))));
    }

    /// By the first of the places where they lay, and by their content.
    fn name_documents(&mut self, state: &State) {
        let mut places: BTreeMap<DocumentId, &str> = BTreeMap::new();
        for ingestion in &state.ingestions {
            let Some(document) = ingestion.document_id else { continue };
            let place = places.entry(document).or_insert(&ingestion.origin);
            *place = (*place).min(&ingestion.origin);
        }
        for document in &state.documents {
            let place = places.get(&document.document_id).copied().unwrap_or("(nowhere)");
            let hash = &document.content_hash.short()[..8];
            self.of.insert(document.document_id.0, format!("{place}#{hash}"));
        }
    }

    /// By batch, place, and position in their container.
    fn name_ingestions(&mut self, state: &State) {
        let hashes: BTreeMap<DocumentId, _> =
            state.documents.iter().map(|document| (document.document_id, document.content_hash.0)).collect();
        let mut named: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for ingestion in &state.ingestions {
            let batch = ingestion.batch_id.map_or_else(|| "no batch".to_owned(), |id| self.get(id.0));
            let place = ingestion.position.map_or_else(String::new, |position| format!("@{position}"));
            let hash = ingestion.document_id.and_then(|id| hashes.get(&id));
            let order = (ingestion.superseded, hash, ingestion.ingestion_id);
            named.entry(format!("{batch}: {}{place}", ingestion.origin)).or_default().push(order);
        }
        for (name, mut same) in named {
            same.sort();
            for ((.., id), n) in same.into_iter().zip(1..) {
                let name = if n == 1 { name.clone() } else { format!("{name} ({n})") };
                self.of.insert(id.0, name);
            }
        }
    }
}

/// The longest folder that every item lay in, if items come with whole paths.
fn folder(state: &State) -> Option<String> {
    let mut places = state.ingestions.iter().filter(|i| i.parent_id.is_none()).map(|i| i.origin.as_str());
    let first = places.next()?;
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let length = places.fold(first.len(), |length, place| length.min(same(first, place)));
    let folder = &first.as_bytes()[..length];
    let folder = &first[..=folder.iter().rposition(|byte| *byte == b'/')?];
    (folder.starts_with('/') && folder.len() > 1).then(|| folder.to_owned())
}
