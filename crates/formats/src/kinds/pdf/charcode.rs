//! Characters of glyphs that the font itself does not name.
//!
//! Composite fonts of the Chinese, Japanese and Korean collections number their glyphs in a known order, so the
//! built-in tables name them. For other composite fonts the code is all there is: it is taken as the
//! character, as other readers do, and counted as a guess.

use std::cell::OnceCell;
use std::collections::HashMap;

use encoding_rs::{Encoding, GBK, SHIFT_JIS};
use hayro_interpret::font::OutlineGlyph;
use hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};
use hayro_syntax::page::{Page, Resources};

/// Forms inside forms are searched for fonts so deep.
const DEEPEST: usize = 4;

/// More fonts than this are not looked at.
const MOST_FONTS: usize = 1000;

/// What a code means that the font does not name.
pub(super) enum Meaning {
    Known(BfString),
    Guess(char),
}

/// The tables of one font: from codes to glyph numbers, from those to characters.
struct Tables {
    codes: CMap,
    characters: CMap,
}

/// The composite fonts of a page by name, without the tag of a subset. `None` where there are no tables.
type Fonts = HashMap<Vec<u8>, Option<Tables>>;

/// Looks up codes for one page. Nothing is loaded before a code needs it.
pub(super) struct CharCodes<'p, 'a> {
    page: &'p Page<'a>,
    fonts: Option<Fonts>,
    two_bytes: OnceCell<Option<&'static Encoding>>,
}

impl<'p, 'a> CharCodes<'p, 'a> {
    pub(super) fn new(page: &'p Page<'a>) -> Self {
        Self { page, fonts: None, two_bytes: OnceCell::new() }
    }

    /// The character that two codes of a simple font show together, in documents of old Chinese and Japanese
    /// systems: their fonts are named in the same encoding.
    pub(super) fn pair(&self, first: u32, second: u32) -> Option<char> {
        let (first, second) = (u8::try_from(first).ok()?, u8::try_from(second).ok()?);
        if first < 0x81 || second < 0x40 {
            return None;
        }
        let page = self.page;
        let encoding = (*self.two_bytes.get_or_init(|| two_bytes(page.resources())))?;
        let text =
            encoding.decode_without_bom_handling_and_without_replacement(&[first, second])?.into_owned();
        let mut characters = text.chars();
        characters.next().filter(|_| characters.next().is_none())
    }

    /// What a glyph of a composite font shows; `None` for all other fonts.
    pub(super) fn meaning(&mut self, glyph: &OutlineGlyph) -> Option<Meaning> {
        let name = glyph.font_data()?.postscript_name?;
        let page = self.page;
        let fonts = self.fonts.get_or_insert_with(|| {
            let mut fonts = Fonts::new();
            collect(page.resources(), 0, &mut fonts);
            fonts
        });
        let code = glyph.char_code();
        if let Some(tables) = fonts.get(name.as_bytes())? {
            let cid = (1..=4).find_map(|bytes| tables.codes.lookup_cid_code(code, bytes))?;
            return tables.characters.lookup_bf_string(cid).map(Meaning::Known);
        }
        char::from_u32(code).filter(|c| !c.is_control()).map(Meaning::Guess)
    }
}

/// How names of fonts begin that stand for an encoding of two bytes: Song, Hei, Kai, Fangsong, and MS fonts.
const NAMES: [(&[u8], &Encoding); 5] = [
    (b"\xcb\xce\xcc\xe5", GBK),
    (b"\xba\xda\xcc\xe5", GBK),
    (b"\xbf\xac\xcc\xe5", GBK),
    (b"\xb7\xc2\xcb\xce", GBK),
    (b"\x82\x6c\x82\x72", SHIFT_JIS),
];

/// The encoding that the names of all fonts of a page stand for.
fn two_bytes(resources: &Resources<'_>) -> Option<&'static Encoding> {
    let mut all = None;
    for key in resources.fonts.keys() {
        let name = resources.fonts.get::<Dict<'_>>(&key)?.get::<Name<'_>>(b"BaseFont")?;
        let (_, encoding) = *NAMES.iter().find(|(start, _)| name.starts_with(start))?;
        if *all.get_or_insert(encoding) != encoding {
            return None;
        }
    }
    all
}

fn collect(resources: &Resources<'_>, depth: usize, fonts: &mut Fonts) {
    for key in resources.fonts.keys() {
        let Some(font) = resources.fonts.get::<Dict<'_>>(&key) else { continue };
        let composite = font.get::<Name<'_>>(b"Subtype").is_some_and(|kind| *kind == *b"Type0");
        let Some(name) = font.get::<Name<'_>>(b"BaseFont").filter(|_| composite) else { continue };
        if fonts.len() >= MOST_FONTS {
            return;
        }
        fonts.entry(without_tag(&name).to_vec()).or_insert_with(|| tables(&font));
    }
    if depth >= DEEPEST {
        return;
    }
    for key in resources.x_objects.keys() {
        let Some(form) = resources.x_objects.get::<Stream<'_>>(&key) else { continue };
        if let Some(own) = form.dict().get::<Dict<'_>>(b"Resources") {
            collect(&Resources::new(own), depth + 1, fonts);
        }
    }
}

/// `ABCDEF+Name` is a subset of `Name`.
fn without_tag(name: &[u8]) -> &[u8] {
    match name.iter().position(|b| *b == b'+') {
        Some(6) => &name[7..],
        _ => name,
    }
}

fn tables(font: &Dict<'_>) -> Option<Tables> {
    let codes = match font.get::<Object<'_>>(b"Encoding")? {
        Object::Name(name) => match CMapName::from_bytes(&name) {
            CMapName::IdentityH => CMap::identity_h(),
            CMapName::IdentityV => CMap::identity_v(),
            other => CMap::parse(load_embedded(other)?, load_embedded)?,
        },
        Object::Stream(stream) => CMap::parse(&stream.decoded_data().ok()?, load_embedded)?,
        _ => return None,
    };
    let described = font.get::<Array<'_>>(b"DescendantFonts")?.iter::<Dict<'_>>().next()?;
    let of_codes = codes.metadata().character_collection.as_ref().map(|c| c.family.clone());
    let of_font = described.get::<Dict<'_>>(b"CIDSystemInfo").and_then(|info| {
        let registry = info.get::<PdfString<'_>>(b"Registry")?;
        let ordering = info.get::<PdfString<'_>>(b"Ordering")?;
        Some(CidFamily::from_registry_ordering(&registry, &ordering))
    });
    let name = [of_codes, of_font].into_iter().flatten().find_map(|family| family.ucs2_cmap())?;
    Some(Tables { codes, characters: CMap::parse(load_embedded(name)?, load_embedded)? })
}
