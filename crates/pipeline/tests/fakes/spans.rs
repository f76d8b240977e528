//! Remembers every span.

use std::sync::Mutex;

use async_trait::async_trait;
use docmill_core::ports::Spans;
use docmill_core::ports::spans::Span;

#[derive(Default)]
pub(crate) struct FakeSpans {
    ended: Mutex<Vec<Span>>,
}

impl FakeSpans {
    /// All spans so far, in the order in which they ended.
    pub(crate) fn ended(&self) -> Vec<Span> {
        self.ended.lock().unwrap().clone()
    }
}

#[async_trait]
impl Spans for FakeSpans {
    fn ended(&self, span: Span) {
        self.ended.lock().unwrap().push(span);
    }

    async fn close(&self) {}
}
