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

/// Lines this much further apart than lines of the page usually are have an empty line between them.
const PARAGRAPH: f64 = 1.5;

/// Letters below this part of a line's height, beside it and a little above or below its baseline, are its
/// indices: up to this part of the height above…
const INDEX_SIZE: f64 = 0.85;
const INDEX_ABOVE: f64 = 0.75;
/// …and up to this part below.
const INDEX_BELOW: f64 = 0.4;

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

impl Line {
    /// From where to where the line goes.
    fn extent(&self) -> (f64, f64) {
        let from = self.glyphs.iter().map(|g| g.from).fold(f64::INFINITY, f64::min);
        let to = self.glyphs.iter().map(|g| g.to).fold(f64::NEG_INFINITY, f64::max);
        (from, to)
    }
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
    let mut lines = take_in_indices(lines);
    for line in &mut lines {
        line.glyphs.sort_by(|a, b| a.from.total_cmp(&b.from));
    }
    lines
}

/// Moves raised and lowered indices from lines of their own to the lines they belong to.
fn take_in_indices(mut lines: Vec<Line>) -> Vec<Line> {
    for at in 0..lines.len() {
        for neighbour in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
            let Some(line) = lines.get(neighbour) else { continue };
            let (base, size) = (line.base, line.size);
            if lines[at].size > INDEX_SIZE * size {
                continue;
            }
            let offset = lines[at].base - base;
            if offset < -INDEX_ABOVE * size || offset > INDEX_BELOW * size {
                continue;
            }
            let (from, to) = line.extent();
            let beside = |glyph: &Placed| glyph.from >= from - size && glyph.to <= to + size;
            if lines[at].glyphs.iter().all(beside) {
                let indices = std::mem::take(&mut lines[at].glyphs);
                lines[neighbour].glyphs.extend(indices);
                break;
            }
        }
    }
    lines.retain(|line| !line.glyphs.is_empty());
    lines
}

fn write_lines(lines: Vec<Line>, out: &mut String) {
    let usual = usual_distance(&lines);
    let mut previous: Option<f64> = None;
    for line in lines {
        let text = line_text(&line.glyphs);
        if text.is_empty() {
            continue;
        }
        if !out.is_empty()
            && let Some(base) = previous
            && line.base - base > PARAGRAPH * usual
        {
            out.push('\n');
        }
        previous = Some(line.base);
        out.push_str(&text);
        out.push('\n');
    }
}

/// The median distance between lines; double-spaced pages have a large one.
fn usual_distance(lines: &[Line]) -> f64 {
    let mut distances: Vec<f64> = lines.windows(2).map(|pair| pair[1].base - pair[0].base).collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    let largest = lines.iter().map(|line| line.size).fold(0.0, f64::max);
    // With few lines the median may be a paragraph's distance itself.
    if distances.len() < 4 { median.min(1.5 * largest) } else { median }
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
        let mut raised = word("2", 10.0, 6.0);
        raised[0].size = 6.0;
        assert_eq!(laid_out(vec![word("mc", 0.0, 12.0), raised]), "mc2\n");
    }
}
