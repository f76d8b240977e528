//! `docmill serve`.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::config::parse_address;
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
        let address = parse_address(listen)
            .ok_or_else(|| Error::invalid_config(format!("`{listen}` is not an address and a port")))?;
        let signals = Signals::listen()?;
        let max_connections = allow_open_files(cx.settings.http.max_connections);
        let owner = Session::own(&cx.settings, &cx.clock, "serve").await?;
        let served = async {
            let service = Arc::clone(owner.service());
            let serving = Serving { service, local: owner.tenant(), max_connections };
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
/// Answers how many connections there may be: the work needs files too, and has them before anybody who connects.
fn allow_open_files(connections: u32) -> u32 {
    let wanted = u64::from(connections) + OTHER_FILES;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let Some(current) = limit.current.filter(|current| *current < wanted) else { return connections };
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let allowed = Rlimit { current: Some(raised), maximum: limit.maximum };
    let allowed = match rustix::process::setrlimit(Resource::Nofile, allowed) {
        Ok(()) => connections_of(raised, connections),
        Err(error) => {
            tracing::warn!(%error, "the number of open files cannot be raised");
            connections_of(current, connections)
        }
    };
    if allowed < connections {
        tracing::warn!(
            "{raised} files may be open, fewer than the {wanted} that `http.max_connections = {connections}` needs: \
             connections above {allowed} wait; `ulimit -Hn` or `LimitNOFILE` is the limit"
        );
    }
    allowed
}

/// How many of so many files may be connections: what is left beside the others, and of very few files half.
fn connections_of(files: u64, wanted: u32) -> u32 {
    let left = files.saturating_sub(OTHER_FILES).max(files / 2).max(1);
    u32::try_from(left).unwrap_or(u32::MAX).min(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_work() {
        assert_eq!(connections_of(4096 + OTHER_FILES, 4096), 4096);
        assert_eq!(connections_of(1 << 20, 4096), 4096);
        assert_eq!(connections_of(1024, 4096), 512);
        assert_eq!(connections_of(120, 4096), 60);
        assert_eq!(connections_of(0, 4096), 1);
    }
}
