//! Pages as pictures for a model that sees. They are drawn by a sandboxed reader; nothing here looks into one.

use bytes::Bytes;
use docmill_core::artifact::{Page, TextSource, Transcript};
use docmill_core::picture::{Picture, PictureSize};
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, ErrorKind, Result};

use crate::stages::extract::material::is_the_contents_own;
use crate::stages::reading::Readings;

/// No side of a picture that is sent has more pixels.
pub(crate) const MAX_SIDE: u32 = 2048;

/// So many pages of a document are shown when its fields are asked for, each in a question of its own.
const MAX_SHOWN: usize = 3;

/// The pages that are shown for their fields, at most so many: those whose words were recognised, and those of a document
/// without any words. A page without words beside pages with text is most often an empty one.
pub(crate) fn shown(transcript: &Transcript) -> Vec<u32> {
    let has_words = |page: &Page| page.text.chars().any(char::is_alphanumeric);
    let is_image = transcript.media_type.starts_with("image/");
    let is_read = |page: &Page| page.source == TextSource::Native && has_words(page);
    let any_read = transcript.pages.iter().any(is_read);
    let is_shown = |page: &&Page| {
        let unread = !any_read && !has_words(page);
        is_image || page.source == TextSource::Ocr || unread
    };
    let mut numbers: Vec<u32> = transcript.pages.iter().filter(is_shown).map(|page| page.number).collect();
    if is_image && numbers.is_empty() {
        numbers.push(1);
    }
    numbers.truncate(MAX_SHOWN);
    numbers
}

/// A page as a picture so wide.
pub(crate) fn want(page: u32, width: u32) -> Want {
    Want { pictures: Some(PictureSize { width }), pages: Some((page, page)), ..Want::KIND }
}

/// The picture that was drawn.
pub(crate) async fn drawn(mut readings: Readings<'_>, progress: impl Fn()) -> Result<Picture> {
    let mut drawn = None;
    while let Some(found) = readings.next().await? {
        progress();
        if let Found::Picture(picture) = found {
            drawn = Some(picture);
        }
    }
    let picture =
        drawn.ok_or_else(|| Error::unsupported_format("no page of the document can be shown to a model"))?;
    picture.check()?;
    Ok(picture)
}

/// How wide a page has to be drawn instead so that no side is too long; nothing if it may be sent. The height follows from
/// the width: a tall page is drawn once more, narrower.
pub(crate) fn narrower(picture: &Picture) -> Option<u32> {
    if picture.height <= MAX_SIDE || picture.width <= PictureSize::MIN_WIDTH {
        return None;
    }
    let width = u64::from(picture.width) * u64::from(MAX_SIDE) / u64::from(picture.height);
    Some((width as u32).clamp(PictureSize::MIN_WIDTH, picture.width - 1))
}

/// Whether a page could be drawn: one that could not is asked about by its text.
pub(crate) fn if_any(picture: Result<Bytes>) -> Result<Option<Bytes>> {
    match picture {
        Ok(png) => Ok(Some(png)),
        Err(error) if is_of_the_picture(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error says that there is no picture to show; others may pass.
pub(crate) fn is_of_the_picture(error: &Error) -> bool {
    is_the_contents_own(error) || error.kind() == ErrorKind::Bug
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn scans_and_pictures_are_shown_and_pages_with_their_own_text_are_not() {
        let page = |number: u32, source: TextSource, text: &str| Page {
            number,
            source,
            text: text.into(),
            reason: String::new(),
            quality: None,
        };
        let (native, ocr, none) = (TextSource::Native, TextSource::Ocr, TextSource::None);
        let of = |media_type: &str, pages: Vec<Page>| {
            shown(&Transcript {
                v: Transcript::VERSION,
                media_type: media_type.into(),
                language: None,
                quality: None,
                metadata: BTreeMap::new(),
                pages,
                problems: Vec::new(),
                recognised: Vec::new(),
            })
        };
        let pdf = "application/pdf";
        assert_eq!(of(pdf, vec![page(1, native, "Total"), page(2, ocr, "Sum"), page(3, none, "")]), [2]);
        assert_eq!(of(pdf, (1..9).map(|n| page(n, none, " ")).collect()), [1, 2, 3]);
        assert_eq!(of("image/png", vec![page(1, ocr, "Total")]), [1]);
        assert_eq!(of("image/png", Vec::new()), [1]);
        assert!(of("text/plain", vec![page(1, native, "Total")]).is_empty());
    }

    #[test]
    fn tall_page_is_drawn_narrower() {
        let of = |width, height| narrower(&Picture { number: 1, width, height, png: Bytes::new() });
        assert_eq!((of(2048, 2048), of(2048, 4096), of(16, 9000)), (None, Some(1024), None));
    }
}
