//! A TOML file as options, each with its line. Mistakes of form do not hide mistakes of content: the parser
//! recovers, and everything it could read is judged.

use std::fs::File;
use std::io;
use std::path::Path;

use docmill_core::config::{ConfigProblem, Options, Raw, WrittenAt};
use docmill_core::limits::{MIB, read_capped};
use docmill_core::{Error, Result};
use toml::de::{DeTable, DeValue};

/// The text of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        // A file in place of the folder: whoever needs the folder says so better.
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => {
            return Err(Error::invalid_config(format!("cannot read configuration file {}", path.display()))
                .with_source(e));
        }
    };
    let bytes = read_capped(file, MIB, &format!("configuration file {}", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        Error::invalid_config(format!("configuration file {} is not UTF-8", path.display())).with_source(e)
    })?;
    Ok(Some(text))
}

/// What the file says, and what the parser could not make sense of.
pub(super) fn options(path: &Path, text: &str) -> (Options, Vec<ConfigProblem>) {
    let at = |offset: usize| WrittenAt::File { file: path.to_owned(), line: line_of(text, offset) };
    let (table, errors) = DeTable::parse_recoverable(text);
    let problems = errors
        .into_iter()
        .map(|error| ConfigProblem {
            at: at(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
            hint: None,
        })
        .collect();
    let mut options = Options::default();
    collect(&mut options, "", table.get_ref(), &at);
    (options, problems)
}

fn collect(options: &mut Options, prefix: &str, table: &DeTable<'_>, at: &impl Fn(usize) -> WrittenAt) {
    for (key, value) in table {
        let path = match prefix {
            "" => key.get_ref().to_string(),
            prefix => format!("{prefix}.{}", key.get_ref()),
        };
        match value.get_ref() {
            DeValue::Table(inner) => collect(options, &path, inner, at),
            other => options.write(path, raw(other), at(key.span().start)),
        }
    }
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Raw::Integer(number),
            Err(_) => Raw::Text(number.to_string()),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Raw::Float(number),
            Err(_) => Raw::Text(number.to_string()),
        },
        DeValue::Boolean(value) => Raw::Boolean(*value),
        DeValue::Datetime(_) => Raw::Other("date"),
        DeValue::Array(items) => Raw::List(items.iter().map(|item| raw(item.get_ref())).collect()),
        DeValue::Table(_) => Raw::Other("table"),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_of_form_does_not_hide_the_rest() {
        let (options, problems) = options(Path::new("x.toml"), "tenant = \n[engine]\nslots = 3\n");
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].at, WrittenAt::File { file: "x.toml".into(), line: 1 });
        assert_eq!(options.get("engine.slots").map(|w| &w.value), Some(&Raw::Integer(3)));
        assert_eq!(options.at("engine.slots"), WrittenAt::File { file: "x.toml".into(), line: 3 });
    }

    #[test]
    fn names_with_points_and_dashes_become_paths() {
        let text = "kinds.extract-text.concurrency = 2\n[kinds.\"unpack-document\"]\nper_second = 1.5\n";
        let (options, problems) = options(Path::new("x.toml"), text);
        assert!(problems.is_empty());
        assert!(options.get("kinds.extract-text.concurrency").is_some());
        assert_eq!(options.get("kinds.unpack-document.per_second").map(|w| &w.value), Some(&Raw::Float(1.5)));
    }
}
