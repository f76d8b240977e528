//! `docmill page`.

use docmill_core::Result;
use docmill_core::picture::PictureSize;

use super::saving::To;
use crate::context::{Context, Exit};
use crate::session::Session;

/// Write the picture of a page to a file, as PNG
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of a document or an ingestion
    id: String,
    /// Which page, from 1
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    #[command(flatten)]
    to: To,
    /// Pixels across; the height follows
    #[arg(long, value_name = "PIXELS", default_value_t = PictureSize::SCREEN.width, value_parser = width)]
    width: u32,
}

fn width(text: &str) -> Result<u32, String> {
    let (least, most) = (PictureSize::MIN_WIDTH, PictureSize::MAX_WIDTH);
    let width = text.parse::<u32>().ok().filter(|width| (least..=most).contains(width));
    width.ok_or_else(|| format!("not a number from {least} to {most}"))
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        self.to.check()?;
        let session = Session::open(&cx.settings, &cx.clock, "page").await?;
        let written = self.write(cx, &session).await;
        let closed = session.close(std::time::Duration::ZERO).await;
        let bytes = written?;
        closed?;
        self.to.say(cx, bytes)?;
        Ok(Exit::Ok)
    }

    async fn write(&self, cx: &Context, session: &Session) -> Result<u64> {
        let picture = session.page(&self.id, self.number, PictureSize { width: self.width }).await?;
        self.to.write(cx, picture).await
    }
}
