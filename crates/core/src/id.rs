//! Identifiers. What users see is a UUIDv7 (time-ordered, so inserts append); tasks and events are integers.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::error::{Error, Result};

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $noun:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// The sixteen bytes, as the databases store them.
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Rebuilds an id from stored bytes.
            pub fn from_slice(bytes: &[u8]) -> Result<Self> {
                Uuid::from_slice(bytes)
                    .map(Self)
                    .map_err(|e| Error::bug(concat!("stored ", $noun, " id is not 16 bytes")).with_source(e))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": "uuid" })
            }
        }

        impl FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self> {
                Uuid::parse_str(text).map(Self).map_err(|e| {
                    // Nothing is called so, and whoever asks for it is told what they would be of any other id.
                    Error::not_found(format!("`{text}` is no {} id", $noun))
                        .with_hint("ids look like `01900000-0000-7000-8000-000000000000`")
                        .with_source(e)
                })
            }
        }
    };
}

uuid_id!(
    /// Who owns documents; nothing crosses it.
    TenantId, "tenant"
);
uuid_id!(
    /// One bulk import.
    BatchId, "batch"
);
uuid_id!(
    /// Unique content of a tenant.
    DocumentId, "document"
);
uuid_id!(
    /// One receipt of a document.
    IngestionId, "ingestion"
);
uuid_id!(
    /// A configured origin.
    SourceId, "source"
);
uuid_id!(
    /// One start of one worker process.
    WorkerId, "worker"
);
uuid_id!(
    /// A key to the HTTP interface.
    KeyId, "key"
);

impl IngestionId {
    /// The id of the child at `position` that an unpack run with `fingerprint` found in this ingestion.
    ///
    /// It depends on nothing else, so a repeated run names the same children again and adds none.
    #[must_use]
    pub fn child(&self, fingerprint: &ContentHash, position: u64) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"docmill child v1");
        hasher.update(self.as_bytes());
        hasher.update(fingerprint.0);
        hasher.update(position.to_be_bytes());
        let digest = hasher.finalize();
        let mut bytes = [0_u8; 16];
        bytes.copy_from_slice(&digest[..16]);
        // The parent's time comes first, so that children sort beside their parent.
        bytes[..6].copy_from_slice(&self.as_bytes()[..6]);
        bytes[6] = (bytes[6] & 0x0f) | 0x70;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        Self(Uuid::from_bytes(bytes))
    }
}

impl IngestionId {
    /// When the id was made; that of a child carries the time of its outermost container.
    pub fn made_at(&self) -> Timestamp {
        time_of(self.0)
    }
}

impl DocumentId {
    /// When the id was made.
    pub fn made_at(&self) -> Timestamp {
        time_of(self.0)
    }
}

/// The time that the first 48 bits of an id carry.
fn time_of(id: Uuid) -> Timestamp {
    let mut bytes = [0_u8; 8];
    bytes[2..].copy_from_slice(&id.as_bytes()[..6]);
    Timestamp(i64::from_be_bytes(bytes))
}

/// A task's number; users see it only in dead letters and timelines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct TaskId(pub i64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How often a task has changed hands. A write that names an old epoch changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub i64);

/// SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Rebuilds a hash from stored bytes.
    pub fn from_slice(bytes: &[u8]) -> Result<Self> {
        <[u8; 32]>::try_from(bytes)
            .map(Self)
            .map_err(|e| Error::bug("stored content hash is not 32 bytes").with_source(e))
    }

    /// The first sixteen hex digits: enough to tell two artifacts of one ingestion apart in a key.
    pub fn short(&self) -> String {
        hex(&self.0[..8])
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.serialize_str(&hex(&self.0))
    }
}

impl JsonSchema for ContentHash {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ContentHash".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = unhex(&text).ok_or_else(|| serde::de::Error::custom("not a hex SHA-256"))?;
        Self::from_slice(&bytes).map_err(serde::de::Error::custom)
    }
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
        // Writing to a String cannot fail.
        write!(out, "{b:02x}").unwrap_or_default();
        out
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok()).collect()
}

/// Where a blob lies. Keys are made of ids and hashes, never of file names, so nothing a user sends can
/// point outside the store.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlobKey(String);

impl BlobKey {
    /// The original of a document. `name` only lends its extension, and only a harmless one.
    pub fn document(id: DocumentId, name: &str) -> Self {
        Self(format!("documents/{id}.{}", safe_extension(name)))
    }

    /// Something an ingestion produced; the content hash makes a late writer harmless.
    pub fn artifact(id: IngestionId, name: &str, hash: &ContentHash, extension: &str) -> Self {
        debug_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
        Self(format!("ingestions/{id}/{name}-{}.{extension}", hash.short()))
    }

    /// What a model has said about a document: `call` names the question and how often it was asked. Beside the
    /// original, so that every ingestion of the same content finds it.
    pub fn model_answer(id: DocumentId, call: &str) -> Self {
        debug_assert!(call.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
        Self(format!("documents/{id}.answers/{call}.json"))
    }

    /// A slow upload that is not a document yet.
    pub fn upload(id: Uuid) -> Self {
        Self(format!("uploads/{id}"))
    }

    /// A key read back from the database or a directory listing.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The key as text, with `/` between its parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The document whose original this is; nothing for everything else, also for what lies beside an original.
    pub fn original_of(&self) -> Option<DocumentId> {
        let (id, extension) = self.0.strip_prefix("documents/")?.split_once('.')?;
        if extension.contains('/') { None } else { id.parse().ok() }
    }

    /// The time inside the id that this key is made of, if it has one. Pruning needs it beside the file's
    /// own time, because either may lie.
    pub fn made_at(&self) -> Option<Timestamp> {
        let mut parts = self.0.split('/');
        let folder = parts.next()?;
        let id = parts.next()?;
        let id = match folder {
            "documents" | "uploads" => id.split('.').next()?,
            _ => id,
        };
        Uuid::parse_str(id).ok().map(|id| DocumentId(id).made_at())
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn safe_extension(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, ext))
            if !stem.is_empty()
                && (1..=8).contains(&ext.len())
                && ext.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            ext.to_ascii_lowercase()
        }
        _ => "bin".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_id_repeats_for_the_same_run_and_differs_otherwise() {
        let parent = IngestionId(Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001));
        let run = ContentHash::of(b"run");
        assert_eq!(parent.child(&run, 3), parent.child(&run, 3));
        assert_ne!(parent.child(&run, 3), parent.child(&run, 4));
        assert_ne!(parent.child(&run, 3), parent.child(&ContentHash::of(b"other"), 3));
        assert_eq!(parent.child(&run, 3).0.get_version_num(), 7);
    }

    #[test]
    fn document_key_takes_only_a_harmless_extension() {
        let id = DocumentId(Uuid::nil());
        assert!(BlobKey::document(id, "a.PDF").as_str().ends_with(".pdf"));
        for name in ["a", ".bashrc", "x.tar/../../etc", "x.verylongext", "x.é", ""] {
            assert!(BlobKey::document(id, name).as_str().ends_with(".bin"), "{name}");
        }
    }

    #[test]
    fn key_tells_when_it_was_made() {
        let id = DocumentId(Uuid::from_u128(0x0192_3456_789a_7000_8000_0000_0000_0001));
        assert_eq!(BlobKey::document(id, "a.txt").made_at(), Some(id.made_at()));
        assert_eq!(BlobKey::stored("documents/odd").made_at(), None);
    }
}
