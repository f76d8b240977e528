//! An embedder to which texts mean the words that they have: those that share words lie near each other.

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::id::{ContentHash, TenantId};
use docmill_core::ports::Embedder;
use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::wire::Layer;

pub(crate) struct FakeEmbedder;

#[async_trait]
impl Embedder for FakeEmbedder {
    fn available(&self) -> Result<()> {
        Ok(())
    }

    fn model(&self) -> &'static str {
        "words"
    }

    async fn embed(&self, _tenant: TenantId, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
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
