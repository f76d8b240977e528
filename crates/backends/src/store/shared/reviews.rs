//! What stores say of reviews.

use docmill_core::id::IngestionId;
use docmill_core::review::ReviewId;
use docmill_core::{Error, Result};

/// Where a page of decisions ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct ActionCursor {
    pub(in super::super) at: i64,
    pub(in super::super) id: IngestionId,
    pub(in super::super) seq: i64,
}

impl ActionCursor {
    pub(in super::super) fn to_text(self) -> String {
        format!("{}_{}_{}", self.at, self.seq, self.id)
    }

    pub(in super::super) fn parse(text: &str) -> Result<Self> {
        let read = || {
            let mut parts = text.splitn(3, '_');
            let (at, seq) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            Some(Self { at, seq, id: parts.next()?.parse().ok()? })
        };
        read().ok_or_else(|| {
            let shown = docmill_core::text::shown(text);
            Error::invalid_request(format!("`{shown}` is no cursor of corrections"))
        })
    }
}

/// No review of the tenant has this id.
pub(in super::super) fn no_review(id: ReviewId) -> Error {
    Error::not_found(format!("there is no review {id}"))
        .with_hint("`docmill review list` shows what waits for a person")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn cursor_is_read_as_it_was_written() {
        let cursor = ActionCursor { at: -3, id: IngestionId(Uuid::from_u128(9)), seq: 12 };
        assert_eq!(ActionCursor::parse(&cursor.to_text()).unwrap(), cursor);
        assert!(ActionCursor::parse("7").is_err());
    }
}
