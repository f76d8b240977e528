//! Finds what was configured: one file, the environment, the flags. What the values mean, and whether they
//! make sense, `docmill_core::config` decides.

mod environment;
mod file;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use docmill_core::config::{ConfigProblem, Options, Raw, Schemes, Settings, WrittenAt, resolve};
use docmill_core::{Error, Result};

pub(crate) use environment::Environment;

use crate::spans;

/// The name of the file, wherever it lies.
const FILE_NAME: &str = "docmill.toml";

/// What was given on the command line, as text; `None` where a flag was not given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data: Option<PathBuf>,
    /// Further settings by their path, with the flag that set them.
    pub(crate) settings: Vec<(&'static str, &'static str, String)>,
}

/// The configuration, and how it came about.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) options: Options,
    /// The file that was read, if one was.
    pub(crate) file: Option<PathBuf>,
    /// Things to say that do not stop anything.
    pub(crate) warnings: Vec<String>,
}

/// The schemes of this build.
fn schemes() -> (Vec<&'static str>, Vec<&'static str>) {
    let blobs = docmill_backends::blobs::FACTORIES.iter().map(|factory| factory.scheme).collect();
    (docmill_backends::store::SCHEMES.to_vec(), blobs)
}

/// Why there is no configuration.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Everything that is wrong with what is written; empty if it could not be had at all.
    pub(crate) problems: Vec<ConfigProblem>,
    /// All of it as an error.
    pub(crate) error: Error,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { problems: Vec::new(), error }
    }
}

/// Loads everything; the error lists every problem.
pub(crate) fn load(flags: &Flags, environment: &Environment) -> Result<Config, Refused> {
    let (from_environment, warnings) = environment.options();
    let given = flags.data.clone().map(OsString::from).or_else(|| environment.get("DOCMILL_DATA"));
    let data = match &given {
        Some(path) => absolute(Path::new(path))?,
        None => environment.data_home()?.join("docmill"),
    };

    let file = find_file(flags, environment, &data)?;
    let (from_file, mut problems) = match &file {
        Some((path, text)) => file::options(path, text),
        None => (Options::default(), Vec::new()),
    };
    let path = file.map(|(path, _)| path);
    if let (Some(path), Some(written)) = (&path, from_file.get("data"))
        && path.parent() == Some(&data)
    {
        problems.push(ConfigProblem {
            at: written.at.clone(),
            message: "`data` cannot be set in the data directory's own file".into(),
            hint: Some("use `--data`, DOCMILL_DATA or another file with `--config`".into()),
        });
    }

    let options =
        environment.of_all_programs().combine(from_file).combine(from_environment).combine(from_flags(flags));
    problems.extend(not_in_this_build(&options));
    let (store, blobs) = schemes();
    let resolved = resolve(&options, Settings::new(data.clone()), Schemes { store: &store, blobs: &blobs });
    let mut settings = match resolved {
        Ok(settings) if problems.is_empty() => settings,
        Ok(_) => return Err(refused(problems)),
        Err(more) => {
            problems.extend(more);
            return Err(refused(problems));
        }
    };
    settings.data = match (&given, &path) {
        // Taken from where it was given, not from the text: a path need not be text.
        (Some(_), _) | (None, None) => data,
        (None, Some(file)) => absolute(&file.parent().unwrap_or(Path::new(".")).join(&settings.data))?,
    };
    settings.blobs.variables = environment.cloud();
    Ok(Config { settings, options, file: path, warnings })
}

fn from_flags(flags: &Flags) -> Options {
    let mut options = Options::default();
    if let Some(data) = &flags.data {
        options.write("data", Raw::Text(data.to_string_lossy().into_owned()), WrittenAt::Flag("--data"));
    }
    for (path, flag, value) in &flags.settings {
        options.write(*path, Raw::Text(value.clone()), WrittenAt::Flag(flag));
    }
    options
}

/// The one file that is read, with its text. A file that was named must be there.
fn find_file(flags: &Flags, environment: &Environment, data: &Path) -> Result<Option<(PathBuf, String)>> {
    let named = flags.config.clone().or_else(|| environment.get("DOCMILL_CONFIG").map(PathBuf::from));
    if let Some(path) = named {
        let path = absolute(&path)?;
        return match file::read(&path)? {
            Some(text) => Ok(Some((path, text))),
            None => Err(Error::invalid_config(format!("there is no configuration file {}", path.display()))
                .with_hint("`--config` and DOCMILL_CONFIG name a file that must exist")),
        };
    }
    for folder in [Some(data.to_owned()), environment.config_home().map(|home| home.join("docmill"))] {
        let Some(folder) = folder else { continue };
        let path = folder.join(FILE_NAME);
        if let Some(text) = file::read(&path)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

/// Settings that ask for something that this build lacks.
fn not_in_this_build(options: &Options) -> Option<ConfigProblem> {
    let written = options.get("otel.endpoint").filter(|written| written.value != Raw::Text(String::new()))?;
    let (message, hint) = spans::NOT_IN_THIS_BUILD;
    (!spans::IN_THIS_BUILD).then(|| ConfigProblem {
        at: written.at.clone(),
        message: message.into(),
        hint: Some(hint.into()),
    })
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|e| {
        Error::invalid_config(format!("cannot tell where `{}` is", path.display())).with_source(e)
    })
}

fn refused(problems: Vec<ConfigProblem>) -> Refused {
    let mut message = match problems.len() {
        1 => "there is a problem in the configuration".to_owned(),
        n => format!("there are {n} problems in the configuration"),
    };
    for problem in &problems {
        message.push_str("\n  ");
        message.push_str(&problem.to_string());
    }
    let error = Error::invalid_config(message).with_hint("`docs/reference/config.md` lists every setting");
    Refused { problems, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(pairs.iter().map(|(k, v)| (OsString::from(k), OsString::from(v))))
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(
            dir.path().join(FILE_NAME),
            "tenant = \"file\"\n[engine]\nslots = 2\nslots_large = 3\nclaim_max = 7\n",
        )
        .unwrap();
        let env = environment(&[("DOCMILL_ENGINE_SLOTS", "4"), ("DOCMILL_ENGINE_SLOTS_LARGE", "4")]);
        let flags = Flags {
            data: Some(dir.path().to_owned()),
            settings: vec![("engine.slots", "--slots", "6".into())],
            ..Flags::default()
        };
        let config = load(&flags, &env).unwrap();
        assert_eq!(config.settings.engine.slots, 6);
        assert_eq!(config.settings.engine.slots_large, 4);
        assert_eq!(config.settings.engine.claim_max, 7);
        assert_eq!(config.settings.tenant, "file");
        assert_eq!(config.settings.data, dir.path());
    }

    #[test]
    fn a_broken_file_reports_everything_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.toml");
        std::fs::write(&path, "tennant = \"x\"\n\n[limits]\nmax_pages = \"lots\"\nmax_pagess = 3\n").unwrap();
        let flags = Flags { config: Some(path), ..Flags::default() };
        let error =
            load(&flags, &environment(&[("HOME", "/home/u"), ("DOCMILL_LISTEN", "nowhere")])).unwrap_err();
        assert_eq!(error.problems.len(), 4);
        let text = error.error.message();
        for part in [
            "4 problems",
            "my.toml:1: there is no setting `tennant` (did you mean `tenant`?)",
            "my.toml:4: `limits.max_pages`",
            "my.toml:5: there is no setting `limits.max_pagess` (did you mean `limits.max_pages`?)",
            "environment variable DOCMILL_LISTEN: `listen`: `nowhere` is not an address and a port",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }

    #[test]
    fn a_named_file_that_is_missing_is_an_error() {
        let flags = Flags { config: Some("/nonexistent/docmill.toml".into()), ..Flags::default() };
        let error = load(&flags, &environment(&[("HOME", "/home/u")])).unwrap_err();
        assert!(error.problems.is_empty() && error.error.message().contains("/nonexistent/docmill.toml"));
    }

    #[test]
    fn data_set_in_its_own_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "data = \"/elsewhere\"\n").unwrap();
        let flags = Flags { data: Some(dir.path().to_owned()), ..Flags::default() };
        assert!(load(&flags, &environment(&[])).unwrap_err().error.message().contains("own file"));
    }

    #[test]
    fn unknown_variables_are_warnings_with_the_nearest_name() {
        let env = environment(&[("HOME", "/home/u"), ("DOCMILL_ENGINE_SLOT", "4"), ("DOCMILL_TEST_X", "1")]);
        let config = load(&Flags::default(), &env).unwrap();
        assert_eq!(config.warnings.len(), 1);
        assert!(config.warnings[0].contains("did you mean DOCMILL_ENGINE_SLOTS?"), "{:?}", config.warnings);
        assert_eq!(config.settings.data, Path::new("/home/u/.local/share/docmill"));
    }
}
