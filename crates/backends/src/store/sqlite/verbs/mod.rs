//! The ports of the store, a file each: every verb hands its work to the writer or to a reader, and the files
//! beside this folder do it.

mod access;
mod catalogue;
mod records;
mod store;
