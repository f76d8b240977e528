//! What the glyphs of embedded font programs show, as far as the programs themselves say.
//!
//! A program that is used by glyph number often still has its table from characters to glyphs, or names for its
//! glyphs. Both are read backwards. Tables of symbol fonts and of old Macintosh encodings are left alone: makers
//! of PDF files fill those with numbers of their own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use hayro_interpret::font::OutlineGlyph;
use skrifa::raw::ps::agl;
use skrifa::{Font, GlyphId};

use super::letters::{Letters, is_said};

/// The programs of one document that were asked about.
#[derive(Default)]
pub(super) struct Programs(RefCell<HashMap<u128, Option<Rc<Program>>>>);

struct Program {
    font: Font,
    /// The lowest character for each glyph: a space before a space that does not break.
    characters: HashMap<u32, char>,
}

impl Programs {
    /// What a glyph shows; `None` if its program does not say.
    pub(super) fn letters(&self, glyph: &OutlineGlyph) -> Option<Letters> {
        let data = glyph.font_data()?;
        let program = self
            .0
            .borrow_mut()
            .entry(data.cache_key)
            .or_insert_with(|| Font::new(data.data, 0).map(|font| Rc::new(Program::new(font))))
            .clone()?;
        program.letters(glyph.glyph_id().to_u32())
    }
}

impl Program {
    fn new(font: Font) -> Self {
        let mut characters = HashMap::new();
        let table = font.charmap();
        if table.has_unicode() && !table.unicode_is_symbol() && !table.unicode_is_mac_roman() {
            for (code, glyph) in table.unicodes() {
                let Some(c) = char::from_u32(code).filter(|c| is_said(*c)) else { continue };
                let known = characters.entry(glyph.to_u32()).or_insert(c);
                *known = c.min(*known);
            }
        }
        Self { font, characters }
    }

    fn letters(&self, glyph: u32) -> Option<Letters> {
        if let Some(c) = self.characters.get(&glyph) {
            return Some(Letters::from(*c));
        }
        let name = self.font.glyph_name(GlyphId::new(glyph)).filter(|name| !name.is_synthesized())?;
        let said: String = agl::name_to_chars(name.as_str()).collect();
        (!said.is_empty() && said.chars().all(is_said)).then(|| Letters::from(said))
    }
}
