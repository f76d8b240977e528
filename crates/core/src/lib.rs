//! The words of docmill: ids, states, errors, limits, events and the ports behind which every back end
//! stands.
//!
//! Nothing here does I/O, asks for the time or draws a random number: whoever calls brings those along
//! (`clock`). That is what lets the work protocol be tested as plain functions.
//!
//! Where to go next: `state` (how a task may change), `disposition` (what follows an error), `ports`
//! (what a back end must do), `wire` (how the sandboxed children speak).

pub mod access;
pub mod answer;
pub mod artifact;
pub mod batch;
pub mod call;
pub mod clock;
pub mod config;
pub mod crash;
pub mod disposition;
pub mod document;
pub mod dossier;
pub mod error;
pub mod event;
pub mod expansion;
pub mod extraction;
pub mod fingerprint;
pub mod generate;
pub mod id;
pub mod ingestion;
pub mod ledger;
pub mod limits;
pub mod metrics;
pub mod ocr;
pub mod picture;
pub mod ports;
pub mod problem;
pub mod record;
pub mod redact;
pub mod review;
pub mod sketch;
pub mod state;
pub mod tag;
pub mod task;
pub mod text;
pub mod understanding;
pub mod usage;
pub mod wire;
pub mod words;

pub use error::{Error, ErrorKind, Result};
