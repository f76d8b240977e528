//! `docmill work`.

use std::time::Duration;

use docmill_core::Result;
use docmill_pipeline::{EngineOptions, is_reserved_kind};

use crate::context::{Context, Exit};
use crate::scraped::Scraped;
use crate::session::{Owner, Session};
use crate::signals::Signals;
use crate::terminal::span;

/// An engine that has nothing to do is started again after so long, while others still bring work in.
const LOOK_FOR_GUESTS: Duration = Duration::from_millis(100);

/// Do the work that is queued, without serving anything
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only these kinds of task
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    kinds: Vec<String>,
    /// How much to do at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    slots: Option<u32>,
    /// End when nothing is left to do
    #[arg(long)]
    exit_when_idle: bool,
    /// Show metrics on this address, or on this port of this machine alone
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
}

impl Args {
    pub(super) fn settings(&self) -> Vec<(&'static str, &'static str, String)> {
        let mut settings = Vec::new();
        if !self.kinds.is_empty() {
            settings.push(("engine.kinds", "--kinds", self.kinds.join(",")));
        }
        if let Some(slots) = self.slots {
            settings.push(("engine.slots", "--slots", slots.to_string()));
        }
        if let Some(address) = &self.metrics {
            settings.push(("metrics.listen", "--metrics", address.clone()));
        }
        settings
    }

    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        for kind in cx.settings.engine.kinds.iter().filter(|kind| is_reserved_kind(kind)) {
            cx.terminal
                .note(&format!("note: no task of the kind `{kind}` exists yet, so nothing of it is done"));
        }
        let signals = Signals::listen()?;
        let owner = Session::own(&cx.settings, &cx.clock, "work").await?;
        let mut options = EngineOptions::new(&cx.settings.engine);
        options.exit_when_idle = self.exit_when_idle;
        options.tenant = cx.tenant_given.then(|| owner.tenant());
        let worked = async {
            let scraped = Scraped::start(&cx.settings, owner.service()).await?;
            if let Some(scraped) = &scraped {
                tell(cx, scraped)?;
            }
            tokio::select! {
                ended = until_idle(&owner, options) => ended?,
                () = signals.first() => {
                    let grace = span(cx.settings.engine.shutdown_grace.as_secs());
                    cx.terminal.note(&format!("ending: running work has {grace}; again ends at once"));
                }
            }
            Ok(scraped)
        };
        let worked: Result<Option<Scraped>> = worked.await;
        let closed = owner.close(cx.settings.engine.shutdown_grace, signals.second()).await;
        // Until here, so that the end of the work can be watched.
        if let Some(scraped) = worked? {
            scraped.end();
        }
        closed?;
        Ok(Exit::Ok)
    }
}

/// Works until there is nothing left to do, if it was told so, and until nobody brings more through this process.
async fn until_idle(owner: &Owner, options: EngineOptions) -> Result<()> {
    loop {
        owner.start_engine(options.clone())?;
        owner.engine_ended().await;
        if owner.guests() == 0 {
            return Ok(());
        }
        tokio::time::sleep(LOOK_FOR_GUESTS).await;
    }
}

fn tell(cx: &Context, scraped: &Scraped) -> Result<()> {
    let address = scraped.address;
    if cx.terminal.json {
        return cx
            .terminal
            .object(&serde_json::json!({ "metrics": address.to_string(), "pid": std::process::id() }));
    }
    cx.terminal.note(&format!("metrics are at http://{address}/metrics"));
    Ok(())
}
