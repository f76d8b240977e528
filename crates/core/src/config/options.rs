//! Settings as somebody wrote them, each with where it stood; merging; and the one way to `Settings`, which
//! collects every problem before it gives up.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::check::check;
use super::key::{Key, nearest};
use super::keys::KEYS;
use super::settings::Settings;

/// A value as it was written.
#[derive(Clone, PartialEq, Debug)]
pub enum Raw {
    /// In quotation marks, or from the environment or a flag.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a point.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// In brackets.
    List(Vec<Raw>),
    /// Something no setting takes (a date, a table), by its TOML name.
    Other(&'static str),
}

impl Raw {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("`{text}`"),
            Self::Integer(n) => n.to_string(),
            Self::Float(n) => n.to_string(),
            Self::Boolean(b) => b.to_string(),
            Self::List(_) => "a list".into(),
            Self::Other(what) => format!("a {what}"),
        }
    }
}

/// Where a value stood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WrittenAt {
    /// Nowhere: it is the default.
    Default,
    /// In a file, on this line.
    File {
        /// Which file.
        file: PathBuf,
        /// From 1.
        line: usize,
    },
    /// In the environment.
    Variable(String),
    /// On the command line.
    Flag(&'static str),
}

impl fmt::Display for WrittenAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A value and where it stood.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    /// What.
    pub value: Raw,
    /// Where.
    pub at: WrittenAt,
}

/// Values as written, by path. Nothing has been checked yet.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options(BTreeMap<String, Written>);

impl Options {
    /// Adds a value; a later one for the same path wins.
    pub fn write(&mut self, path: impl Into<String>, value: Raw, at: WrittenAt) {
        self.0.insert(path.into(), Written { value, at });
    }

    /// Both; where both have a value, `stronger` wins.
    #[must_use]
    pub fn combine(mut self, stronger: Self) -> Self {
        self.0.extend(stronger.0);
        self
    }

    /// What was written for a path.
    pub fn get(&self, path: &str) -> Option<&Written> {
        self.0.get(path)
    }

    /// Where the value of a path stands.
    pub fn at(&self, path: &str) -> WrittenAt {
        self.get(path).map_or(WrittenAt::Default, |written| written.at.clone())
    }
}

/// Something wrong with the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigProblem {
    /// Where it stands.
    pub at: WrittenAt,
    /// What is wrong, naming the setting and the value.
    pub message: String,
    /// What to write instead, where that can be told.
    pub hint: Option<String>,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// The URL schemes that this build can open.
#[derive(Clone, Copy, Debug)]
pub struct Schemes<'s> {
    /// For `store.url`.
    pub store: &'s [&'s str],
    /// For `blobs.url`.
    pub blobs: &'s [&'s str],
}

/// Turns options into settings, starting from `defaults`; otherwise every problem, in the order of the file.
pub fn resolve(
    options: &Options,
    defaults: Settings,
    schemes: Schemes<'_>,
) -> Result<Settings, Vec<ConfigProblem>> {
    let mut settings = defaults;
    let mut problems = Vec::new();
    for (path, written) in &options.0 {
        let Some((key, name)) = Key::find(path) else {
            problems.push(unknown(path, written));
            continue;
        };
        if let Err(message) = key.set(&mut settings, name, &written.value) {
            let message = format!("`{path}`: {message}");
            problems.push(ConfigProblem { at: written.at.clone(), message, hint: None });
        }
    }
    // A value that could not be read has left its default behind, which passes every check.
    for (path, message, hint) in check(&settings, schemes) {
        problems.push(ConfigProblem { at: options.at(&path), message, hint });
    }
    if problems.is_empty() {
        return Ok(settings);
    }
    problems.sort_by_key(|problem| match &problem.at {
        WrittenAt::File { line, .. } => (0, *line),
        WrittenAt::Variable(_) => (1, 0),
        WrittenAt::Flag(_) => (2, 0),
        WrittenAt::Default => (3, 0),
    });
    Err(problems)
}

fn unknown(path: &str, written: &Written) -> ConfigProblem {
    let near = nearest(path, KEYS.iter().map(|key| key.path));
    ConfigProblem {
        at: written.at.clone(),
        message: format!("there is no setting `{path}`"),
        hint: near.map(|near| format!("did you mean `{near}`?")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SCHEMES: Schemes<'_> = Schemes { store: &["sqlite"], blobs: &["file"] };

    fn line(line: usize) -> WrittenAt {
        WrittenAt::File { file: "docmill.toml".into(), line }
    }

    #[test]
    fn stronger_options_win_and_the_rest_stays() {
        let mut file = Options::default();
        file.write("engine.slots", Raw::Integer(2), line(1));
        file.write("engine.lease", Raw::Text("2m".into()), line(2));
        let mut flags = Options::default();
        flags.write("engine.slots", Raw::Text("4".into()), WrittenAt::Flag("--slots"));
        let both = file.combine(flags);
        let settings = resolve(&both, Settings::new("/d".into()), SCHEMES).unwrap();
        assert_eq!(settings.engine.slots, 4);
        assert_eq!(settings.engine.lease, Duration::from_mins(2));
        assert_eq!(both.at("engine.slots"), WrittenAt::Flag("--slots"));
        assert_eq!(both.at("engine.priority"), WrittenAt::Default);
    }

    #[test]
    fn every_problem_is_reported_in_the_order_of_the_file() {
        let mut options = Options::default();
        options.write("engine.slot", Raw::Integer(2), line(9));
        options.write("limits.max_pages", Raw::Text("many".into()), line(3));
        options.write("engine.lease", Raw::Integer(60), line(4));
        options.write("store.url", Raw::Text("postgres://db/x".into()), line(6));
        options.write(
            "engine.priority",
            Raw::Text("100".into()),
            WrittenAt::Variable("DOCMILL_ENGINE_PRIORITY".into()),
        );
        let problems = resolve(&options, Settings::new("/d".into()), SCHEMES).unwrap_err();
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "docmill.toml:3: `limits.max_pages`: expected a whole number from 0 to 4294967295, found `many`",
                "docmill.toml:4: `engine.lease`: `60` has no unit; write for instance `60s`",
                "docmill.toml:6: `store.url`: this build cannot open `postgres:` (this build has `sqlite:`)",
                "docmill.toml:9: there is no setting `engine.slot` (did you mean `engine.slots`?)",
                "environment variable DOCMILL_ENGINE_PRIORITY: `engine.priority`: 100 is more than the most \
                 allowed, 99",
            ]
        );
    }
}
