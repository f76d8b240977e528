//! A language model as one more source of values, in front of the same gate as the others.
//!
//! Nothing here asks anybody: an [`Interview`] says what to ask next and takes the answers, whoever carries them. What is
//! asked is made by `question`, read by `answer`, and held against the document by [`crate::ground`]: a value that stands
//! nowhere is told as ungrounded, never accepted, and never displaces one that was found.

mod answer;
mod interview;
mod question;

pub use interview::{Interview, Looked};
