//! Formats that are ZIP files underneath: Office, OpenDocument, EPUB and the like. They are told apart by their
//! members, and only plain archives are ever unpacked.

use docmill_core::Result;

use super::Head;
use crate::format::Claim;
use crate::input::Input;
use crate::shared::zip;

/// So many entries are looked at for the telling ones, which stand at the front by convention.
const ENTRIES_LOOKED_AT: u64 = 2000;

/// So far an archive without a directory is searched for them.
const SEARCH_BYTES: u64 = 16 << 20;

/// What a ZIP file is.
pub(super) enum Member {
    /// An archive: to be unpacked.
    Archive(&'static str),
    /// A document that happens to be stored as ZIP.
    Other(&'static str),
}

/// Looks into a ZIP file; any other claim passes unchanged.
pub(super) fn member_type(input: &mut Input, head: &Head<'_>, claim: Claim) -> Result<Member> {
    if claim.media_type != zip::MEDIA_TYPE {
        return Ok(Member::Archive(claim.media_type));
    }
    if let Some(media_type) = declared_type(head.bytes) {
        return Ok(as_declared(media_type));
    }
    let names = match zip::Directory::find(input) {
        Ok(directory) => directory.first_names(input, ENTRIES_LOOKED_AT)?,
        // A broken archive is still an archive, and a broken document a document; its reader says what is wrong with it.
        Err(_) => zip::names_without_directory(input, SEARCH_BYTES)?,
    };
    // Some programs write their system's separator.
    let names: Vec<String> = names.into_iter().map(|name| name.replace('\\', "/")).collect();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let has_folder = |wanted: &str| names.iter().any(|name| name.starts_with(wanted));
    if has("[Content_Types].xml") {
        return Ok(match office_type(&head.extension, has_folder) {
            Some(media_type) => Member::Other(media_type),
            // Parts of no application that is known are better than nothing.
            None => Member::Archive("application/x-opc+zip"),
        });
    }
    if has("META-INF/container.xml") {
        return Ok(Member::Other("application/epub+zip"));
    }
    if has("content.xml") && (has("META-INF/manifest.xml") || has("styles.xml")) {
        let stated = zip::first_bytes(input, "mimetype", 128);
        return Ok(Member::Other(known_type(&stated).unwrap_or("application/vnd.oasis.opendocument.text")));
    }
    if has("AndroidManifest.xml") {
        return Ok(Member::Archive("application/vnd.android.package-archive"));
    }
    if has("META-INF/MANIFEST.MF") {
        return Ok(Member::Archive("application/java-archive"));
    }
    Ok(Member::Archive(zip::MEDIA_TYPE))
}

/// OpenDocument and EPUB say what they are in a first, stored member called `mimetype`.
fn declared_type(head: &[u8]) -> Option<&'static str> {
    if zip::local_name(head, 0)? != "mimetype" {
        return None;
    }
    known_type(head.get(zip::local_content_offset(head)?..)?)
}

/// Files with a signature beside them: what is signed comes out as from any archive.
const SIGNED: &str = "application/vnd.etsi.asic-e+zip";
const SIGNED_ONE: &str = "application/vnd.etsi.asic-s+zip";

fn as_declared(media_type: &'static str) -> Member {
    if matches!(media_type, SIGNED | SIGNED_ONE) {
        Member::Archive(media_type)
    } else {
        Member::Other(media_type)
    }
}

/// The type that a `mimetype` member names. The longest match wins: `…text-template` begins like `…text`.
fn known_type(content: &[u8]) -> Option<&'static str> {
    const KNOWN: &[&str] = &[
        "application/epub+zip",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.text-template",
        "application/vnd.oasis.opendocument.text-master",
        "application/vnd.oasis.opendocument.text-web",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.spreadsheet-template",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.presentation-template",
        "application/vnd.oasis.opendocument.graphics",
        "application/vnd.oasis.opendocument.graphics-template",
        "application/vnd.oasis.opendocument.chart",
        "application/vnd.oasis.opendocument.formula",
        "application/vnd.oasis.opendocument.base",
        "application/vnd.oasis.opendocument.database",
        "application/vnd.oasis.opendocument.image",
        "application/vnd.sun.xml.writer",
        "application/vnd.sun.xml.writer.template",
        "application/vnd.sun.xml.calc",
        "application/vnd.sun.xml.impress",
        "application/vnd.sun.xml.draw",
        SIGNED,
        SIGNED_ONE,
        "application/vnd.adobe.indesign-idml-package",
    ];
    KNOWN
        .iter()
        .copied()
        .filter(|known| content.starts_with(known.as_bytes()))
        .max_by_key(|known| known.len())
}

/// The Office application is the folder its parts lie in; macros and templates show in the name only.
fn office_type(extension: &str, has_folder: impl Fn(&str) -> bool) -> Option<&'static str> {
    const FOLDERS: &[(&str, &str)] = &[
        ("word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        ("visio/", "application/vnd.ms-visio.drawing"),
        ("FixedDocSeq.fdseq", "application/vnd.ms-xpsdocument"),
        ("Documents/1/", "application/vnd.ms-xpsdocument"),
    ];
    const EXTENSIONS: &[(&str, &str)] = &[
        ("docm", "application/vnd.ms-word.document.macroEnabled.12"),
        ("dotm", "application/vnd.ms-word.template.macroEnabled.12"),
        ("dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"),
        ("xlsb", "application/vnd.ms-excel.sheet.binary.macroEnabled.12"),
        ("xlsm", "application/vnd.ms-excel.sheet.macroEnabled.12"),
        ("xltm", "application/vnd.ms-excel.template.macroEnabled.12"),
        ("potm", "application/vnd.ms-powerpoint.template.macroEnabled.12"),
        ("xltx", "application/vnd.openxmlformats-officedocument.spreadsheetml.template"),
        ("pptm", "application/vnd.ms-powerpoint.presentation.macroEnabled.12"),
        ("ppsx", "application/vnd.openxmlformats-officedocument.presentationml.slideshow"),
        ("ppsm", "application/vnd.ms-powerpoint.slideshow.macroEnabled.12"),
        ("potx", "application/vnd.openxmlformats-officedocument.presentationml.template"),
    ];
    // A file that is cut off early may still be called what it was.
    const CALLED: &[(&str, &str)] = &[("docx", "word/"), ("xlsx", "xl/"), ("pptx", "ppt/")];
    let called = CALLED.iter().find(|(known, _)| *known == extension).map(|(_, folder)| *folder);
    let by_folder = FOLDERS
        .iter()
        .find(|(folder, _)| has_folder(folder))
        .or_else(|| FOLDERS.iter().find(|(folder, _)| called == Some(*folder)));
    let by_name = EXTENSIONS.iter().find(|(known, _)| *known == extension);
    by_folder.and(by_name).or(by_folder).map(|(_, media_type)| *media_type)
}
