//! `docmill list`.

use clap::builder::PossibleValuesParser;
use docmill_core::Result;
use docmill_core::answer::ListAnswer;
use docmill_core::call::Call;
use docmill_core::document::DocumentState;
use docmill_core::text::size;

use super::{ask, at_least_one, print};
use crate::context::{Context, Exit};
use crate::terminal::{relative, shortened, table};

/// One long name would push the titles of all others off the screen; `--json` has it whole.
const NAME_WIDTH: usize = 48;
const TITLE_WIDTH: usize = 72;

/// List documents, newest first
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only documents in this state
    #[arg(long, value_name = "STATE", value_parser = states())]
    state: Option<String>,
    /// Only documents that have this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    limit: usize,
    /// Go on where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

pub(super) fn states() -> PossibleValuesParser {
    PossibleValuesParser::new(DocumentState::ALL.iter().map(|state| state.name()))
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let call = Call::List {
            state: self.state,
            kind: None,
            language: None,
            since: None,
            until: None,
            batch: None,
            tag: self.tag,
            text: None,
            limit: self.limit,
            cursor: self.cursor,
        };
        let answer: ListAnswer = ask(cx, "list", call).await?;
        print(cx, &answer, |answer| human(cx, answer))?;
        if let (false, Some(cursor)) = (cx.terminal.json, &answer.next_cursor) {
            cx.terminal.note(&format!("hint: there are more: `--cursor {cursor}`"));
        }
        Ok(Exit::Ok)
    }
}

fn human(cx: &Context, answer: &ListAnswer) -> String {
    let now = cx.clock.now();
    let rows: Vec<Vec<String>> = answer
        .documents
        .iter()
        .map(|line| {
            vec![
                line.document_id.to_string(),
                line.state.name().to_owned(),
                size(line.bytes),
                relative(now, line.created_at),
                line.media_type.as_deref().map(short).unwrap_or_default(),
                shortened(&line.name, NAME_WIDTH),
                shortened(line.title.as_deref().unwrap_or_default(), TITLE_WIDTH),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "no documents".to_owned();
    }
    table(&["DOCUMENT", "STATE", "SIZE", "RECEIVED", "TYPE", "NAME", "TITLE"], &rows)
}

/// A media type without the fifty letters that all types of an office suite begin with: they push titles off the screen.
fn short(media_type: &str) -> String {
    const FAMILIES: [&str; 2] =
        ["application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."];
    let rest = FAMILIES.iter().find_map(|family| media_type.strip_prefix(family));
    rest.map_or_else(|| media_type.to_owned(), |rest| format!("…{rest}"))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn short_leaves_out_what_all_types_of_a_suite_share() {
        let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        assert_eq!(short(word), "…wordprocessingml.document");
        assert_eq!(short("text/plain"), "text/plain");
    }
}
