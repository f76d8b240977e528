//! How far an import is: a bar on a terminal, a line every few seconds elsewhere, nothing if it should be quiet.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::batch::BatchTotals;
use docmill_core::clock::Clock;
use indicatif::{ProgressBar, ProgressStyle};

use crate::context::Context;
use crate::terminal::{complain, count, span};

/// How often a line is written where nobody can watch a bar.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// What is shown.
pub(super) struct Progress {
    clock: Arc<dyn Clock>,
    began: Duration,
    /// Where the rate is measured from: the first look at the batch.
    first: Option<(Duration, u64)>,
    face: Face,
}

enum Face {
    Bar(ProgressBar),
    Lines { last: Duration },
    Silent,
}

impl Progress {
    pub(super) fn new(cx: &Context, began: Duration) -> Self {
        let face = if cx.terminal.quiet {
            Face::Silent
        } else if cx.terminal.is_watched() {
            let bar = ProgressBar::new(0);
            let style =
                ProgressStyle::with_template("{spinner} [{bar:30}] {msg}").map(|s| s.progress_chars("=> "));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(120));
            Face::Bar(bar)
        } else {
            Face::Lines { last: cx.clock.monotonic() }
        };
        Self { clock: Arc::clone(&cx.clock), began, first: None, face }
    }

    /// Shows the totals; `counted` says that nothing more comes in.
    pub(super) fn update(&mut self, totals: &BatchTotals, counted: bool) {
        let now = self.clock.monotonic();
        let all = totals.received + totals.children;
        let ended = all.saturating_sub(totals.open);
        let (since, before) = *self.first.get_or_insert((now, ended));
        let seconds = now.saturating_sub(since).as_secs_f64();
        let rate = if seconds > 0.5 { ended.saturating_sub(before) as f64 / seconds } else { 0.0 };
        let text = describe(totals, ended, all, rate, counted);
        match &mut self.face {
            Face::Bar(bar) => {
                bar.set_length(all.max(1));
                bar.set_position(ended);
                bar.set_message(text);
            }
            Face::Lines { last } => {
                if now.saturating_sub(*last) >= LINE_EVERY {
                    *last = now;
                    complain(&format!("{}: {text}", span(now.saturating_sub(self.began).as_secs())));
                }
            }
            Face::Silent => {}
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&mut self) {
        if let Face::Bar(bar) = &self.face {
            bar.finish_and_clear();
        }
        self.face = Face::Silent;
    }
}

fn describe(totals: &BatchTotals, ended: u64, all: u64, rate: f64, counted: bool) -> String {
    let mut text = format!("{} of {}{}", count(ended), count(all), if counted { "" } else { " so far" });
    if rate > 0.0 {
        text.push_str(&format!(", {rate:.0} docs/s"));
        if counted && totals.open > 0 {
            text.push_str(&format!(", {} left", span((totals.open as f64 / rate).ceil() as u64)));
        }
    }
    for (n, what) in [(totals.failed, "failed"), (totals.skipped, "skipped"), (totals.dead, "dead")] {
        if n > 0 {
            text.push_str(&format!(", {} {what}", count(n)));
        }
    }
    if totals.paused {
        text.push_str(", paused");
    }
    text
}
