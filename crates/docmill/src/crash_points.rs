//! Ends this process at a named point, for the crash matrix. Only in builds with the feature `crash-points`.

use std::sync::atomic::{AtomicU64, Ordering};

use docmill_core::crash::{self, POINTS};
use docmill_core::{Error, Result};

/// Installs the hook that `DOCMILL_CRASH_AT` asks for: a point's name, and `:n` for its n-th hit.
pub(crate) fn install(wanted: Option<&str>) -> Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    let (name, hit) = wanted.split_once(':').unwrap_or((wanted, "1"));
    let hit: u64 = hit.parse().map_err(|e| {
        Error::invalid_config(format!("DOCMILL_CRASH_AT: `{hit}` is not a number")).with_source(e)
    })?;
    let Some(name) = POINTS.iter().find(|point| **point == name) else {
        return Err(Error::invalid_config(format!("DOCMILL_CRASH_AT: there is no crash point `{name}`")));
    };
    let hits = AtomicU64::new(0);
    crash::install(move |point| {
        if point == *name && hits.fetch_add(1, Ordering::SeqCst) + 1 == hit {
            let own = rustix::process::getpid();
            if rustix::process::kill_process(own, rustix::process::Signal::KILL).is_err() {
                std::process::abort();
            }
            // The signal is on its way; nothing more may happen here.
            loop {
                std::thread::park();
            }
        }
    });
    Ok(())
}
