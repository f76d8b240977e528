//! What every full-text index must do. The cases are grouped by topic; what they have in common is here.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed case")]

mod changes;
mod filters;
mod queries;

use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::Particulars;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextHits, TextQuery};
use uuid::Uuid;

use super::{Bench, Suite};

type Subject = Bench<dyn TextIndex>;

const ANNA: TenantId = TenantId(Uuid::from_u128(0xa));
const BERT: TenantId = TenantId(Uuid::from_u128(0xb));

/// The suite of the port.
pub fn suite() -> Suite<dyn TextIndex> {
    let mut cases = changes::cases();
    cases.extend(queries::cases());
    cases.extend(filters::cases());
    Suite { port: "text_index", cases }
}

fn id(n: u128) -> DocumentId {
    DocumentId(Uuid::from_u128(n))
}

fn document(n: u128, text: &str) -> IndexedDocument {
    IndexedDocument {
        tenant_id: ANNA,
        document_id: id(n),
        name: format!("file-{n}.bin"),
        title: None,
        media_type: None,
        particulars: Particulars::default(),
        text: text.to_owned(),
    }
}

fn put(n: u128, text: &str) -> IndexChange {
    IndexChange::Put(document(n, text))
}

fn ask(query: &str) -> TextQuery {
    TextQuery {
        tenant_id: ANNA,
        query: query.to_owned(),
        limit: 100,
        filters: Vec::new(),
        any: false,
        forgiving: false,
        counted: true,
    }
}

/// Applies changes as the follower does that has read everything since the watermark.
async fn apply(index: &dyn TextIndex, changes: Vec<IndexChange>, upto: i64) {
    let from = index.turn().await.unwrap().unwrap();
    assert!(index.apply(changes, from, upto).await.unwrap());
}

async fn search(index: &dyn TextIndex, query: &str) -> TextHits {
    index.query(ask(query)).await.unwrap()
}

/// The numbers of the documents found, in ascending order.
async fn find(index: &dyn TextIndex, query: &str) -> Vec<u128> {
    let mut found: Vec<u128> =
        search(index, query).await.hits.iter().map(|hit| hit.document_id.0.as_u128()).collect();
    found.sort_unstable();
    found
}
