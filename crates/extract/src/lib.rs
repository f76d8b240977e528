//! Records out of documents: from the words of pages and from data inside files, without a model.
//!
//! Everything is a function of its arguments: no network, no clock, no files. Texts are hostile: each part takes time in
//! proportion to what it is given, up to a limit that it names.

pub mod embedded;
pub mod nda;
