//! What may come out of a container, counted on what really arrives. The same count holds for one container and
//! for everything that lies inside it at any depth: thirty archives inside each of thirty archives are within
//! the limits of every single one of them.

use crate::error::{Error, Result};
use crate::limits::Limits;

/// How much may come out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExpansionLimits {
    /// What the count is about, for messages.
    pub of: &'static str,
    /// Members…
    pub max_members: u64,
    /// …and the setting that says so.
    pub max_members_setting: &'static str,
    /// Their bytes together.
    pub max_bytes: u64,
    /// Bytes out for each byte in…
    pub max_ratio: u64,
    /// …once so many bytes have come out.
    pub ratio_from_bytes: u64,
}

impl ExpansionLimits {
    /// Of one container.
    pub fn of_container(limits: &Limits) -> Self {
        Self {
            of: "the container",
            max_members: limits.max_entries,
            max_members_setting: "limits.max_entries",
            max_bytes: limits.max_container_bytes,
            max_ratio: limits.max_ratio,
            ratio_from_bytes: limits.ratio_from_bytes,
        }
    }

    /// Of an outermost container with all that lies inside it.
    pub fn of_tree(limits: &Limits) -> Self {
        Self {
            of: "the outermost container, with all containers inside it,",
            max_members: limits.max_tree_entries,
            max_members_setting: "limits.max_tree_entries",
            ..Self::of_container(limits)
        }
    }
}

/// The count so far.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    limits: ExpansionLimits,
    packed: u64,
    members: u64,
    bytes: u64,
}

impl Expansion {
    /// Of a container of `packed` bytes, of which nothing has come out yet.
    pub fn new(limits: ExpansionLimits, packed: u64) -> Self {
        Self::resumed(limits, packed, 0, 0)
    }

    /// Goes on with a count that was stored.
    pub fn resumed(limits: ExpansionLimits, packed: u64, members: u64, bytes: u64) -> Self {
        Self { limits, packed, members, bytes }
    }

    /// Members so far.
    pub fn members(&self) -> u64 {
        self.members
    }

    /// Their bytes so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// One more member; one that is refused is not counted.
    pub fn add_member(&mut self) -> Result<()> {
        let ExpansionLimits { of, max_members, max_members_setting, .. } = self.limits;
        if self.members >= max_members {
            return Err(Error::limit_exceeded(format!(
                "{of} has more members than the limit of {max_members}"
            ))
            .with_hint(format!("raise `{max_members_setting}`")));
        }
        self.members += 1;
        Ok(())
    }

    /// So many more bytes of members; those that are refused are not counted.
    pub fn add_bytes(&mut self, more: u64) -> Result<()> {
        let ExpansionLimits { of, max_bytes, max_ratio, ratio_from_bytes, .. } = self.limits;
        let bytes = self.bytes.saturating_add(more);
        if bytes > max_bytes {
            return Err(Error::limit_exceeded(format!(
                "{of} has members of more than {max_bytes} bytes together"
            ))
            .with_hint("raise `limits.max_container_bytes`"));
        }
        let packed = self.packed;
        let most = packed.saturating_mul(max_ratio);
        if bytes > ratio_from_bytes && bytes > most {
            return Err(Error::bomb_suspected(format!(
                "{of} has {packed} bytes and expands to more than {most} bytes, {max_ratio} for each"
            ))
            .with_hint("raise `limits.max_ratio` or `limits.ratio_from_bytes`"));
        }
        self.bytes = bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn expansion(limits: &Limits) -> Expansion {
        Expansion::new(ExpansionLimits::of_container(limits), 10)
    }

    #[test]
    fn members_beyond_the_limit_are_refused_and_not_counted() {
        let limits = Limits { max_entries: 2, ..Limits::default() };
        let mut expansion = expansion(&limits);
        assert!(expansion.add_member().is_ok() && expansion.add_member().is_ok());
        assert_eq!(expansion.add_member().unwrap_err().kind(), ErrorKind::LimitExceeded);
        assert_eq!(expansion.members(), 2);
    }

    #[test]
    fn ratio_counts_only_beyond_its_threshold() {
        let limits = Limits { max_ratio: 3, ratio_from_bytes: 100, ..Limits::default() };
        let mut expansion = expansion(&limits);
        assert!(expansion.add_bytes(100).is_ok());
        assert_eq!(expansion.add_bytes(1).unwrap_err().kind(), ErrorKind::BombSuspected);
        assert_eq!(expansion.bytes(), 100);
    }

    #[test]
    fn bytes_beyond_the_limit_are_refused() {
        let limits = Limits { max_container_bytes: 20, ..Limits::default() };
        let mut expansion = expansion(&limits);
        assert!(expansion.add_bytes(20).is_ok());
        assert_eq!(expansion.add_bytes(1).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn tree_has_a_member_limit_of_its_own() {
        let limits = Limits { max_entries: 9, max_tree_entries: 2, ..Limits::default() };
        let mut tree = Expansion::resumed(ExpansionLimits::of_tree(&limits), 10, 2, 0);
        let error = tree.add_member().unwrap_err();
        assert_eq!(error.hint(), Some("raise `limits.max_tree_entries`"));
    }
}
