//! Asking a model what a document is, after everything else is known: the one step that costs money and may be refused.
//! Whatever comes of it, the document completes (M-3).
//!
//! `document` is the task. `material` chooses text or picture, `prompt` puts it into words, `form` reads the answer,
//! `believe` holds it against the document, with `addressed` to tell what in a document speaks to the model. `kept`
//! sees to it that an answer is paid for once, and `turns` that two do not ask the same at the same time.

mod addressed;
mod believe;
pub mod document;
mod form;
mod kept;
mod material;
mod prompt;
mod turns;

pub(crate) use turns::Turns;
