//! Builds the release binary and hands it to one of the benches under `bench/`.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::{process, tree};

const BENCHES: &[&str] = &["engine", "http", "ingest", "migrate", "poison", "postgres"];

/// Documents that misbehave on purpose, and processes that are killed where it hurts: both need features that no binary
/// for users has, so these benches share a binary of their own.
const PROBED: &[&str] = &["migrate", "poison"];

/// Runs the bench `name`; `options` are its own.
pub(crate) fn run(name: &str, options: &[&str]) -> Result<bool> {
    ensure!(BENCHES.contains(&name), "`{name}` is not a bench; there are: {}", BENCHES.join(", "));
    let mut target: PathBuf =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| tree::root().join("target"), Into::into);
    let mut build = vec!["build", "--release", "--locked", "--package", "docmill"];
    if PROBED.contains(&name) {
        target.push("probed");
        build.extend(["--features", "probe,crash-points"]);
    }
    let target_dir = target.to_string_lossy();
    build.extend(["--target-dir", &target_dir]);
    ensure!(process::succeeds("cargo", &build)?, "the release build failed");
    let script = format!("bench/{name}/run.py");
    let binary = target.join("release/docmill");
    let mut args = vec![script.as_str(), "--docmill"];
    let binary = binary.to_string_lossy();
    args.push(&binary);
    args.extend(options);
    process::succeeds("python3", &args)
}
