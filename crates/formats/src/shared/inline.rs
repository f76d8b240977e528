//! Pictures inside a document that has text of its own: they are handed over as scans of the page they stand on, and
//! what they say follows the text of that page. One that cannot be read is a warning, never an error.

use std::collections::HashSet;

use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use super::package::Package;
use super::picture;
use crate::input::Input;
use crate::sink::Sink;
use crate::sniff::sniff;

/// Readers of pictures, by name.
const PICTURES: &[&str] = &["image", "tiff", "heif", "avif", "jpeg2000"];

/// Further pictures of one document are left out, and that is said.
const MAX_PICTURES: u32 = 200;

/// A larger file is no picture in a text.
const MAX_BYTES: u64 = 64 << 20;

/// Less is an icon or a rule.
const MIN_SIDE: u32 = 32;
const MIN_PIXELS: u64 = 10_000;

/// The pictures of one document on their way to recognition.
pub(crate) struct Pictures {
    want: Want,
    seen: HashSet<String>,
    given: u32,
    left_out: u32,
}

impl Pictures {
    pub(crate) fn new(want: Want) -> Self {
        Self { want, seen: HashSet::new(), given: 0, left_out: 0 }
    }

    /// Hands over the pictures in these parts, which stand on one page. A part that was there before is passed over:
    /// a logo says the same on every slide.
    pub(crate) fn give<'n>(
        &mut self,
        package: &mut Package<'_>,
        parts: impl IntoIterator<Item = &'n str>,
        page: u32,
        limits: &ReadLimits,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        if !picture::wants_pixels(self.want) {
            return Ok(());
        }
        for part in parts {
            if !self.seen.insert(part.to_owned()) || !package.has(part) {
                continue;
            }
            if self.given >= MAX_PICTURES {
                self.left_out += 1;
                continue;
            }
            match self.one(package, part, page, limits, sink) {
                Ok(()) => {}
                // What concerns the whole document.
                Err(e) if e.kind() == ErrorKind::BombSuspected => return Err(e),
                Err(e) => {
                    let message = format!("the picture `{part}` is not recognised: {}", e.message());
                    sink.warn(Problem::new(e.kind(), message).on_page(page))?;
                }
            }
        }
        Ok(())
    }

    /// Says how many were left out.
    pub(crate) fn finish(self, sink: &mut dyn Sink) -> Result<()> {
        if self.left_out == 0 {
            return Ok(());
        }
        let message = format!(
            "only the first {MAX_PICTURES} pictures of the document are recognised, {} are left out",
            self.left_out
        );
        sink.warn(Problem::new(ErrorKind::LimitExceeded, message))
    }

    fn one(
        &mut self,
        package: &mut Package<'_>,
        part: &str,
        page: u32,
        limits: &ReadLimits,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        if package.stated_bytes(part).is_some_and(|bytes| bytes > MAX_BYTES) {
            return Err(Error::limit_exceeded(format!("it has more than {MAX_BYTES} bytes")));
        }
        let Some(bytes) = package.whole(part, MAX_BYTES)? else { return Ok(()) };
        let mut input = Input::from_bytes(bytes);
        // Drawings (EMF, SVG) are passed over: they are no pixels.
        let Some(format) = sniff(&mut input, part)?.format.filter(|f| PICTURES.contains(&f.name())) else {
            return Ok(());
        };
        input.go_to(0)?;
        let want = Want { text: true, ocr: self.want.ocr, ..Want::KIND };
        let mut inside = Inside { sink, page, given: &mut self.given };
        picture::guarded(|| format.parse(&mut input, want, limits, &mut inside))
    }
}

/// Lets only pixels through, as those of a picture on a page.
struct Inside<'a> {
    sink: &'a mut dyn Sink,
    page: u32,
    given: &'a mut u32,
}

impl Sink for Inside<'_> {
    fn put(&mut self, found: Found) -> Result<()> {
        let Found::Scan(mut scan) = found else { return Ok(()) };
        let pixels = u64::from(scan.width) * u64::from(scan.height);
        if scan.width.min(scan.height) < MIN_SIDE || pixels < MIN_PIXELS || *self.given >= MAX_PICTURES {
            return Ok(());
        }
        *self.given += 1;
        scan.number = self.page;
        scan.inline = Some(*self.given);
        self.sink.scan(scan)
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;
    use docmill_core::ocr::OcrMode;

    use super::*;
    use crate::sink::Collected;
    use crate::tests_support::{fixture, package_of, scans, stored_package_of, try_read};

    const SEEN: Want = Want { ocr: OcrMode::Auto, ..Want::TEXT };
    const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    const RELATION: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

    fn relations(targets: &[&str]) -> String {
        let one = |(number, target): (usize, &&str)| {
            format!(r#"<Relationship Id="r{number}" Type="{RELATION}/image" Target="{target}"/>"#)
        };
        let all: String = targets.iter().enumerate().map(one).collect();
        format!("<Relationships>{all}</Relationships>")
    }

    fn docx(targets: &[&str], pictures: &[(&str, &[u8])]) -> Vec<u8> {
        let body = format!(
            r#"<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>See the scan.</w:t></w:r></w:p></w:body></w:document>"#
        );
        let kinds = r#"<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
        let named = relations(targets);
        let mut parts: Vec<(&str, &[u8])> = vec![
            ("[Content_Types].xml", kinds.as_bytes()),
            ("word/document.xml", body.as_bytes()),
            ("word/_rels/document.xml.rels", named.as_bytes()),
        ];
        parts.extend(pictures);
        package_of(&parts)
    }

    fn read(bytes: &[u8], name: &str, want: Want) -> Collected {
        let (found, result) = try_read(name, bytes, want, &Limits::default().for_reader());
        result.unwrap();
        found
    }

    #[test]
    fn scan_in_a_letter_is_handed_over_once_and_an_icon_is_not() {
        let (scan, icon) = (fixture("image/mill.png"), fixture("image/blank.png"));
        let pictures: &[(&str, &[u8])] =
            &[("word/media/a.png", &scan), ("word/media/icon.png", &icon), ("word/media/b.emf", b"drawing")];
        let targets = ["media/a.png", "media/icon.png", "media/a.png", "media/b.emf", "media/gone.png"];
        let bytes = docx(&targets, pictures);
        let found = read(&bytes, "a.docx", SEEN);
        assert_eq!(found.text(), "See the scan.\n");
        let seen: Vec<_> = scans(&found).iter().map(|s| (s.number, s.inline, s.width)).collect();
        assert_eq!(seen, [(1, Some(1), 560)]);
        assert!(found.warnings().is_empty(), "{:?}", found.warnings());
        assert!(scans(&read(&bytes, "a.docx", Want::TEXT)).is_empty(), "nobody recognises");
    }

    #[test]
    fn damaged_picture_is_a_warning_and_the_others_are_handed_over() {
        let (scan, damaged) = (fixture("image/mill.png"), fixture("image/damaged.png"));
        let pictures: &[(&str, &[u8])] = &[("word/media/a.png", &damaged), ("word/media/b.png", &scan)];
        let found = read(&docx(&["media/a.png", "media/b.png"], pictures), "a.docx", SEEN);
        assert_eq!((found.text().as_str(), scans(&found).len()), ("See the scan.\n", 1));
        let warning = found.warnings()[0];
        assert!(warning.message.contains("word/media/a.png") && warning.page == Some(1), "{warning:?}");
    }

    #[test]
    fn pictures_of_slides_and_texts_stand_on_their_pages() {
        let scan = fixture("image/mill.png");
        let content = br#"<office:document-content xmlns:office="o" xmlns:draw="d" xmlns:text="t" xmlns:xlink="x">
            <office:body><office:presentation>
            <draw:page><draw:frame><draw:text-box><text:p>First</text:p></draw:text-box></draw:frame></draw:page>
            <draw:page><draw:frame><draw:image xlink:href="Pictures/a.png"/></draw:frame></draw:page>
            </office:presentation></office:body></office:document-content>"#;
        let slides = stored_package_of(&[
            ("mimetype", b"application/vnd.oasis.opendocument.presentation"),
            ("content.xml", content),
            ("Pictures/a.png", &scan),
        ]);
        let found = read(&slides, "a.odp", SEEN);
        let seen: Vec<_> = scans(&found).iter().map(|s| (s.number, s.inline)).collect();
        assert_eq!((found.pages().len(), seen), (2, vec![(2, Some(1))]));
    }
}
