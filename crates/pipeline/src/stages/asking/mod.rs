//! What every step shares that asks a language model: `kept` sees to it that an answer is paid for once, `turns` that two
//! do not ask the same at the same time, `addressed` tells what in a document speaks to the model, and `pictures` draws pages
//! for one that sees.
//!
//! What is asked and what is believed is decided by the steps, each for itself.

pub(crate) mod addressed;
pub(super) mod kept;
pub(crate) mod pictures;
mod turns;

use std::time::Duration;

use docmill_core::crash;

pub(crate) use turns::Turns;

use super::Context;

/// How often whoever waits says so.
const STILL_WAITING: Duration = Duration::from_secs(20);

/// A step that asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    /// In the names of its answers.
    pub(super) name: &'static str,
    /// The crash point between an answer and its being kept.
    pub(super) answered: fn(),
    /// The one after it.
    pub(super) kept: fn(),
}

/// What a document is.
pub(super) const CLASSIFY: Purpose = Purpose {
    name: "classify",
    answered: || crash::point("classify.answered"),
    kept: || crash::point("classify.answer_kept"),
};

/// What its fields are.
pub(super) const EXTRACT: Purpose = Purpose {
    name: "extract",
    answered: || crash::point("extract.answered"),
    kept: || crash::point("extract.answer_kept"),
};

/// Waits for a turn or an answer. That is progress: both come to an end, and others get on meanwhile.
pub(super) async fn patiently<T>(cx: &Context<'_>, waiting: impl Future<Output = T>) -> T {
    let mut waiting = std::pin::pin!(waiting);
    loop {
        tokio::select! {
            done = &mut waiting => {
                cx.progress();
                return done;
            }
            () = tokio::time::sleep(STILL_WAITING) => cx.progress(),
        }
    }
}
