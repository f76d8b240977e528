//! What docmill says over HTTP, in places that never mix.
//!
//! `control` is the owner's Unix socket: the whole of `Call`, the way in for documents, and originals on their
//! way out. Whoever may open the socket may do everything, so it is never served on a network address.
//! `web` is the page and the small JSON below it that `docmill serve` shows on a loopback address; it changes
//! nothing. `scrape` is the page for Prometheus, which `web` shows too, and which may have an address of its own
//! because it tells nothing of a tenant.
//!
//! None of them decides anything: all hand over to `docmill_pipeline::Service`.

pub mod control;
mod guard;
mod problem;
pub mod scrape;
pub mod web;
