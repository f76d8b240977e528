//! One at a time for each question: the second who would ask the same finds what the first was told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use docmill_core::id::BlobKey;

/// Who asks what now. Of this process; two processes may ask the same in the same moment, and then both pay.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<BlobKey, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// The turn of a question, by where its answer is kept. Whoever holds its lock may ask.
    pub(in crate::stages) fn of(&self, place: &BlobKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(place).and_then(Weak::upgrade) {
            return turn;
        }
        // As many as are at work, and no more.
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(place.clone(), Arc::downgrade(&turn));
        turn
    }
}
