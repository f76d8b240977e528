//! What the binary prints: `docs/reference/cli.md`, every command's own help, and `docs/reference/openapi.json`.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};

use crate::process::{output, succeeds};

const OPENING: &str = "\
# Commands

Every command takes `--json` for machine output on stdout; logs and progress go to stderr.
A command that needs the store talks to the process that owns the data directory if one runs, else it opens the directory itself.

| exit code | means |
|---|---|
| 0 | all well |
| 1 | error |
| 2 | wrong usage |
| 3 | not found |
| 7 | finished, but some items failed or the ledger does not balance |
| 130 | interrupted |
";

/// The page.
pub(super) fn page() -> Result<String> {
    let docmill = build()?;
    let mut page = OPENING.to_owned();
    describe(&mut page, &docmill, &[])?;
    Ok(page)
}

/// Builds the binary as the tests do, so that nothing is left to build after them. It lies beside this one.
fn build() -> Result<String> {
    let args = ["test", "--workspace", "--all-features", "--locked", "--no-run", "--quiet"];
    ensure!(succeeds("cargo", &args)?, "docmill cannot be built");
    let here = std::env::current_exe().context("cannot tell where this program lies")?;
    here.with_file_name("docmill").into_os_string().into_string().ok().context("its path is not text")
}

/// The OpenAPI document.
pub(super) fn openapi() -> Result<String> {
    output(&build()?, &["openapi"])
}

/// Adds the help of the command at `path`, and then that of its subcommands.
fn describe(page: &mut String, docmill: &str, path: &[&str]) -> Result<()> {
    let help = help(docmill, path)?;
    // The options that every command takes are shown once, at the top.
    let shown =
        if path.is_empty() { help.as_str() } else { help.split("\nGlobal options:").next().unwrap_or(&help) };
    let name = ["docmill"].iter().chain(path).copied().collect::<Vec<_>>().join(" ");
    write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", shown.trim_end()).context("cannot write the page")?;
    for command in subcommands(&help) {
        describe(page, docmill, &[path, &[command]].concat())?;
    }
    Ok(())
}

fn help(docmill: &str, path: &[&str]) -> Result<String> {
    let printed = output(docmill, &[path, &["--help"]].concat())?;
    Ok(printed.lines().map(|line| line.trim_end().to_owned() + "\n").collect())
}

/// The first words of the indented lines below `Commands:`.
fn subcommands(help: &str) -> Vec<&str> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_the_first_words_below_their_heading() {
        let help = "Usage: x\n\nCommands:\n  one    Does\n         this\n  two    Does that\n\nOptions:\n  -h  Help\n";
        assert_eq!(subcommands(help), ["one", "two"]);
    }
}
