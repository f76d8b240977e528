//! The types that docmill stores and does not read, all of them: a file ends as unsupported only if its type stands
//! here. A test over the corpora holds it to that, and the page `docs/errors/unsupported_format.md` sends people here.

/// Media types without a reader, by what they are.
pub(crate) const UNSUPPORTED: &[&str] = &[
    // Nobody knows.
    "application/octet-stream",
    "application/x-cfb",
    // Pictures of kinds that are not read.
    "image/bpg",
    "image/emf",
    "image/jxl",
    "image/vnd.adobe.photoshop",
    "image/vnd.microsoft.icon",
    "image/wmf",
    "image/x-canon-cr2",
    "image/x-icns",
    "image/x-pcx",
    "image/x-pict",
    "image/x-jbig2",
    "image/x-portable-bitmap",
    "image/x-portable-graymap",
    "image/x-portable-pixmap",
    "image/x-sony-arw",
    "image/x-win-bitmap",
    "image/vnd.dxf",
    "image/x-dcx",
    // Pictures that have a reader where OCR is built in.
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/heic",
    "image/heif",
    "image/jp2",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    // Sound and film.
    "application/mp4",
    "application/vnd.ms-asf",
    "application/x-ebml",
    "application/x-id3v2",
    "application/x-shockwave-flash",
    "audio/aac",
    "audio/ac3",
    "audio/amr",
    "audio/basic",
    "audio/flac",
    "audio/midi",
    "audio/mpeg",
    "audio/ogg",
    "audio/opus",
    "audio/vnd.wave",
    "audio/x-aiff",
    "audio/x-m4a",
    "video/mp4",
    "video/quicktime",
    "video/x-flv",
    // Archives and mailboxes that are not unpacked.
    "application/vnd.ms-cab-compressed",
    "application/vnd.ms-outlook-pst",
    "application/vnd.rar",
    "application/warc",
    "application/x-archive",
    "application/x-compress",
    "application/x-cpio",
    "application/x-java-pack200",
    "application/x-snappy-framed",
    // Documents of other programs.
    "application/msonenote",
    "application/postscript",
    "application/vnd.adobe.indesign-idml-package",
    "application/vnd.apple.binary-property-list",
    "application/vnd.corel.presentations",
    "application/vnd.lotus-1-2-3",
    "application/vnd.ms-htmlhelp",
    "application/vnd.ms-project",
    "application/vnd.ms-publisher",
    "application/vnd.ms-visio.drawing",
    "application/vnd.ms-works",
    "application/vnd.ms-xpsdocument",
    "application/vnd.oasis.opendocument.base",
    "application/vnd.oasis.opendocument.database",
    "application/vnd.oasis.opendocument.image",
    "application/vnd.quattro-pro",
    "application/vnd.stardivision",
    "application/vnd.visio",
    "application/vnd.wordperfect",
    "application/x-hwp",
    "application/x-mif",
    "application/x-mswrite",
    // Data, drawings of machines, programs, fonts, keys.
    "application/fits",
    "application/marc",
    "application/pgp-encrypted",
    "application/pkcs7-mime",
    "application/timestamped-data",
    "application/vnd.sqlite3",
    "application/x-axcrypt",
    "application/x-berkeley-db",
    "application/x-cadkey",
    "application/x-dbf",
    "application/x-dosexec",
    "application/x-dwg",
    "application/x-elf",
    "application/x-erdas-hfa",
    "application/x-executable",
    "application/x-java-class",
    "application/x-java-keystore",
    "application/x-mach-binary",
    "application/x-msaccess",
    "application/x-mysql-table",
    "application/x-sas-data",
    "application/x-solidworks",
    "application/x-stata-dta",
    "application/x-x509-ca-cert",
    "font/otf",
    "font/ttf",
    "font/woff",
    "font/woff2",
    "image/vnd.dgn",
    "model/vnd.dwf",
];

/// Content that no signature tells, by what the file is called.
pub(super) const CALLED: &[(&str, &str)] = &[
    ("123", "application/vnd.lotus-1-2-3"),
    ("axx", "application/x-axcrypt"),
    ("bplist", "application/vnd.apple.binary-property-list"),
    ("dbf", "application/x-dbf"),
    ("dcx", "image/x-dcx"),
    ("dgn", "image/vnd.dgn"),
    ("dta", "application/x-stata-dta"),
    ("frm", "application/x-mysql-table"),
    ("gpg", "application/pgp-encrypted"),
    ("hfa", "application/x-erdas-hfa"),
    ("hwp", "application/x-hwp"),
    ("jb2", "image/x-jbig2"),
    ("mif", "application/x-mif"),
    ("mpp", "application/vnd.ms-project"),
    ("mrc", "application/marc"),
    ("myi", "application/x-mysql-table"),
    ("one", "application/msonenote"),
    ("p7c", "application/pkcs7-mime"),
    ("p7m", "application/pkcs7-mime"),
    ("p7s", "application/pkcs7-mime"),
    ("p7z", "application/pkcs7-mime"),
    ("pack", "application/x-java-pack200"),
    ("pct", "image/x-pict"),
    ("pgp", "application/pgp-encrypted"),
    ("prt", "application/x-cadkey"),
    ("pub", "application/vnd.ms-publisher"),
    ("qpw", "application/vnd.quattro-pro"),
    ("sas7bdat", "application/x-sas-data"),
    ("sd2", "application/x-sas-data"),
    ("sda", "application/vnd.stardivision"),
    ("sdc", "application/vnd.stardivision"),
    ("sdd", "application/vnd.stardivision"),
    ("sdw", "application/vnd.stardivision"),
    ("shw", "application/vnd.corel.presentations"),
    ("sldasm", "application/x-solidworks"),
    ("slddrw", "application/x-solidworks"),
    ("sldprt", "application/x-solidworks"),
    ("tsd", "application/timestamped-data"),
    ("vor", "application/vnd.stardivision"),
    ("warc", "application/warc"),
    ("wb1", "application/vnd.quattro-pro"),
    ("wb2", "application/vnd.quattro-pro"),
    ("wb3", "application/vnd.quattro-pro"),
    ("wk3", "application/vnd.lotus-1-2-3"),
    ("wk4", "application/vnd.lotus-1-2-3"),
    ("wpd", "application/vnd.wordperfect"),
    ("wps", "application/vnd.ms-works"),
    ("xpt", "application/x-sas-data"),
];

/// The type of content that no signature tells.
pub(super) fn called(extension: &str) -> Option<&'static str> {
    CALLED.iter().find(|(known, _)| *known == extension).map(|(_, media_type)| *media_type)
}

/// Whether docmill admits not to read this type.
pub fn is_unsupported(media_type: &str) -> bool {
    UNSUPPORTED.contains(&media_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    #[test]
    fn no_type_is_listed_twice_and_every_name_leads_to_one() {
        for (index, media_type) in UNSUPPORTED.iter().enumerate() {
            assert!(!UNSUPPORTED[..index].contains(media_type), "{media_type} is listed twice");
        }
        for (extension, media_type) in CALLED {
            assert!(is_unsupported(media_type), "{extension} leads to {media_type}, which is not listed");
            assert!(kinds::of_media_type(media_type).is_none(), "{media_type} has a reader");
        }
    }
}
