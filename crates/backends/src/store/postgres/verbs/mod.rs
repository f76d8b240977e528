//! The ports of the store, a file each: every verb hands its work to a transaction, the writer, the renewer or a reader, and the files
//! beside this folder do it.

mod access;
mod catalogue;
mod records;
mod store;
