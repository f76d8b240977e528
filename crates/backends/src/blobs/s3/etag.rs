//! What a store says that it stored, against what was sent.
//!
//! The ETag of content that was sent in one request is its MD5, except where the store encrypts it with a key of the
//! customer's: then it tells nothing. Which of the two a bucket does shows with the first content.

use std::sync::atomic::{AtomicU8, Ordering};

use docmill_core::limits::KIB;
use docmill_core::{Error, Result};
use md5::{Digest as _, Md5};
use object_store::PutPayload;

/// More than this is hashed where it holds up nobody.
const SHORT: usize = (128 * KIB) as usize;

/// Nothing is known yet at 0.
const DIGESTS: u8 = 1;
const OPAQUE: u8 = 2;

/// What an ETag tells about content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// It is what was sent.
    Same,
    /// It is something else: the ETags of this bucket are digests.
    Different,
    /// It is something else, or the ETags of this bucket are no digests.
    Doubtful,
    /// Nothing: the ETags of this bucket are no digests.
    Opaque,
}

/// What the ETags of a bucket have been so far.
#[derive(Debug, Default)]
pub(super) struct Etags(AtomicU8);

impl Etags {
    /// Compares.
    pub(super) async fn judge(&self, payload: &PutPayload, etag: &str) -> Result<Verdict> {
        if self.0.load(Ordering::Relaxed) == OPAQUE {
            return Ok(Verdict::Opaque);
        }
        let etag = etag.trim_start_matches("W/").trim_matches('"');
        if digest(payload).await?.eq_ignore_ascii_case(etag) {
            self.0.store(DIGESTS, Ordering::Relaxed);
            return Ok(Verdict::Same);
        }
        match self.0.load(Ordering::Relaxed) {
            DIGESTS => Ok(Verdict::Different),
            _ => Ok(Verdict::Doubtful),
        }
    }

    /// Content was read back and is what was sent, although its ETag is not its digest.
    pub(super) fn tell_nothing(&self) {
        self.0.store(OPAQUE, Ordering::Relaxed);
    }
}

async fn digest(payload: &PutPayload) -> Result<String> {
    fn hash(payload: &PutPayload) -> String {
        let mut hasher = Md5::new();
        for piece in payload {
            hasher.update(piece);
        }
        let mut hex = String::new();
        for byte in hasher.finalize() {
            hex.push_str(&format!("{byte:02x}"));
        }
        hex
    }
    if payload.content_length() <= SHORT {
        return Ok(hash(payload));
    }
    let payload = payload.clone();
    tokio::task::spawn_blocking(move || hash(&payload))
        .await
        .map_err(|e| Error::bug("hashing was cut short").with_source(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &str = "\"5d41402abc4b2a76b9719d911017c592\"";
    const OTHER: &str = "\"00000000000000000000000000000000\"";

    async fn judge(etags: &Etags, etag: &str) -> Verdict {
        let payload: PutPayload = ["hel", "lo"].into_iter().map(bytes::Bytes::from).collect();
        etags.judge(&payload, etag).await.unwrap()
    }

    #[tokio::test]
    async fn etag_counts_once_it_has_been_a_digest() {
        let etags = Etags::default();
        assert_eq!(judge(&etags, OTHER).await, Verdict::Doubtful);
        assert_eq!(judge(&etags, HELLO).await, Verdict::Same);
        assert_eq!(judge(&etags, OTHER).await, Verdict::Different);
        assert_eq!(judge(&etags, &format!("W/{}", HELLO.to_uppercase())).await, Verdict::Same);
    }

    #[tokio::test]
    async fn etag_tells_nothing_where_content_proved_it_wrong() {
        let etags = Etags::default();
        etags.tell_nothing();
        assert_eq!(judge(&etags, HELLO).await, Verdict::Opaque);
    }

    #[tokio::test]
    async fn long_content_has_the_same_digest() {
        let long = PutPayload::from(vec![0; SHORT + 1]);
        let parts: PutPayload = [vec![0; SHORT], vec![0]].map(bytes::Bytes::from).into_iter().collect();
        assert_eq!(digest(&long).await.unwrap(), digest(&parts).await.unwrap());
    }
}
