//! `docmill search`.

use docmill_core::answer::{SearchAnswer, StatusAnswer};
use docmill_core::call::Call;
use docmill_core::text::shown;
use docmill_core::{ErrorKind, Result};

use super::{ask, at_least_one, print};
use crate::context::{Context, Exit, report};
use crate::terminal::counted;

/// Find documents by their words or by their meaning
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Words, "phrases", begin*, rough~, field:word, -without, OR
    #[arg(required_unless_present = "like")]
    query: Vec<String>,
    /// Documents that mean something like this one
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "filter"])]
    like: Option<String>,
    /// By words, by what they mean, or by both
    #[arg(long, default_value = "text", value_parser = ["text", "semantic", "hybrid"])]
    mode: String,
    /// At most so many hits
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    limit: usize,
    /// Only documents where this holds (`type`, `media_type`, `name`, `language`, `tag`, `date_from`, `date_to`), for
    /// instance `type=invoice`; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    filter: Vec<(String, String)>,
}

fn key_value(text: &str) -> std::result::Result<(String, String), String> {
    let (key, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form key=value"))?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let by_meaning = self.like.is_some() || self.mode == "semantic";
        let call = match self.like {
            Some(id) => Call::Similar { id, limit: self.limit },
            None => Call::Search {
                query: self.query.join(" "),
                mode: self.mode,
                limit: self.limit,
                filters: self.filter,
            },
        };
        let answer: Result<SearchAnswer> = ask(cx, "search", call).await;
        if let Err(error) = &answer
            && by_meaning
            && error.kind() == ErrorKind::InvalidRequest
            && ask::<StatusAnswer>(cx, "search", Call::Status).await?.meanings.is_none()
        {
            // The question is a good one; it is the model that is not there.
            report(error);
            return Ok(Exit::Error);
        }
        let answer = answer?;
        print(cx, &answer, human)?;
        if answer.hits.is_empty() && !cx.terminal.quiet {
            let status: StatusAnswer = ask(cx, "search", Call::Status).await?;
            if let Some(note) = behind(&status) {
                cx.terminal.note(&note);
            }
        }
        Ok(Exit::Ok)
    }
}

/// Nothing was found, and something may be there all the same: after a move or a kill the index is behind the store.
fn behind(status: &StatusAnswer) -> Option<String> {
    let behind = status.index.last.saturating_sub(status.index.watermark);
    let way_on = if status.workers.is_empty() {
        "`docmill work --exit-when-idle` brings it up to date"
    } else {
        "a worker brings it up to date"
    };
    (behind > 0).then(|| {
        let changes = counted(behind.unsigned_abs(), "change", "changes");
        format!("hint: the index is {changes} behind; {way_on}")
    })
}

fn human(answer: &SearchAnswer) -> String {
    let shown_hits = answer.hits.len() as u64;
    let best = if shown_hits < answer.total { format!("the best {shown_hits} of ") } else { String::new() };
    let mut out = format!(
        "{best}{} for `{}` in {} ms",
        counted(answer.total.max(shown_hits), "hit", "hits"),
        shown(&answer.query),
        answer.took_ms
    );
    if let Some(note) = &answer.note {
        out.push_str(&format!("\nnote: {note}"));
    }
    for hit in &answer.hits {
        let title = hit.title.as_deref().map(|title| format!("  {}", shown(title))).unwrap_or_default();
        let page = hit.page.map(|n| format!(", page {n}")).unwrap_or_default();
        out.push_str(&format!("\n\n{}  {}{page}{title}", hit.document_id, shown(&hit.name)));
        // A snippet may span lines of the document; here it is one.
        let snippet = hit.snippet.split_whitespace().collect::<Vec<_>>().join(" ");
        if !snippet.is_empty() {
            out.push_str(&format!("\n  {}", shown(&snippet)));
        }
    }
    out
}
