//! The process that owns a data directory: it has the store open, answers guests on the socket, and runs an
//! engine if it or a guest needs one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docmill_core::call::Call;
use docmill_core::clock::Clock;
use docmill_core::config::Settings;
use docmill_core::id::TenantId;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::store::Received;
use docmill_core::{Error, Result};
use docmill_pipeline::{Deps, EngineHandle, EngineOptions, Offer, Service};
use docmill_server::control::Control;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::lock::DirectoryLock;
use super::socket;
use crate::wire;

/// How long requests that have begun may take after the socket was closed.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// The engine, once somebody needs one.
type Engine = Arc<Mutex<Option<Arc<EngineHandle>>>>;

/// The owner.
pub(crate) struct Owner {
    service: Arc<Service>,
    deps: Deps,
    tenant: TenantId,
    control: Control,
    engine: Engine,
    stop: watch::Sender<bool>,
    socket: JoinHandle<Result<()>>,
    on_demand: JoinHandle<()>,
    /// Last, so that it is let go after everything else.
    _lock: DirectoryLock,
}

impl Owner {
    /// Opens the store and begins to answer guests.
    pub(crate) async fn start(
        lock: DirectoryLock,
        settings: &Arc<Settings>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self> {
        let deps = wire::deps(settings, clock).await?;
        let service = Arc::new(Service::new(deps.clone()));
        let tenant = service.tenant(&settings.tenant).await?;
        let control = Control::new(Arc::clone(&service));
        let (stop, stopped) = watch::channel(false);
        let listener = socket::listen(&settings.data)?;
        let socket = tokio::spawn(control.clone().serve(listener, until(stopped)));
        let engine = Engine::default();
        let on_demand =
            tokio::spawn(start_on_demand(control.clone(), Arc::clone(&service), Arc::clone(&engine)));
        Ok(Self { service, deps, tenant, control, engine, stop, socket, on_demand, _lock: lock })
    }

    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.service
    }

    pub(crate) fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// How many guests need this owner to stay.
    pub(crate) fn guests(&self) -> usize {
        self.control.guests()
    }

    pub(super) async fn call(&self, call: Call) -> Result<Value> {
        self.service.call(self.tenant, call).await
    }

    pub(super) async fn receive(&self, offers: Vec<Offer>) -> Result<Vec<Received>> {
        self.service.receive(self.tenant, offers).await
    }

    pub(super) async fn original(&self, id: &str) -> Result<Content> {
        self.service.open_original(self.tenant, id).await.map(|(_, content)| content)
    }

    /// Starts the engine unless one runs.
    pub(crate) fn start_engine(&self, options: EngineOptions) -> Result<()> {
        start(&self.service, &self.engine, options)
    }

    /// Resolves when the engine has ended by itself, because nothing is left to do.
    pub(crate) async fn engine_ended(&self) {
        if let Some(engine) = running(&self.engine) {
            engine.wait().await;
        }
    }

    /// Resolves when no guest needs this owner, and turns new ones away from then on.
    pub(crate) async fn alone(&self) {
        while !self.control.close_if_alone() {
            self.control.guests_gone().await;
        }
    }

    /// Ends the engine, closes the socket, ends the children. Running work has `grace` to end, or less if
    /// `at_once` resolves.
    pub(crate) async fn close(self, grace: Duration, at_once: impl Future<Output = ()>) -> Result<()> {
        self.on_demand.abort();
        if let Some(engine) = running(&self.engine) {
            tokio::select! {
                () = engine.shutdown(grace) => {}
                () = at_once => engine.shutdown(Duration::ZERO).await,
            }
        }
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
        self.deps.reader.shutdown().await;
        if let Err(e) = socket::remove(&self.deps.settings.data) {
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

fn running(engine: &Engine) -> Option<Arc<EngineHandle>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn start(service: &Service, engine: &Engine, options: EngineOptions) -> Result<()> {
    let mut engine = engine.lock().unwrap_or_else(PoisonError::into_inner);
    if engine.is_none() {
        *engine = Some(Arc::new(service.start_engine(options)?));
    }
    Ok(())
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
