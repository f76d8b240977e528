//! Fonts that are drawn in the document itself and call their glyphs by the numbers of characters (`/65` for an A).
//!
//! Programs that print letters and policies by the million write such fonts, without a map to characters. The numbers
//! are those of Windows, which is held against the fonts that number their glyphs one after the other: those have few
//! letters, and no blank where text has it.

use encoding_rs::WINDOWS_1252;
use hayro_syntax::object::{Array, Dict, Name, Object};
use hayro_syntax::page::Resources;

use super::charcode::MOST_FONTS;
use super::letters::Letters;

/// Fewer names than this may be numbers by chance.
const FEWEST: usize = 3;

/// Whether a font of the page is one of these.
pub(super) fn has_fonts(resources: &Resources<'_>) -> bool {
    let fonts = resources.fonts.keys().take(MOST_FONTS);
    fonts.filter_map(|key| resources.fonts.get::<Dict<'_>>(&key)).any(|font| is_numbered(&font))
}

/// The character of a number.
pub(super) fn letter(code: u32) -> Option<Letters> {
    let byte = u8::try_from(code).ok()?;
    let text = WINDOWS_1252.decode_without_bom_handling(&[byte]).0.into_owned();
    let character = text.chars().next()?;
    // Tabs and line ends are drawn as what they are: nothing.
    let shown = if character.is_whitespace() { ' ' } else { character };
    (!shown.is_control()).then_some(Letters::One(shown))
}

/// Whether every glyph has its own code for a name, and most of them are letters.
fn is_numbered(font: &Dict<'_>) -> bool {
    let is_drawn = font.get::<Name<'_>>(b"Subtype").is_some_and(|kind| *kind == *b"Type3");
    if !is_drawn || font.contains_key(b"ToUnicode") {
        return false;
    }
    let Some(encoding) = font.get::<Dict<'_>>(b"Encoding") else { return false };
    let Some(differences) = encoding.get::<Array<'_>>(b"Differences") else { return false };
    let (mut code, mut names, mut letters) = (0_u32, 0, 0);
    for object in differences.iter::<Object<'_>>() {
        match object {
            Object::Number(number) => code = number.as_i64().try_into().unwrap_or(u32::MAX),
            Object::Name(name) => {
                if std::str::from_utf8(&name).ok().and_then(|name| name.parse().ok()) != Some(code) {
                    return false;
                }
                names += 1;
                letters += usize::from(u8::try_from(code).is_ok_and(|code| code.is_ascii_alphabetic()));
                code = code.saturating_add(1);
            }
            _ => return false,
        }
    }
    names >= FEWEST && letters * 2 >= names
}
