//! How a command reaches the store. The first process in an embedded data directory becomes its owner; the others are
//! guests, and hand their requests to the owner through its socket. A store on a server is opened by every process
//! for itself. A command does not notice which it is.

mod door;
mod guest;
pub(crate) mod lock;
mod owner;
pub(crate) mod socket;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use docmill_core::call::Call;
use docmill_core::clock::Clock;
use docmill_core::config::Settings;
use docmill_core::picture::PictureSize;
use docmill_core::ports::store::Received;
use docmill_core::{Error, Result};
use docmill_pipeline::{EngineOptions, Offer};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use guest::Guest;
pub(crate) use owner::Owner;

use crate::wire;

use self::lock::{DirectoryLock, Taken, in_use, make_directory};

/// How long an owner may take from its lock to its socket.
const OWNER_STARTS_WITHIN: Duration = Duration::from_secs(5);

/// How often a guest looks whether the owner answers.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Bytes of a document on their way out.
pub(crate) enum Original {
    /// From a blob of this process.
    Here(docmill_core::ports::blobs::Content),
    /// From the owner.
    There(guest::Download),
}

/// A way to the store.
pub(crate) enum Session {
    /// This process has the store open.
    Owner(Box<Owner>),
    /// Another one has.
    Guest(Box<Guest>),
}

impl Session {
    /// Opens the store, or becomes a guest of whoever has it. The data directory is made if there is none.
    pub(crate) async fn open(
        settings: &Arc<Settings>,
        clock: &Arc<dyn Clock>,
        command: &str,
    ) -> Result<Self> {
        let data = &settings.data;
        make_directory(data)?;
        if !wire::is_embedded(settings) {
            return Ok(Self::Owner(Box::new(Owner::shared(settings, clock).await?)));
        }
        let began = clock.monotonic();
        loop {
            let holder = match DirectoryLock::try_take(data, command)? {
                Taken::Mine(lock) => {
                    return Ok(Self::Owner(Box::new(Owner::embedded(lock, settings, clock).await?)));
                }
                Taken::Held(holder) => holder,
            };
            // Whoever begins or is about to end does not let anybody in; soon it does, or the directory is free.
            match be_guest(settings).await {
                Ok(guest) => return Ok(Self::Guest(Box::new(guest))),
                Err(_) if clock.monotonic().saturating_sub(began) < OWNER_STARTS_WITHIN => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                Err(e) => {
                    return Err(Error::unavailable(format!(
                        "data directory {} is held by {holder}, which does not answer",
                        data.display()
                    ))
                    .with_source(e)
                    .with_hint("try again when it has started or ended"));
                }
            }
        }
    }

    /// Opens the store, or refuses if only one process may and another has it.
    pub(crate) async fn own(
        settings: &Arc<Settings>,
        clock: &Arc<dyn Clock>,
        command: &str,
    ) -> Result<Owner> {
        make_directory(&settings.data)?;
        if !wire::is_embedded(settings) {
            return Owner::shared(settings, clock).await;
        }
        match DirectoryLock::try_take(&settings.data, command)? {
            Taken::Mine(lock) => Owner::embedded(lock, settings, clock).await,
            Taken::Held(holder) => Err(in_use(&settings.data, &holder, command)),
        }
    }

    /// Asks, and reads the answer as what it must be.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T> {
        let value = self.call(call).await?;
        serde_json::from_value(value).map_err(|e| {
            Error::bug("the answer is not of the form that was expected")
                .with_source(e)
                .with_hint("is the process that owns the data directory of another version?")
        })
    }

    /// Asks.
    pub(crate) async fn call(&self, call: Call) -> Result<Value> {
        match self {
            Self::Owner(owner) => owner.call(call).await,
            Self::Guest(guest) => guest.call(call).await,
        }
    }

    /// Brings items in; the answers are in the order of the items.
    pub(crate) async fn receive(&self, offers: Vec<Offer>) -> Result<Vec<Received>> {
        match self {
            Self::Owner(owner) => owner.receive(offers).await,
            Self::Guest(guest) => guest.receive(offers).await,
        }
    }

    /// The bytes of a document.
    pub(crate) async fn original(&self, id: &str) -> Result<Original> {
        match self {
            Self::Owner(owner) => owner.original(id).await.map(Original::Here),
            Self::Guest(guest) => guest.original(id).await.map(Original::There),
        }
    }

    /// The picture of a page.
    pub(crate) async fn page(&self, id: &str, number: u32, size: PictureSize) -> Result<Original> {
        match self {
            Self::Owner(owner) => owner.page(id, number, size).await.map(Original::Here),
            Self::Guest(guest) => guest.page(id, number, size).await.map(Original::There),
        }
    }

    /// Makes sure that an engine runs for as long as this session does, here or at the owner's.
    pub(crate) async fn need_engine(&self, options: EngineOptions) -> Result<()> {
        match self {
            Self::Owner(owner) => owner.start_engine(options),
            Self::Guest(guest) => guest.need_engine().await,
        }
    }

    /// For a command that goes on until somebody ends it: whoever owns the data directory does not wait for it.
    pub(crate) fn may_be_left(&self) {
        match self {
            Self::Owner(_) => {}
            Self::Guest(guest) => guest.may_be_left(),
        }
    }

    /// Lets go. An owner first waits for its guests, and gives running work `grace` to end.
    pub(crate) async fn close(self, grace: Duration) -> Result<()> {
        match self {
            Self::Owner(owner) => {
                owner.alone().await;
                owner.close(grace, std::future::pending()).await
            }
            Self::Guest(_) => Ok(()),
        }
    }
}

async fn be_guest(settings: &Arc<Settings>) -> Result<Guest> {
    let stream = socket::connect(&settings.data)
        .await
        .map_err(|e| Error::unavailable("the socket of the data directory does not answer").with_source(e))?;
    Guest::new(settings, stream).await
}
