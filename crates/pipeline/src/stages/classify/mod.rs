//! Asking a model what a document is, after everything else is known: the one step that costs money and may be refused.
//! Whatever comes of it, the document completes (M-3).
//!
//! `document` is the task. `material` chooses text or picture, `prompt` puts it into words, `form` reads the answer,
//! `believe` holds it against the document. How answers are paid for once is told in `asking`.

mod believe;
pub mod document;
mod form;
mod material;
mod prompt;
