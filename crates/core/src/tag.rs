//! Tags: what the documents of a tenant are about, each once however it is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Longer phrases are cut: nobody looks for more.
const MAX_KEY_CHARS: usize = 100;

/// What two spellings of a tag have in common: letter case and spaces do not tell tags apart. None of a tag that says
/// nothing.
pub fn key(name: &str) -> Option<String> {
    // A zero cannot be kept everywhere.
    let folded = name.replace('\0', " ").to_lowercase();
    let key = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    let key: String = key.chars().take(MAX_KEY_CHARS).collect();
    let key = key.trim_end();
    (!key.is_empty()).then(|| key.to_owned())
}

/// The key of a tag that somebody asks for.
pub fn asked_key(name: &str) -> Result<String> {
    key(name).ok_or_else(|| Error::invalid_request("a tag needs a name, and this one is empty"))
}

/// A tag.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TagLine {
    /// As it was first written.
    pub tag: String,
    /// How many documents have it.
    pub documents: u64,
}

/// The tags of a tenant.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TagsAnswer {
    /// The most frequent first.
    pub items: Vec<TagLine>,
    /// Where the next page begins; none if this is the last.
    pub next: Option<String>,
}

/// What became of a merge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MergeAnswer {
    /// The tag that documents have now.
    pub tag: TagLine,
    /// How many documents had the other one.
    pub moved: u64,
}

/// Two tags that may be one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TagPair {
    /// The one that fewer documents have.
    pub from: TagLine,
    /// The one that it may be merged into.
    pub into: TagLine,
    /// How alike they are, 0 to 1.
    pub similarity: f32,
    /// How that was found: `spelling` or `meaning`.
    pub method: String,
}

/// Tags that may be one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SimilarTagsAnswer {
    /// The most alike first.
    pub items: Vec<TagPair>,
    /// What was not looked at, and the way out.
    pub note: Option<String>,
}

/// A place in the list of tags: behind a tag with so many documents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TagCursor {
    /// How many documents the last tag of the page before has.
    pub documents: u64,
    /// Its key.
    pub key: String,
}

impl TagCursor {
    /// As it is handed out.
    pub fn text(&self) -> String {
        format!("{}.{}", self.documents, self.key)
    }

    /// As it comes back.
    pub fn parse(text: &str) -> Result<Self> {
        let parts = text.split_once('.').and_then(|(n, key)| Some((n.parse().ok()?, key)));
        let (documents, key) = parts.ok_or_else(|| {
            Error::invalid_request(format!("`{}` is no cursor of a list of tags", crate::text::shown(text)))
                .with_hint("pass on `next` of the page before as it is")
        })?;
        Ok(Self { documents, key: key.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_knows_neither_case_nor_spaces() {
        assert_eq!(key("  Office\tChairs\u{a0}").as_deref(), Some("office chairs"));
        assert_eq!(key("ÜBER"), key("über"));
        assert_eq!(key(" \0 "), None);
        assert_eq!(key(&"x".repeat(500)).unwrap().len(), MAX_KEY_CHARS);
    }

    #[test]
    fn cursor_comes_back_and_anything_else_is_refused() {
        let cursor = TagCursor { documents: 12, key: "a.b c".into() };
        assert_eq!(TagCursor::parse(&cursor.text()).unwrap(), cursor);
        for bad in ["", "x", "x.y", "-1.a"] {
            assert!(TagCursor::parse(bad).is_err(), "{bad}");
        }
    }
}
