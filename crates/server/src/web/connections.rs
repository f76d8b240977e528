//! Connections: so many at once, none that stays silent or reads nothing for ever, and all of them ended in order.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use docmill_core::Result;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::stalled::Stalled;

/// A request's head must be there within this time.
const HEAD_WITHIN: Duration = Duration::from_secs(30);
/// A head longer than this is refused; bodies are not affected.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Headers of one request.
const MAX_HEADERS: usize = 100;
/// After the order to end, requests that have begun may go on for so long.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// Where no connection can be taken (no file left), it is tried again after this.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Answers on `listener` until `shutdown` resolves, then finishes what has begun, as far as it ends soon.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    max_connections: usize,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .half_close(true);
    let places = Arc::new(Semaphore::new(max_connections));
    let ending = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        // A place first: those who find none wait in the listener's queue, and not in memory.
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut shutdown => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "no connection could be taken");
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection answers late");
        }
        let service = TowerToHyperService::new(routes.clone());
        let connection = ending.watch(http.serve_connection(TokioIo::new(Stalled::new(stream)), service));
        drop(tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
            }
            drop(place);
        }));
    }
    drop(listener);
    if tokio::time::timeout(ENDS_WITHIN, ending.shutdown()).await.is_err() {
        tracing::warn!("requests were cut off, because they did not end within {} s", ENDS_WITHIN.as_secs());
    }
    Ok(())
}
