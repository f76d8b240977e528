//! `docmill serve`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::{Error, Result};
use docmill_pipeline::EngineOptions;
use docmill_server::web::Serving;
use rustix::process::{Resource, Rlimit};
use tokio::net::TcpListener;

use crate::context::{Context, Exit};
use crate::scraped::Scraped;
use crate::session::Session;
use crate::signals::Signals;
use crate::terminal::span;

/// Files that are open beside connections: the store, the index, blobs on their way, sockets of children.
const OTHER_FILES: u64 = 512;

/// Serve the dashboard and the HTTP interface, and do the work
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
        let signals = Signals::listen()?;
        allow_open_files(cx.settings.http.max_connections);
        let owner = Session::own(&cx.settings, &cx.clock, "serve").await?;
        let served = async {
            let serving = Serving { service: Arc::clone(owner.service()), local: owner.tenant() };
            serving.check(address).await?;
            let listener = TcpListener::bind(address).await.map_err(|e| {
                Error::unavailable(format!("cannot listen on {address}"))
                    .with_source(e)
                    .with_hint("is another server there? `--listen` chooses another address")
            })?;
            let bound = listener.local_addr().unwrap_or(address);
            let scraped = Scraped::start(&cx.settings, owner.service()).await?;
            let metrics = scraped.as_ref().map(|scraped| scraped.address.to_string());
            owner.start_engine(EngineOptions::new(&cx.settings.engine))?;
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
            serving.serve(listener, async move { first.first().await }).await?;
            Ok(scraped)
        };
        let served: Result<Option<Scraped>> = served.await;
        if signals.asked() {
            let grace = span(cx.settings.engine.shutdown_grace.as_secs());
            cx.terminal.note(&format!("ending: running work has {grace}; again ends at once"));
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

/// Many systems give a process 1,024 open files at first, fewer than there may be connections, and more if it asks.
fn allow_open_files(connections: u32) {
    let wanted = u64::from(connections) + OTHER_FILES;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return;
    }
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let allowed = Rlimit { current: Some(raised), maximum: limit.maximum };
    if let Err(error) = rustix::process::setrlimit(Resource::Nofile, allowed) {
        tracing::warn!(%error, "the number of open files cannot be raised");
    } else if raised < wanted {
        tracing::warn!(
            "{raised} files may be open, fewer than the {wanted} that `http.max_connections = {connections}` needs: \
             connections above that wait; `ulimit -Hn` or `LimitNOFILE` is the limit"
        );
    }
}
