//! `docmill serve`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::clock::SystemIds;
use docmill_core::{Error, Result};
use docmill_pipeline::EngineOptions;
use docmill_server::web::Web;
use tokio::net::TcpListener;

use crate::context::{Context, Exit};
use crate::scraped::Scraped;
use crate::session::Session;
use crate::signals::Signals;

/// Serve the status page and do the work
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to listen
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
}

impl Args {
    pub(super) fn settings(&self) -> Vec<(&'static str, &'static str, String)> {
        self.listen.iter().map(|address| ("listen", "--listen", address.clone())).collect()
    }

    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let listen = &cx.settings.listen;
        let address: SocketAddr = listen.parse().map_err(|e| {
            Error::invalid_config(format!("`{listen}` is not an address and a port")).with_source(e)
        })?;
        if !address.ip().is_loopback() {
            return Err(Error::invalid_config(format!(
                "cannot serve on {address}: whoever reaches it could read everything"
            ))
            .with_hint(
                "this version has no access keys yet; listen on a loopback address such as 127.0.0.1:8420",
            ));
        }
        let signals = Signals::listen()?;
        let owner = Session::own(&cx.settings, &cx.clock, "serve").await?;
        let served = async {
            let listener = TcpListener::bind(address).await.map_err(|e| {
                Error::unavailable(format!("cannot listen on {address}"))
                    .with_source(e)
                    .with_hint("is another server there? `--listen` chooses another address")
            })?;
            let bound = listener.local_addr().unwrap_or(address);
            let scraped = Scraped::start(&cx.settings, owner.service()).await?;
            let metrics = scraped.as_ref().map(|scraped| scraped.address.to_string());
            owner.start_engine(EngineOptions::new(&cx.settings.engine))?;
            let web = Web {
                service: Arc::clone(owner.service()),
                tenant: owner.tenant(),
                ids: Arc::new(SystemIds),
            };
            if cx.terminal.json {
                let listen = bound.to_string();
                let said =
                    serde_json::json!({ "listen": listen, "metrics": metrics, "pid": std::process::id() });
                cx.terminal.object(&said)?;
            } else {
                cx.terminal.line(&format!("docmill serves http://{bound} (Ctrl-C ends)"))?;
                if let Some(metrics) = metrics {
                    cx.terminal.note(&format!("metrics are also at http://{metrics}/metrics"));
                }
            }
            let first = signals.clone();
            web.serve(listener, async move { first.first().await }).await?;
            Ok(scraped)
        };
        let served: Result<Option<Scraped>> = served.await;
        if signals.asked() {
            let grace = cx.settings.engine.shutdown_grace.as_secs();
            cx.terminal.note(&format!("ending: running work has {grace} s; again ends at once"));
        }
        let grace = if served.is_ok() { cx.settings.engine.shutdown_grace } else { Duration::ZERO };
        let closed = owner.close(grace, signals.second()).await;
        // Until here, so that the end of the work can be watched.
        if let Some(scraped) = served? {
            scraped.end();
        }
        closed?;
        Ok(Exit::Ok)
    }
}
