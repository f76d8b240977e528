//! `docmill reprocess`.

use clap::builder::PossibleValuesParser;
use docmill_core::Result;
use docmill_core::call::Call;
use docmill_core::ingestion::Stage;

use super::{counts, queue};
use crate::context::{Context, Exit};

/// Process documents again
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false))]
pub(super) struct Args {
    /// Documents
    #[arg(group = "what", value_name = "ID")]
    ids: Vec<String>,
    /// All documents where this holds, for instance `state=failed`, `type=invoice` or `type=application/pdf`
    #[arg(long = "where", group = "what", value_name = "EXPR")]
    filter: Option<String>,
    /// All documents
    #[arg(long, group = "what")]
    all: bool,
    /// Where to begin; from the start if not given
    #[arg(long, value_name = "STAGE", value_parser = stages())]
    from: Option<String>,
    /// Only count
    #[arg(long)]
    dry_run: bool,
}

fn stages() -> PossibleValuesParser {
    PossibleValuesParser::new(
        [
            Stage::Intake,
            Stage::Unpacking,
            Stage::Transcribing,
            Stage::Classifying,
            Stage::Extracting,
            Stage::Indexing,
        ]
        .map(Stage::name),
    )
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let call = Call::Reprocess {
            ids: self.ids,
            filter: self.filter,
            from: self.from.as_deref().and_then(Stage::from_name),
            dry_run: self.dry_run,
        };
        queue(cx, "reprocess", call, |answer| {
            counts::sentence(answer, "document", "documents", "started again")
        })
        .await?;
        Ok(Exit::Ok)
    }
}
