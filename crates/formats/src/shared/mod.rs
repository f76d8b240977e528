//! What several readers need: character sets, text cut into pages, ZIP structure.

pub(crate) mod charset;
pub(crate) mod pager;
pub(crate) mod zip;
