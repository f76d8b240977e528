//! One setting: where its value lives, what may be written there, and how it is shown. All of them are in `keys`.

use std::path::PathBuf;
use std::time::Duration;

use super::keys::KEYS;
use super::llm::{Secret, Vision};
use super::options::Raw;
use super::settings::{Ask, KindSettings, LogFormat, LogLevel, SandboxMode, Settings};
use super::value::{bytes_text, duration_text, parse_bytes, parse_duration};
use crate::ocr::{OcrEngine, OcrMode};

/// One setting.
pub struct Key {
    /// Its place in the file, tables separated by points. A `*` stands for a name that the user chooses.
    pub path: &'static str,
    /// What it means, in sentences for the reference page.
    pub doc: &'static str,
    pub(super) place: Place,
}

/// Where the value lives, which also says what may be written.
pub(super) enum Place {
    Text(fn(&mut Settings) -> &mut String),
    Path(fn(&mut Settings) -> &mut PathBuf),
    Bytes(fn(&mut Settings) -> &mut u64),
    Count64(fn(&mut Settings) -> &mut u64),
    Count32(fn(&mut Settings) -> &mut u32),
    Count(fn(&mut Settings) -> &mut usize),
    Priority(fn(&mut Settings) -> &mut u8),
    Time(fn(&mut Settings) -> &mut Duration),
    Names(fn(&mut Settings) -> &mut Vec<String>),
    Secrets(fn(&mut Settings) -> &mut Vec<String>),
    Secret(fn(&mut Settings) -> &mut Secret),
    Vision(fn(&mut Settings) -> &mut Vision),
    Ask(fn(&mut Settings) -> &mut Ask),
    Price(fn(&mut Settings) -> &mut f64),
    Fraction(fn(&mut Settings) -> &mut f64),
    Mode(fn(&mut Settings) -> &mut SandboxMode),
    Level(fn(&mut Settings) -> &mut LogLevel),
    Format(fn(&mut Settings) -> &mut LogFormat),
    Ocr(fn(&mut Settings) -> &mut OcrMode),
    Engine(fn(&mut Settings) -> &mut OcrEngine),
    KindCount(fn(&mut KindSettings) -> &mut Option<u32>),
    KindRate(fn(&mut KindSettings) -> &mut Option<f64>),
}

pub(super) const fn key(path: &'static str, place: Place, doc: &'static str) -> Key {
    Key { path, doc, place }
}

impl Key {
    /// The key of a path as it was written, and the name that stands in place of a `*`.
    pub fn find(path: &str) -> Option<(&'static Self, &str)> {
        KEYS.iter().find_map(|key| key.matches(path).map(|name| (key, name)))
    }

    fn matches<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.path.split_once('*') {
            None => (self.path == path).then_some(""),
            Some((before, after)) => {
                path.strip_prefix(before)?.strip_suffix(after).filter(|name| !name.is_empty())
            }
        }
    }

    /// The environment variable of this key; a `*` stays.
    pub fn variable(&self) -> String {
        format!("DOCMILL_{}", self.path.replace('.', "_").to_uppercase())
    }

    /// The path that an environment variable stands for. A chosen name is written with `_` for `-`.
    pub fn path_of_variable(variable: &str) -> Option<String> {
        KEYS.iter().find_map(|key| {
            let own = key.variable();
            match own.split_once('*') {
                None => (own == variable).then(|| key.path.to_owned()),
                Some((before, after)) => {
                    let name = variable.strip_prefix(before)?.strip_suffix(after)?;
                    let name = name.to_lowercase().replace('_', "-");
                    (!name.is_empty()).then(|| key.path.replace('*', &name))
                }
            }
        })
    }

    /// What may be written, in a word for the reference page.
    pub fn form(&self) -> &'static str {
        match self.place {
            Place::Text(_) | Place::Secret(_) => "text",
            Place::Path(_) => "path",
            Place::Bytes(_) => "size",
            Place::Count64(_)
            | Place::Count32(_)
            | Place::Count(_)
            | Place::Priority(_)
            | Place::KindCount(_) => "whole number",
            Place::KindRate(_) | Place::Price(_) => "number",
            Place::Fraction(_) => "number from 0 to 1",
            Place::Time(_) => "duration",
            Place::Names(_) => "list of names",
            Place::Secrets(_) => "list of texts",
            Place::Mode(_) => "`best_effort` or `required`",
            Place::Level(_) => "`error`, `warn`, `info`, `debug` or `trace`",
            Place::Format(_) => "`text` or `json`",
            Place::Vision(_) => "`auto`, `yes` or `no`",
            Place::Ask(_) => "`never`, `doubtful` or `always`",
            Place::Ocr(_) => "`auto`, `never` or `always`",
            Place::Engine(_) => "`auto`, `tesseract` or `off`",
        }
    }

    /// Writes `raw` into `settings`; the error says what may be written instead.
    pub(super) fn set(&self, settings: &mut Settings, name: &str, raw: &Raw) -> Result<(), String> {
        match self.place {
            Place::Text(at) => *at(settings) = text(raw)?,
            Place::Path(at) => *at(settings) = PathBuf::from(text(raw)?),
            Place::Bytes(at) => *at(settings) = bytes(raw)?,
            Place::Count64(at) => *at(settings) = whole(raw, u64::MAX)?,
            Place::Count32(at) => *at(settings) = whole(raw, u64::from(u32::MAX))? as u32,
            Place::Count(at) => *at(settings) = whole(raw, u64::from(u32::MAX))? as usize,
            Place::Priority(at) => *at(settings) = whole(raw, u64::from(crate::task::MAX_PRIORITY))? as u8,
            Place::Time(at) => *at(settings) = parse_duration(&text_or_number(raw))?,
            Place::Names(at) => *at(settings) = names(raw)?,
            Place::Secrets(at) => *at(settings) = secrets(raw)?,
            Place::Mode(at) => {
                *at(settings) = match text(raw)?.as_str() {
                    "best_effort" => SandboxMode::BestEffort,
                    "required" => SandboxMode::Required,
                    other => return Err(format!("`{other}` is neither `best_effort` nor `required`")),
                }
            }
            Place::Level(at) => *at(settings) = named(raw, LogLevel::ALL, LogLevel::name)?,
            Place::Format(at) => *at(settings) = named(raw, LogFormat::ALL, LogFormat::name)?,
            Place::Ocr(at) => *at(settings) = named(raw, OcrMode::ALL, OcrMode::name)?,
            Place::Engine(at) => *at(settings) = named(raw, OcrEngine::ALL, OcrEngine::name)?,
            Place::Secret(at) => *at(settings) = Secret::new(text(raw)?.trim()),
            Place::Vision(at) => *at(settings) = named(raw, Vision::ALL, Vision::name)?,
            Place::Ask(at) => *at(settings) = named(raw, Ask::ALL, Ask::name)?,
            Place::Price(at) => *at(settings) = price(raw)?,
            Place::Fraction(at) => *at(settings) = fraction(raw)?,
            Place::KindCount(at) => {
                let count = whole(raw, u64::from(u32::MAX))? as u32;
                *at(settings.engine.per_kind.entry(name.to_owned()).or_default()) = Some(count);
            }
            Place::KindRate(at) => {
                *at(settings.engine.per_kind.entry(name.to_owned()).or_default()) = Some(rate(raw)?);
            }
        }
        Ok(())
    }

    /// The values in `settings` as they would be written in the file: one, or one for each chosen name.
    pub fn show(&self, settings: &Settings) -> Vec<(String, String)> {
        let mut settings = settings.clone();
        let s = &mut settings;
        let shown = match self.place {
            Place::Text(at) => quoted(at(s)),
            Place::Path(at) => quoted(&at(s).to_string_lossy()),
            Place::Bytes(at) => quoted(&bytes_text(*at(s))),
            Place::Count64(at) => at(s).to_string(),
            Place::Count32(at) => at(s).to_string(),
            Place::Count(at) => at(s).to_string(),
            Place::Priority(at) => at(s).to_string(),
            Place::Time(at) => quoted(&duration_text(*at(s))),
            Place::Names(at) => {
                format!("[{}]", at(s).iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", "))
            }
            // How many there are may be seen, and nothing else.
            Place::Secrets(at) => format!("[{}]", vec![quoted("***"); at(s).len()].join(", ")),
            Place::Secret(at) => quoted(if at(s).is_empty() { "" } else { "***" }),
            Place::Vision(at) => quoted(at(s).name()),
            Place::Ask(at) => quoted(at(s).name()),
            Place::Mode(at) => quoted(match at(s) {
                SandboxMode::BestEffort => "best_effort",
                SandboxMode::Required => "required",
            }),
            Place::Level(at) => quoted(at(s).name()),
            Place::Format(at) => quoted(at(s).name()),
            Place::Ocr(at) => quoted(at(s).name()),
            Place::Engine(at) => quoted(at(s).name()),
            Place::Fraction(at) | Place::Price(at) => at(s).to_string(),
            Place::KindCount(at) => return self.per_kind(s, |kind| at(kind).map(|n| n.to_string())),
            Place::KindRate(at) => return self.per_kind(s, |kind| at(kind).map(|n| n.to_string())),
        };
        vec![(self.path.to_owned(), shown)]
    }

    fn per_kind(
        &self,
        settings: &mut Settings,
        value: impl Fn(&mut KindSettings) -> Option<String>,
    ) -> Vec<(String, String)> {
        let kinds = settings.engine.per_kind.iter_mut();
        kinds.filter_map(|(name, kind)| Some((self.path.replace('*', name), value(kind)?))).collect()
    }
}

/// The name among `candidates` that `wrong` was probably meant to be.
pub fn nearest<'c>(wrong: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| *distance <= (name.len().max(wrong.len()) / 3).max(1))
        .min()
        .map(|(_, name)| name)
}

/// A basic TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn text(raw: &Raw) -> Result<String, String> {
    match raw {
        Raw::Text(text) => Ok(text.clone()),
        other => Err(format!("expected text in quotation marks, found {}", other.describe())),
    }
}

fn text_or_number(raw: &Raw) -> String {
    match raw {
        Raw::Text(text) => text.clone(),
        Raw::Integer(n) => n.to_string(),
        Raw::Float(n) => n.to_string(),
        other => other.describe(),
    }
}

fn bytes(raw: &Raw) -> Result<u64, String> {
    match raw {
        Raw::Text(text) => parse_bytes(text),
        Raw::Integer(n) => u64::try_from(*n).map_err(|_negative| format!("`{n}` is less than zero")),
        other => Err(format!("expected a size such as \"512MiB\", found {}", other.describe())),
    }
}

fn whole(raw: &Raw, max: u64) -> Result<u64, String> {
    let number = match raw {
        Raw::Integer(n) => u64::try_from(*n).ok(),
        Raw::Text(text) => text.trim().replace('_', "").parse().ok(),
        _ => None,
    };
    match number {
        Some(n) if n <= max => Ok(n),
        Some(n) => Err(format!("{n} is more than the most allowed, {max}")),
        None => Err(format!("expected a whole number from 0 to {max}, found {}", raw.describe())),
    }
}

fn number(raw: &Raw) -> Option<f64> {
    match raw {
        Raw::Integer(n) => Some(*n as f64),
        Raw::Float(n) => Some(*n),
        Raw::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn fraction(raw: &Raw) -> Result<f64, String> {
    number(raw)
        .filter(|n| (0.0..=1.0).contains(n))
        .ok_or_else(|| format!("expected a number from 0 to 1, found {}", raw.describe()))
}

/// One of the words that a setting has.
fn named<T: Copy>(raw: &Raw, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let text = text(raw)?;
    all.iter().copied().find(|value| name(*value) == text).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|value| format!("`{}`", name(*value))).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}

fn price(raw: &Raw) -> Result<f64, String> {
    number(raw)
        .filter(|n| n.is_finite() && *n >= 0.0)
        .ok_or_else(|| format!("expected a number from 0 on, found {}", raw.describe()))
}

fn rate(raw: &Raw) -> Result<f64, String> {
    number(raw)
        .filter(|n| n.is_finite() && *n > 0.0)
        .ok_or_else(|| format!("expected a number above zero, found {}", raw.describe()))
}

/// A list in the file; in the environment and on the command line, names separated by commas.
fn names(raw: &Raw) -> Result<Vec<String>, String> {
    match raw {
        Raw::Text(text) => {
            Ok(text.split(',').map(str::trim).filter(|n| !n.is_empty()).map(Into::into).collect())
        }
        Raw::List(items) => items.iter().map(text).collect(),
        other => Err(format!("expected a list of names, found {}", other.describe())),
    }
}

/// Each is tried on every encrypted document, and trying is made slow on purpose.
const MOST_SECRETS: usize = 100;

/// A list in the file; elsewhere one a line, because a password may contain anything else.
fn secrets(raw: &Raw) -> Result<Vec<String>, String> {
    let all: Vec<String> = match raw {
        Raw::Text(text) => text.lines().filter(|line| !line.is_empty()).map(Into::into).collect(),
        Raw::List(items) => items.iter().map(text).collect::<Result<_, _>>()?,
        other => return Err(format!("expected a list of texts, found {}", other.describe())),
    };
    if all.len() > MOST_SECRETS {
        return Err(format!("{} texts are more than the most allowed, {MOST_SECRETS}", all.len()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_leads_back_to_its_key() {
        for key in KEYS {
            let path = key.path.replace('*', "extract-text");
            let variable = key.variable().replace('*', "EXTRACT_TEXT");
            assert_eq!(Key::path_of_variable(&variable), Some(path.clone()));
            assert_eq!(Key::find(&path).map(|(k, _)| k.path), Some(key.path));
        }
        assert_eq!(Key::path_of_variable("DOCMILL_KINDS__CONCURRENCY"), None);
    }

    #[test]
    fn what_is_shown_can_be_set_again() {
        let mut settings = Settings::new("/data".into());
        settings
            .engine
            .per_kind
            .insert("extract-text".into(), KindSettings { concurrency: Some(2), per_second: Some(0.5) });
        let mut copy = Settings::new("/elsewhere".into());
        for key in KEYS {
            for (path, value) in key.show(&settings) {
                let raw = match value.strip_prefix('"') {
                    Some(text) => Raw::Text(text.trim_end_matches('"').into()),
                    None => Raw::Text(value.trim_matches(['[', ']']).replace('"', "")),
                };
                let (found, name) = Key::find(&path).unwrap();
                found.set(&mut copy, name, &raw).unwrap();
            }
        }
        assert_eq!(copy, settings);
    }

    #[test]
    fn secrets_are_taken_line_by_line_and_never_shown() {
        let (key, _) = Key::find("read.passwords").unwrap();
        let mut settings = Settings::new("/data".into());
        key.set(&mut settings, "", &Raw::Text("one, two\nthree\n".into())).unwrap();
        assert_eq!(settings.passwords, ["one, two", "three"]);
        assert_eq!(key.show(&settings)[0].1, r#"["***", "***"]"#);
        assert!(key.set(&mut settings, "", &Raw::Text("x\n".repeat(101))).is_err());
    }

    #[test]
    fn key_of_a_model_is_never_shown() {
        let (key, _) = Key::find("llm.key").unwrap();
        let mut settings = Settings::new("/data".into());
        assert_eq!(key.show(&settings)[0].1, "\"\"");
        key.set(&mut settings, "", &Raw::Text("sk-hush\n".into())).unwrap();
        assert_eq!(settings.llm.key.reveal(), "sk-hush");
        assert_eq!(key.show(&settings)[0].1, "\"***\"");
    }

    #[test]
    fn nearest_finds_the_slip_and_not_the_stranger() {
        let paths = || KEYS.iter().map(|k| k.path);
        assert_eq!(nearest("limits.max_page", paths()), Some("limits.max_pages"));
        assert_eq!(nearest("engine.slot", paths()), Some("engine.slots"));
        assert_eq!(nearest("colour", paths()), None);
    }
}
