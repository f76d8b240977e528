//! Links to the content of one document that work for a while without a key, for `<a href>` and for handing on.
//!
//! A link is signed with the stored hash of the key it was asked for with: it names no secret, ends with its time, and
//! ends with the key.

use std::fmt::Write as _;
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::id::{DocumentId, KeyId};
use docmill_core::{Error, Result};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// No link lives longer.
pub(crate) const LONGEST: Duration = Duration::from_mins(15);

const SIGNATURE: &str = "signature";

/// A link, as asked for or as it came.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) document: DocumentId,
    /// Of whoever asked for it; none where none was needed.
    pub(crate) key: Option<KeyId>,
    pub(crate) until: Timestamp,
    signature: String,
}

impl Link {
    pub(crate) fn new(document: DocumentId, key: Option<KeyId>, until: Timestamp) -> Self {
        Self { document, key, until, signature: String::new() }
    }

    /// Whether a query has a signature at all.
    pub(crate) fn is_in(query: Option<&str>) -> bool {
        query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("signature=")))
    }

    /// Path and query, signed.
    pub(crate) fn signed(&self, secret: &[u8]) -> Result<String> {
        let mac = self.mac(secret).ok_or_else(|| Error::bug("a link cannot be signed"))?;
        let mut link = format!("/v1/documents/{}/content?until={}", self.document, self.until.0);
        if let Some(key) = self.key {
            // Writing to a String cannot fail.
            write!(link, "&key={key}").unwrap_or_default();
        }
        let signature = hex(&mac.finalize().into_bytes());
        write!(link, "&{SIGNATURE}={signature}").unwrap_or_default();
        Ok(link)
    }

    /// What a path and its query say; nothing if they are no link.
    pub(crate) fn read(path: &str, query: &str) -> Option<Self> {
        let document = path.strip_prefix("/v1/documents/")?.strip_suffix("/content")?.parse().ok()?;
        let value =
            |name| query.split('&').filter_map(|pair| pair.split_once('=')).find(|pair| pair.0 == name);
        let until = Timestamp(value("until")?.1.parse().ok()?);
        let key = value("key").map(|pair| pair.1.parse()).transpose().ok()?;
        Some(Self { document, key, until, signature: value(SIGNATURE)?.1.to_owned() })
    }

    /// Whether it was signed with this secret and has not ended.
    pub(crate) fn is_valid(&self, secret: &[u8], now: Timestamp) -> bool {
        let in_time = now <= self.until && self.until <= now.plus(LONGEST);
        // Compared in constant time.
        match (unhex(&self.signature), self.mac(secret)) {
            (Some(sent), Some(mac)) => in_time && mac.verify_slice(&sent).is_ok(),
            _ => false,
        }
    }

    /// A key of any length will do, so there always is one.
    fn mac(&self, secret: &[u8]) -> Option<Hmac<Sha256>> {
        let key = self.key.map(|key| key.to_string()).unwrap_or_default();
        let signed = format!("docmill link v1\n{}\n{key}\n{}", self.document, self.until.0);
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        mac.update(signed.as_bytes());
        Some(mac)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap_or_default();
        out
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn read(link: &str) -> Option<Link> {
        let (path, query) = link.split_once('?').unwrap();
        Link::read(path, query)
    }

    #[test]
    fn a_link_works_until_its_time_and_with_its_secret_only() {
        let now = Timestamp(1_800_000_000_000);
        let until = now.plus(Duration::from_mins(5));
        for key in [None, Some(KeyId(Uuid::from_u128(7)))] {
            let signed = Link::new(DocumentId(Uuid::from_u128(1)), key, until).signed(b"secret").unwrap();
            let link = read(&signed).unwrap();
            assert!(link.is_valid(b"secret", now));
            assert!(!link.is_valid(b"other", now));
            assert!(!link.is_valid(b"secret", until.plus(Duration::from_millis(1))));
            let other = signed.replace("-000000000001", "-000000000002");
            assert!(!read(&other).unwrap().is_valid(b"secret", now), "{other}");
            let longer =
                signed.replace(&until.0.to_string(), &until.plus(Duration::from_mins(1)).0.to_string());
            assert!(!read(&longer).unwrap().is_valid(b"secret", now), "{longer}");
        }
    }

    #[test]
    fn a_link_that_lives_too_long_is_refused_whoever_signed_it() {
        let now = Timestamp(1_800_000_000_000);
        let signed =
            Link::new(DocumentId(Uuid::nil()), None, now.plus(Duration::from_hours(1))).signed(b"s").unwrap();
        assert!(!read(&signed).unwrap().is_valid(b"s", now));
    }

    #[test]
    fn what_is_no_link_is_not_read() {
        for link in ["/v1/documents/x/content?until=1&signature=00", "/v1/documents/content?signature=zz"] {
            assert!(read(link).is_none(), "{link}");
        }
        assert!(Link::is_in(Some("a=1&signature=2")) && !Link::is_in(Some("a=1")) && !Link::is_in(None));
    }
}
