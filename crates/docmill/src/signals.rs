//! SIGINT and SIGTERM, counted: the first asks for an orderly end, the second for one at once.

use docmill_core::{Error, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How often the process was asked to end.
#[derive(Clone, Debug)]
pub(crate) struct Signals(watch::Receiver<u32>);

impl Signals {
    /// From now on signals are counted instead of ending the process.
    pub(crate) fn listen() -> Result<Self> {
        let failed = |e| Error::unavailable("cannot listen for signals").with_source(e);
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let (count, counted) = watch::channel(0);
        tokio::spawn(async move {
            while !count.is_closed() {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    () = count.closed() => break,
                }
                count.send_modify(|n| *n += 1);
            }
        });
        Ok(Self(counted))
    }

    /// Whether an end was asked for.
    pub(crate) fn asked(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Resolves when an end is asked for.
    pub(crate) async fn first(&self) {
        self.at_least(1).await;
    }

    /// Resolves when an end at once is asked for.
    pub(crate) async fn second(&self) {
        self.at_least(2).await;
    }

    async fn at_least(&self, times: u32) {
        if self.0.clone().wait_for(|count| *count >= times).await.is_err() {
            // The counting task is gone with the runtime: nothing will be asked any more.
            std::future::pending::<()>().await;
        }
    }
}
