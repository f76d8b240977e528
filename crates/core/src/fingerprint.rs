//! What a result depends on, as one hash: same fingerprint, same result, so it need not be made again.

use sha2::{Digest, Sha256};

use crate::id::ContentHash;

/// The hash of (step, its version, the settings that matter, the hashes of its inputs).
pub fn fingerprint(step: &str, version: u32, settings: &str, inputs: &[ContentHash]) -> ContentHash {
    let mut hasher = Sha256::new();
    for part in [step.as_bytes(), &version.to_be_bytes(), settings.as_bytes()] {
        // Lengths keep neighbouring parts apart.
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    for input in inputs {
        hasher.update(input.0);
    }
    ContentHash(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_changes_with_each_part() {
        let base = fingerprint("a", 1, "s", &[ContentHash::of(b"x")]);
        assert_eq!(base, fingerprint("a", 1, "s", &[ContentHash::of(b"x")]));
        for other in [
            fingerprint("b", 1, "s", &[ContentHash::of(b"x")]),
            fingerprint("a", 2, "s", &[ContentHash::of(b"x")]),
            fingerprint("a", 1, "t", &[ContentHash::of(b"x")]),
            fingerprint("a", 1, "s", &[ContentHash::of(b"y")]),
            fingerprint("a", 1, "s", &[]),
        ] {
            assert_ne!(base, other);
        }
    }
}
