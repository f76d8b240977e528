//! The environment, read once. Nothing else in docmill asks for a variable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use docmill_core::config::{CloudVariables, KEYS, Key, Options, Raw, WrittenAt, nearest};
use docmill_core::{Error, Result};

use crate::spans;

/// Variables that are not settings: they say where to look, or how to log.
const OTHERS: &[&str] = &["DOCMILL_CONFIG", "DOCMILL_LOG", "DOCMILL_CRASH_AT", "DOCMILL_SERVER"];

/// Variables that only tests read.
const TESTS: &str = "DOCMILL_TEST_";

/// A copy of the environment at the start.
#[derive(Clone, Debug)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The process's own.
    pub(crate) fn read() -> Self {
        Self::new(std::env::vars_os())
    }

    /// Any other.
    pub(crate) fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self(variables.into_iter().collect())
    }

    /// A variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<OsString> {
        self.0.get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
    }

    /// The same, as text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// Where the platform keeps data of programs.
    pub(crate) fn data_home(&self) -> Result<PathBuf> {
        self.home("XDG_DATA_HOME", ".local/share").ok_or_else(|| {
            Error::invalid_config(
                "cannot tell where the data directory is: neither HOME nor XDG_DATA_HOME is set",
            )
            .with_hint("name it with `--data DIR` or DOCMILL_DATA")
        })
    }

    /// Where the platform keeps configuration, if that can be told.
    pub(crate) fn config_home(&self) -> Option<PathBuf> {
        self.home("XDG_CONFIG_HOME", ".config")
    }

    fn home(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        // The XDG specification has relative values ignored.
        let own = self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        own.or_else(|| self.get("HOME").map(|home| PathBuf::from(home).join(below_home)))
    }

    /// What it says to every program that uses a blob server.
    pub(crate) fn cloud(&self) -> CloudVariables {
        let text = |(name, value): (&OsString, &OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        CloudVariables::of(self.0.iter().filter_map(text))
    }

    /// What `DOCMILL_…` says, and a warning for each variable that says nothing.
    pub(crate) fn options(&self) -> (Options, Vec<String>) {
        let mut options = Options::default();
        let mut warnings = Vec::new();
        for (name, value) in &self.0 {
            let Some(name) = name.to_str().filter(|name| name.starts_with("DOCMILL_")) else { continue };
            if value.is_empty() || OTHERS.contains(&name) || name.starts_with(TESTS) {
                continue;
            }
            match Key::path_of_variable(name) {
                Some(path) => {
                    let value = Raw::Text(value.to_string_lossy().into_owned());
                    options.write(path, value, WrittenAt::Variable(name.to_owned()));
                }
                None => warnings.push(unknown(name)),
            }
        }
        (options, warnings)
    }
}

impl Environment {
    /// Variables that other programs understand too. They are the weakest of all: whoever set them may not have
    /// thought of docmill.
    pub(crate) fn of_all_programs(&self) -> Options {
        let mut options = Options::default();
        // Many programs have one, and not every database is one that docmill can use.
        if let Some(url) = self.text("DATABASE_URL").filter(|url| url.starts_with("postgres")) {
            options.write("store.url", Raw::Text(url), WrittenAt::Variable("DATABASE_URL".into()));
        }
        self.opentelemetry(&mut options);
        options
    }

    /// What the variables of OpenTelemetry say about spans, as far as this build can deliver any: they are often set
    /// for all programs of a machine. The SDK itself reads those that name the service and add headers.
    fn opentelemetry(&self, options: &mut Options) {
        let is = |name: &str, value: &str| self.text(name).is_some_and(|v| v.eq_ignore_ascii_case(value));
        if !spans::IN_THIS_BUILD || is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return;
        }
        let mut take = |path: &str, name: &str, value: String| {
            options.write(path, Raw::Text(value), WrittenAt::Variable(name.to_owned()));
        };
        // The one about traces alone is the stronger one. Not every collector is one that docmill can reach.
        for name in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
            if let Some(value) = self.text(name).filter(|value| value.starts_with("http://")) {
                take("otel.endpoint", name, value);
            }
        }
        let sampler = self.text("OTEL_TRACES_SAMPLER").unwrap_or_default();
        match sampler.trim_start_matches("parentbased_") {
            "always_off" => take("otel.sample", "OTEL_TRACES_SAMPLER", "0".into()),
            "traceidratio" => {
                if let Some(value) = self.text("OTEL_TRACES_SAMPLER_ARG") {
                    take("otel.sample", "OTEL_TRACES_SAMPLER_ARG", value);
                }
            }
            _ => {}
        }
    }
}

fn unknown(name: &str) -> String {
    let known: Vec<String> = KEYS.iter().map(Key::variable).collect();
    let known = known.iter().map(String::as_str).chain(OTHERS.iter().copied());
    match nearest(name, known) {
        Some(near) => {
            format!("environment variable {name} is not a setting of docmill; did you mean {near}?")
        }
        None => format!("environment variable {name} is not a setting of docmill and is ignored"),
    }
}
