//! What glyphs say.

use hayro_interpret::hayro_cmap::BfString;
use unicode_normalization::UnicodeNormalization;

/// What a glyph says; nearly always one character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Letters {
    One(char),
    Many(Box<str>),
}

impl From<char> for Letters {
    fn from(c: char) -> Self {
        spell_out(c).unwrap_or(Self::One(c))
    }
}

impl From<String> for Letters {
    fn from(letters: String) -> Self {
        let mut characters = letters.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) => Self::from(c),
            _ => Self::Many(letters.into()),
        }
    }
}

impl Letters {
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Self::One(c) => c.is_whitespace(),
            Self::Many(s) => s.chars().all(char::is_whitespace),
        }
    }

    pub(super) fn is_letter(&self) -> bool {
        match self {
            Self::One(c) => c.is_alphabetic(),
            Self::Many(s) => s.chars().all(char::is_alphabetic),
        }
    }
}

/// Leaves out what says nothing.
pub(super) fn shown(text: BfString) -> Option<Letters> {
    match text {
        BfString::Char(c) => is_said(c).then(|| Letters::from(c)),
        BfString::String(s) => s.chars().any(is_said).then(|| Letters::from(s)),
    }
}

/// Whether a character says anything: numbers for private use say what their maker meant, and nobody else knows.
pub(super) fn is_said(c: char) -> bool {
    let private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    !private && c != char::REPLACEMENT_CHARACTER && (!c.is_control() || c.is_whitespace())
}

/// Ligatures, and Arabic letters by their place in a word, as the letters that people write: nobody searches for `ﬁ`.
fn spell_out(c: char) -> Option<Letters> {
    if !matches!(c, '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}') {
        return None;
    }
    let spelled: String = std::iter::once(c).nfkc().filter(|c| !c.is_whitespace()).collect();
    let mut letters = spelled.chars();
    match (letters.next(), letters.next()) {
        (None, _) => None,
        (Some(one), None) => Some(Letters::One(one)),
        (Some(_), Some(_)) => Some(Letters::Many(spelled.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::Letters;

    #[test]
    fn letters_that_have_a_form_of_their_own_are_spelled_out() {
        assert_eq!(Letters::from('ﬁ'), Letters::Many("fi".into()));
        assert_eq!(Letters::from('\u{fe98}'), Letters::One('ت'));
        assert_eq!(Letters::from('\u{fefb}'), Letters::Many("لا".into()));
        // A mark that stands on its own is a mark.
        assert_eq!(Letters::from('\u{fc60}'), Letters::Many("\u{64e}\u{651}".into()));
        assert_eq!(Letters::from('½'), Letters::One('½'));
    }
}
