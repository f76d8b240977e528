//! `docmill tags [merge|similar]`.

use docmill_core::Result;
use docmill_core::call::Call;
use docmill_core::tag::{MergeAnswer, SimilarTagsAnswer, TagsAnswer};
use docmill_core::text::shown;

use super::{ask, print};
use crate::context::{Context, Exit};
use crate::terminal::{count, counted, table};

/// List tags, the most frequent first, and make one of those that mean the same
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only tags in which this occurs
    #[arg(value_name = "TEXT")]
    containing: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Go on where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make one tag of two, also for documents that come later
    Merge {
        /// The tag that goes
        from: String,
        /// The tag that stays; it is made if there is none
        into: String,
    },
    /// List pairs of tags that may be one
    Similar {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        match self.action {
            None => {
                let call = Call::Tags { containing: self.containing, limit: self.limit, cursor: self.cursor };
                let answer: TagsAnswer = ask(cx, "tags", call).await?;
                print(cx, &answer, human)?;
                if let (false, Some(next)) = (cx.terminal.json, &answer.next) {
                    cx.terminal.note(&format!("hint: there are more: `--cursor '{}'`", shown(next)));
                }
            }
            Some(Action::Merge { from, into }) => {
                let call = Call::MergeTags { from: from.clone(), into };
                let answer: MergeAnswer = ask(cx, "tags merge", call).await?;
                print(cx, &answer, |answer| merged(&from, answer))?;
            }
            Some(Action::Similar { limit }) => {
                let answer: SimilarTagsAnswer = ask(cx, "tags similar", Call::SimilarTags { limit }).await?;
                print(cx, &answer, pairs)?;
            }
        }
        Ok(Exit::Ok)
    }
}

fn human(answer: &TagsAnswer) -> String {
    if answer.items.is_empty() {
        return "no tags".to_owned();
    }
    let rows: Vec<_> =
        answer.items.iter().map(|line| vec![count(line.documents), line.tag.clone()]).collect();
    table(&["DOCUMENTS", "TAG"], &rows)
}

fn merged(from: &str, answer: &MergeAnswer) -> String {
    format!(
        "`{}` is `{}` now; {} moved, {} it",
        shown(from),
        shown(&answer.tag.tag),
        counted(answer.moved, "document", "documents"),
        counted(answer.tag.documents, "document has", "documents have")
    )
}

fn pairs(answer: &SimilarTagsAnswer) -> String {
    let rows = answer.items.iter().map(|pair| {
        vec![
            format!("{:.2}", pair.similarity),
            pair.method.clone(),
            format!("{} ({})", pair.from.tag, count(pair.from.documents)),
            format!("{} ({})", pair.into.tag, count(pair.into.documents)),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let mut out = if rows.is_empty() {
        "no tags that may be one".to_owned()
    } else {
        table(&["ALIKE", "BY", "TAG", "MERGE INTO"], &rows)
    };
    if let Some(note) = &answer.note {
        out.push_str(&format!("\nnote: {}", shown(note)));
    }
    out
}
