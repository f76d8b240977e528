//! The fonts: those that `hayro` carries for files that embed none, which may be used and given on freely (BSD, from
//! PDFium). They know the characters of WinAnsiEncoding, which is what western European languages need.

use std::io::Write as _;

use docmill_core::{Error, Result};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use hayro::hayro_interpret::font::StandardFont;
use serde::Deserialize;

use crate::cast::read;

/// The first character that has a width.
pub(crate) const FIRST: u8 = 0x20;

/// 0x80 to 0x9F of WinAnsiEncoding; the rest is as in Unicode.
const HIGH: [Option<char>; 32] = [
    Some('€'),
    None,
    Some('‚'),
    Some('ƒ'),
    Some('„'),
    Some('…'),
    Some('†'),
    Some('‡'),
    Some('ˆ'),
    Some('‰'),
    Some('Š'),
    Some('‹'),
    Some('Œ'),
    None,
    Some('Ž'),
    None,
    None,
    Some('‘'),
    Some('’'),
    Some('“'),
    Some('”'),
    Some('•'),
    Some('–'),
    Some('—'),
    Some('˜'),
    Some('™'),
    Some('š'),
    Some('›'),
    Some('œ'),
    None,
    Some('ž'),
    Some('Ÿ'),
];

/// A family, as vendors choose one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Family {
    Sans,
    Serif,
}

impl Family {
    pub(crate) fn plain(self) -> Face {
        if self == Self::Sans { Face::Sans } else { Face::Serif }
    }

    pub(crate) fn bold(self) -> Face {
        if self == Self::Sans { Face::SansBold } else { Face::SerifBold }
    }

    pub(crate) fn italic(self) -> Face {
        if self == Self::Sans { Face::SansItalic } else { Face::SerifItalic }
    }
}

/// One font.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Face {
    Sans,
    SansBold,
    SansItalic,
    Serif,
    SerifBold,
    SerifItalic,
    Fixed,
    FixedBold,
}

impl Face {
    pub(crate) const ALL: [Self; 8] = [
        Self::Sans,
        Self::SansBold,
        Self::SansItalic,
        Self::Serif,
        Self::SerifBold,
        Self::SerifItalic,
        Self::Fixed,
        Self::FixedBold,
    ];

    fn standard(self) -> StandardFont {
        match self {
            Self::Sans => StandardFont::Helvetica,
            Self::SansBold => StandardFont::HelveticaBold,
            Self::SansItalic => StandardFont::HelveticaOblique,
            Self::Serif => StandardFont::TimesRoman,
            Self::SerifBold => StandardFont::TimesBold,
            Self::SerifItalic => StandardFont::TimesItalic,
            Self::Fixed => StandardFont::Courier,
            Self::FixedBold => StandardFont::CourierBold,
        }
    }
}

/// A font that is ready to be embedded.
pub(crate) struct Font {
    /// By character, from [`FIRST`] on, in thousandths of the size.
    pub(crate) widths: Vec<u16>,
    /// The font program, packed.
    pub(crate) packed: Vec<u8>,
    /// What the font calls itself.
    pub(crate) name: &'static str,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) serif: bool,
    pub(crate) fixed: bool,
}

/// All of them.
pub(crate) struct Fonts {
    fonts: Vec<Font>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Widths {
    sans: Vec<u16>,
    sans_bold: Vec<u16>,
    sans_italic: Vec<u16>,
    serif: Vec<u16>,
    serif_bold: Vec<u16>,
    serif_italic: Vec<u16>,
    fixed: Vec<u16>,
    fixed_bold: Vec<u16>,
}

impl Fonts {
    /// Packs each once; documents copy them.
    pub(crate) fn load() -> Result<Self> {
        let all: Widths = read("widths", include_str!("../../data/widths.toml"))?;
        let widths = [
            all.sans,
            all.sans_bold,
            all.sans_italic,
            all.serif,
            all.serif_bold,
            all.serif_italic,
            all.fixed,
            all.fixed_bold,
        ];
        let fonts = Face::ALL.into_iter().zip(widths).map(|(face, widths)| {
            let (program, _) = face.standard().get_font_data();
            let program: &[u8] = (*program).as_ref();
            Ok(Font {
                widths,
                packed: pack(program)?,
                name: name(face),
                bold: matches!(face, Face::SansBold | Face::SerifBold | Face::FixedBold),
                italic: matches!(face, Face::SansItalic | Face::SerifItalic),
                serif: matches!(face, Face::Serif | Face::SerifBold | Face::SerifItalic),
                fixed: matches!(face, Face::Fixed | Face::FixedBold),
            })
        });
        Ok(Self { fonts: fonts.collect::<Result<_>>()? })
    }

    pub(crate) fn get(&self, face: Face) -> &Font {
        &self.fonts[face as usize]
    }

    /// How wide a text is, in points.
    pub(crate) fn width(&self, face: Face, size: f32, text: &str) -> f32 {
        let widths = &self.get(face).widths;
        let thousandths: u32 = encode(text)
            .iter()
            .map(|code| u32::from(*widths.get(usize::from(code.wrapping_sub(FIRST))).unwrap_or(&0)))
            .sum();
        thousandths as f32 * size / 1000.0
    }
}

/// In WinAnsiEncoding; what it does not have becomes a question mark, and a test sees to it that nothing does.
pub(crate) fn encode(text: &str) -> Vec<u8> {
    text.chars().map(|c| code(c).unwrap_or(b'?')).collect()
}

/// The code of a character.
pub(crate) fn code(c: char) -> Option<u8> {
    match u32::from(c) {
        plain @ (0x20..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => u8::try_from(plain).ok(),
        _ => HIGH.iter().position(|high| *high == Some(c)).and_then(|at| u8::try_from(at + 0x80).ok()),
    }
}

/// Every character with its code.
pub(crate) fn characters() -> impl Iterator<Item = (u8, char)> {
    (FIRST..=0xFF).filter_map(|byte| {
        let c = match byte {
            0x80..=0x9F => HIGH[usize::from(byte) - 0x80]?,
            _ => char::from(byte),
        };
        (code(c) == Some(byte)).then_some((byte, c))
    })
}

/// Names of fonts of no other maker, with a tag as a subset has one: no viewer may take its own instead.
fn name(face: Face) -> &'static str {
    match face {
        Face::Sans => "DOCMIL+ChromSans",
        Face::SansBold => "DOCMIL+ChromSans-Bold",
        Face::SansItalic => "DOCMIL+ChromSans-Italic",
        Face::Serif => "DOCMIL+ChromSerif",
        Face::SerifBold => "DOCMIL+ChromSerif-Bold",
        Face::SerifItalic => "DOCMIL+ChromSerif-Italic",
        Face::Fixed => "DOCMIL+ChromFixed",
        Face::FixedBold => "DOCMIL+ChromFixed-Bold",
    }
}

/// As `FlateDecode` has it.
pub(crate) fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let failed = |e| Error::bug("packing failed").with_source(e);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).map_err(failed)?;
    encoder.finish().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_face_has_a_width_for_every_character() {
        let fonts = Fonts::load().unwrap();
        for face in Face::ALL {
            for (byte, c) in characters() {
                assert!(fonts.get(face).widths[usize::from(byte - FIRST)] > 0, "{face:?} {c:?}");
            }
            assert_eq!(fonts.get(face).widths.len(), 224);
        }
    }

    #[test]
    fn text_that_ends_at_a_width_is_measured_so() {
        let fonts = Fonts::load().unwrap();
        assert!((fonts.width(Face::Fixed, 10.0, "Œuvre 5 €") - 54.0).abs() < 0.001);
        assert!((fonts.width(Face::Sans, 10.0, "Ai") - 8.89).abs() < 0.001);
    }
}
