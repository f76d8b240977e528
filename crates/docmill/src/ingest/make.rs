//! Test documents that are made on their way in, each an item like any other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use docmill_core::generate::Order;
use docmill_core::ports::Generator as _;
use docmill_generate::Press;
use docmill_pipeline::{Offer, Offered};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Label;
use super::feed::{CHUNK_BYTES, CHUNK_ITEMS};
use super::load;

/// Threads that make documents.
const MAKERS: usize = 2;

/// Makes what is ordered, on threads of its own; each takes the next number that nobody has.
pub(super) fn start(
    order: &Order,
    label: &Label,
    stop: &Arc<AtomicBool>,
    walked: &Arc<AtomicU64>,
    to_send: &mpsc::Sender<Vec<Offer>>,
) -> Vec<JoinHandle<()>> {
    let (press, next) = (Arc::new(Press::default()), Arc::new(AtomicU32::new(0)));
    let maker = |_| {
        let work = Work {
            press: Arc::clone(&press),
            next: Arc::clone(&next),
            order: order.clone(),
            label: label.clone(),
            stop: Arc::clone(stop),
            walked: Arc::clone(walked),
        };
        let to_send = to_send.clone();
        tokio::task::spawn_blocking(move || work.run(&to_send))
    };
    (0..MAKERS).map(maker).collect()
}

struct Work {
    press: Arc<Press>,
    next: Arc<AtomicU32>,
    order: Order,
    label: Label,
    stop: Arc<AtomicBool>,
    walked: Arc<AtomicU64>,
}

impl Work {
    fn run(&self, to_send: &mpsc::Sender<Vec<Offer>>) {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            if number >= self.order.count {
                break;
            }
            self.walked.fetch_add(1, Ordering::SeqCst);
            let offer = self.offer(number);
            if let Offered::Bytes(content) = &offer.content {
                bytes += content.len() as u64;
            }
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

    /// One document; one that could not be made is accounted for like a file that could not be read.
    fn offer(&self, number: u32) -> Offer {
        let (name, content) = match self.press.make(&self.order, number) {
            Ok(sample) => (sample.name, Offered::Bytes(sample.bytes)),
            Err(error) => (format!("{:06}", number + 1), Offered::Refused(error)),
        };
        let path = format!("generated/{}/{name}", self.order.seed);
        load::offer(&self.label, path.clone(), path.into_bytes(), name, content)
    }
}
