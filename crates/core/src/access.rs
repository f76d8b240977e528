//! Who may do what: keys, their roles, and the log of what was done with them.
//!
//! A key is shown once, when it is made; what is stored is its SHA-256, from which nobody gets it back. The log is a
//! chain: every entry holds the hash of the one before, so that none can be changed or taken out unnoticed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::id::{ContentHash, KeyId, TenantId};

/// What every key begins with, so that a leaked one is recognised for what it is.
pub const KEY_PREFIX: &str = "dm_";

/// Characters of a key that are stored and shown, to tell one from another.
const SHOWN_CHARS: usize = 9;

/// What a key allows. Each role may do what those before it may.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look.
    Read,
    /// Bring documents in, steer them, take them out.
    Write,
    /// Give and take keys, and read the audit log.
    Admin,
}

impl Role {
    /// Every role, the least first.
    pub const ALL: &'static [Self] = &[Self::Read, Self::Write, Self::Admin];

    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}

/// A key in the clear: only whoever asked for it sees it, once.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// From so many random bits.
    pub fn new(random: [u8; 24]) -> Self {
        const DIGITS: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut text = String::from(KEY_PREFIX);
        // Five bits a character, so that no character is likelier than another.
        let (mut bits, mut held) = (0_u32, 0_u32);
        for byte in random {
            bits = (bits << 8) | u32::from(byte);
            held += 8;
            while held >= 5 {
                held -= 5;
                text.push(char::from(DIGITS[(bits >> held) as usize & 31]));
            }
        }
        Self(text)
    }

    /// What is stored of it.
    pub fn hash(&self) -> ContentHash {
        Self::hash_of(&self.0)
    }

    /// What is stored of a key that somebody sent.
    pub fn hash_of(sent: &str) -> ContentHash {
        ContentHash::of(sent.as_bytes())
    }

    /// Its first characters.
    pub fn shown(&self) -> String {
        self.0.chars().take(SHOWN_CHARS).collect()
    }

    /// All of it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}…", self.shown())
    }
}

/// A key to be stored.
#[derive(Clone, PartialEq, Debug)]
pub struct NewKey {
    /// Which.
    pub key_id: KeyId,
    /// Whose documents it opens.
    pub tenant_id: TenantId,
    /// What it is for, in words.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// SHA-256 of it.
    pub hash: ContentHash,
    /// Its first characters.
    pub shown: String,
}

/// A key as it is listed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyLine {
    /// Which.
    pub key_id: KeyId,
    /// What it is for, in words.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// Its first characters.
    pub shown: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

/// Who holds a key.
#[derive(Clone, PartialEq, Debug)]
pub struct Holder {
    /// Which key.
    pub key_id: KeyId,
    /// Whose documents it opens.
    pub tenant_id: TenantId,
    /// What it is for, in words.
    pub name: String,
    /// What it allows.
    pub role: Role,
}

/// How many keys there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeyCounts {
    /// Made at any time.
    pub made: u64,
    /// Not taken back.
    pub valid: u64,
}

/// `key list` and `GET /v1/keys`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeysAnswer {
    /// Newest first.
    pub keys: Vec<KeyLine>,
}

/// `key create` and `POST /v1/keys`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyAnswer {
    /// What is stored.
    #[serde(flatten)]
    pub line: KeyLine,
    /// The key itself. It is shown here and never again.
    pub key: String,
}

/// A tenant as it is listed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TenantLine {
    /// Which.
    pub tenant_id: TenantId,
    /// By which name commands choose it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// `tenant list`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TenantsAnswer {
    /// By name.
    pub tenants: Vec<TenantLine>,
}

/// Who does something, for the audit log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Actor {
    /// The key's name, or where no key was needed: `local`.
    pub name: String,
    /// The key, if one was used.
    pub key_id: Option<KeyId>,
    /// The HTTP request, if it was one.
    pub request_id: Option<String>,
}

impl Actor {
    /// Whoever may open the data directory.
    pub fn local() -> Self {
        Self { name: "local".into(), key_id: None, request_id: None }
    }

    /// Who reviews: names of keys are not unique, and two people with keys of one name are two.
    pub fn reviewer(&self) -> String {
        reviewer(&self.name, self.key_id)
    }
}

/// What a reviewer is called: the name of the key, and the end of its id, which `key list` shows.
pub fn reviewer(name: &str, key: Option<KeyId>) -> String {
    let Some(key) = key else { return name.to_owned() };
    let id = key.to_string();
    let end = id.char_indices().nth_back(7).map_or(id.as_str(), |(at, _)| &id[at..]);
    format!("{name} (…{end})")
}

/// An entry to be added to the audit log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NewAudit {
    /// Who.
    pub actor: Actor,
    /// What: `document.add`, `batch.cancel`, `key.create`, …
    pub action: String,
    /// To what: an id or a name.
    pub subject: Option<String>,
    /// More.
    pub detail: Value,
}

/// An entry of the audit log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    /// Counts up by one within a tenant.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Who: the name of a key, or `local`.
    pub actor: String,
    /// With which key.
    pub key_id: Option<KeyId>,
    /// In which HTTP request.
    pub request_id: Option<String>,
    /// What was asked for: `document.add`, `batch.cancel`, `key.create`, …
    pub action: String,
    /// To what: an id or a name.
    pub subject: Option<String>,
    /// More.
    pub detail: Value,
    /// The hash of the entry before; zeros before the first.
    pub previous: ContentHash,
    /// SHA-256 over `previous` and everything above.
    pub hash: ContentHash,
}

impl AuditEntry {
    /// The entry that follows `previous`.
    pub fn follow(seq: i64, at: Timestamp, tenant: TenantId, previous: ContentHash, new: NewAudit) -> Self {
        let mut entry = Self {
            seq,
            at,
            actor: new.actor.name,
            key_id: new.actor.key_id,
            request_id: new.actor.request_id,
            action: new.action,
            subject: new.subject,
            detail: new.detail,
            previous,
            hash: ContentHash([0; 32]),
        };
        entry.hash = entry.own_hash(tenant);
        entry
    }

    /// What the hash must be. Each part is written with its length, so that no two entries give the same bytes.
    pub fn own_hash(&self, tenant: TenantId) -> ContentHash {
        let mut hasher = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        part(b"docmill audit v1");
        part(tenant.as_bytes());
        part(&self.previous.0);
        part(&self.seq.to_be_bytes());
        part(&self.at.0.to_be_bytes());
        part(self.actor.as_bytes());
        part(self.key_id.as_ref().map_or(&[], |id| id.as_bytes().as_slice()));
        part(self.request_id.as_deref().unwrap_or("").as_bytes());
        part(self.action.as_bytes());
        part(self.subject.as_deref().unwrap_or("").as_bytes());
        part(self.detail.to_string().as_bytes());
        ContentHash(hasher.finalize().into())
    }
}

/// `GET /v1/audit-log`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditLogAnswer {
    /// In order.
    pub entries: Vec<AuditEntry>,
    /// Give it back as `after`.
    pub next: i64,
    /// Every entry shown follows the one before it and has the hash it must have.
    pub intact: bool,
}

impl AuditLogAnswer {
    /// Checks a page of the log that follows entry `after`, whose hash is not known here.
    pub fn checked(tenant: TenantId, entries: Vec<AuditEntry>, after: i64) -> Self {
        let mut intact = true;
        let mut before: Option<(i64, ContentHash)> = (after == 0).then_some((0, ContentHash([0; 32])));
        for entry in &entries {
            let follows = before.is_none_or(|(seq, hash)| entry.seq == seq + 1 && entry.previous == hash);
            intact &= follows && entry.hash == entry.own_hash(tenant);
            before = Some((entry.seq, entry.hash));
        }
        let next = entries.last().map_or(after, |entry| entry.seq);
        Self { entries, next, intact }
    }
}

/// A request that is done once, however often it is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Once {
    /// As the caller chose it.
    pub key: String,
    /// Of everything that was asked for: the same key with another request is a mistake.
    pub fingerprint: ContentHash,
}

impl Once {
    /// For so long the first answer is given again.
    pub const HONOURED_FOR: std::time::Duration = std::time::Duration::from_hours(24);

    /// Whether a request that was stored under this key is this one.
    pub fn check(&self, stored: ContentHash) -> Result<()> {
        if stored == self.fingerprint {
            return Ok(());
        }
        Err(Error::conflict(format!("the idempotency key `{}` was used for another request", self.key))
            .with_hint("use a new key for every request, and the same key only to repeat one"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: i64, previous: ContentHash, action: &str) -> AuditEntry {
        let new = NewAudit {
            actor: Actor::local(),
            action: action.into(),
            subject: None,
            detail: serde_json::json!({ "n": seq }),
        };
        AuditEntry::follow(seq, Timestamp(seq), TenantId(uuid::Uuid::nil()), previous, new)
    }

    #[test]
    fn a_changed_or_missing_entry_breaks_the_chain() {
        let tenant = TenantId(uuid::Uuid::nil());
        let first = entry(1, ContentHash([0; 32]), "a");
        let second = entry(2, first.hash, "b");
        let third = entry(3, second.hash, "c");
        let all = vec![first.clone(), second.clone(), third.clone()];
        assert!(AuditLogAnswer::checked(tenant, all.clone(), 0).intact);
        assert!(AuditLogAnswer::checked(tenant, all[1..].to_vec(), 1).intact);
        assert!(!AuditLogAnswer::checked(tenant, vec![first.clone(), third], 0).intact);
        let forged = AuditEntry { action: "x".into(), ..second };
        assert!(!AuditLogAnswer::checked(tenant, vec![first, forged], 0).intact);
    }

    #[test]
    fn a_key_is_long_random_text_that_its_debug_form_does_not_tell() {
        let key = Secret::new([0xa5; 24]);
        assert!(key.expose().starts_with("dm_") && key.expose().len() == 3 + 38, "{}", key.expose());
        assert!(!format!("{key:?}").contains(key.expose()));
        assert_eq!(key.hash(), Secret::hash_of(key.expose()));
    }
}
