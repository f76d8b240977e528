//! `docmill reprocess`.

use clap::builder::PossibleValuesParser;
use docmill_core::call::Call;
use docmill_core::ingestion::Stage;
use docmill_core::{Error, Result};

use super::{counts, queue};
use crate::context::{Context, Exit};

/// Process documents again
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").multiple(false))]
pub(super) struct Args {
    /// Documents
    #[arg(group = "what", value_name = "ID")]
    ids: Vec<String>,
    /// All documents where this holds, for instance `state=failed`, `type=invoice and language=eng`, `tag=office`,
    /// `name=letter.pdf` or `batch=NAME`
    #[arg(long = "where", group = "what", value_name = "EXPR")]
    filter: Option<String>,
    /// All documents
    #[arg(long, group = "what")]
    all: bool,
    /// Where to begin; from the start if not given
    #[arg(long, value_name = "STAGE", value_parser = stages())]
    from: Option<String>,
    /// Only count; of all documents if nothing else says which
    #[arg(long)]
    dry_run: bool,
}

fn stages() -> PossibleValuesParser {
    PossibleValuesParser::new(
        [
            Stage::Intake,
            Stage::Unpacking,
            Stage::Transcribing,
            Stage::Rendering,
            Stage::Classifying,
            Stage::Extracting,
            Stage::Embedding,
            Stage::Indexing,
        ]
        .map(Stage::name),
    )
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        if self.ids.is_empty() && self.filter.is_none() && !self.all && !self.dry_run {
            return Err(Error::invalid_request("nothing says which documents are meant").with_hint(
                "name some by their ids, say what holds of them with `--where`, or write `--all`",
            ));
        }
        let call = Call::Reprocess {
            ids: self.ids,
            filter: self.filter,
            from: self.from.as_deref().and_then(Stage::from_name),
            dry_run: self.dry_run,
        };
        let rendering = self.from.as_deref() == Some(Stage::Rendering.name());
        queue(cx, "reprocess", call, |answer| {
            counts::sentence(answer, "document", "documents", "started again")
        })
        .await?;
        if rendering {
            cx.terminal
                .note("note: pages are drawn when somebody looks at them; there is nothing to render again");
        }
        Ok(Exit::Ok)
    }
}
