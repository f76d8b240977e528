//! The readers, one file (or folder) each. A new one is its file, a `mod` line, an entry in [`ALL`] and a
//! folder of samples under `fixtures/`; a test compares the four.

use crate::format::Format;

mod avif;
mod compressed;
mod csv;
mod doc;
mod docx;
mod eml;
mod epub;
mod heif;
mod html;
mod ics;
mod image;
mod jpeg2000;
mod json;
mod markdown;
mod mbox;
mod msg;
mod opendocument;
mod pdf;
mod ppt;
mod pptx;
#[cfg(feature = "probe")]
mod probe;
#[cfg(feature = "rar")]
mod rar;
mod rtf;
mod sevenz;
mod subtitles;
mod tar;
mod text;
mod tiff;
mod tnef;
mod vcf;
mod xls;
mod xlsx;
mod xml;
mod zip;

#[cfg(feature = "probe")]
pub(crate) use probe::misbehave;

/// Every reader. Where two claim a file with equal confidence, the first one gets it.
pub static ALL: &[&dyn Format] = &[
    #[cfg(feature = "probe")]
    &probe::Probe,
    &pdf::Pdf,
    &docx::Docx,
    &xlsx::Xlsx,
    &pptx::Pptx,
    &opendocument::OpenDocument,
    &epub::Epub,
    &image::Image,
    &tiff::Tiff,
    &heif::Heif,
    &avif::Avif,
    &jpeg2000::Jpeg2000,
    &zip::Zip,
    &tar::Tar,
    &sevenz::SevenZ,
    #[cfg(feature = "rar")]
    &rar::Rar,
    &compressed::Compressed,
    &msg::Msg,
    &doc::Doc,
    &xls::Xls,
    &ppt::Ppt,
    &tnef::Tnef,
    &ics::Ics,
    &vcf::Vcf,
    &mbox::Mbox,
    &eml::Eml,
    &rtf::Rtf,
    &subtitles::Subtitles,
    &html::Html,
    &xml::Xml,
    &json::Json,
    &csv::Csv,
    &markdown::Markdown,
    &text::Text,
];

pub(crate) use html::visible_text;
pub(crate) use pdf::{load_second, warm_up};
pub(crate) use rtf::rich_text;

/// The reader of a media type.
pub(crate) fn of_media_type(media_type: &str) -> Option<&'static dyn Format> {
    ALL.iter().copied().find(|format| format.media_types().contains(&media_type))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::ALL;

    #[test]
    fn kinds_folder_and_list_agree() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kinds");
        let mut files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .filter(|stem| stem != "mod")
            .collect();
        if cfg!(not(feature = "probe")) {
            files.remove("probe");
        }
        if cfg!(not(feature = "rar")) {
            files.remove("rar");
        }
        let listed: BTreeSet<String> = ALL.iter().map(|f| f.name().to_owned()).collect();
        assert_eq!(files, listed);
    }

    #[test]
    fn every_kind_has_samples() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
        for format in ALL {
            assert!(fixtures.join(format.name()).is_dir(), "fixtures/{} is missing", format.name());
        }
    }

    #[test]
    fn no_media_type_has_two_readers() {
        let mut seen = BTreeSet::new();
        for media_type in ALL.iter().flat_map(|f| f.media_types()) {
            assert!(seen.insert(media_type), "{media_type} is listed twice");
        }
    }
}
