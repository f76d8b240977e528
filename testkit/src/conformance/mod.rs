//! What every back end of a port must do: one list of cases a port, run by every back end under its own
//! names (`blobs::local::put_twice_keeps_the_first`).
//!
//! A port's file ends in `suite()`; a back end's test binary (`harness = false`) registers itself:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     let local = Backend::embedded("local", |place| async move { Ok(open(place.dir())?) });
//!     let s3 = Backend::asked_by("DOCMILL_TEST_S3", "s3", |place| async move { … place.url() … });
//!     conformance::run(blobs::suite().against([local, s3]))
//! }
//! ```
//!
//! Nothing is silently green: a back end nobody asked for (its variable is unset) shows as *ignored*, one
//! that was asked for and cannot be opened *fails*.

pub mod blobs;
pub mod reader;
pub mod store;
pub mod text_index;
pub mod transfer;
pub mod vector_index;

use std::any::Any;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use docmill_core::Result;
use docmill_core::clock::{SteppingClock, Timestamp};
use futures::future::BoxFuture;
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;
use uuid::Uuid;

/// When every case begins: 2026-01-01.
const START: Timestamp = Timestamp(1_767_225_600_000);

/// Where a back end may put its things during one case. Every case has its own, so cases run side by side.
pub struct Place {
    dir: TempDir,
    url: Option<String>,
    id: Uuid,
    clock: Arc<SteppingClock>,
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Place {
    /// An empty directory, removed after the case.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// What the variable of this back end says; `None` for an embedded one.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The clock of this case: it stands still until the case moves it. A back end that lives by its server's
    /// clock must be told the difference.
    pub fn clock(&self) -> Arc<SteppingClock> {
        Arc::clone(&self.clock)
    }

    /// Keeps something until the case has ended: dropping it clears away what a back end made on a server.
    pub fn keep(&self, kept: impl Any + Send) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(kept));
    }

    /// A name no other case has, for a schema or a prefix on a shared server.
    pub fn name(&self) -> String {
        format!("docmill_test_{}", self.id.simple())
    }
}

/// Opens a back end at a place; opening again at the same place finds what was there.
type Opener<P> = Arc<dyn Fn(Arc<Place>) -> BoxFuture<'static, Result<Arc<P>>> + Send + Sync>;

/// Whether a back end can be tested here.
pub enum Availability {
    /// Needs nothing but a directory.
    Embedded,
    /// Needs the server that this environment variable points to.
    AskedBy(&'static str),
}

impl Availability {
    /// What the variable says, and whether nobody asked.
    pub fn look(&self) -> (Option<String>, bool) {
        match self {
            Self::Embedded => (None, false),
            Self::AskedBy(variable) => {
                let url = asked(variable);
                let ignored = url.is_none();
                (url, ignored)
            }
        }
    }
}

/// One implementation of the port `P` under test.
pub struct Backend<P: ?Sized> {
    /// As in its configuration and its file name.
    pub name: &'static str,
    /// Whether it can be tested here.
    pub availability: Availability,
    /// How it is opened.
    pub open: Opener<P>,
}

impl<P: ?Sized + 'static> Backend<P> {
    /// A back end that needs nothing but a directory.
    pub fn embedded<F>(name: &'static str, open: impl Fn(Arc<Place>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Arc<P>>> + Send + 'static,
    {
        Self::new(name, Availability::Embedded, open)
    }

    /// A back end that needs the server to which the environment variable `variable` points.
    pub fn asked_by<F>(
        variable: &'static str,
        name: &'static str,
        open: impl Fn(Arc<Place>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Arc<P>>> + Send + 'static,
    {
        Self::new(name, Availability::AskedBy(variable), open)
    }

    fn new<F>(
        name: &'static str,
        availability: Availability,
        open: impl Fn(Arc<Place>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Arc<P>>> + Send + 'static,
    {
        Self { name, availability, open: Arc::new(move |place| Box::pin(open(place))) }
    }
}

/// What a case is given.
pub struct Bench<P: ?Sized> {
    place: Arc<Place>,
    open: Opener<P>,
}

impl<P: ?Sized> Bench<P> {
    /// The clock that the back end lives by.
    pub fn clock(&self) -> Arc<SteppingClock> {
        self.place.clock()
    }

    /// Opens the back end. Open it again, after dropping the first, to see what survives a restart.
    #[expect(clippy::panic, reason = "an unreachable back end fails the case")]
    pub async fn open(&self) -> Arc<P> {
        match (self.open)(Arc::clone(&self.place)).await {
            Ok(port) => port,
            Err(error) => panic!("cannot open the back end: {error:?}"),
        }
    }
}

/// One thing every back end of `P` must do.
pub struct Case<P: ?Sized> {
    name: &'static str,
    run: fn(Bench<P>) -> BoxFuture<'static, ()>,
}

impl<P: ?Sized> Case<P> {
    /// A case; `cases!` writes this.
    pub const fn new(name: &'static str, run: fn(Bench<P>) -> BoxFuture<'static, ()>) -> Self {
        Self { name, run }
    }
}

/// Lists `async fn(Bench<P>)` as cases named after themselves.
#[macro_export]
macro_rules! cases {
    ($($case:ident),* $(,)?) => {
        vec![$($crate::conformance::Case::new(stringify!($case), |bench| Box::pin($case(bench)))),*]
    };
}

/// All cases of a port.
pub struct Suite<P: ?Sized> {
    /// The port's name, the first part of every test name.
    pub port: &'static str,
    /// What every back end must do.
    pub cases: Vec<Case<P>>,
}

impl<P: ?Sized + 'static> Suite<P> {
    /// One trial for each case and back end.
    pub fn against(&self, backends: impl IntoIterator<Item = Backend<P>>) -> Vec<Trial> {
        let mut trials = Vec::new();
        for backend in backends {
            let (url, ignored) = backend.availability.look();
            for case in &self.cases {
                let name = format!("{}::{}::{}", self.port, backend.name, case.name);
                let (run, url, open) = (case.run, url.clone(), Arc::clone(&backend.open));
                let trial = Trial::test(name, move || {
                    let place = Place {
                        dir: tempfile::tempdir()?,
                        url,
                        id: fresh_id(),
                        clock: Arc::new(SteppingClock::new(START)),
                        kept: Mutex::new(Vec::new()),
                    };
                    let bench = Bench { place: Arc::new(place), open };
                    // Two threads, so that what must hold between threads is put to the test.
                    tokio::runtime::Builder::new_multi_thread()
                        .worker_threads(2)
                        .enable_all()
                        .build()?
                        .block_on(run(bench));
                    Ok(())
                });
                trials.push(trial.with_ignored_flag(ignored));
            }
        }
        trials
    }
}

/// A test that is no case of a suite, because it drives many back ends of its own (properties do): it is asked for in
/// the same way.
pub struct Property {
    name: &'static str,
    availability: Availability,
    run: fn(Option<&str>),
}

impl Property {
    /// One that needs nothing.
    pub fn embedded(name: &'static str, run: fn(Option<&str>)) -> Self {
        Self { name, availability: Availability::Embedded, run }
    }

    /// One that is given what the environment variable `variable` says.
    pub fn asked_by(variable: &'static str, name: &'static str, run: fn(Option<&str>)) -> Self {
        Self { name, availability: Availability::AskedBy(variable), run }
    }

    /// As a trial.
    pub fn into_trial(self) -> Trial {
        let (url, ignored) = self.availability.look();
        let run = self.run;
        Trial::test(self.name, move || {
            run(url.as_deref());
            Ok(())
        })
        .with_ignored_flag(ignored)
    }
}

/// Runs trials as a test binary does: filters, `--ignored`, `--list` and the exit code work as usual.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

#[expect(clippy::disallowed_methods, reason = "tests of servers are asked for through the environment")]
fn asked(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "names on a shared server must differ between runs")]
fn fresh_id() -> Uuid {
    Uuid::now_v7()
}
