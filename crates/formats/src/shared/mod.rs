//! What several readers need: character sets, lines, mail, members of containers, text cut into pages, TAR and ZIP structure.

pub(crate) mod charset;
pub(crate) mod content_lines;
pub(crate) mod lines;
pub(crate) mod mail;
pub(crate) mod members;
pub(crate) mod pager;
pub(crate) mod tar;
pub(crate) mod zip;
