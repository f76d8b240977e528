//! A process that has the store open itself: as the owner of an embedded data directory, where it answers guests
//! too, or as one of many on a server. It runs an engine if it or a guest needs one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docmill_core::Result;
use docmill_core::call::Call;
use docmill_core::clock::Clock;
use docmill_core::config::Settings;
use docmill_core::id::TenantId;
use docmill_core::picture::PictureSize;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::store::Received;
use docmill_pipeline::{Deps, EngineHandle, EngineOptions, Offer, Service};
use serde_json::Value;

use super::door::Door;
use super::lock::DirectoryLock;
use crate::wire;

/// The engine, once somebody needs one.
pub(super) type Engine = Arc<Mutex<Option<Arc<EngineHandle>>>>;

/// The owner.
pub(crate) struct Owner {
    service: Arc<Service>,
    deps: Deps,
    tenant: TenantId,
    engine: Engine,
    /// Of an embedded data directory. Whoever shares a server has none: the others open the store themselves.
    door: Option<Door>,
}

impl Owner {
    /// Opens an embedded store and begins to answer guests.
    pub(crate) async fn embedded(
        lock: DirectoryLock,
        settings: &Arc<Settings>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self> {
        let mut owner = Self::shared(settings, clock).await?;
        owner.door = Some(Door::open(lock, settings, &owner.service, &owner.engine)?);
        Ok(owner)
    }

    /// Opens a store that others may have open too.
    pub(crate) async fn shared(settings: &Arc<Settings>, clock: &Arc<dyn Clock>) -> Result<Self> {
        let deps = wire::deps(settings, clock).await?;
        let service = Arc::new(Service::new(deps.clone()));
        let tenant = service.tenant(&settings.tenant).await?;
        Ok(Self { service, deps, tenant, engine: Engine::default(), door: None })
    }

    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.service
    }

    pub(crate) fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// How many guests need this owner to stay.
    pub(crate) fn guests(&self) -> usize {
        self.door.as_ref().map_or(0, Door::guests)
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

    pub(super) async fn page(&self, id: &str, number: u32, size: PictureSize) -> Result<Content> {
        let head = self.service.head(self.tenant, id).await?;
        let picture = self.service.page_picture(self.tenant, &head, number, size).await?;
        Ok(Content::Inline(picture.png))
    }

    /// Starts the engine unless one runs; one that has ended is replaced.
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
        if let Some(door) = &self.door {
            door.alone().await;
        }
    }

    /// Ends the engine, closes the door, ends the children. Running work has `grace` to end, or less if
    /// `at_once` resolves.
    pub(crate) async fn close(self, grace: Duration, at_once: impl Future<Output = ()>) -> Result<()> {
        if let Some(door) = &self.door {
            door.start_nothing();
        }
        if let Some(engine) = running(&self.engine) {
            tokio::select! {
                () = engine.shutdown(grace) => {}
                () = at_once => engine.shutdown(Duration::ZERO).await,
            }
        }
        // Before the door, which waits for requests: nobody needs a picture from a server that ends.
        self.deps.viewer.shutdown().await;
        let closed = match self.door {
            Some(door) => door.close().await,
            None => Ok(()),
        };
        self.deps.reader.shutdown().await;
        self.deps.ocr.shutdown().await;
        self.deps.ocr_again.shutdown().await;
        self.deps.embedder.shutdown().await;
        if let Some(spans) = &self.deps.spans {
            spans.close().await;
        }
        closed
    }
}

fn running(engine: &Engine) -> Option<Arc<EngineHandle>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(super) fn start(service: &Service, engine: &Engine, options: EngineOptions) -> Result<()> {
    let mut engine = engine.lock().unwrap_or_else(PoisonError::into_inner);
    if engine.as_ref().is_none_or(|engine| engine.has_ended()) {
        *engine = Some(Arc::new(service.start_engine(options)?));
    }
    Ok(())
}
