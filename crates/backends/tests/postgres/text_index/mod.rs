//! The text index: many processes at once, texts of any length, and the same hits as the embedded index.

mod equality;
mod length;
mod sharing;

use docmill_backends::search::postgres::PostgresIndex;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::TextIndex as _;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextQuery};
use docmill_testkit::conformance::Case;
use uuid::Uuid;

use crate::Database;

const ANNA: TenantId = TenantId(Uuid::from_u128(0xa));
const BERT: TenantId = TenantId(Uuid::from_u128(0xb));

pub(crate) fn cases() -> Vec<Case<Database>> {
    let mut cases = sharing::cases();
    cases.extend(length::cases());
    cases.extend(equality::cases());
    cases
}

fn document(n: u128, text: &str) -> IndexedDocument {
    IndexedDocument {
        tenant_id: ANNA,
        document_id: DocumentId(Uuid::from_u128(n)),
        name: format!("file-{n}.bin"),
        title: None,
        media_type: None,
        particulars: docmill_core::ports::filter::Particulars::default(),
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

/// The numbers of the documents found, in ascending order.
async fn find(index: &PostgresIndex, query: &str) -> Vec<u128> {
    let hits = index.query(ask(query)).await.unwrap().hits;
    let mut found: Vec<u128> = hits.iter().map(|hit| hit.document_id.0.as_u128()).collect();
    found.sort_unstable();
    found
}

/// Applies changes from wherever the index is.
async fn apply(index: &PostgresIndex, changes: Vec<IndexChange>) {
    let from = index.watermark().await.unwrap();
    assert!(index.apply(changes, from, from + 1).await.unwrap());
}
