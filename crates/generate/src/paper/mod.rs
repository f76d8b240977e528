//! Paper to draw on: fonts, pages with text, lines and areas, and the PDF file they become.

mod font;
mod mark;
mod page;
pub(crate) mod pdf;

use serde::Deserialize;

pub(crate) use font::{Face, Family, Fonts};
pub(crate) use mark::draw as draw_mark;
pub(crate) use page::{Page, Style};

/// Width and height in points.
pub(crate) type Size = (f32, f32);

pub(crate) const A4: Size = (595.0, 842.0);
pub(crate) const LETTER: Size = (612.0, 792.0);

/// Red, green and blue, from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Colour(pub(crate) [f32; 3]);

impl Colour {
    pub(crate) const BLACK: Self = Self([0.08, 0.08, 0.08]);
    pub(crate) const GREY: Self = Self([0.42, 0.42, 0.42]);
    pub(crate) const LIGHT: Self = Self([0.80, 0.80, 0.80]);
    pub(crate) const PALE: Self = Self([0.955, 0.955, 0.955]);
    /// Of a pen.
    pub(crate) const INK: Self = Self([0.10, 0.16, 0.42]);
    pub(crate) const WHITE: Self = Self([1.0; 3]);

    /// Mixed with white; 0 is white.
    pub(crate) fn tint(self, part: f32) -> Self {
        Self(self.0.map(|c| 1.0 - (1.0 - c) * part))
    }
}

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let value = text.strip_prefix('#').and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let value = value.ok_or_else(|| format!("`{text}` is no colour such as #1F4E79"))?;
        let part = |shift: u32| ((value >> shift) & 0xFF) as f32 / 255.0;
        Ok(Self([part(16), part(8), part(0)]))
    }
}
