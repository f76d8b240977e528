//! An embedder to which texts mean the words that they have: those that share words lie near each other.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use docmill_core::id::{ContentHash, TenantId};
use docmill_core::ports::Embedder;
use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::wire::Layer;
use docmill_core::{Error, ErrorKind, Result};

#[derive(Default)]
pub(crate) struct FakeEmbedder {
    texts: AtomicUsize,
    away: AtomicUsize,
}

impl FakeEmbedder {
    /// How many texts it has embedded.
    pub(crate) fn texts(&self) -> usize {
        self.texts.load(Ordering::SeqCst)
    }

    /// The next calls find nobody.
    pub(crate) fn away_for(&self, calls: usize) {
        self.away.store(calls, Ordering::SeqCst);
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn available(&self) -> Result<()> {
        Ok(())
    }

    fn model(&self) -> &'static str {
        "words"
    }

    async fn embed(&self, _tenant: TenantId, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        let away = |calls: usize| calls.checked_sub(1);
        if self.away.fetch_update(Ordering::SeqCst, Ordering::SeqCst, away).is_ok() {
            return Err(Error::unavailable("told to be away"));
        }
        if texts.iter().any(|text| text.contains("poison")) {
            return Err(Error::new(ErrorKind::ChildCrashed, "told to die"));
        }
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    async fn engines(&self) -> Result<Vec<Layer>> {
        Ok(vec![Layer { name: "words".into(), active: true, detail: "counts words".into() }])
    }

    async fn drain(&self) {}

    async fn shutdown(&self) {}
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    // The empty text must have a direction too.
    for word in text.split_whitespace().chain([""]) {
        let place = ContentHash::of(word.to_lowercase().as_bytes()).to_string();
        vector[place.bytes().fold(0, |sum, byte| (sum * 31 + usize::from(byte)) % DIMENSIONS)] += 1.0;
    }
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}
