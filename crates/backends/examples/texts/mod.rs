//! Texts to measure indexes with: paragraphs of a corpus, put together always in the same way.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use docmill_core::id::{DocumentId, TenantId};
use docmill_core::limits::read_capped;
use docmill_core::ports::filter::Particulars;
use docmill_core::ports::text_index::IndexedDocument;
use uuid::Uuid;

/// Whose they are.
pub(crate) const TENANT: TenantId = TenantId(Uuid::from_u128(1));

/// Texts of about 1.5 kB, each of some paragraphs.
pub(crate) fn texts(corpus: &Path, count: usize) -> Result<Vec<IndexedDocument>, Box<dyn Error>> {
    let mut paragraphs = Vec::new();
    gather(corpus, &mut paragraphs)?;
    if paragraphs.len() < 100 {
        return Err(format!("{} holds {} paragraphs, too few", corpus.display(), paragraphs.len()).into());
    }
    let mut seed = 1_u64;
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let documents = (0..count).map(|n| {
        let some: Vec<&str> = (0..3 + draw(6)).map(|_| paragraphs[draw(paragraphs.len())].as_str()).collect();
        IndexedDocument {
            tenant_id: TENANT,
            document_id: DocumentId(Uuid::from_u128(n as u128 + 1)),
            name: format!("post-{n:06}.txt"),
            title: None,
            media_type: Some("text/plain".into()),
            particulars: Particulars::default(),
            text: some.join("\n\n"),
        }
    });
    Ok(documents.collect())
}

fn gather(folder: &Path, paragraphs: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gather(&path, paragraphs)?;
        } else if path.extension().is_some_and(|e| e == "txt") {
            let bytes = read_capped(File::open(&path)?, 1 << 20, "a text of the corpus")?;
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            paragraphs.extend(
                text.split("\n\n")
                    .map(str::trim)
                    .filter(|p| (40..=2_000).contains(&p.len()))
                    .map(str::to_owned),
            );
        }
    }
    Ok(())
}
