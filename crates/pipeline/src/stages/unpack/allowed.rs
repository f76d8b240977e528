//! What a container may give, counted on what really arrives: the child that unpacks it keeps the same limits,
//! but the child is not trusted.

use docmill_core::limits::Limits;
use docmill_core::{Error, Result};

use crate::stages::Context;

/// The count so far.
pub(super) struct Allowed<'a> {
    limits: &'a Limits,
    container_bytes: u64,
    members: u64,
    bytes: u64,
}

impl<'a> Allowed<'a> {
    /// For a container of so many bytes.
    pub(super) fn of(cx: &'a Context<'a>, container_bytes: u64) -> Self {
        Self { limits: &cx.deps.settings.limits, container_bytes, members: 0, bytes: 0 }
    }

    /// One more member.
    pub(super) fn member(&mut self) -> Result<()> {
        self.members += 1;
        let limit = self.limits.max_entries;
        if self.members > limit {
            return Err(Error::limit_exceeded(format!("more members than the limit of {limit}"))
                .with_hint("raise `limits.max_entries`"));
        }
        Ok(())
    }

    /// So many more bytes of members.
    pub(super) fn bytes(&mut self, more: u64) -> Result<()> {
        self.bytes += more;
        let (bytes, limits) = (self.bytes, self.limits);
        if bytes > limits.max_container_bytes {
            return Err(Error::limit_exceeded(format!(
                "members of more than {} bytes together",
                limits.max_container_bytes
            ))
            .with_hint("raise `limits.max_container_bytes`"));
        }
        let most = self.container_bytes.saturating_mul(limits.max_ratio);
        if bytes > limits.ratio_from_bytes && bytes > most {
            return Err(Error::bomb_suspected(format!(
                "{} bytes expand to more than {most} bytes, {} for each",
                self.container_bytes, limits.max_ratio
            ))
            .with_hint("raise `limits.max_ratio`"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    fn allowed(limits: &Limits) -> Allowed<'_> {
        Allowed { limits, container_bytes: 10, members: 0, bytes: 0 }
    }

    #[test]
    fn members_beyond_the_limit_are_refused() {
        let limits = Limits { max_entries: 2, ..Limits::default() };
        let mut allowed = allowed(&limits);
        assert!(allowed.member().is_ok() && allowed.member().is_ok());
        assert_eq!(allowed.member().unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn ratio_counts_only_beyond_its_threshold() {
        let limits = Limits { max_ratio: 3, ratio_from_bytes: 100, ..Limits::default() };
        let mut allowed = allowed(&limits);
        assert!(allowed.bytes(100).is_ok());
        assert_eq!(allowed.bytes(1).unwrap_err().kind(), ErrorKind::BombSuspected);
    }

    #[test]
    fn bytes_beyond_the_limit_are_refused() {
        let limits = Limits { max_container_bytes: 20, ..Limits::default() };
        let mut allowed = allowed(&limits);
        assert!(allowed.bytes(20).is_ok());
        assert_eq!(allowed.bytes(1).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
