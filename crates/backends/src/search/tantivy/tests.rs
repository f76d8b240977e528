//! What only this product does; the rest is in the suite of the port.

use docmill_core::ErrorKind;
use uuid::Uuid;

use super::*;

const TENANT: TenantId = TenantId(Uuid::from_u128(1));

fn put(n: u128, text: &str) -> IndexChange {
    IndexChange::Put(IndexedDocument {
        tenant_id: TENANT,
        document_id: DocumentId(Uuid::from_u128(n)),
        name: format!("{n}.txt"),
        title: None,
        media_type: None,
        particulars: Particulars::default(),
        text: text.into(),
    })
}

async fn find(index: &TantivyIndex, query: &str) -> usize {
    let query = TextQuery {
        tenant_id: TENANT,
        query: query.into(),
        limit: 10,
        filters: Vec::new(),
        any: false,
        forgiving: false,
        counted: true,
    };
    index.query(query).await.unwrap().hits.len()
}

#[tokio::test]
async fn open_finds_nothing_of_a_commit_that_never_came() {
    let dir = tempfile::tempdir().unwrap();
    let index = TantivyIndex::open(dir.path()).unwrap();
    index.apply(vec![put(1, "kept")], 0, 1).await.unwrap();
    {
        let mut slot = index.inner.writer.lock().unwrap();
        change_all(slot.as_ref().unwrap(), &index.inner.fields, vec![put(2, "lost")]).unwrap();
        // What a kill leaves: everything written, nothing committed.
        slot.as_mut().unwrap().prepare_commit().map(|_| ()).unwrap();
    }
    drop(index);
    let index = TantivyIndex::open(dir.path()).unwrap();
    assert_eq!(index.watermark().await.unwrap(), 1);
    assert_eq!((find(&index, "kept").await, find(&index, "lost").await), (1, 0));
    index.apply(vec![put(2, "lost")], 1, 2).await.unwrap();
    assert_eq!(find(&index, "lost").await, 1);
}

#[tokio::test]
async fn open_of_a_damaged_index_begins_again() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 6] = [
        ("other version", |dir| std::fs::write(dir.join("docmill-index.json"), r#"{"version":0}"#).unwrap()),
        ("unreadable marker", |dir| std::fs::write(dir.join("docmill-index.json"), "\0").unwrap()),
        ("no marker", |dir| std::fs::remove_file(dir.join("docmill-index.json")).unwrap()),
        ("no meta", |dir| std::fs::remove_file(dir.join("meta.json")).unwrap()),
        ("broken meta", |dir| std::fs::write(dir.join("meta.json"), "{").unwrap()),
        ("cut segment", |dir| {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|e| e == "idx" || e == "term") {
                    std::fs::File::options().write(true).open(path).unwrap().set_len(3).unwrap();
                }
            }
        }),
    ];
    for (name, damage) in cases {
        let dir = tempfile::tempdir().unwrap();
        let index = TantivyIndex::open(dir.path()).unwrap();
        index.apply(vec![put(1, "word")], 0, 7).await.unwrap();
        drop(index);
        damage(dir.path());
        let index = TantivyIndex::open(dir.path()).unwrap();
        assert_eq!(index.watermark().await.unwrap(), 0, "{name}");
        assert_eq!(find(&index, "word").await, 0, "{name}");
        index.apply(vec![put(1, "word")], 0, 7).await.unwrap();
        assert_eq!(find(&index, "word").await, 1, "{name}");
    }
}

#[tokio::test]
async fn open_never_empties_a_directory_that_is_no_index() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.doc"), "years of work").unwrap();
    let error = TantivyIndex::open(dir.path()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    assert!(dir.path().join("thesis.doc").is_file());
}

#[tokio::test]
async fn apply_by_a_second_process_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let first = TantivyIndex::open(dir.path()).unwrap();
    first.apply(vec![put(1, "a")], 0, 1).await.unwrap();
    let second = TantivyIndex::open(dir.path()).unwrap();
    let error = second.apply(vec![put(2, "b")], 1, 2).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("another process"), "{error}");
}

#[tokio::test]
async fn apply_of_many_small_batches_keeps_few_segments() {
    let dir = tempfile::tempdir().unwrap();
    let index = TantivyIndex::open(dir.path()).unwrap();
    for n in 0..40 {
        index.apply(vec![put(n, "word")], n as i64, n as i64 + 1).await.unwrap();
    }
    assert!(index.segments() < 16, "{} segments", index.segments());
    assert_eq!(index.count(TENANT).await.unwrap(), 40);
}
