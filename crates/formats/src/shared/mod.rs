//! What several readers need: character sets, lines, mail, markup, cells and text of Office documents, members of
//! containers, pictures, text cut into pages, compound files, TAR and ZIP structure.

pub(crate) mod boxes;
pub(crate) mod cells;
pub(crate) mod charset;
pub(crate) mod compound;
pub(crate) mod content_lines;
pub(crate) mod document;
pub(crate) mod exif;
pub(crate) mod flow;
pub(crate) mod grey;
pub(crate) mod inline;
pub(crate) mod lines;
pub(crate) mod mail;
pub(crate) mod members;
pub(crate) mod opc;
pub(crate) mod package;
pub(crate) mod pager;
pub(crate) mod picture;
pub(crate) mod showing;
pub(crate) mod tar;
pub(crate) mod xml;
pub(crate) mod zip;
