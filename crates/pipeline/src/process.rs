//! What this process uses, as the kernel tells it.

use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::metrics::ProcessUsage;

use crate::blocking::blocking;

/// What the kernel tells; what it does not is left out.
pub(crate) async fn usage(started_at: Timestamp) -> ProcessUsage {
    let usage = blocking(move || {
        Ok(ProcessUsage {
            cpu: Some(cpu()),
            resident_bytes: resident(),
            open_fds: open_fds(),
            max_fds: rustix::process::getrlimit(rustix::process::Resource::Nofile).current,
            started_at: Some(started_at),
        })
    });
    usage.await.unwrap_or_else(|error| {
        tracing::warn!(error = %error.chain(), "cannot tell what this process uses");
        ProcessUsage::default()
    })
}

fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// The second number of `statm` is the resident pages.
fn resident() -> Option<u64> {
    let mut text = String::new();
    File::open("/proc/self/statm").ok()?.take(1 << 10).read_to_string(&mut text).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// One of them is the one that counts them.
fn open_fds() -> Option<u64> {
    let entries = std::fs::read_dir("/proc/self/fd").ok()?;
    Some((entries.count() as u64).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kernel_tells_everything() {
        let usage = usage(Timestamp(1)).await;
        assert!(usage.cpu.unwrap() > Duration::ZERO);
        assert!(usage.resident_bytes.unwrap() > 1 << 20);
        assert!(usage.open_fds.unwrap() > 0 && usage.max_fds.unwrap() >= usage.open_fds.unwrap());
    }
}
