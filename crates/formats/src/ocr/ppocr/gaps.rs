//! Blanks that the network leaves out: it glues a date to the time beside it, though the gap between them is there to be
//! seen.

use super::recognise::Glyph;
use crate::shared::grey::Grey;

/// A gap is a blank from this share of the line's height on. Between letters there is less, and also around a colon.
const SHARE_OF_HEIGHT: f32 = 0.33;

/// And from this share of the usual distance between two letters on, so that letters that are set wide stay together.
const SHARE_OF_DISTANCE: f32 = 0.9;

/// Fewer letters have no usual distance.
const MIN_GLYPHS: usize = 4;

/// Puts blanks between letters that stand apart on the strip.
pub(super) fn with_blanks(glyphs: Vec<Glyph>, strip: &Grey) -> Vec<Glyph> {
    if glyphs.len() < MIN_GLYPHS {
        return glyphs;
    }
    let width = strip.width() as f32;
    let mut distances: Vec<f32> = glyphs.windows(2).map(|pair| (pair[1].at - pair[0].at) * width).collect();
    let middle = distances.len() / 2;
    let usual = *distances.select_nth_unstable_by(middle, f32::total_cmp).1;
    let wide = (SHARE_OF_HEIGHT * strip.height() as f32).max(SHARE_OF_DISTANCE * usual);
    let inked = inked_columns(strip);
    let mut spaced: Vec<Glyph> = Vec::with_capacity(glyphs.len());
    for glyph in glyphs {
        if let Some(before) = spaced.last()
            && !is_blank(before)
            && !is_blank(&glyph)
            && widest_gap(&inked, before.at, glyph.at) as f32 >= wide
        {
            let blank = Glyph {
                text: " ".to_owned(),
                confidence: before.confidence.min(glyph.confidence),
                at: f32::midpoint(before.at, glyph.at),
            };
            spaced.push(blank);
        }
        spaced.push(glyph);
    }
    spaced
}

fn is_blank(glyph: &Glyph) -> bool {
    glyph.text.trim().is_empty()
}

/// Whether there is ink in each column.
fn inked_columns(strip: &Grey) -> Vec<bool> {
    let ink = strip.threshold();
    let mut inked = vec![false; strip.width() as usize];
    for row in strip.rows() {
        for (column, pixel) in inked.iter_mut().zip(row) {
            *column |= *pixel <= ink;
        }
    }
    inked
}

/// The most columns without ink side by side, between two places given as shares of the width.
fn widest_gap(inked: &[bool], from: f32, to: f32) -> usize {
    let place = |share: f32| ((share * inked.len() as f32) as usize).min(inked.len());
    let between = inked.get(place(from)..place(to)).unwrap_or_default();
    between.split(|column| *column).map(<[bool]>::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters of 10 pixels' width at these places, on a strip of 48 pixels' height.
    fn line(places: &[usize]) -> (Vec<Glyph>, Grey) {
        let (width, height) = (300_usize, 48_usize);
        let mut pixels = vec![255_u8; width * height];
        for row in pixels.chunks_exact_mut(width).skip(10).take(28) {
            for place in places {
                row[*place..place + 10].fill(0);
            }
        }
        let glyphs = places
            .iter()
            .map(|place| Glyph {
                text: "x".to_owned(),
                confidence: 0.9,
                at: (*place as f32 + 5.0) / width as f32,
            })
            .collect();
        (glyphs, Grey::new(width as u32, height as u32, pixels).unwrap())
    }

    fn read(places: &[usize]) -> String {
        let (glyphs, strip) = line(places);
        with_blanks(glyphs, &strip).iter().map(|glyph| glyph.text.as_str()).collect()
    }

    #[test]
    fn blanks_are_put_where_letters_stand_apart() {
        assert_eq!(read(&[0, 18, 36, 54, 90, 108]), "xxxx xx");
        assert_eq!(read(&[0, 18, 36, 60, 78, 96]), "xxxxxx", "14 columns are no gap");
    }

    #[test]
    fn letters_that_are_set_wide_stay_together() {
        assert_eq!(read(&[0, 40, 80, 120, 160, 200]), "xxxxxx");
        assert_eq!(read(&[0, 40, 80]), "xxx", "too few to tell");
    }
}
