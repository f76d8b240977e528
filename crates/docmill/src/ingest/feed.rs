//! Brings everything in, several chunks at once, and counts on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use docmill_core::id::BatchId;
use docmill_core::limits::MIB;
use docmill_core::{Error, Result};
use docmill_pipeline::Offer;
use futures::{StreamExt, TryStreamExt};
use tokio::sync::mpsc;

use super::load::{self, Loaded};
use super::walk::{self, Met, Own, show};
use super::{Input, Label, Request, make};
use crate::context::Context;
use crate::session::Session;
use crate::signals::Signals;

/// A chunk is sent when it holds so many items …
pub(super) const CHUNK_ITEMS: usize = 64;

/// … or so many bytes.
pub(super) const CHUNK_BYTES: u64 = 8 * MIB;

/// Threads that open and read files.
const LOADERS: usize = 2;

/// Chunks that are stored at once. The store writes what waits in one go, so several help.
const AT_ONCE: usize = 4;

/// What the walker counted, and what the batch held of it already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Fed {
    pub(super) walked: u64,
    pub(super) known: u64,
}

/// Brings in what `request` names. After a signal nothing new is begun and what has begun is finished.
pub(super) async fn feed(
    cx: &Context,
    session: &Session,
    signals: &Signals,
    request: &Request,
    batch_id: BatchId,
) -> Result<Fed> {
    let label = Label { batch_id, uploader: uploader().into(), priority: request.priority };
    let stop = Arc::new(AtomicBool::new(false));
    // Also set when this future is dropped or fails: the threads must not walk on for nobody.
    let _stop = StopOnDrop(Arc::clone(&stop));
    let walked = Arc::new(AtomicU64::new(0));
    let own = Arc::new(Own::at(&cx.settings.data));
    let (to_send, chunks) = mpsc::channel(1);
    let threads: Vec<_> = match &request.input {
        Input::Paths(paths) => {
            let (walking, loads) =
                flume(paths.clone(), Arc::clone(&own), Arc::clone(&stop), Arc::clone(&walked));
            let loader = |_| {
                let (loads, to_send, label) = (Arc::clone(&loads), to_send.clone(), label.clone());
                tokio::task::spawn_blocking(move || chunk(&loads, &to_send, &label))
            };
            std::iter::once(walking).chain((0..LOADERS).map(loader)).collect()
        }
        Input::Stdin(name) => {
            // Whoever writes to us may be silent for ever; what was read so far was never promised to anybody.
            let offer = tokio::select! {
                offer = load::stdin(&label, name.clone(), &cx.settings.limits) => offer?,
                () = signals.first() => return Ok(Fed::default()),
            };
            let received = session.receive(vec![offer]).await?;
            return Ok(Fed { walked: 1, known: received.iter().filter(|r| r.known).count() as u64 });
        }
        Input::Made(order) => make::start(order, &label, &stop, &walked, &to_send),
    };
    drop(to_send);

    let chunks = futures::stream::unfold(chunks, |mut chunks| async move {
        chunks.recv().await.map(|chunk: Vec<Offer>| (chunk, chunks))
    });
    let storing = chunks
        .map(|chunk| async move {
            let received = session.receive(chunk).await?;
            Ok::<_, Error>(received.iter().filter(|received| received.known).count() as u64)
        })
        .buffer_unordered(AT_ONCE)
        .try_fold(0, |sum, known| async move { Ok(sum + known) });
    tokio::pin!(storing);
    let known = tokio::select! {
        known = &mut storing => known?,
        () = signals.first() => {
            stop.store(true, Ordering::Relaxed);
            storing.await?
        }
    };
    for thread in threads {
        thread.await.map_err(|e| Error::bug("a thread of the walk failed").with_source(e))?;
    }
    if own.was_met() {
        let data = show(&cx.settings.data);
        cx.terminal
            .note(&format!("note: the data directory `{data}` was left out, because docmill writes to it"));
    }
    Ok(Fed { walked: walked.load(Ordering::SeqCst), known })
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Shared<T> = Arc<std::sync::Mutex<std::sync::mpsc::Receiver<T>>>;

/// Starts the walk; what it meets can be taken by several loaders.
fn flume(
    roots: Vec<std::path::PathBuf>,
    own: Arc<Own>,
    stop: Arc<AtomicBool>,
    walked: Arc<AtomicU64>,
) -> (tokio::task::JoinHandle<()>, Shared<Met>) {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1024);
    let walking = tokio::task::spawn_blocking(move || {
        for met in walk::walk(roots, own) {
            if stop.load(Ordering::Relaxed) || sender.send(met).is_err() {
                return;
            }
            walked.fetch_add(1, Ordering::SeqCst);
        }
    });
    (walking, Arc::new(std::sync::Mutex::new(receiver)))
}

/// Loads items into chunks until the walk has ended.
fn chunk(loads: &Shared<Met>, to_send: &mpsc::Sender<Vec<Offer>>, label: &Label) {
    let mut chunk = Vec::new();
    let mut bytes = 0;
    loop {
        let met = loads.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        let Ok(met) = met else { break };
        let Loaded { offer, held_bytes, alone } = load::load(label, met);
        if alone {
            // A large file is on its way for a long time; nobody should wait behind it.
            if to_send.blocking_send(vec![offer]).is_err() {
                return;
            }
            continue;
        }
        bytes += held_bytes;
        chunk.push(offer);
        if chunk.len() >= CHUNK_ITEMS || bytes >= CHUNK_BYTES {
            bytes = 0;
            if to_send.blocking_send(std::mem::take(&mut chunk)).is_err() {
                return;
            }
        }
    }
    if !chunk.is_empty() && to_send.blocking_send(chunk).is_err() {
        // Whoever stored has failed and says so.
    }
}

/// The user who runs the command, by number where there is no better name.
fn uploader() -> String {
    format!("uid {}", rustix::process::getuid().as_raw())
}
