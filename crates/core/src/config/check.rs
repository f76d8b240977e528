//! What must hold between settings that are fine one by one.

use std::time::Duration;

use super::options::Schemes;
use super::settings::Settings;
use super::value::{bytes_text, duration_text, parse_address};
use crate::limits::MIB;

/// A path, what is wrong with it, and what to write instead.
type Finding = (String, String, Option<String>);

/// A child needs this much to start at all.
const LEAST_MEMORY: u64 = 64 * MIB;

/// One for the writer, one for notifications, one for the sequencer, one to look.
const LEAST_CONNECTIONS: u32 = 4;

/// Everything that is wrong.
pub(super) fn check(settings: &Settings, schemes: Schemes<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    scheme(&mut found, "store.url", &settings.store_url, schemes.store);
    queue(&mut found, &settings.queue_url);
    scheme(&mut found, "blobs.url", &settings.blobs_url, schemes.blobs);
    let endpoint = &settings.blobs.endpoint;
    if !endpoint.is_empty() && !["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme)) {
        let message = format!("`{endpoint}` is not the address of a server");
        add(&mut found, "blobs.endpoint", &message, "write for instance `https://s3.example.org`");
    }
    if settings.data.as_os_str().is_empty() {
        add(&mut found, "data", "is empty", "name a directory");
    }
    if settings.tenant.is_empty() || settings.tenant.chars().any(char::is_control) {
        add(&mut found, "tenant", "must have a name without control characters", "leave it out for `local`");
    }
    if parse_address(&settings.listen).is_none() {
        let message = format!("`{}` is not an address and a port", settings.listen);
        add(&mut found, "listen", &message, "write for instance `127.0.0.1:8420`");
    }
    if settings.store.max_connections < LEAST_CONNECTIONS {
        let message = format!(
            "{} is less than the {LEAST_CONNECTIONS} that a process needs",
            settings.store.max_connections
        );
        add(&mut found, "store.max_connections", &message, "leave it out for the default");
    }
    for (name, value) in [
        ("http.max_connections", settings.http.max_connections),
        ("http.max_uploads", settings.http.max_uploads),
    ] {
        if value == 0 {
            add(&mut found, name, "0 would let nobody in", "leave it out for the default");
        }
    }
    nonzero(&mut found, "store.statement_timeout", settings.store.statement_timeout);
    telemetry(&mut found, settings);
    engine(&mut found, settings);
    sandbox(&mut found, settings);
    llm(&mut found, settings);
    limits(&mut found, settings);
    extract(&mut found, settings);
    found
}

fn extract(found: &mut Vec<Finding>, settings: &Settings) {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    for (kind, schema) in settings.extract.pairs() {
        if !is_name(kind) || !is_name(schema) {
            let message = format!("`{kind}={schema}` is no type and the schema for it");
            add(
                found,
                "extract.schemas",
                &message,
                "write for instance `invoice` or `statement=bank_statement`",
            );
        }
    }
}

fn telemetry(found: &mut Vec<Finding>, settings: &Settings) {
    let listen = &settings.metrics_listen;
    if !listen.is_empty() && parse_address(listen).is_none() {
        let message = format!("`{listen}` is neither a port nor an address and a port");
        add(found, "metrics.listen", &message, "write for instance `9464` or `127.0.0.1:9464`");
    }
    let endpoint = &settings.otel.endpoint;
    if !endpoint.is_empty() && !endpoint.starts_with("http://") {
        let message = "only collectors that speak plain HTTP are supported";
        add(found, "otel.endpoint", message, "write for instance `http://127.0.0.1:4318`");
    }
}

fn engine(found: &mut Vec<Finding>, settings: &Settings) {
    let engine = &settings.engine;
    for (path, value) in [
        ("engine.slots", u64::from(engine.slots)),
        ("engine.slots_large", u64::from(engine.slots_large)),
        ("engine.claim_max", engine.claim_max as u64),
        ("engine.pages_per_part", u64::from(engine.pages_per_part)),
    ] {
        if value == 0 {
            add(found, path, "must be at least 1", "leave it out for the default");
        }
    }
    for (path, value) in [
        ("engine.lease", engine.lease),
        ("engine.renew_every", engine.renew_every),
        ("engine.sweep_every", engine.sweep_every),
        ("engine.stall_limit", engine.stall_limit),
    ] {
        nonzero(found, path, value);
    }
    if engine.renew_every * 2 > engine.lease {
        let message = format!(
            "{} is more than half of `engine.lease` ({}): one late renewal would lose the work",
            duration_text(engine.renew_every),
            duration_text(engine.lease)
        );
        let half = duration_text(engine.lease / 4);
        add(found, "engine.renew_every", &message, &format!("write for instance `{half}`"));
    }
    for (kind, limits) in &engine.per_kind {
        if limits.concurrency == Some(0) {
            let path = format!("kinds.{kind}.concurrency");
            add(found, &path, "must be at least 1", "`docmill pause --kind` stops a kind");
        }
    }
}

fn llm(found: &mut Vec<Finding>, settings: &Settings) {
    let llm = &settings.llm;
    match llm.address() {
        // Not repeated: whoever misplaced a key may have written it here.
        Err(message) => {
            add(found, "llm.url", &message, "write for instance `openai:` or `http://127.0.0.1:8080/v1`");
        }
        Ok(Some(_)) if llm.model.trim().is_empty() => {
            add(found, "llm.model", "is empty, and `llm.url` is not", "name a model of that service");
        }
        Ok(_) => {}
    }
    nonzero(found, "llm.timeout", llm.timeout);
    if llm.total_timeout < llm.timeout {
        let message = format!("is less than `llm.timeout` ({})", duration_text(llm.timeout));
        add(found, "llm.total_timeout", &message, "a whole call must fit into it");
    }
    for (path, none) in [("llm.concurrency", llm.concurrency == 0), ("llm.max_text", llm.max_text_bytes == 0)]
    {
        if none {
            add(found, path, "must be at least 1", "empty `llm.url` to ask no model");
        }
    }
}

fn sandbox(found: &mut Vec<Finding>, settings: &Settings) {
    let sandbox = &settings.sandbox;
    for (path, bytes) in
        [("sandbox.memory", sandbox.memory_bytes), ("sandbox.memory_large", sandbox.memory_bytes_large)]
    {
        if bytes < LEAST_MEMORY {
            let message = format!(
                "{} is less than the {} that a child needs",
                bytes_text(bytes),
                bytes_text(LEAST_MEMORY)
            );
            add(found, path, &message, "leave it out for the default");
        }
    }
    if sandbox.memory_bytes_large < sandbox.memory_bytes {
        let message = format!("is less than `sandbox.memory` ({})", bytes_text(sandbox.memory_bytes));
        add(
            found,
            "sandbox.memory_large",
            &message,
            "work that fails on small is tried again with more memory",
        );
    }
    if sandbox.recycle_after == 0 {
        add(found, "sandbox.recycle_after", "must be at least 1", "leave it out for the default");
    }
    nonzero(found, "sandbox.cpu_without_progress", sandbox.cpu_without_progress);
    nonzero(found, "sandbox.wall_without_progress", sandbox.wall_without_progress);
}

fn limits(found: &mut Vec<Finding>, settings: &Settings) {
    let limits = &settings.limits;
    for (path, value) in [
        ("limits.max_document_bytes", limits.max_document_bytes),
        ("limits.max_container_bytes", limits.max_container_bytes),
        ("limits.max_ratio", limits.max_ratio),
        ("limits.max_entries", limits.max_entries),
        ("limits.max_tree_entries", limits.max_tree_entries),
        ("limits.max_pages", u64::from(limits.max_pages)),
        ("limits.max_text_bytes", limits.max_text_bytes),
        ("limits.max_markup_depth", u64::from(limits.max_markup_depth)),
    ] {
        if value == 0 {
            add(found, path, "must be at least 1: nothing could be read", "leave it out for the default");
        }
    }
}

fn nonzero(found: &mut Vec<Finding>, path: &str, value: Duration) {
    if value.is_zero() {
        add(found, path, "must be longer than nothing", "leave it out for the default");
    }
}

/// The queue is where the rows are: a task and what it changes are one transaction.
fn queue(found: &mut Vec<Finding>, url: &str) {
    if matches!(url, "" | "store" | "store:") {
        return;
    }
    // Nothing more of it is repeated: a URL may have a password.
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    let message = format!("this build cannot queue tasks in `{scheme}:`");
    let hint = "leave it out or write `store:`: the queue is in the database, which any number of workers share where \
                `store.url` is `postgres://…`";
    add(found, "queue.url", &message, hint);
}

fn scheme(found: &mut Vec<Finding>, path: &str, url: &str, known: &[&str]) {
    let listed = || known.iter().map(|s| format!("`{s}:`")).collect::<Vec<_>>().join(", ");
    match url.split_once(':') {
        Some((scheme, _)) if known.contains(&scheme) => {}
        Some((scheme, _)) => {
            let message = format!("this build cannot open `{scheme}:`");
            add(found, path, &message, &format!("this build has {}", listed()));
        }
        None => {
            let message = format!("`{url}` is not a URL");
            add(found, path, &message, &format!("begin with {}", listed()));
        }
    }
}

fn add(found: &mut Vec<Finding>, path: &str, message: &str, hint: &str) {
    let message = match message.split_once(' ') {
        Some((first, _)) if first == "must" || first == "is" => format!("`{path}` {message}"),
        _ => format!("`{path}`: {message}"),
    };
    found.push((path.to_owned(), message, Some(hint.to_owned())));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMES: Schemes<'_> = Schemes { store: &["sqlite"], blobs: &["file"] };

    #[test]
    fn defaults_pass() {
        assert_eq!(check(&Settings::new("/d".into()), SCHEMES), []);
    }

    #[test]
    fn an_endpoint_without_a_scheme_is_refused() {
        let mut settings = Settings::new("/d".into());
        settings.blobs.endpoint = "127.0.0.1:9000".into();
        let found = check(&settings, SCHEMES);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "blobs.endpoint");
        settings.blobs.endpoint = "http://127.0.0.1:9000".into();
        assert_eq!(check(&settings, SCHEMES), []);
    }

    #[test]
    fn places_for_metrics_and_spans_are_checked() {
        let mut settings = Settings::new("/d".into());
        settings.metrics_listen = "here".into();
        settings.otel.endpoint = "https://u:hunter2@collector".into();
        let found = check(&settings, SCHEMES);
        let paths: Vec<&str> = found.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(paths, ["metrics.listen", "otel.endpoint"]);
        assert!(!format!("{found:?}").contains("hunter2"));
    }

    #[test]
    fn a_model_needs_an_address_a_name_and_time() {
        let mut settings = Settings::new("/d".into());
        settings.llm.url = "sk-hunter2".into();
        settings.llm.total_timeout = Duration::from_secs(1);
        settings.llm.concurrency = 0;
        let found = check(&settings, SCHEMES);
        let paths: Vec<&str> = found.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(paths, ["llm.url", "llm.total_timeout", "llm.concurrency"]);
        assert!(!format!("{found:?}").contains("hunter2"));
        let mut settings = Settings::new("/d".into());
        settings.llm.url = "openai:".into();
        assert_eq!(check(&settings, SCHEMES)[0].0, "llm.model");
    }

    #[test]
    fn a_renewal_that_comes_too_late_is_refused() {
        let mut settings = Settings::new("/d".into());
        settings.engine.renew_every = Duration::from_secs(45);
        let found = check(&settings, SCHEMES);
        assert_eq!(found.len(), 1);
        assert!(found[0].1.contains("45s") && found[0].1.contains("1m"), "{found:?}");
    }
}
