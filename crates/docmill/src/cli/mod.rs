//! The command line: a file a command. Names, JSON keys and exit codes are promised (`docs/reference/cli.md`).

pub(crate) mod audit;
mod backup;
mod bench;
mod cancel;
mod classify;
mod completions;
mod config;
mod counts;
mod dead;
mod doctor;
mod events;
mod export;
mod extract;
mod generate;
mod get;
mod index;
mod ingest;
mod key;
mod list;
mod migrate;
mod models;
mod openapi;
mod page;
mod pause;
mod prune;
mod read;
mod reading;
mod reprocess;
mod restore;
mod retry;
mod review;
mod saving;
mod schema;
mod search;
mod serve;
mod show;
mod status;
mod tags;
mod tenant;
mod text;
mod why;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgAction, Parser, Subcommand};
use docmill_core::answer::{CountAnswer, StatusAnswer};
use docmill_core::call::Call;
use docmill_core::clock::SystemClock;
use docmill_core::{Error, Result};
use rustix::fs::Mode;
use serde::de::DeserializeOwned;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Environment, Flags, load};
use crate::context::{Context, Exit, report};
use crate::log;
use crate::session::Session;
use crate::terminal::{Terminal, complain};

/// The most threads of the runtime; it has one for every two cores. The work is done by children and by the store's
/// writer: threads that only hand things on wake each other for nothing.
const THREADS: usize = 4;

/// Threads for file work. Hundreds, tokio's default, would do no more at once and cost a stack and a heap each.
const BLOCKING_THREADS: usize = 16;

/// Turns any pile of files into readable, searchable documents, with an account for every item.
#[derive(Debug, Parser)]
#[command(name = "docmill", version, disable_help_subcommand = true, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// The data directory [env: DOCMILL_DATA]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The configuration file [env: DOCMILL_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A server to talk to instead of the data directory; not in this version
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
    /// The tenant to work for [env: DOCMILL_TENANT]
    #[arg(long, global = true, value_name = "NAME")]
    tenant: Option<String>,
    /// Machine output on stdout: one object, or JSON lines
    #[arg(long, global = true)]
    json: bool,
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more; twice for much more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ingest(ingest::Args),
    Generate(generate::Args),
    Read(read::Args),
    Classify(classify::Args),
    Extract(extract::Args),
    Schema(schema::Args),
    Review(review::Args),
    Export(export::Args),
    List(list::Args),
    Show(show::Args),
    Text(text::Args),
    Get(get::Args),
    Page(page::Args),
    Search(search::Args),
    Tags(tags::Args),
    Status(status::Args),
    Why(why::Args),
    Audit(audit::Args),
    Retry(retry::Args),
    Reprocess(reprocess::Args),
    Cancel(cancel::Args),
    Pause(pause::PauseArgs),
    Resume(pause::ResumeArgs),
    Dead(dead::Args),
    Events(events::Args),
    Key(key::Args),
    Tenant(tenant::Args),
    Serve(serve::Args),
    Work(work::Args),
    Backup(backup::Args),
    Bench(bench::Args),
    Restore(restore::Args),
    Migrate(migrate::Args),
    Index(index::Args),
    Prune(prune::Args),
    Models(models::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Openapi(openapi::Args),
    Completions(completions::Args),
    /// Print how a command is used
    // Hidden: clap's own would be listed in every group of commands.
    #[command(hide = true)]
    Help {
        /// The command, and one of its own
        #[arg(value_name = "COMMAND")]
        commands: Vec<String>,
    },
}

/// A file that passes the limit of the process is an error of whoever writes it. Unless it is listened to, the signal that
/// tells of it ends the process instead, and with it everybody's work.
fn survive_large_files() {
    if let Err(error) = signal(SignalKind::from_raw(libc::SIGXFSZ)) {
        tracing::warn!(%error, "a file that grows too large will end this process");
    }
}

/// The rights that this user's files have. The mask can be read only by setting it, so this comes before any thread.
fn file_mode() -> u32 {
    let mask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(mask);
    0o666 & !mask.bits()
}

/// Parses, loads the configuration and runs the command.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return told(&error).into(),
    };
    let environment = Environment::read();
    run(cli, &environment).unwrap_or_else(|error| report(&error)).into()
}

/// Help and version are answers, and go to stdout; the rest is wrong usage.
fn told(error: &clap::Error) -> Exit {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
    if error.print().is_ok() { exit } else { Exit::Error }
}

/// `docmill help COMMAND` is `docmill COMMAND --help`.
fn help(commands: &[String]) -> Exit {
    let words = ["docmill"].into_iter().chain(commands.iter().map(String::as_str)).chain(["--help"]);
    match Cli::try_parse_from(words) {
        Ok(_) => Exit::Usage,
        Err(error) => told(&error),
    }
}

/// So many of something, at least one.
fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "not a number from 1 on".to_owned())
}

fn run(cli: Cli, environment: &Environment) -> Result<Exit> {
    #[cfg(feature = "crash-points")]
    crate::crash_points::install(environment.text("DOCMILL_CRASH_AT").as_deref())?;
    // These need neither a configuration nor a runtime.
    let command = match cli.command {
        Command::Completions(args) => return args.run(),
        Command::Openapi(args) => return args.run(),
        Command::Help { commands } => return Ok(help(&commands)),
        Command::Config(args) if args.is_reference() => return config::reference(),
        other => other,
    };
    if let Some(url) = cli.global.server.clone().or_else(|| environment.text("DOCMILL_SERVER")) {
        return Err(Error::invalid_request(format!(
            "`--server {url}`: servers on the network come in a later version"
        ))
        .with_hint("use `--data DIR`: a command talks to the process that owns the directory, if one runs"));
    }
    let terminal = Terminal { json: cli.global.json, quiet: cli.global.quiet };
    let config = match load(&flags(&cli.global, &command), environment) {
        Ok(config) => config,
        Err(refused) => {
            // Whoever asks a program whether all is well is answered even if it is not.
            match &command {
                Command::Config(args) if args.is_check() && terminal.json => {
                    config::broken(terminal, &refused)?;
                }
                Command::Doctor(_) if terminal.json => doctor::broken(terminal, &refused)?,
                _ => {}
            }
            return Err(refused.error);
        }
    };
    let asked = log::Asked {
        verbose: cli.global.verbose,
        quiet: cli.global.quiet,
        json: cli.global.json,
        filter: environment.text("DOCMILL_LOG"),
    };
    log::start(&asked, config.settings.log);
    for warning in &config.warnings {
        if !terminal.quiet {
            complain(&format!("warning: {warning}"));
        }
    }
    let cx = Context {
        settings: Arc::new(config.settings.clone()),
        config,
        terminal,
        clock: Arc::new(SystemClock::new()),
        file_mode: file_mode(),
        tenant_given: cli.global.tenant.is_some(),
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.div_ceil(2).min(THREADS))
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .map_err(|e| Error::unavailable("cannot start the runtime").with_source(e))?;
    let outcome = runtime.block_on(async {
        survive_large_files();
        Box::pin(dispatch(command, &cx)).await
    });
    // A thread that still waits for standard input must not keep the process alive.
    runtime.shutdown_background();
    outcome
}

fn flags(global: &Global, command: &Command) -> Flags {
    let mut settings = Vec::new();
    if let Some(tenant) = &global.tenant {
        settings.push(("tenant", "--tenant", tenant.clone()));
    }
    match command {
        Command::Ingest(args) => settings.extend(args.settings()),
        Command::Generate(args) => settings.extend(args.settings()),
        Command::Serve(args) => settings.extend(args.settings()),
        Command::Work(args) => settings.extend(args.settings()),
        _ => {}
    }
    Flags { config: global.config.clone(), data: global.data.clone(), settings }
}

async fn dispatch(command: Command, cx: &Context) -> Result<Exit> {
    match command {
        Command::Ingest(args) => args.run(cx).await,
        Command::Generate(args) => args.run(cx).await,
        Command::Read(args) => args.run(cx).await,
        Command::Classify(args) => args.run(cx).await,
        Command::Extract(args) => args.run(cx).await,
        Command::Schema(args) => args.run(cx).await,
        Command::Review(args) => args.run(cx).await,
        Command::Export(args) => args.run(cx).await,
        Command::List(args) => args.run(cx).await,
        Command::Show(args) => args.run(cx).await,
        Command::Text(args) => args.run(cx).await,
        Command::Get(args) => args.run(cx).await,
        Command::Page(args) => args.run(cx).await,
        Command::Search(args) => args.run(cx).await,
        Command::Tags(args) => args.run(cx).await,
        Command::Status(args) => args.run(cx).await,
        Command::Why(args) => args.run(cx).await,
        Command::Audit(args) => args.run(cx).await,
        Command::Retry(args) => args.run(cx).await,
        Command::Reprocess(args) => args.run(cx).await,
        Command::Cancel(args) => args.run(cx).await,
        Command::Pause(args) => args.run(cx).await,
        Command::Resume(args) => args.run(cx).await,
        Command::Dead(args) => args.run(cx).await,
        Command::Events(args) => args.run(cx).await,
        Command::Key(args) => args.run(cx).await,
        Command::Tenant(args) => args.run(cx).await,
        Command::Serve(args) => args.run(cx).await,
        Command::Work(args) => args.run(cx).await,
        Command::Backup(args) => args.run(cx).await,
        Command::Bench(args) => args.run(cx).await,
        Command::Restore(args) => args.run(cx).await,
        Command::Migrate(args) => args.run(cx).await,
        Command::Index(args) => args.run(cx).await,
        Command::Prune(args) => args.run(cx).await,
        Command::Models(args) => args.run(cx).await,
        Command::Doctor(args) => args.run(cx).await,
        Command::Config(args) => args.run(cx),
        Command::Completions(args) => args.run(),
        Command::Openapi(args) => args.run(),
        Command::Help { commands } => Ok(help(&commands)),
    }
}

/// Opens a session for one question, asks it and lets go.
async fn ask<T: DeserializeOwned>(cx: &Context, command: &str, call: Call) -> Result<T> {
    let session = Session::open(&cx.settings, &cx.clock, command).await?;
    let answer = session.ask(call).await;
    let closed = session.close(std::time::Duration::ZERO).await;
    let answer = answer?;
    closed?;
    Ok(answer)
}

/// Asks for work to be queued, prints how much was, and says what does it if nobody is there to do it.
async fn queue(
    cx: &Context,
    command: &str,
    call: Call,
    human: impl FnOnce(&CountAnswer) -> String,
) -> Result<CountAnswer> {
    let session = Session::open(&cx.settings, &cx.clock, command).await?;
    let asked = async {
        let answer: CountAnswer = session.ask(call).await?;
        let waits = answer.count > 0 && !answer.dry_run && !cx.terminal.quiet;
        let status: Option<StatusAnswer> = if waits { Some(session.ask(Call::Status).await?) } else { None };
        Ok((answer, status))
    };
    let asked: Result<_> = asked.await;
    let closed = session.close(std::time::Duration::ZERO).await;
    let (answer, status) = asked?;
    closed?;
    print(cx, &answer, human)?;
    if status.is_some_and(|status| status.workers.is_empty()) {
        cx.terminal.note("hint: no worker runs; `docmill work --exit-when-idle` does what is queued");
    }
    Ok(answer)
}

/// Prints an answer: as it is for machines, or as `human` writes it.
fn print<T: serde::Serialize>(cx: &Context, answer: &T, human: impl FnOnce(&T) -> String) -> Result<()> {
    if cx.terminal.json { cx.terminal.object(answer) } else { cx.terminal.line(&human(answer)) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
