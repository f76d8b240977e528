//! `docmill doctor`.

use std::time::Duration;

use docmill_core::Result;
use docmill_core::answer::{DoctorAnswer, DoctorCheck};
use docmill_core::call::Call;
use docmill_core::config::SandboxMode;
use docmill_core::redact::redacted;

use super::print;
use crate::config::Refused;
use crate::context::{Context, Exit};
use crate::session::Session;
use crate::terminal::Terminal;
use crate::wire;

/// Check everything that can be wrong outside a document
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let mut checks = vec![version(), configuration(cx)];
        match std::fs::metadata(&cx.settings.data) {
            Ok(metadata) if metadata.is_dir() => checks.extend(examine(cx).await),
            Ok(_) => checks.push(bad("data_directory", &cx.settings.data.display(), "it is not a directory")),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let detail =
                    format!("{} is not there yet; the first command makes it", cx.settings.data.display());
                checks.push(good("data_directory", detail));
                checks.extend(sandbox(cx).await);
                checks.extend(recognition(cx).await);
                checks.extend(meaning(cx).await);
            }
            Err(e) => {
                checks.push(bad("data_directory", &e, "make it readable for the user who runs docmill"));
            }
        }
        let answer = DoctorAnswer { ok: checks.iter().all(|check| check.ok), checks };
        print(cx, &answer, human)?;
        Ok(if answer.ok { Exit::Ok } else { Exit::Error })
    }
}

/// What is answered to programs where the configuration makes no sense: nothing else can be looked at without it.
pub(super) fn broken(terminal: Terminal, refused: &Refused) -> Result<()> {
    let error = &refused.error;
    let hint = error.hint().unwrap_or("`docmill config check` says what is wrong");
    let check = bad("configuration", &redacted(&error.chain()), hint);
    terminal.object(&DoctorAnswer { ok: false, checks: vec![version(), check] })
}

fn version() -> DoctorCheck {
    good("version", format!("docmill {}", env!("CARGO_PKG_VERSION")))
}

/// A broken configuration has been reported before this; what is left are warnings.
fn configuration(cx: &Context) -> DoctorCheck {
    let from = match &cx.config.file {
        Some(file) => file.display().to_string(),
        None => "no file, defaults".to_owned(),
    };
    let hint = cx.config.warnings.first().cloned();
    DoctorCheck { name: "configuration".into(), ok: true, detail: from, hint }
}

/// Everything that needs the data directory, by whoever owns it.
async fn examine(cx: &Context) -> Vec<DoctorCheck> {
    let session = match Session::open(&cx.settings, &cx.clock, "doctor").await {
        Ok(session) => session,
        Err(error) => {
            let hint = error.hint().unwrap_or("`docmill doctor` says more once it can be opened").to_owned();
            return vec![bad("data_directory", &error.chain(), &hint)];
        }
    };
    let owner = match &session {
        Session::Owner(_) if !wire::is_embedded(&cx.settings) => {
            "nobody: the store is on a server, for any number of processes".to_owned()
        }
        Session::Owner(_) => "nobody; it is free".to_owned(),
        Session::Guest(_) => "a running docmill process, which answers".to_owned(),
    };
    let mut checks = vec![good("owner", owner)];
    match session.ask::<DoctorAnswer>(Call::Doctor).await {
        Ok(answer) => checks.extend(answer.checks),
        Err(error) => checks.push(bad("store", &error.chain(), error.hint().unwrap_or("look at the log"))),
    }
    if let Err(error) = session.close(Duration::ZERO).await {
        checks.push(bad("owner", &error.chain(), "try again"));
    }
    checks
}

/// The layers of the sandbox alone, which need no data directory.
async fn sandbox(cx: &Context) -> Vec<DoctorCheck> {
    let required = cx.settings.sandbox.mode == SandboxMode::Required;
    let layers = async {
        let reader = wire::reader(&cx.settings, &cx.clock).await?;
        let layers = reader.layers().await;
        reader.shutdown().await;
        layers
    };
    match layers.await {
        Ok(layers) => {
            layers.into_iter().map(|layer| docmill_pipeline::service::of_layer(layer, required)).collect()
        }
        Err(error) => vec![bad("sandbox", &error.chain(), "no document can be read until a child starts")],
    }
}

/// What there is to recognise text with, which needs no data directory either.
async fn recognition(cx: &Context) -> Vec<DoctorCheck> {
    match wire::ocr(&cx.settings, &cx.clock) {
        Ok(ocr) => {
            let checks = docmill_pipeline::service::recognition(ocr.as_ref()).await;
            ocr.shutdown().await;
            checks
        }
        Err(error) => {
            vec![bad("ocr", &error.chain(), error.hint().unwrap_or("look at `ocr` in the settings"))]
        }
    }
}

/// What there is to tell the meaning of texts with.
async fn meaning(cx: &Context) -> Vec<DoctorCheck> {
    match wire::embedder(&cx.settings, &cx.clock) {
        Ok(embedder) => {
            let checks = docmill_pipeline::service::meaning(embedder.as_ref()).await;
            embedder.shutdown().await;
            checks
        }
        Err(error) => vec![bad("embed", &error.chain(), error.hint().unwrap_or("try again"))],
    }
}

fn good(name: &str, detail: impl Into<String>) -> DoctorCheck {
    DoctorCheck { name: name.into(), ok: true, detail: detail.into(), hint: None }
}

fn bad(name: &str, detail: &dyn std::fmt::Display, hint: &str) -> DoctorCheck {
    DoctorCheck { name: name.into(), ok: false, detail: detail.to_string(), hint: Some(hint.into()) }
}

fn human(answer: &DoctorAnswer) -> String {
    let width = answer.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for check in &answer.checks {
        let mark = if check.ok { "ok " } else { "BAD" };
        out.push_str(&format!("{mark}  {:<width$}  {}\n", check.name, check.detail));
        if let Some(hint) = &check.hint {
            out.push_str(&format!("     {:<width$}  hint: {hint}\n", ""));
        }
    }
    out.push_str(if answer.ok { "all is well" } else { "something is wrong" });
    out
}
