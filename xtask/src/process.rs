//! Starting other programs from the root of the checkout, with their output on the terminal.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::tree;

/// Runs `program` and says whether it succeeded.
pub(crate) fn succeeds(program: &str, args: &[&str]) -> Result<bool> {
    let status = command(program, args).status().with_context(|| format!("cannot start {program}"))?;
    Ok(status.success())
}

/// Runs `program`, showing each line as it comes, and gives every line to `look` as well.
pub(crate) fn watched(program: &str, args: &[&str], mut look: impl FnMut(&str)) -> Result<bool> {
    let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let mut command = command(program, args);
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    // The command holds the writing ends; while it lives, the pipe never ends.
    drop(command);
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.context("cannot read the output")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        look(&line);
    }
    Ok(child.wait()?.success())
}

/// Runs `program` and returns what it printed. It sees no terminal, so what it prints does not depend on one.
pub(crate) fn output(program: &str, args: &[&str]) -> Result<String> {
    let out = command(program, args)
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    let complaints = String::from_utf8_lossy(&out.stderr);
    ensure!(out.status.success(), "`{program} {}` failed:\n{complaints}", args.join(" "));
    String::from_utf8(out.stdout).with_context(|| format!("`{program}` printed something that is not text"))
}

/// Whether `program` can be started at all (and answers `--version`, as all our tools do).
pub(crate) fn installed(program: &str, args: &[&str]) -> bool {
    command(program, args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(tree::root());
    // What Cargo says of this package is not for the packages that a Cargo started from here builds: some of them are
    // built again when it changes.
    for (name, _) in std::env::vars_os() {
        let known = name.to_string_lossy();
        if known.starts_with("CARGO_PKG_") || known.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watched_sees_both_outputs_and_the_verdict() {
        let mut lines = Vec::new();
        let well =
            watched("sh", &["-c", "echo one; echo two >&2; exit 3"], |line| lines.push(line.to_owned()));
        assert!(!well.unwrap());
        assert_eq!(lines, ["one", "two"]);
    }
}
