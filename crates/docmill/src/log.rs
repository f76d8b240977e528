//! Logs go to stderr, one line each: warnings by default, more with `-v` or `log.level`, as JSON objects where that is
//! set or where stdout speaks JSON too. Passwords in URLs are taken out of every line.

use std::io::{self, Write};

use docmill_core::config::{LogFormat, LogLevel, LogSettings};
use docmill_core::redact::redacted;
use tracing_subscriber::EnvFilter;

use crate::terminal::complain;

/// What was asked for on the command line and in the environment.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) verbose: u8,
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    /// `DOCMILL_LOG`, in the syntax of `tracing`.
    pub(crate) filter: Option<String>,
}

/// Starts logging.
pub(crate) fn start(asked: &Asked, settings: LogSettings) {
    let filter = asked.filter.as_ref().map(EnvFilter::try_new).and_then(|parsed| match parsed {
        Ok(filter) => Some(filter),
        Err(error) => {
            complain(&format!("warning: DOCMILL_LOG is not understood: {error}"));
            None
        }
    });
    let filter = filter.unwrap_or_else(|| EnvFilter::new(directives(level(asked, settings.level))));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Redacting(io::stderr()));
    let started = if asked.json || settings.format == LogFormat::Json {
        builder.json().flatten_event(true).with_span_list(false).try_init()
    } else {
        builder.with_ansi(false).try_init()
    };
    if started.is_err() {
        complain("warning: logging was started before");
    }
}

/// Flags say more or less than the settings do.
fn level(asked: &Asked, settings: LogLevel) -> LogLevel {
    let flag = match (asked.quiet, asked.verbose) {
        (true, _) => return LogLevel::Error,
        (false, 0) => return settings,
        (false, 1) => LogLevel::Info,
        (false, 2) => LogLevel::Debug,
        (false, _) => LogLevel::Trace,
    };
    let rank = |level: LogLevel| LogLevel::ALL.iter().position(|l| *l == level);
    if rank(settings) > rank(flag) { settings } else { flag }
}

/// Libraries inside docmill say less than docmill itself, unless everything is asked for.
fn directives(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "warn,docmill=info,docmill_pipeline=info,docmill_backends=info,docmill_server=info",
        LogLevel::Debug => {
            "info,docmill=debug,docmill_pipeline=debug,docmill_backends=debug,docmill_server=debug"
        }
        LogLevel::Trace => "trace",
    }
}

/// Takes secrets out of whole lines.
struct Redacting<W>(W);

impl<W: Write> Write for Redacting<W> {
    /// Gets a whole line at a time, so that no secret can lie across two of them.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(redacted(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn lines_lose_their_passwords_and_nothing_else() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let writer = move || Redacting(Kept(Arc::clone(&kept)));
        let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(writer).finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(url = "postgres://joe:hunter2@db/x", n = 7, "cannot reach a://b:hunter2@c");
        });
        let line = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
        let object: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(object["url"], "postgres://joe:***@db/x");
        assert_eq!(object["message"], "cannot reach a://b:***@c");
        assert_eq!(object["n"], 7);
    }

    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn flags_say_more_or_less_than_the_settings() {
        let asked = |verbose, quiet| Asked { verbose, quiet, json: false, filter: None };
        assert_eq!(level(&asked(0, false), LogLevel::Warn), LogLevel::Warn);
        assert_eq!(level(&asked(0, false), LogLevel::Info), LogLevel::Info);
        assert_eq!(level(&asked(1, false), LogLevel::Warn), LogLevel::Info);
        assert_eq!(level(&asked(1, false), LogLevel::Debug), LogLevel::Debug);
        assert_eq!(level(&asked(2, false), LogLevel::Info), LogLevel::Debug);
        assert_eq!(level(&asked(3, true), LogLevel::Trace), LogLevel::Error);
    }
}
