//! `docmill read`: stateless, nothing is stored.

use std::path::PathBuf;

use docmill_core::Result;
use docmill_core::answer::ReadAnswer;
use docmill_core::text::{shown, size};
use futures::StreamExt;

use super::reading::{Reading, When};
use crate::context::{Context, Exit, report};
use crate::terminal::{Terminal, counted, table};

/// Print what docmill reads from files; nothing is stored
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files to read
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the text alone
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    when: When,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let reading = Reading::start(cx, &self.when).await?;
        let outcome = self.print_all(cx, &reading).await;
        reading.stop().await;
        outcome
    }

    async fn print_all(&self, cx: &Context, reading: &Reading) -> Result<Exit> {
        let mut failed = 0;
        let mut answers = reading.all(&self.files);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(answer) if self.text => text(cx, &answer)?,
                Ok(answer) if cx.terminal.json => cx.terminal.object(&answer)?,
                Ok(answer) => cx.terminal.line(&human(&answer))?,
                Err(error) => {
                    report(&error);
                    failed += 1;
                }
            }
        }
        Ok(Exit::of(self.files.len() - failed, failed))
    }
}

/// The text as it is, ended by one line end.
fn text(cx: &Context, answer: &ReadAnswer) -> Result<()> {
    cx.terminal.text(&answer.text)?;
    if answer.text.is_empty() || answer.text.ends_with('\n') { Ok(()) } else { cx.terminal.bytes(b"\n") }
}

fn human(answer: &ReadAnswer) -> String {
    let mut facts = vec![format!("{}: {}, {}", shown(&answer.path), answer.media_type, answer.result.name())];
    facts.extend(answer.page_count.map(|n| counted(u64::from(n), "page", "pages")));
    facts.extend(answer.language.clone());
    facts.extend(answer.quality.map(|q| format!("quality {q:.2}")));
    let mut out = facts.join(", ");
    for (key, value) in &answer.metadata {
        out.push_str(&format!("\n  {} = {}", shown(key), shown(value)));
    }
    for problem in &answer.problems {
        let page = problem.page.map(|n| format!(" (page {n})")).unwrap_or_default();
        out.push_str(&format!("\n  problem{page}: {}", shown(&problem.message)));
    }
    if !answer.children.is_empty() {
        let rows: Vec<Vec<String>> = answer
            .children
            .iter()
            .map(|child| vec![size(child.bytes), child.media_type.clone(), child.name.clone()])
            .collect();
        out.push_str(&format!("\n{}", table(&["SIZE", "TYPE", "MEMBER"], &rows)));
    }
    if !answer.text.is_empty() {
        out.push_str(&format!("\n\n{}", Terminal::for_eyes(answer.text.trim_end())));
    }
    out
}
