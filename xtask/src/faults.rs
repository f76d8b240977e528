//! Runs the long versions of the fault tests; `bench/faults/run.py` starts them and keeps their figures.

use anyhow::Result;

use crate::process;

/// `options` are those of the script.
pub(crate) fn run(options: &[&str]) -> Result<bool> {
    let mut args = vec!["bench/faults/run.py"];
    args.extend(options);
    process::succeeds("python3", &args)
}
