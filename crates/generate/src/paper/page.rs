//! A page to draw on, measured in points from its top left corner. It remembers what was written on it, in the order of
//! writing, which therefore has to be the order of reading.

use std::collections::BTreeSet;

use pdf_writer::{Content, Name, Str};

use super::font::{Face, Fonts, encode};
use super::{Colour, Size};

/// How text looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Style {
    pub(crate) face: Face,
    pub(crate) size: f32,
    pub(crate) colour: Colour,
}

impl Style {
    pub(crate) fn new(face: Face, size: f32) -> Self {
        Self { face, size, colour: Colour::BLACK }
    }

    pub(crate) fn in_colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }
}

/// A page.
pub(crate) struct Page<'f> {
    pub(crate) size: Size,
    fonts: &'f Fonts,
    content: Content,
    faces: BTreeSet<Face>,
    /// What was written, with its baseline.
    written: Vec<(f32, String)>,
}

impl<'f> Page<'f> {
    pub(crate) fn new(fonts: &'f Fonts, size: Size) -> Self {
        Self { size, fonts, content: Content::new(), faces: BTreeSet::new(), written: Vec::new() }
    }

    /// Fonts that are used.
    pub(crate) fn faces(&self) -> &BTreeSet<Face> {
        &self.faces
    }

    /// The drawing, as PDF has it.
    pub(crate) fn drawing(&self) -> &[u8] {
        self.content.as_bytes()
    }

    /// All that is written, a line for each baseline.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        let mut last: Option<f32> = None;
        for (baseline, text) in &self.written {
            match last {
                Some(before) if (baseline - before).abs() < 0.5 => out.push(' '),
                Some(_) => out.push('\n'),
                None => {}
            }
            out.push_str(text);
            last = Some(*baseline);
        }
        out
    }

    pub(crate) fn width_of(&self, style: Style, text: &str) -> f32 {
        self.fonts.width(style.face, style.size, text)
    }

    /// Writes with its left end at `x` and its baseline at `y`.
    pub(crate) fn text_at(&mut self, x: f32, y: f32, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        self.faces.insert(style.face);
        let [red, green, blue] = style.colour.0;
        let name = font_name(style.face);
        self.content
            .set_fill_rgb(red, green, blue)
            .begin_text()
            .set_font(Name(name.as_bytes()), style.size)
            .next_line(x, self.size.1 - y)
            .show(Str(&encode(text)))
            .end_text();
        self.written.push((y, text.to_owned()));
    }

    /// With its right end at `x`.
    pub(crate) fn right_at(&mut self, x: f32, y: f32, style: Style, text: &str) {
        let width = self.width_of(style, text);
        self.text_at(x - width, y, style, text);
    }

    /// With its middle at `x`.
    pub(crate) fn centre_at(&mut self, x: f32, y: f32, style: Style, text: &str) {
        let width = self.width_of(style, text);
        self.text_at(x - width / 2.0, y, style, text);
    }

    /// Lines one below the other; gives the baseline that follows.
    pub(crate) fn lines(
        &mut self,
        x: f32,
        y: f32,
        style: Style,
        leading: f32,
        lines: &[impl AsRef<str>],
    ) -> f32 {
        let mut at = y;
        for line in lines {
            self.text_at(x, at, style, line.as_ref());
            at += leading;
        }
        at
    }

    /// A text that is broken to fit; gives the baseline that follows.
    pub(crate) fn paragraph(
        &mut self,
        x: f32,
        y: f32,
        width: f32,
        style: Style,
        leading: f32,
        text: &str,
    ) -> f32 {
        let lines = self.broken(style, width, text);
        self.lines(x, y, style, leading, &lines)
    }

    /// A text in lines that fit.
    pub(crate) fn broken(&self, style: Style, width: f32, text: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        for word in text.split(' ') {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if !line.is_empty() && self.width_of(style, &longer) > width {
                lines.push(std::mem::replace(&mut line, word.to_owned()));
            } else {
                line = longer;
            }
        }
        lines.push(line);
        lines
    }

    /// An area in a colour.
    pub(crate) fn area(&mut self, x: f32, y: f32, width: f32, height: f32, colour: Colour) {
        let [red, green, blue] = colour.0;
        let bottom = self.size.1 - y - height;
        self.content.set_fill_rgb(red, green, blue).rect(x, bottom, width, height).fill_nonzero();
    }

    /// The edge of an area.
    pub(crate) fn frame(&mut self, x: f32, y: f32, width: f32, height: f32, thick: f32, colour: Colour) {
        let [red, green, blue] = colour.0;
        let bottom = self.size.1 - y - height;
        self.content
            .set_stroke_rgb(red, green, blue)
            .set_line_width(thick)
            .rect(x, bottom, width, height)
            .stroke();
    }

    /// A line from left to right.
    pub(crate) fn rule(&mut self, x: f32, y: f32, to: f32, thick: f32, colour: Colour) {
        self.line((x, y), (to, y), thick, colour);
    }

    /// A line.
    pub(crate) fn line(&mut self, from: (f32, f32), to: (f32, f32), thick: f32, colour: Colour) {
        let [red, green, blue] = colour.0;
        let height = self.size.1;
        self.content
            .set_stroke_rgb(red, green, blue)
            .set_line_width(thick)
            .move_to(from.0, height - from.1)
            .line_to(to.0, height - to.1)
            .stroke();
    }

    /// A line of dashes from left to right.
    pub(crate) fn dashes(&mut self, x: f32, y: f32, to: f32, colour: Colour) {
        self.content.save_state().set_dash_pattern([2.0, 2.0], 0.0);
        self.rule(x, y, to, 0.6, colour);
        self.content.restore_state();
    }

    /// A closed shape: a start, and curves with two handles and an end each.
    pub(crate) fn shape(&mut self, start: (f32, f32), curves: &[[(f32, f32); 3]], colour: Colour) {
        let [red, green, blue] = colour.0;
        let height = self.size.1;
        self.content.set_fill_rgb(red, green, blue).move_to(start.0, height - start.1);
        for [one, two, end] in curves {
            self.content.cubic_to(one.0, height - one.1, two.0, height - two.1, end.0, height - end.1);
        }
        self.content.close_path().fill_nonzero();
    }

    /// A line along curves, as a pen leaves it.
    pub(crate) fn stroke(
        &mut self,
        start: (f32, f32),
        curves: &[[(f32, f32); 3]],
        thick: f32,
        colour: Colour,
    ) {
        let [red, green, blue] = colour.0;
        let height = self.size.1;
        self.content
            .set_stroke_rgb(red, green, blue)
            .set_line_width(thick)
            .move_to(start.0, height - start.1);
        for [one, two, end] in curves {
            self.content.cubic_to(one.0, height - one.1, two.0, height - two.1, end.0, height - end.1);
        }
        self.content.stroke();
    }
}

/// What a font is called on a page.
pub(super) fn font_name(face: Face) -> String {
    format!("F{}", face as usize)
}
