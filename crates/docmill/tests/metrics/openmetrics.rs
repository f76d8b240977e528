//! A strict reader of the text format of OpenMetrics: every line must be understood, every rule that Prometheus
//! insists on must hold.

use std::collections::{BTreeMap, BTreeSet};

use super::support::http::get;

/// Labels in order of their names.
pub(crate) type Labels = BTreeMap<String, String>;

/// A family of samples.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) unit: Option<String>,
    pub(crate) help: String,
    /// Name, labels, value.
    pub(crate) samples: Vec<(String, Labels, f64)>,
}

/// A whole page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) families: BTreeMap<String, Family>,
}

/// Scrapes `/metrics`.
#[track_caller]
pub(crate) fn scrape(address: &str) -> Page {
    let answer = get(address, "/metrics", address);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let kind = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(head.to_lowercase().contains(kind), "{head}");
    // axum answers a page of known length in one piece.
    Page::parse(body)
}

impl Page {
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Self {
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let mut current = String::new();
        let body = text.strip_suffix("# EOF\n").expect("the page ends with its mark");
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("# ") {
                let (what, rest) = rest.split_once(' ').unwrap();
                let (name, said) = rest.split_once(' ').unwrap_or((rest, ""));
                assert!(is_name(name), "{line}");
                if current != name {
                    assert!(!families.contains_key(name), "two families of one name: {line}");
                    name.clone_into(&mut current);
                }
                let family = families.entry(name.to_owned()).or_default();
                assert!(family.samples.is_empty(), "described after its samples: {line}");
                match what {
                    "HELP" => said.clone_into(&mut family.help),
                    "TYPE" => said.clone_into(&mut family.kind),
                    "UNIT" => family.unit = Some(said.to_owned()),
                    _ => panic!("not understood: {line}"),
                }
                continue;
            }
            let (name, labels, value) = sample(line);
            let family = families.get_mut(&current).expect("samples follow their description");
            let suffix =
                name.strip_prefix(&current).unwrap_or_else(|| panic!("`{name}` is not of `{current}`"));
            let suffixes: &[&str] = match family.kind.as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_bucket", "_sum", "_count"],
                "info" => &["_info"],
                other => panic!("`{current}` is of no type that is known: `{other}`"),
            };
            assert!(suffixes.contains(&suffix), "{line}");
            family.samples.push((name, labels, value));
        }
        let page = Self { text: text.to_owned(), families };
        page.check();
        page
    }

    /// What holds between lines.
    #[track_caller]
    fn check(&self) {
        for (name, family) in &self.families {
            assert!(!family.help.is_empty() && !family.kind.is_empty(), "{name} is not described");
            if let Some(unit) = &family.unit {
                assert!(name.ends_with(&format!("_{unit}")), "{name} does not end with its unit {unit}");
            }
            let mut seen = BTreeSet::new();
            for (sample, labels, value) in &family.samples {
                assert!(seen.insert((sample, labels)), "{sample}{labels:?} is told twice");
                if matches!(family.kind.as_str(), "counter" | "histogram") {
                    assert!(*value >= 0.0, "{sample}{labels:?} is {value}");
                }
            }
            if family.kind == "histogram" {
                check_histogram(name, family);
            }
        }
    }

    /// The value of the sample with exactly these labels.
    pub(crate) fn value(&self, sample: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let wanted: Labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        self.samples(sample).find(|(labels, _)| **labels == wanted).map(|(_, value)| value)
    }

    /// The sum over all samples of that name with at least these labels.
    pub(crate) fn sum(&self, sample: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |found: &Labels| labels.iter().all(|(k, v)| found.get(*k).is_some_and(|found| found == v));
        self.samples(sample).filter(|(labels, _)| has(labels)).map(|(_, value)| value).sum()
    }

    fn samples(&self, sample: &str) -> impl Iterator<Item = (&Labels, f64)> {
        let all = self.families.values().flat_map(|family| &family.samples);
        all.filter(move |(name, ..)| name == sample).map(|(_, labels, value)| (labels, *value))
    }
}

/// Buckets rise, end with infinity, and that one equals the count.
#[track_caller]
fn check_histogram(name: &str, family: &Family) {
    let mut series: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for (sample, labels, value) in &family.samples {
        if sample.ends_with("_bucket") {
            let mut labels = labels.clone();
            let bound = labels.remove("le").expect("a bucket has a bound");
            let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
            series.entry(labels).or_default().push((bound, *value));
        }
    }
    for (labels, buckets) in series {
        assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}{labels:?}: {buckets:?}");
        let (last, all) = buckets.last().unwrap();
        assert!(last.is_infinite(), "{name}{labels:?}");
        let count = family.samples.iter().find(|(s, l, _)| s.ends_with("_count") && *l == labels);
        assert_eq!(count.map(|(.., n)| *n), Some(*all), "{name}{labels:?}");
    }
}

#[track_caller]
fn sample(line: &str) -> (String, Labels, f64) {
    let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("not a sample: `{line}`"));
    let (name, rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest, line),
        None => (Labels::new(), rest),
    };
    let value = rest.strip_prefix(' ').unwrap_or_else(|| panic!("no value: `{line}`"));
    (name.to_owned(), labels, value.parse().unwrap_or_else(|_| panic!("not a number: `{line}`")))
}

#[track_caller]
fn labels<'l>(mut rest: &'l str, line: &str) -> (Labels, &'l str) {
    let mut labels = Labels::new();
    loop {
        let (name, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: `{line}`"));
        assert!(is_name(name) && !name.contains(':'), "{line}");
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next().unwrap_or_else(|| panic!("no end of a label: `{line}`")) {
                (at, '"') => break at + 1,
                (_, '\\') => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, c @ ('"' | '\\'))) => value.push(c),
                    _ => panic!("not an escape: `{line}`"),
                },
                (_, c) => value.push(c),
            }
        };
        assert!(labels.insert(name.to_owned(), value).is_none(), "a label twice: `{line}`");
        rest = &after[end..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return (labels, rest.strip_prefix('}').unwrap_or_else(|| panic!("no brace: `{line}`"))),
        }
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':')
}
