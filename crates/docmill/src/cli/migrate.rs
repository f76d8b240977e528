//! `docmill migrate`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docmill_core::answer::MigrateAnswer;
use docmill_core::clock::Clock;
use docmill_core::text::size;
use docmill_core::{Error, Result};
use docmill_pipeline::maintenance::migrate::{MigrateOptions, Progress, migrate};
use indicatif::{ProgressBar, ProgressStyle};

use super::print;
use crate::context::{Context, Exit};
use crate::ingest::walk::show;
use crate::installation::{self, Place};
use crate::signals::Signals;
use crate::terminal::{complain, count, counted};

/// How often a line is written where nobody can watch a bar.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Move everything to another installation: documents, history, queue
///
/// Copies from the configured installation, which nobody may use meanwhile and which stays as it is. A run that was
/// interrupted, even killed, is resumed by the same command. The target can be used when both sides have been compared.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The database to fill: `postgres://…`, or `sqlite:` in the new data directory
    #[arg(long, value_name = "URL", default_value = "sqlite:")]
    to_store: String,
    /// Where originals and transcripts go: `s3://…`, or `file:` in the new data directory
    #[arg(long, value_name = "URL", default_value = "file:")]
    to_blobs: String,
    /// The new data directory, if something lies in one
    #[arg(long, value_name = "DIR")]
    to_data: Option<PathBuf>,
    /// Throw away what an earlier run left half done, and begin again
    #[arg(long)]
    restart: bool,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let signals = Signals::listen()?;
        let data = match &self.to_data {
            Some(data) => Some(std::path::absolute(data).map_err(|e| {
                Error::invalid_request(format!("cannot tell where `{}` is", show(data))).with_source(e)
            })?),
            None => None,
        };
        let (source, target) = (
            Place::configured(&cx.settings),
            Place {
                store: self.to_store.clone(),
                blobs: self.to_blobs.clone(),
                reach: cx.settings.blobs.clone(),
                data,
            },
        );
        let bar = Bar::new(cx);
        let moving = async {
            let from = installation::source(&source, &cx.clock).await?;
            let to = installation::target(&target, &source, &cx.clock).await?;
            let options = MigrateOptions {
                restart: self.restart,
                same_blobs: from.side.blobs_place == to.side.blobs_place,
            };
            let watch = |progress: Progress| bar.update(&progress);
            migrate(&from.side, &to.side, options, cx.clock.as_ref(), &watch).await
        };
        let moved = tokio::select! {
            moved = moving => Some(moved),
            () = signals.first() => None,
        };
        bar.finish();
        let Some(moved) = moved else {
            cx.terminal.note("interrupted; the target is half done");
            cx.terminal.note("hint: the same command goes on where this one stopped");
            return Ok(Exit::Interrupted);
        };
        let answer = moved?;
        print(cx, &answer, human)?;
        cx.terminal.note(&format!(
            "hint: set `store.url` and `blobs.url`, or `--data`, to the new place; {} is as it was, and must not be used beside it",
            answer.from
        ));
        let whole = answer.blobs.missing == 0 && answer.blobs.damaged == 0;
        Ok(if whole { Exit::Ok } else { Exit::SomeFailed })
    }
}

fn human(answer: &MigrateAnswer) -> String {
    let blobs = &answer.blobs;
    let mut out = format!("everything in {} is in {}\n", answer.from, answer.to);
    out.push_str(&format!("rows      {}\n", count(answer.rows)));
    out.push_str(&format!("blobs     {} copied ({})", count(blobs.copied), size(blobs.bytes)));
    for (n, what) in [
        (blobs.present, "there already"),
        (blobs.missing, "MISSING in the source"),
        (blobs.damaged, "DAMAGED in the source"),
    ] {
        if n > 0 {
            out.push_str(&format!(", {} {what}", count(n)));
        }
    }
    if answer.handed_back > 0 {
        let tasks = counted(answer.handed_back, "task", "tasks");
        out.push_str(&format!("\nqueue     {tasks} of dead workers handed back"));
    }
    if answer.replaced > 0 {
        let texts = counted(answer.replaced, "text", "texts");
        out.push_str(&format!("\nreplaced  NUL by U+FFFD in {texts}, which the target cannot hold"));
    }
    let balance = if answer.balanced { "balanced" } else { "NOT balanced, as in the source" };
    out.push_str(&format!("\nledger    {} expected, equal on both sides, {balance}", count(answer.expected)));
    out.push_str(&format!("\nstate     {} on both sides", answer.state));
    out
}

/// How far it is: a bar on a terminal, a line every few seconds elsewhere, nothing if it should be quiet.
struct Bar {
    clock: Arc<dyn Clock>,
    face: Face,
}

enum Face {
    Bar(ProgressBar),
    Lines(Mutex<Duration>),
    Silent,
}

impl Bar {
    fn new(cx: &Context) -> Self {
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
            Face::Lines(Mutex::new(cx.clock.monotonic()))
        };
        Self { clock: Arc::clone(&cx.clock), face }
    }

    fn update(&self, progress: &Progress) {
        let text = if progress.of > progress.done {
            format!("{}, {} of {}", progress.doing, count(progress.done), count(progress.of))
        } else {
            format!("{}, {}", progress.doing, count(progress.done))
        };
        match &self.face {
            Face::Bar(bar) => {
                bar.set_length(progress.of.max(1));
                bar.set_position(progress.done);
                bar.set_message(text);
            }
            Face::Lines(last) => {
                let now = self.clock.monotonic();
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if now.saturating_sub(*last) >= LINE_EVERY {
                    *last = now;
                    complain(&text);
                }
            }
            Face::Silent => {}
        }
    }

    fn finish(&self) {
        if let Face::Bar(bar) = &self.face {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use docmill_core::answer::MigratedBlobs;
    use docmill_core::id::ContentHash;

    use super::*;

    #[test]
    fn answer_tells_what_is_not_as_it_should_be_and_nothing_of_the_rest() {
        let mut answer = MigrateAnswer {
            from: "sqlite:/old/docmill.db".into(),
            to: "postgres://db:5432/docmill".into(),
            resumed: true,
            handed_back: 0,
            rows: 12_431,
            tables: BTreeMap::new(),
            replaced: 0,
            blobs: MigratedBlobs { copied: 20, bytes: 2048, ..MigratedBlobs::default() },
            state: ContentHash::of(b""),
            balanced: true,
            expected: 10,
            elapsed_ms: 5,
        };
        let text = human(&answer);
        assert!(text.starts_with("everything in sqlite:/old/docmill.db is in postgres://db:5432/docmill\n"));
        assert!(
            text.contains("rows      12,431\nblobs     20 copied (2.0 KiB)\nledger    10 expected"),
            "{text}"
        );
        answer.blobs.missing = 3;
        (answer.replaced, answer.handed_back, answer.balanced) = (1, 2, false);
        let text = human(&answer);
        for part in ["3 MISSING in the source", "in 1 text,", "2 tasks of dead workers", "NOT balanced"] {
            assert!(text.contains(part), "`{part}` is missing: {text}");
        }
    }
}
