//! What `/proc` tells about a child, read from outside.

use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

/// What a child has used so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Usage {
    /// CPU time of all its threads, ended ones included.
    pub(super) cpu: Duration,
    /// How long its threads stood ready and got no CPU.
    pub(super) starved: Duration,
    /// A thread is running or stands ready to. The kernel adds a wait to `starved` only when it is over.
    pub(super) ready: bool,
    /// Memory that is its own: anonymous and shared anonymous, not mapped files.
    pub(super) memory_bytes: u64,
}

/// Reads the usage of process `pid`, which must not have been reaped yet.
pub(super) fn usage(pid: u32) -> io::Result<Usage> {
    let cpu = cpu(pid)?;
    let memory_bytes = own_memory(&read(&format!("/proc/{pid}/status"))?);
    let (mut starved, mut ready) = (Duration::ZERO, false);
    for thread in threads(pid)? {
        // A thread that ended since the listing is no error.
        if let Ok(line) = read(&format!("/proc/{pid}/task/{thread}/schedstat")) {
            starved += waited(&line);
        }
        if let Ok(stat) = read(&format!("/proc/{pid}/task/{thread}/stat")) {
            ready |= is_ready(&stat);
        }
    }
    Ok(Usage { cpu, starved, ready, memory_bytes })
}

/// CPU time of all threads of process `pid` so far.
pub(super) fn cpu(pid: u32) -> io::Result<Duration> {
    let ticks = cpu_ticks(&read(&format!("/proc/{pid}/stat"))?)
        .ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat makes no sense")))?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / per_second)))
}

/// The thread ids of a process.
pub(super) fn threads(pid: u32) -> io::Result<Vec<i32>> {
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        if let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn read(path: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(16 << 10).read_to_string(&mut text)?;
    Ok(text)
}

/// The fields of `stat` from the third on. The second is the name, which may hold anything, so counting starts
/// behind its closing parenthesis.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace())
}

/// Field 3 of `stat`.
fn is_ready(stat: &str) -> bool {
    fields(stat).and_then(|mut fields| fields.next()) == Some("R")
}

/// Fields 14 and 15 of `stat`.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let mut fields = fields(stat)?.skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn own_memory(status: &str) -> u64 {
    status
        .lines()
        .filter_map(|line| line.strip_prefix("RssAnon:").or_else(|| line.strip_prefix("RssShmem:")))
        .filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .sum::<u64>()
        .saturating_mul(1024)
}

/// The second number of `schedstat`: nanoseconds in the run queue.
fn waited(schedstat: &str) -> Duration {
    let nanos = schedstat.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_ticks_survive_a_hostile_process_name() {
        let stat = "7 (a) R 9 9) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 5 6 7";
        assert_eq!(cpu_ticks(stat), Some(300));
        assert_eq!(cpu_ticks("garbage"), None);
        assert!(!is_ready(stat));
        assert!(is_ready(&stat.replace(") S", ") R")));
    }

    #[test]
    fn own_memory_leaves_mapped_files_out() {
        let status = "VmRSS:\t 90 kB\nRssAnon:\t 10 kB\nRssFile:\t 75 kB\nRssShmem:\t 5 kB\n";
        assert_eq!(own_memory(status), 15 * 1024);
    }

    #[test]
    fn usage_of_this_process_is_readable() {
        let usage = usage(std::process::id()).unwrap();
        assert!(usage.memory_bytes > 0);
        assert!(usage.ready, "whoever asks is running");
    }
}
