//! The way of a document through docmill, and the engine that moves it along.
//!
//! Everything here speaks to the outside through the ports of `docmill-core`: no parser runs in this crate,
//! no database is named. `service` is what the command line and the server call; `plan` is the whole graph of
//! tasks on one screen; `stages` does the work of each task in flow order; `engine` claims, runs and commits;
//! `followers` keeps the index up to date; `pages` shows pages to people; `export` writes records to files; `maintenance` cleans up and audits.

mod blocking;
pub mod deps;
mod disk;
pub mod engine;
pub mod export;
mod followers;
pub mod maintenance;
mod pages;
pub mod plan;
mod process;
mod schemas;
pub mod service;
pub mod snippet;
pub mod stages;
mod transcripts;

pub use deps::Deps;
pub use engine::{EngineHandle, EngineOptions, is_reserved_kind};
pub use service::{Generated, Service, Wanted};
pub use stages::receive::together::{Common, Together};
pub use stages::receive::{Offer, Offered};
