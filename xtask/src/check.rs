//! Everything a change must pass, as one list of steps. Each step runs even if an earlier one failed, because a
//! developer wants to see all mistakes at once.

use std::time::Instant;

use anyhow::Result;

use crate::process::{installed, succeeds, watched};
use crate::{generate, tidy, tree};

/// How much to check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What a build server checks.
    All,
    /// What a commit hook has patience for.
    Fast,
}

/// What became of a step.
enum Verdict {
    Passed,
    Failed,
    /// A tool is missing; the words say which and how to get it.
    Off(&'static str),
}

/// Counts of single tests, over all test binaries.
#[derive(Default, Debug, PartialEq, Eq)]
struct Tests {
    passed: u64,
    failed: u64,
    skipped: u64,
}

type Step = (&'static str, Extent, fn(&mut Tests) -> Result<Verdict>);

/// In order of how soon they tell something.
const STEPS: &[Step] = &[
    ("format", Extent::Fast, |_| {
        if !installed("cargo", &["fmt", "--version"]) {
            return Ok(Verdict::Off("rustfmt is missing; get it with `rustup component add rustfmt`"));
        }
        cargo(&["fmt", "--all", "--check"])
    }),
    ("tidy", Extent::Fast, |_| tidy::run().map(verdict)),
    ("scripts", Extent::Fast, |_| scripts()),
    ("clippy", Extent::Fast, |_| {
        if !installed("cargo", &["clippy", "--version"]) {
            return Ok(Verdict::Off("clippy is missing; get it with `rustup component add clippy`"));
        }
        cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "-Dwarnings"])
    }),
    ("tests", Extent::All, tests),
    ("doc tests", Extent::All, |counts| {
        counted(&["test", "--doc", "--workspace", "--all-features", "--locked"], counts)
    }),
    ("generated pages", Extent::All, |_| generate::check().map(verdict)),
    ("dependencies", Extent::All, |_| {
        if !installed("cargo", &["deny", "--version"]) {
            return Ok(Verdict::Off("cargo-deny is missing; get it with `cargo install cargo-deny`"));
        }
        cargo(&["deny", "--offline", "check", "bans", "licenses", "sources"])
    }),
];

/// Runs the steps of `extent`; true if none failed.
pub(crate) fn run(extent: Extent) -> bool {
    let mut counts = Tests::default();
    let mut report = Vec::new();
    let started = Instant::now();
    for (name, needed, step) in STEPS {
        if extent == Extent::Fast && *needed == Extent::All {
            continue;
        }
        println!("--- {name}");
        let began = Instant::now();
        // A step that cannot even start has failed; the others still have something to say.
        let verdict = step(&mut counts).unwrap_or_else(|error| {
            println!("{error:#}");
            Verdict::Failed
        });
        report.push((name, verdict, began.elapsed()));
    }

    println!("---");
    let mut failed_steps = 0;
    for (name, verdict, took) in &report {
        let words = match verdict {
            Verdict::Passed => "ok".to_owned(),
            Verdict::Off(why) => format!("switched off: {why}"),
            Verdict::Failed => {
                failed_steps += 1;
                "FAILED".to_owned()
            }
        };
        println!("{name:<16} {:>7.1} s  {words}", took.as_secs_f64());
    }
    println!("{:<16} {:>7.1} s", "all", started.elapsed().as_secs_f64());
    if extent == Extent::All {
        println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    }
    failed_steps == 0
}

fn verdict(well: bool) -> Verdict {
    if well { Verdict::Passed } else { Verdict::Failed }
}

fn cargo(args: &[&str]) -> Result<Verdict> {
    succeeds("cargo", args).map(verdict)
}

fn tests(counts: &mut Tests) -> Result<Verdict> {
    if installed("cargo", &["nextest", "--version"]) {
        counted(&["nextest", "run", "--workspace", "--all-features", "--locked"], counts)
    } else {
        counted(
            &["test", "--workspace", "--all-targets", "--all-features", "--locked", "--no-fail-fast"],
            counts,
        )
    }
}

fn counted(args: &[&str], counts: &mut Tests) -> Result<Verdict> {
    watched("cargo", args, |line| counts.add(line)).map(verdict)
}

impl Tests {
    /// Adds up libtest's `test result: ok. 3 passed; 0 failed; 1 ignored; …` and nextest's
    /// `Summary [ 1.2s] 4 tests run: 3 passed (1 slow), 1 failed, 2 skipped`.
    fn add(&mut self, line: &str) {
        let line = without_colour(line);
        let Some((_, counts)) = line.split_once("test result: ").or_else(|| line.split_once("run: ")) else {
            return;
        };
        // nextest repeats, indented, what the binary of a failed test printed.
        if !line.starts_with("test result: ") && !line.trim_start().starts_with("Summary [") {
            return;
        }
        let words: Vec<&str> = counts.split([' ', ';', ',', '.']).filter(|w| !w.is_empty()).collect();
        for pair in words.windows(2) {
            let (Ok(count), what) = (pair[0].parse::<u64>(), pair[1]) else { continue };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "skipped" | "ignored" => self.skipped += count,
                _ => {}
            }
        }
    }
}

/// Takes terminal colours out of a line.
fn without_colour(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // An escape sequence for colour ends with the letter m.
            chars.by_ref().find(|c| *c == 'm');
        } else {
            out.push(c);
        }
    }
    out
}

/// Shell, Python and JavaScript files are at least parsed, and shell is linted where shellcheck is installed.
fn scripts() -> Result<Verdict> {
    let tree = tree::Tree::read(&tree::root())?;
    let mut well = true;
    let with_shebang = |shell: &str| {
        let first = format!("#!/usr/bin/env {shell}");
        tree.texts()
            .filter(move |(_, text)| text.starts_with(&first))
            .map(|(path, _)| path)
            .collect::<Vec<_>>()
    };
    let mut shell = with_shebang("bash");
    shell.extend(tree.texts().map(|(path, _)| path).filter(|path| path.ends_with(".sh")));
    shell.dedup();
    for file in &shell {
        well &= succeeds("bash", &["-n", file])?;
    }
    for file in tree.texts().map(|(path, _)| path) {
        if file.ends_with(".py") && installed("python3", &["--version"]) {
            let parse = "import ast, sys; ast.parse(open(sys.argv[1], encoding='utf-8').read(), sys.argv[1])";
            well &= succeeds("python3", &["-c", parse, file])?;
        }
        if file.ends_with(".mjs") && installed("node", &["--version"]) {
            well &= succeeds("node", &["--check", file])?;
        }
    }
    if !installed("shellcheck", &["--version"]) {
        println!("shellcheck is not installed: scripts were parsed, not checked");
        return Ok(verdict(well));
    }
    let mut args = vec!["--external-sources"];
    args.extend(&shell);
    well &= succeeds("shellcheck", &args)?;
    Ok(verdict(well))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_lines_of_both_runners_are_added_up() {
        let mut counts = Tests::default();
        counts.add(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s",
        );
        counts.add("     Summary [   1.234s] 9 tests run: 7 passed (2 slow), 2 failed, 4 skipped");
        counts.add(
            "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m1\u{1b}[0m test run: 1 passed, 0 skipped",
        );
        counts.add("a test says: 5 passed");
        counts.add("    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out");
        assert_eq!(counts, Tests { passed: 11, failed: 2, skipped: 5 });
    }
}
