//! Builds the release binary and hands it to one of the benches under `bench/`.

use anyhow::{Result, ensure};

use crate::{process, tree};

const BENCHES: &[&str] = &["engine", "ingest"];

/// Runs the bench `name`; `options` are its own.
pub(crate) fn run(name: &str, options: &[&str]) -> Result<bool> {
    ensure!(BENCHES.contains(&name), "`{name}` is not a bench; there are: {}", BENCHES.join(", "));
    ensure!(
        process::succeeds("cargo", &["build", "--release", "--locked", "--package", "docmill"])?,
        "the release build failed"
    );
    let script = format!("bench/{name}/run.py");
    let target = std::env::var("CARGO_TARGET_DIR").map_or_else(|_| tree::root().join("target"), Into::into);
    let binary = target.join("release/docmill");
    let mut args = vec![script.as_str(), "--docmill"];
    let binary = binary.to_string_lossy();
    args.push(&binary);
    args.extend(options);
    process::succeeds("python3", &args)
}
