//! `docmill get`.

use docmill_core::Result;

use super::saving::To;
use crate::context::{Context, Exit};
use crate::session::Session;

/// Write the original of a document to a file
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of a document or an ingestion
    id: String,
    #[command(flatten)]
    to: To,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let session = Session::open(&cx.settings, &cx.clock, "get").await?;
        let written = self.write(cx, &session).await;
        let closed = session.close(std::time::Duration::ZERO).await;
        let bytes = written?;
        closed?;
        self.to.say(cx, bytes)?;
        Ok(Exit::Ok)
    }

    async fn write(&self, cx: &Context, session: &Session) -> Result<u64> {
        let original = session.original(&self.id).await?;
        self.to.write(cx, original).await
    }
}
