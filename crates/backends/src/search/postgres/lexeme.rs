//! How words are spelled inside the index: three letters for the tenant, one for what the lexeme says, then the word.
//!
//! With the tenant in front, a look-up reads this tenant's entries and no others, however many others there are. Two
//! tenants may share their three letters; every query names its tenant as well, so that costs time and shows nothing.
//! Words hold letters and digits only, so whatever stands in front of one is not part of it.

use docmill_core::id::TenantId;

/// What a lexeme says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// This row is a document (there is no word).
    Document,
    /// This document is a long one: its text is in parts as well (no word).
    Long,
    /// This long document has more words than its row can hold (no word).
    Spilled,
    /// A word of the file name.
    Name,
    /// A word of the title.
    Title,
    /// A word of the media type, or of what the document is.
    Type,
    /// A word of a tag.
    Tag,
    /// A stem of the title or the text, with its language before it.
    Stem,
    /// A word of the text. In the row of a document that is not long, with its positions.
    Word,
    /// A word or a stem that stands in the text more than once, about so often: see [`often`].
    Often(u8),
    /// A word of a part of a long document, with its positions there.
    Part,
    /// A word of this part that the row of its document has no room for.
    Spill,
}

impl Kind {
    fn letter(self) -> u8 {
        match self {
            Self::Document => b'd',
            Self::Long => b'l',
            Self::Spilled => b'x',
            Self::Name => b'n',
            Self::Title => b't',
            Self::Type => b'k',
            Self::Tag => b'g',
            Self::Stem => b'm',
            Self::Word => b'w',
            Self::Often(level) => b'A' + level,
            Self::Part => b'p',
            Self::Spill => b's',
        }
    }
}

/// What one tenant's lexemes begin with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling([u8; 3]);

/// The bytes in front of a word.
pub(super) const PREFIX_BYTES: usize = 4;

impl Spelling {
    pub(super) fn of(tenant: TenantId) -> Self {
        const LETTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
        // FNV-1a and a stir, as it leaves its high bits to the first bytes: ids of tenants begin alike.
        let hash = tenant.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let stirred = (hash ^ (hash >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let letter = |shift: u32| LETTERS[(stirred >> shift) as usize % LETTERS.len()];
        Self([letter(58), letter(52), letter(46)])
    }

    /// A lexeme.
    pub(super) fn spell(self, kind: Kind, word: &str) -> String {
        let mut lexeme = String::with_capacity(PREFIX_BYTES + word.len());
        lexeme.extend(self.0.iter().map(|b| char::from(*b)));
        lexeme.push(char::from(kind.letter()));
        lexeme.push_str(word);
        lexeme
    }
}

/// About how often a word of each level stands in its text.
pub(super) const OFTEN: [f64; 9] = [2.0, 3.5, 6.5, 12.0, 32.0, 128.0, 512.0, 2_048.0, 8_192.0];

/// The level of a word that stands in a text so often; one that stands there once has none. The steps are as wide as
/// a score hardly notices.
pub(super) fn often(count: u32) -> Option<Kind> {
    let level = match count {
        0 | 1 => return None,
        2 => 0,
        3..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=64 => 4,
        65..=256 => 5,
        257..=1_024 => 6,
        1_025..=4_096 => 7,
        _ => 8,
    };
    Some(Kind::Often(level))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn kinds_have_letters_of_their_own() {
        let mut kinds = vec![
            Kind::Document,
            Kind::Long,
            Kind::Spilled,
            Kind::Name,
            Kind::Title,
            Kind::Type,
            Kind::Tag,
            Kind::Stem,
            Kind::Word,
            Kind::Part,
            Kind::Spill,
        ];
        kinds.extend((0..OFTEN.len() as u8).map(Kind::Often));
        let mut letters: Vec<u8> = kinds.iter().map(|kind| kind.letter()).collect();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), kinds.len());
    }

    #[test]
    fn tenants_made_at_one_moment_are_spelled_apart() {
        let moment = 0x0197_0000_0000_7000_8000_0000_0000_0000_u128;
        let mut spelled: Vec<String> = (0..100)
            .map(|n| Spelling::of(TenantId(Uuid::from_u128(moment + n))).spell(Kind::Word, "wort"))
            .collect();
        assert!(spelled.iter().all(|lexeme| lexeme.len() == PREFIX_BYTES + 4 && lexeme.ends_with("wwort")));
        spelled.sort_unstable();
        spelled.dedup();
        assert!(spelled.len() > 95, "{} of 100", spelled.len());
    }

    #[test]
    fn levels_stand_for_numbers_within_their_steps() {
        for (level, about) in OFTEN.iter().enumerate() {
            assert_eq!(often(*about as u32), Some(Kind::Often(level as u8)));
        }
        assert_eq!((often(0), often(1)), (None, None));
        assert_eq!(often(u32::MAX), Some(Kind::Often(8)));
    }
}
