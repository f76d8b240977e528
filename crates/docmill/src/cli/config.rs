//! `docmill config show|check|reference`.

use docmill_core::Result;
use docmill_core::config::KEYS;
use docmill_core::redact::redacted;
use serde_json::{Map, Value, json};

use crate::config::Refused;
use crate::context::{Context, Exit};
use crate::terminal::{Terminal, table};

/// Show or check the configuration
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print every setting
    Show {
        /// And where it comes from
        #[arg(long)]
        origin: bool,
    },
    /// Say whether the configuration makes sense; every problem is reported at once
    Check,
    /// Print the reference page
    #[command(hide = true)]
    Reference,
}

impl Args {
    pub(super) fn is_reference(&self) -> bool {
        matches!(self.action, Action::Reference)
    }

    pub(super) fn is_check(&self) -> bool {
        matches!(self.action, Action::Check)
    }

    /// A broken configuration never comes this far: loading it has reported every problem.
    pub(super) fn run(self, cx: &Context) -> Result<Exit> {
        match self.action {
            Action::Show { origin } => show(cx, origin)?,
            Action::Check => check(cx)?,
            Action::Reference => return reference(),
        }
        Ok(Exit::Ok)
    }
}

/// The page as Markdown, on stdout.
pub(super) fn reference() -> Result<Exit> {
    Terminal { json: false, quiet: false }.bytes(docmill_core::config::reference().as_bytes())?;
    Ok(Exit::Ok)
}

fn show(cx: &Context, origin: bool) -> Result<()> {
    let settings = &cx.settings;
    // Shown to whoever looks over the shoulder, and copied into reports.
    let values = KEYS
        .iter()
        .flat_map(|key| key.show(settings))
        .map(|(path, value)| (path, redacted(&value).into_owned()));
    if cx.terminal.json {
        let entries: Map<_, _> = values
            .map(|(path, value)| {
                let at = cx.config.options.at(&path).to_string();
                // What is written in the file is JSON but for the name: texts, numbers, and lists of them.
                let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
                (path, json!({ "value": value, "origin": at }))
            })
            .collect();
        let file = cx.config.file.as_ref().map(|file| file.to_string_lossy().into_owned());
        return cx.terminal.object(&json!({ "file": file, "settings": entries }));
    }
    if origin {
        let rows: Vec<Vec<String>> = values
            .map(|(path, value)| {
                let at = cx.config.options.at(&path).to_string();
                vec![path, value, at]
            })
            .collect();
        return cx.terminal.line(&table(&["SETTING", "VALUE", "ORIGIN"], &rows));
    }
    let lines: Vec<String> = values.map(|(path, value)| format!("{path} = {value}")).collect();
    cx.terminal.line(&lines.join("\n"))
}

/// What `check` answers to programs of a configuration that makes no sense.
pub(super) fn broken(terminal: Terminal, refused: &Refused) -> Result<()> {
    let said = |text: &str| redacted(text).into_owned();
    let mut problems: Vec<Value> = refused
        .problems
        .iter()
        .map(|problem| {
            let hint = problem.hint.as_deref().map(said);
            json!({ "at": problem.at.to_string(), "message": said(&problem.message), "hint": hint })
        })
        .collect();
    if problems.is_empty() {
        let error = &refused.error;
        problems.push(json!({ "at": null, "message": said(&error.chain()), "hint": error.hint() }));
    }
    terminal.object(&json!({ "ok": false, "problems": problems }))
}

fn check(cx: &Context) -> Result<()> {
    let file = cx.config.file.as_ref().map(|file| file.to_string_lossy().into_owned());
    if cx.terminal.json {
        return cx.terminal.object(&json!({
            "ok": true, "file": file, "warnings": cx.config.warnings, "problems": [],
        }));
    }
    let from = file.map_or_else(|| "no file, defaults".to_owned(), |file| format!("file {file}"));
    cx.terminal.line(&format!("the configuration is in order ({from})"))
}
