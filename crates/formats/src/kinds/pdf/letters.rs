//! What glyphs say.

use hayro_interpret::hayro_cmap::BfString;

/// What a glyph says; nearly always one character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Letters {
    One(char),
    Many(Box<str>),
}

impl From<char> for Letters {
    fn from(c: char) -> Self {
        spell_out(c).map_or(Self::One(c), |letters| Self::Many(letters.into()))
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

/// Ligatures as the letters they stand for: nobody searches for `ﬁ`.
fn spell_out(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}
