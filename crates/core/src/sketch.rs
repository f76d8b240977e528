//! What is left of a text for telling which others are nearly the same: one byte of each value of its signature.
//!
//! A signature of MinHash has 128 values of four bytes. Two that are not equal share their lowest byte once in 256 times,
//! and that is taken out of the estimate: a quarter of the room, and the same answer within a hundredth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::DocumentId;

/// What is kept of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sketch(Box<[u8; Sketch::BYTES]>);

impl Sketch {
    /// Its length.
    pub const BYTES: usize = 128;

    /// Two texts that share so much of their runs of words are near duplicates.
    pub const NEAR: f32 = 0.5;

    /// From the lowest bytes of a signature.
    pub fn of(bytes: [u8; Self::BYTES]) -> Self {
        Self(Box::new(bytes))
    }

    /// As it is stored; nothing if these bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        <[u8; Self::BYTES]>::try_from(bytes).ok().map(Self::of)
    }

    /// To store it.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// How large a part of their runs of words two texts share, 0 to 1.
    pub fn similarity(&self, other: &[u8]) -> f32 {
        const BY_CHANCE: f32 = 1.0 / 256.0;
        let equal = self.0.iter().zip(other).filter(|(a, b)| a == b).count() as f32 / Self::BYTES as f32;
        ((equal - BY_CHANCE) / (1.0 - BY_CHANCE)).clamp(0.0, 1.0)
    }
}

/// A document that says nearly the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NearLine {
    /// Which.
    pub document_id: DocumentId,
    /// Its file name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// How large a part of their runs of words both share, 0 to 1.
    pub similarity: f32,
}

/// Documents that say nearly the same as one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NearAnswer {
    /// The nearest first.
    pub items: Vec<NearLine>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_leaves_out_what_chance_makes_equal() {
        let one = Sketch::of([7; 128]);
        assert!((one.similarity(one.as_bytes()) - 1.0).abs() < f32::EPSILON);
        let mut half = [7; 128];
        half[..64].fill(8);
        assert!((one.similarity(&half) - 0.498).abs() < 0.001);
        let mut chance = [8; 128];
        chance[0] = 7;
        assert!(one.similarity(&chance) < 0.005);
        assert_eq!(Sketch::from_bytes(&half), Some(Sketch::of(half)));
        assert_eq!(Sketch::from_bytes(&half[1..]), None);
    }
}
