//! The control words that matter here, by what they introduce.

/// Destinations whose content is not text.
pub(super) const PASSED_OVER: &[&str] = &[
    "colortbl",
    "stylesheet",
    "pict",
    "fldinst",
    "listtable",
    "listoverridetable",
    "rsidtbl",
    "themedata",
    "colorschememapping",
    "datastore",
    "latentstyles",
    "xmlnstbl",
    "filetbl",
    "revtbl",
    "mmathPr",
    "nonshppict",
    "shprslt",
    "sp",
    "htmltag",
    "mhtmltag",
    "pnseclvl",
    "bkmkstart",
    "bkmkend",
    "datafield",
    "formfield",
    "objclass",
    "objname",
    "atnid",
    "atndate",
    "atntime",
    "atnref",
    "atrfstart",
    "atrfend",
    "template",
    "private",
    "passwordhash",
    "userprops",
    "docvar",
    "xe",
    "tc",
    "ftnsep",
    "ftnsepc",
    "aftnsep",
    "aftnsepc",
    "ftncn",
    "aftncn",
    "pgptbl",
    "nextfile",
    "upr",
    "wgrffmtfilter",
    "fchars",
    "lchars",
    "protusertbl",
    "falt",
    "panose",
];

/// Facts by the word that introduces them.
pub(super) const FACTS: &[(&str, &str)] = &[
    ("title", "title"),
    ("subject", "subject"),
    ("author", "author"),
    ("operator", "last_modified_by"),
    ("keywords", "keywords"),
    ("doccomm", "description"),
    ("category", "category"),
    ("company", "company"),
    ("manager", "manager"),
    ("generator", "creator"),
];

/// Dates and counts.
pub(super) const DATES: &[(&str, &str)] =
    &[("creatim", "creation_date"), ("revtim", "mod_date"), ("printim", "print_date")];
pub(super) const COUNTS: &[(&str, &str)] =
    &[("nofpages", "page_count"), ("nofwords", "word_count"), ("nofchars", "character_count")];

/// Destinations that older programs pass over and that hold text nevertheless.
pub(super) const KNOWN_STARRED: &[&str] =
    &["shptxt", "shpinst", "ud", "footnote", "annotation", "objdata", "generator"];

/// Whether a word introduces a header or a footer.
pub(super) fn is_header(word: &str) -> bool {
    matches!(
        word,
        "header" | "headerl" | "headerr" | "headerf" | "footer" | "footerl" | "footerr" | "footerf"
    )
}

/// The code page of a font's character set; none for those that say nothing.
pub(super) fn font_charset(number: i32) -> Option<u16> {
    Some(match number {
        77 => 10_000,
        128 => 932,
        129 | 130 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
