//! The address of its own that metrics may have, beside whatever else a process does.

use std::net::SocketAddr;
use std::sync::Arc;

use docmill_core::config::{Settings, parse_address};
use docmill_core::{Error, Result};
use docmill_pipeline::Service;
use docmill_server::scrape;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A listener for scrapers.
pub(crate) struct Scraped {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<Result<()>>,
}

impl Scraped {
    /// Begins to listen, if the settings say where.
    pub(crate) async fn start(settings: &Settings, service: &Arc<Service>) -> Result<Option<Self>> {
        let wanted = &settings.metrics_listen;
        if wanted.is_empty() {
            return Ok(None);
        }
        let address = parse_address(wanted)
            .ok_or_else(|| Error::invalid_config(format!("`{wanted}` is not an address and a port")))?;
        let listener = TcpListener::bind(address).await.map_err(|e| {
            Error::unavailable(format!("cannot show metrics on {address}"))
                .with_source(e)
                .with_hint("is somebody else there? `--metrics` and `metrics.listen` choose another address")
        })?;
        let address = listener.local_addr().unwrap_or(address);
        let (stop, mut stopped) = watch::channel(false);
        let service = Arc::clone(service);
        let serving = tokio::spawn(async move {
            let until = async move {
                if stopped.wait_for(|stop| *stop).await.is_err() {
                    tracing::debug!("whoever shows metrics is gone");
                }
            };
            scrape::serve(&service, listener, until).await
        });
        Ok(Some(Self { address, stop, serving }))
    }

    /// Answers no more.
    pub(crate) fn end(self) {
        self.stop.send_replace(true);
        // What a scraper is being told may end with the process; nobody waits for it.
        drop(self.serving);
    }
}
