//! The door of a data directory: the lock that makes this process its owner, the socket on which guests knock, and
//! an engine for them when they bring work.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::config::Settings;
use docmill_core::{Error, Result};
use docmill_pipeline::{EngineOptions, Service};
use docmill_server::control::Control;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::lock::DirectoryLock;
use super::owner::{Engine, start};
use super::socket;

/// How long requests that have begun may take after the socket was closed.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// An open door.
pub(super) struct Door {
    control: Control,
    data: PathBuf,
    stop: watch::Sender<bool>,
    socket: JoinHandle<Result<()>>,
    on_demand: JoinHandle<()>,
    /// Last, so that it is let go after everything else.
    _lock: DirectoryLock,
}

impl Door {
    /// Begins to answer guests.
    pub(super) fn open(
        lock: DirectoryLock,
        settings: &Settings,
        service: &Arc<Service>,
        engine: &Engine,
    ) -> Result<Self> {
        let control = Control::new(Arc::clone(service));
        let (stop, stopped) = watch::channel(false);
        let listener = socket::listen(&settings.data)?;
        let socket = tokio::spawn(control.clone().serve(listener, until(stopped)));
        let on_demand =
            tokio::spawn(start_on_demand(control.clone(), Arc::clone(service), Arc::clone(engine)));
        Ok(Self { control, data: settings.data.clone(), stop, socket, on_demand, _lock: lock })
    }

    /// How many guests need this process to stay.
    pub(super) fn guests(&self) -> usize {
        self.control.guests()
    }

    /// Resolves when there are none, and turns new ones away from then on.
    pub(super) async fn alone(&self) {
        while !self.control.close_if_alone() {
            self.control.guests_gone().await;
        }
    }

    /// No guest can start an engine any more.
    pub(super) fn start_nothing(&self) {
        self.on_demand.abort();
    }

    /// Ends the socket. Answers that have begun may end.
    pub(super) async fn close(self) -> Result<()> {
        self.stop.send_replace(true);
        let mut socket = self.socket;
        let closed = match tokio::time::timeout(LAST_REQUESTS, &mut socket).await {
            Ok(joined) => {
                joined.unwrap_or_else(|e| Err(Error::bug("the socket's task failed").with_source(e)))
            }
            Err(_late) => {
                socket.abort();
                Ok(())
            }
        };
        if let Err(e) = socket::remove(&self.data) {
            tracing::debug!(error = %e, "the socket's file stays behind");
        }
        closed
    }
}

async fn until(mut stopped: watch::Receiver<bool>) {
    if stopped.wait_for(|stop| *stop).await.is_err() {
        tracing::debug!("the owner is gone");
    }
}

/// Guests that bring work in need somebody to do it, whatever the owner itself is busy with.
async fn start_on_demand(control: Control, service: Arc<Service>, engine: Engine) {
    loop {
        control.engine_wanted().await;
        let options = EngineOptions::new(&service.deps().settings.engine);
        if let Err(error) = start(&service, &engine, options) {
            tracing::error!(error = %error.chain(), "cannot start the engine that a guest needs");
        }
    }
}
