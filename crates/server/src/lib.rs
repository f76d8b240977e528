//! What docmill says over HTTP, in places that never mix.
//!
//! `control` is the owner's Unix socket: the whole of `Call`, the way in for documents, and originals on their
//! way out. Whoever may open the socket may do everything, so it is never served on a network address.
//! `api` is the interface for programs under `/v1`, and `web` what `docmill serve` puts on its address: that interface
//! and the pages on top of it. `access` says who may use them, `scrape` is the page for Prometheus, which `web` shows
//! too, and which may have an address of its own because it tells nothing of a tenant.
//!
//! None of them decides anything about documents: all hand over to `docmill_pipeline::Service`.

mod access;
mod api;
pub mod control;
mod envelope;
mod guard;
mod problem;
pub mod scrape;
mod squeeze;
pub mod web;

pub use api::openapi;
