//! What the readers of mail share: header fields, transfer encodings, and a message's own text.

pub(crate) mod body;
pub(crate) mod headers;
pub(crate) mod mapi;
pub(crate) mod recognise;
pub(crate) mod rtf;
pub(crate) mod transfer;

pub(crate) use body::Body;
pub(crate) use headers::Headers;
