//! What docmill says over HTTP, in two places that never mix.
//!
//! `control` is the owner's Unix socket: the whole of `Call`, the way in for documents, and originals on their
//! way out. Whoever may open the socket may do everything, so it is never served on a network address.
//! `web` is the page and the small JSON below it that `docmill serve` shows on a loopback address; it changes
//! nothing.
//!
//! Neither decides anything: both hand over to `docmill_pipeline::Service`.

pub mod control;
mod problem;
pub mod web;
