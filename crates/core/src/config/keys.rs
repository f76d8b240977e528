//! The one table of settings. A new setting is a field in `settings` and a row here; the file, the
//! environment, `docmill config show` and the reference page follow from the row.

use std::path::PathBuf;
use std::time::Duration;

use super::llm::{self, Secret, Vision};
use super::options::Raw;
use super::settings::{Ask, KindSettings, LogFormat, LogLevel, SandboxMode, Settings};
use super::value::{bytes_text, duration_text, parse_bytes, parse_duration};
use crate::ocr::OcrMode;

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
    KindCount(fn(&mut KindSettings) -> &mut Option<u32>),
    KindRate(fn(&mut KindSettings) -> &mut Option<f64>),
}

pub(super) const fn key(path: &'static str, place: Place, doc: &'static str) -> Key {
    Key { path, doc, place }
}

/// Every setting, in the order of the reference page.
pub static KEYS: &[Key] = &[
    key(
        "data",
        Place::Path(|s| &mut s.data),
        "The data directory: database, blobs and index. One process owns it at a time; other commands talk to \
         that process. The default is `docmill` in the platform's data directory.",
    ),
    key(
        "tenant",
        Place::Text(|s| &mut s.tenant),
        "The tenant that commands work for. It is made when it is first used.",
    ),
    key(
        "listen",
        Place::Text(|s| &mut s.listen),
        "Where `docmill serve` answers HTTP. An address that others can reach needs a key first \
         (`docmill key create`).",
    ),
    key(
        "http.max_connections",
        Place::Count32(|s| &mut s.http.max_connections),
        "Connections that `docmill serve` has open at once; others wait.",
    ),
    key(
        "http.max_uploads",
        Place::Count32(|s| &mut s.http.max_uploads),
        "Requests that bring documents at once. One more is answered with 503 and told when to come again. Each holds \
         at most 4 MiB in memory.",
    ),
    key(
        "http.requests_per_second",
        Place::Count32(|s| &mut s.http.requests_per_second),
        "Requests of one key in a second; 0 means any number. A key that asks faster is answered with 429.",
    ),
    key(
        "store.url",
        Place::Text(|s| &mut s.store_url),
        "The database. `sqlite:` lies in the data directory as `docmill.db`; a path may follow. \
         `postgres://user:password@host/database` is shared by any number of processes and machines; \
         `DATABASE_URL` is understood too.",
    ),
    key(
        "store.max_connections",
        Place::Count32(|s| &mut s.store.max_connections),
        "How many connections to a database server one process opens at most, beside one for renewals.",
    ),
    key(
        "store.statement_timeout",
        Place::Time(|s| &mut s.store.statement_timeout),
        "A statement that runs longer on a database server is stopped, and what it was part of is tried again.",
    ),
    key(
        "blobs.url",
        Place::Text(|s| &mut s.blobs_url),
        "Where originals and transcripts lie. `file:` is the folder `blobs` of the data directory; a path may \
         follow. `s3://bucket/prefix` is a bucket of AWS or of any server that speaks S3; its keys come from the \
         environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`) or from the machine's \
         role, never from a file of docmill.",
    ),
    key(
        "blobs.endpoint",
        Place::Text(|s| &mut s.blobs.endpoint),
        "The address of an S3 server that is not AWS, for instance `http://127.0.0.1:9000`. The default is \
         `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, and AWS itself if neither is set. `http:` is spoken only \
         where it is written.",
    ),
    key(
        "blobs.region",
        Place::Text(|s| &mut s.blobs.region),
        "The region of the bucket. The default is `AWS_REGION` or `AWS_DEFAULT_REGION`, and `us-east-1` if neither \
         is set.",
    ),
    key(
        "blobs.retry_for",
        Place::Time(|s| &mut s.blobs.retry_for),
        "For how long a request to a blob server that failed is tried again before its caller is told; `0s` means \
         once only. Tasks are tried again later in any case.",
    ),
    key(
        "engine.slots",
        Place::Count32(|s| &mut s.engine.slots),
        "How much a worker does at once. An ordinary task takes one slot, a large one `engine.slots_large`, and \
         up to 32 tiny ones share one.",
    ),
    key(
        "engine.slots_large",
        Place::Count32(|s| &mut s.engine.slots_large),
        "Slots that a large task takes.",
    ),
    key(
        "engine.claim_max",
        Place::Count(|s| &mut s.engine.claim_max),
        "Tasks taken from the queue in one go.",
    ),
    key(
        "engine.lease",
        Place::Time(|s| &mut s.engine.lease),
        "How long a worker may keep a task without renewing its lease. The work of a worker that died is taken \
         over after this time.",
    ),
    key(
        "engine.renew_every",
        Place::Time(|s| &mut s.engine.renew_every),
        "How often leases are renewed; at most half of `engine.lease`.",
    ),
    key(
        "engine.sweep_every",
        Place::Time(|s| &mut s.engine.sweep_every),
        "How often expired leases are looked for.",
    ),
    key(
        "engine.shutdown_grace",
        Place::Time(|s| &mut s.engine.shutdown_grace),
        "How long running work may go on after SIGTERM or Ctrl-C before it is handed back.",
    ),
    key(
        "engine.stall_limit",
        Place::Time(|s| &mut s.engine.stall_limit),
        "A task without progress for so long is stopped. Long documents are not affected: every page is progress.",
    ),
    key(
        "engine.priority",
        Place::Priority(|s| &mut s.engine.priority),
        "Priority of new batches, 0 to 99, lower first. Each step is worth a minute of waiting, so nothing starves.",
    ),
    key(
        "engine.kinds",
        Place::Names(|s| &mut s.engine.kinds),
        "Kinds of task that this worker takes; empty means all (see `docs/reference/kinds.md`).",
    ),
    key(
        "engine.pages_per_part",
        Place::Count32(|s| &mut s.engine.pages_per_part),
        "A PDF with more pages than this is transcribed in parts of so many pages, side by side.",
    ),
    key(
        "kinds.*.concurrency",
        Place::KindCount(|k| &mut k.concurrency),
        "At most so many tasks of this kind run at once. In place of `*` stands the kind's name.",
    ),
    key(
        "kinds.*.per_second",
        Place::KindRate(|k| &mut k.per_second),
        "At most so many tasks of this kind start in a second. In place of `*` stands the kind's name.",
    ),
    key(
        "sandbox.mode",
        Place::Mode(|s| &mut s.sandbox.mode),
        "What to do where the kernel lacks a layer of the sandbox: `best_effort` uses what there is and says so in \
         `docmill doctor`; `required` refuses to read anything.",
    ),
    key(
        "sandbox.children",
        Place::Count32(|s| &mut s.sandbox.children),
        "Child processes that read documents at once; 0 means one for each core.",
    ),
    key(
        "sandbox.recycle_after",
        Place::Count32(|s| &mut s.sandbox.recycle_after),
        "Documents that a child reads before it is replaced.",
    ),
    key(
        "sandbox.memory",
        Place::Bytes(|s| &mut s.sandbox.memory_bytes),
        "Memory of a child that reads ordinary documents.",
    ),
    key(
        "sandbox.memory_large",
        Place::Bytes(|s| &mut s.sandbox.memory_bytes_large),
        "Memory of a child that reads what failed in an ordinary one.",
    ),
    key(
        "sandbox.cpu_without_progress",
        Place::Time(|s| &mut s.sandbox.cpu_without_progress),
        "CPU time that a document may take without giving a page or a member.",
    ),
    key(
        "sandbox.wall_without_progress",
        Place::Time(|s| &mut s.sandbox.wall_without_progress),
        "Wall time that a document may take without giving a page or a member.",
    ),
    key(
        "view.children",
        Place::Count32(|s| &mut s.view.children),
        "Child processes that draw pages for people at once, beside those that read documents; 0 means one for two \
         cores, and two at least. They start when somebody looks.",
    ),
    key(
        "view.memory",
        Place::Bytes(|s| &mut s.view.memory_bytes),
        "Memory of this process for pictures of pages that were looked at lately. A page on a screen takes some 100 KiB.",
    ),
    key(
        "read.passwords",
        Place::Secrets(|s| &mut s.passwords),
        "Passwords that are tried on encrypted PDF files, one after the other, at most 100; documents that need none \
         are not concerned. In the environment one a line. They are never shown.",
    ),
    key(
        "read.pdfium",
        Place::Path(|s| &mut s.pdfium),
        "pdfium's library, `libpdfium.so`: the second engine for PDF files, asked where the first one fails or its text \
         looks wrong. Empty means the one that `docmill models pull` fetched; without any the first engine is alone.",
    ),
    key(
        "ocr.mode",
        Place::Ocr(|s| &mut s.ocr.mode),
        "Which pages are read by OCR: those whose text is missing or cannot be trusted, none, or all.",
    ),
    key(
        "ocr.languages",
        Place::Names(|s| &mut s.ocr.languages),
        "Languages that text in pictures is expected in, as Tesseract names its models (`eng`, `deu`, `chi_sim`). Each \
         one makes OCR slower. On Debian the model of a language is the package `tesseract-ocr-<language>`.",
    ),
    key(
        "ocr.threshold",
        Place::Fraction(|s| &mut s.ocr.threshold),
        "A page that is recognised with less quality than this is cleaned and tried again; the best try is kept.",
    ),
    key(
        "ocr.library",
        Place::Path(|s| &mut s.ocr.library),
        "Tesseract's library, `libtesseract.so.5`. Empty means where the system keeps it.",
    ),
    key(
        "ocr.tessdata",
        Place::Path(|s| &mut s.ocr.tessdata),
        "The folder of Tesseract's models. Empty means where the system keeps them.",
    ),
    key(
        "understand.labels",
        Place::Names(|s| &mut s.understand.labels),
        "Files of label sets that documents are sorted by, beside those that are built in; one of the same name replaces it (see `docs/how-to/sort-by-labels.md`).",
    ),
    llm::URL,
    llm::MODEL,
    llm::KEY,
    llm::VISION,
    llm::MAX_TEXT,
    llm::TIMEOUT,
    llm::TOTAL_TIMEOUT,
    llm::CONCURRENCY,
    llm::PER_MINUTE,
    llm::PRICE_IN,
    llm::PRICE_OUT,
    key(
        "extract.schemas",
        Place::Names(|s| &mut s.extract.schemas),
        "Of which documents records are kept, and by which schemas: `type=schema`, or one name where both are called the \
         same. Types are those that `docmill show` tells as `kind`; schemas are built in or come from `docmill schema add`. \
         `off` means none.",
    ),
    key(
        "extract.ask",
        Place::Ask(|s| &mut s.extract.ask),
        "When the language model that `llm.url` names is asked for fields: `doubtful` only for those that a person would \
         have to look at, `always` for all of every record, `never`.",
    ),
    key(
        "limits.max_document_bytes",
        Place::Bytes(|s| &mut s.limits.max_document_bytes),
        "Size of a single document.",
    ),
    key(
        "limits.max_container_bytes",
        Place::Bytes(|s| &mut s.limits.max_container_bytes),
        "Size of a container (archive, mailbox), packed and unpacked.",
    ),
    key(
        "limits.max_ratio",
        Place::Count64(|s| &mut s.limits.max_ratio),
        "Bytes that may come out of a container for each byte in it, once `limits.ratio_from_bytes` have come out.",
    ),
    key(
        "limits.ratio_from_bytes",
        Place::Bytes(|s| &mut s.limits.ratio_from_bytes),
        "Below this size the expansion ratio of a container does not matter.",
    ),
    key("limits.max_nesting", Place::Count32(|s| &mut s.limits.max_nesting), "Containers inside containers."),
    key("limits.max_entries", Place::Count64(|s| &mut s.limits.max_entries), "Entries of one archive."),
    key(
        "limits.max_tree_entries",
        Place::Count64(|s| &mut s.limits.max_tree_entries),
        "Entries of one archive and of all archives inside it together.",
    ),
    key("limits.max_pages", Place::Count32(|s| &mut s.limits.max_pages), "Pages of one document."),
    key("limits.max_text_bytes", Place::Bytes(|s| &mut s.limits.max_text_bytes), "Text of one document."),
    key(
        "limits.max_markup_depth",
        Place::Count32(|s| &mut s.limits.max_markup_depth),
        "Nesting of elements in markup, JSON and the like.",
    ),
    key(
        "limits.max_image_pixels",
        Place::Count64(|s| &mut s.limits.max_image_pixels),
        "Pixels of one picture. A larger one is not decoded.",
    ),
    key(
        "limits.min_free_disk_bytes",
        Place::Bytes(|s| &mut s.limits.min_free_disk_bytes),
        "Nothing more is taken in when less room than this is left on the disk.",
    ),
    key("events.retention", Place::Time(|s| &mut s.event_retention), "How long events are kept."),
    key(
        "log.level",
        Place::Level(|s| &mut s.log.level),
        "The least important lines that are logged. `info` has a line for every attempt at a task. `-v` and `-q` are \
         stronger, and so is the variable `DOCMILL_LOG`, which takes a filter such as \
         `warn,docmill_pipeline=debug`.",
    ),
    key(
        "log.format",
        Place::Format(|s| &mut s.log.format),
        "How log lines look on stderr: `text` for people, `json` for one object a line. With `--json` they are \
         objects in any case.",
    ),
    key(
        "metrics.listen",
        Place::Text(|s| &mut s.metrics_listen),
        "An address, or a port of this machine alone, where `docmill work` and `docmill serve` show `/metrics`, \
         `/healthz` and `/readyz`; empty means nowhere. `docmill serve` shows them on its own address too. The page \
         tells nothing of a tenant, so an address that others reach may be given where they should.",
    ),
    key(
        "otel.endpoint",
        Place::Text(|s| &mut s.otel.endpoint),
        "A collector for OpenTelemetry that gets spans over OTLP/HTTP, such as `http://127.0.0.1:4318`; empty means \
         nowhere. The variables `OTEL_EXPORTER_OTLP_ENDPOINT` and `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` are \
         understood too. Needs a build with `--features otel`.",
    ),
    key(
        "otel.sample",
        Place::Fraction(|s| &mut s.otel.sample),
        "The share of ingestions that are traced, from 0 to 1. The variables `OTEL_TRACES_SAMPLER` and \
         `OTEL_TRACES_SAMPLER_ARG` are understood too.",
    ),
];

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
