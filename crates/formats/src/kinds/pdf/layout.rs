//! Glyphs with places to lines of text: top to bottom, left to right, a space where there is a gap.
//!
//! Each direction of text on a page is laid out for itself as if it ran to the right. Columns are not told
//! apart yet: what stands on one baseline becomes one line.

use super::device::{Glyph, Glyphs, Turn};

/// Glyphs whose baselines differ by less than this part of their height are on one line (sub- and
/// superscripts stay on theirs).
const SAME_LINE: f64 = 0.45;

/// A gap of this part of the height is a space; typefaces have it at a quarter to a third.
const SPACE: f64 = 0.16;

/// Lines further apart than this many heights have an empty line between them.
const PARAGRAPH: f64 = 2.2;

/// The same letter drawn again within this part of its height makes bold letters out of plain ones.
const SAME_PLACE: f64 = 0.12;

/// A glyph as if its text ran to the right: `from` and `to` along the line, `base` downwards.
struct Placed {
    text: Box<str>,
    from: f64,
    to: f64,
    base: f64,
    size: f64,
}

struct Line {
    base: f64,
    size: f64,
    glyphs: Vec<Placed>,
}

/// The text of a page.
pub(super) fn text(glyphs: Glyphs) -> String {
    let list = glyphs.into_list();
    let mut out = String::new();
    for turn in [Turn::Right, Turn::Down, Turn::Left, Turn::Up] {
        let placed: Vec<Placed> = list.iter().filter(|g| g.turn == turn).map(turned).collect();
        if !placed.is_empty() {
            write_lines(lines(placed), &mut out);
        }
    }
    out
}

/// Turns the page so that the glyph's text runs to the right.
fn turned(glyph: &Glyph) -> Placed {
    let (start, end) = (glyph.start, glyph.end);
    let (from, to, base) = match glyph.turn {
        Turn::Right => (start.x, end.x, start.y),
        Turn::Left => (-start.x, -end.x, -start.y),
        Turn::Down => (start.y, end.y, -start.x),
        Turn::Up => (-start.y, -end.y, start.x),
    };
    Placed { text: glyph.text.clone(), from, to: to.max(from), base, size: glyph.size }
}

/// Groups glyphs by baseline. They come mostly in order, so the line at hand is tried first and the others
/// are found by their place.
fn lines(placed: Vec<Placed>) -> Vec<Line> {
    let mut sorted = placed;
    sorted.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut lines: Vec<Line> = Vec::new();
    for glyph in sorted {
        match lines.last_mut() {
            Some(line) if (glyph.base - line.base).abs() <= SAME_LINE * glyph.size.max(line.size) * 0.8 => {
                // The baseline of a line is that of its largest glyphs.
                if glyph.size > line.size {
                    line.base = glyph.base;
                    line.size = glyph.size;
                }
                line.glyphs.push(glyph);
            }
            _ => lines.push(Line { base: glyph.base, size: glyph.size, glyphs: vec![glyph] }),
        }
    }
    for line in &mut lines {
        line.glyphs.sort_by(|a, b| a.from.total_cmp(&b.from));
    }
    lines
}

fn write_lines(lines: Vec<Line>, out: &mut String) {
    let mut previous: Option<(f64, f64)> = None;
    for line in lines {
        let text = line_text(&line.glyphs);
        if text.is_empty() {
            continue;
        }
        if !out.is_empty()
            && let Some((base, size)) = previous
            && line.base - base > PARAGRAPH * size.max(line.size)
        {
            out.push('\n');
        }
        previous = Some((line.base, line.size));
        out.push_str(&text);
        out.push('\n');
    }
}

fn line_text(glyphs: &[Placed]) -> String {
    let mut text = String::new();
    let mut reached = f64::NEG_INFINITY;
    let mut last: Option<&Placed> = None;
    for glyph in glyphs {
        if let Some(last) = last
            && last.text == glyph.text
            && (glyph.from - last.from).abs() < SAME_PLACE * glyph.size
        {
            continue;
        }
        if glyph.text.chars().all(char::is_whitespace) {
            separate(&mut text);
            reached = reached.max(glyph.to);
            continue;
        }
        if reached.is_finite() && glyph.from - reached > SPACE * glyph.size {
            separate(&mut text);
        }
        text.push_str(&glyph.text);
        reached = glyph.to;
        last = Some(glyph);
    }
    text.truncate(text.trim_end().len());
    text
}

fn separate(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters of width 5 and height 10, from `x` on the baseline `y`.
    fn word(text: &str, x: f64, y: f64) -> Vec<Placed> {
        text.chars()
            .enumerate()
            .map(|(i, c)| {
                let from = x + 5.0 * i as f64;
                Placed { text: c.to_string().into(), from, to: from + 5.0, base: y, size: 10.0 }
            })
            .collect()
    }

    fn laid_out(words: Vec<Vec<Placed>>) -> String {
        let mut out = String::new();
        write_lines(lines(words.into_iter().flatten().collect()), &mut out);
        out
    }

    #[test]
    fn words_are_ordered_by_place_not_by_drawing() {
        let words = vec![word("world", 35.0, 12.0), word("below", 0.0, 24.0), word("hello", 0.0, 12.0)];
        assert_eq!(laid_out(words), "hello world\nbelow\n");
    }

    #[test]
    fn letters_drawn_twice_for_boldness_are_read_once() {
        assert_eq!(laid_out(vec![word("bold", 0.0, 12.0), word("bold", 0.4, 12.0)]), "bold\n");
        assert_eq!(laid_out(vec![word("aa", 0.0, 12.0)]), "aa\n");
    }

    #[test]
    fn distant_lines_are_paragraphs() {
        assert_eq!(laid_out(vec![word("a", 0.0, 12.0), word("b", 0.0, 60.0)]), "a\n\nb\n");
    }

    #[test]
    fn superscript_stays_on_its_line() {
        let mut raised = word("2", 10.0, 9.0);
        raised[0].size = 6.0;
        assert_eq!(laid_out(vec![word("mc", 0.0, 12.0), raised]), "mc2\n");
    }
}
