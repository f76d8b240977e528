//! Untrusted bytes in; text, metadata and members out.
//!
//! Everything here is synchronous and knows neither network nor database nor clock. The binary links it and
//! runs it in a sandboxed child process only; a reader may crash, hang or eat memory, and the parent side
//! (`backends::child`) turns that into an error of one document.
//!
//! Where to go next: `format` (what a reader is), `kinds` (one file per reader), `sniff` (which reader takes a
//! file), `sink` (where findings go, and the limits), `ocr` (pixels to text), `embed` (text to
//! meanings), `serve` (the child's loop).

pub mod embed;
pub mod format;
pub mod input;
pub mod kinds;
pub mod ocr;
pub mod read;
pub mod serve;
pub mod sink;
pub mod sniff;

mod language;
mod shared;
#[cfg(test)]
mod tests_support;

pub use read::read;
pub use serve::{Orders, Parser, Role, load_pdfium, serve, warm_up};
