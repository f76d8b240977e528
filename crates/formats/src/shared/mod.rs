//! What several readers need: character sets, lines, mail, members of containers, pictures, text cut into pages, TAR
//! and ZIP structure.

pub(crate) mod charset;
pub(crate) mod content_lines;
pub(crate) mod exif;
pub(crate) mod grey;
pub(crate) mod lines;
pub(crate) mod mail;
pub(crate) mod members;
pub(crate) mod pager;
pub(crate) mod picture;
pub(crate) mod tar;
pub(crate) mod zip;
