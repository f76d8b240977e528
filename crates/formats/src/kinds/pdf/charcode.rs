//! Characters of glyphs that the font itself does not name.
//!
//! Composite fonts of the Chinese, Japanese and Korean collections number their glyphs in a known order, so the
//! built-in tables name them. Embedded programs are asked (`program`). For other composite fonts the code is
//! all there is: it is taken as the character, as other readers do, and counted as a guess. So is what a
//! TrueType font shows that states no encoding and whose program says nothing.

use std::cell::OnceCell;
use std::collections::HashMap;

use encoding_rs::{Encoding, GBK, SHIFT_JIS};
use hayro_interpret::font::OutlineGlyph;
use hayro_interpret::hayro_cmap::{CMap, CMapName, CidFamily, load_embedded};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};
use hayro_syntax::page::{Page, Resources};

use super::letters::{Letters, shown};
use super::numbered;
use super::program::Programs;

/// Forms inside forms are searched for fonts so deep.
const DEEPEST: usize = 4;

/// More fonts than this are not looked at.
pub(super) const MOST_FONTS: usize = 1000;

/// The flag of fonts of letters.
const NON_SYMBOLIC: u32 = 1 << 5;

/// What a glyph shows, and how that is known.
pub(super) enum Meaning {
    Known(Letters),
    Guess(Letters),
}

/// The tables of one font: from codes to glyph numbers, from those to characters.
struct Tables {
    codes: CMap,
    characters: CMap,
}

/// What a font's dictionary says about the meaning of its codes.
struct Facts<'a> {
    /// Of two bytes and more, and not simple.
    composite: bool,
    /// The program comes with the document; else another stands in for it, whose glyphs have other numbers.
    embedded: bool,
    /// No encoding is stated, nor a map to characters.
    bare: bool,
    font: Dict<'a>,
    /// Large, and nearly always not needed.
    tables: OnceCell<Option<Tables>>,
}

impl Facts<'_> {
    fn tables(&self) -> Option<&Tables> {
        self.tables.get_or_init(|| if self.composite { tables(&self.font) } else { None }).as_ref()
    }
}

/// The fonts of a page by name, without the tag of a subset.
type Fonts<'a> = HashMap<Vec<u8>, Facts<'a>>;

/// Looks up codes for one page. Nothing is loaded before a code needs it.
pub(super) struct CharCodes<'p, 'a> {
    page: &'p Page<'a>,
    programs: &'p Programs,
    fonts: OnceCell<Fonts<'a>>,
    some_bare: OnceCell<bool>,
    some_numbered: OnceCell<bool>,
    two_bytes: OnceCell<Option<&'static Encoding>>,
}

impl<'p, 'a> CharCodes<'p, 'a> {
    pub(super) fn new(page: &'p Page<'a>, programs: &'p Programs) -> Self {
        let (fonts, two_bytes) = (OnceCell::new(), OnceCell::new());
        let (some_bare, some_numbered) = (OnceCell::new(), OnceCell::new());
        Self { page, programs, fonts, some_bare, some_numbered, two_bytes }
    }

    fn fonts(&self) -> &Fonts<'a> {
        self.fonts.get_or_init(|| {
            let mut fonts = Fonts::new();
            collect(self.page.resources(), 0, &mut fonts);
            fonts
        })
    }

    fn facts(&self, glyph: &OutlineGlyph) -> Option<&Facts<'a>> {
        self.fonts().get(glyph.font_data()?.postscript_name?.as_bytes())
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

    /// What a glyph of a font shows that is drawn in the document itself, where fonts of the page call their glyphs by the
    /// numbers of characters. A drawn glyph does not say which font it is of.
    pub(super) fn of_number(&self, code: u32) -> Option<Letters> {
        let some_numbered = || numbered::has_fonts(self.page.resources());
        self.some_numbered.get_or_init(some_numbered).then(|| numbered::letter(code)).flatten()
    }

    /// What a glyph shows; `None` if nobody can tell.
    pub(super) fn meaning(&self, glyph: &OutlineGlyph) -> Option<Meaning> {
        if let Some(stated) = glyph.as_unicode() {
            // What is stated and says nothing, as numbers for private use do, is not to be found elsewhere: the
            // programs of symbol fonts call their signs by the letters on the keys.
            let letters = shown(stated)?;
            // The interpreter takes a code for its place in the standard encoding if none is stated.
            let bare = *self.some_bare.get_or_init(|| some_bare(self.page.resources()));
            if !bare || self.facts(glyph).is_none_or(|facts| !facts.bare) {
                return Some(Meaning::Known(letters));
            }
            return Some(self.programs.letters(glyph).map_or(Meaning::Guess(letters), Meaning::Known));
        }
        let facts = self.facts(glyph)?;
        let code = glyph.char_code();
        if let Some(tables) = facts.tables() {
            let cid = (1..=4).find_map(|bytes| tables.codes.lookup_cid_code(code, bytes))?;
            return tables.characters.lookup_bf_string(cid).and_then(shown).map(Meaning::Known);
        }
        // What shows nothing is a space.
        let blank = || glyph.outline().elements().is_empty().then_some(Letters::One(' '));
        let said = facts.embedded.then(|| self.programs.letters(glyph).or_else(blank)).flatten();
        if !facts.composite || said.is_some() {
            return said.map(Meaning::Known);
        }
        let taken = char::from_u32(code).filter(|c| !c.is_control())?;
        Some(Meaning::Guess(Letters::from(taken)))
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

fn collect<'a>(resources: &Resources<'a>, depth: usize, fonts: &mut Fonts<'a>) {
    for key in resources.fonts.keys() {
        let Some(font) = resources.fonts.get::<Dict<'a>>(&key) else { continue };
        let Some(name) = font.get::<Name<'_>>(b"BaseFont") else { continue };
        if fonts.len() >= MOST_FONTS {
            return;
        }
        fonts.entry(without_tag(&name).to_vec()).or_insert_with(|| facts(&font));
    }
    if depth >= DEEPEST {
        return;
    }
    for key in resources.x_objects.keys() {
        let Some(form) = resources.x_objects.get::<Stream<'a>>(&key) else { continue };
        if let Some(own) = form.dict().get::<Dict<'a>>(b"Resources") {
            collect(&Resources::new(own), depth + 1, fonts);
        }
    }
}

/// Whether a font of the page itself states nothing. Forms are not searched for that: it is asked of every page.
fn some_bare(resources: &Resources<'_>) -> bool {
    let fonts = resources.fonts.keys().take(MOST_FONTS);
    fonts.filter_map(|key| resources.fonts.get::<Dict<'_>>(&key)).any(|font| facts(&font).bare)
}

fn facts<'a>(font: &Dict<'a>) -> Facts<'a> {
    let composite = font.get::<Name<'_>>(b"Subtype").is_some_and(|kind| *kind == *b"Type0");
    let described = if composite { descendant(font) } else { Some(font.clone()) };
    let program = described.and_then(|font| font.get::<Dict<'_>>(b"FontDescriptor"));
    let embedded = program.as_ref().is_some_and(|descriptor| {
        [&b"FontFile"[..], b"FontFile2", b"FontFile3"].iter().any(|key| descriptor.contains_key(key))
    });
    // Such fonts have the standard encoding if they state no other.
    let of_letters =
        program.and_then(|p| p.get::<u32>(b"Flags")).is_some_and(|flags| flags & NON_SYMBOLIC != 0);
    let true_type = font.get::<Name<'_>>(b"Subtype").is_some_and(|kind| *kind == *b"TrueType");
    let bare = true_type
        && embedded
        && !of_letters
        && !font.contains_key(b"Encoding")
        && !font.contains_key(b"ToUnicode");
    Facts { composite, embedded, bare, font: font.clone(), tables: OnceCell::new() }
}

fn descendant<'a>(font: &Dict<'a>) -> Option<Dict<'a>> {
    font.get::<Array<'a>>(b"DescendantFonts")?.iter::<Dict<'a>>().next()
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
    let described = descendant(font)?;
    let of_codes = codes.metadata().character_collection.as_ref().map(|c| c.family.clone());
    let of_font = described.get::<Dict<'_>>(b"CIDSystemInfo").and_then(|info| {
        let registry = info.get::<PdfString<'_>>(b"Registry")?;
        let ordering = info.get::<PdfString<'_>>(b"Ordering")?;
        Some(CidFamily::from_registry_ordering(&registry, &ordering))
    });
    let name = [of_codes, of_font].into_iter().flatten().find_map(|family| family.ucs2_cmap())?;
    Some(Tables { codes, characters: CMap::parse(load_embedded(name)?, load_embedded)? })
}
