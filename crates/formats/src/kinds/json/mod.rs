//! JSON and JSON lines, as `key: value` lines that a person can read and a search can find.

mod flatten;

use docmill_core::Result;
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{ReadLimits, Want};
use serde::de::IgnoredAny;

use flatten::flatten;

use super::text::read_plain;
use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::charset::Charset;
use crate::shared::pager::Pager;
use crate::sink::Sink;
use crate::sniff::Head;

/// Larger files are read as plain text, which needs no copy of the whole in memory.
const MAX_BYTES: u64 = 64 << 20;

const JSON: &str = "application/json";
const JSON_LINES: &str = "application/jsonl";

pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[JSON, JSON_LINES]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let text = head.text.as_ref()?.trim();
        let begins = text.starts_with(['{', '[']);
        match head.extension.as_str() {
            "json" | "geojson" | "webmanifest" if begins => return Some(Claim::likely(JSON)),
            "jsonl" | "ndjson" if begins => return Some(Claim::likely(JSON_LINES)),
            _ => {}
        }
        // Without the name's help only content that really parses counts.
        if !begins {
            return None;
        }
        if head.whole && serde_json::from_str::<IgnoredAny>(text).is_ok() {
            return Some(Claim::likely(JSON));
        }
        let two_objects = text.lines().take(2).filter(|l| is_object(l)).count() == 2;
        two_objects.then_some(Claim::likely(JSON_LINES))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        if input.length() > MAX_BYTES {
            return read_plain(input, want, limits, sink, "large JSON read as plain text");
        }
        let charset = Charset::of_input(input, limits.max_text_bytes)?;
        let decoded = charset.decode(&input.whole(MAX_BYTES)?);
        let text = match flatten(&decoded.text, limits.max_markup_depth) {
            Ok(text) => text,
            Err(reason) => {
                sink.warn(Problem::new(ErrorKind::Corrupt, format!("{reason}; read as plain text")))?;
                return read_plain(input, want, limits, sink, "broken JSON read as plain text");
            }
        };
        if want.metadata {
            sink.meta("charset", &charset.to_string())?;
        }
        if !want.text {
            return Ok(());
        }
        let mut pager = Pager::new(sink, format!("JSON values and keys, {charset}"));
        pager.replaced(decoded.replaced);
        pager.push(&text)?;
        pager.finish()
    }
}

fn is_object(line: &str) -> bool {
    line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use docmill_core::error::ErrorKind;

    use crate::tests_support::{read_bytes, read_fixture};

    #[test]
    fn values_become_indented_lines_and_no_text_is_lost() {
        let found = read_fixture("json/order.json");
        assert_eq!(
            found.text(),
            "id: 7\ncustomer:\n  name: Ada \"the\" Countess\n  vip: true\nitems:\n  -\n    sku: A-1\n    price: 9.90\n  - plain\nnote: null\n"
        );
    }

    #[test]
    fn json_lines_are_read_value_by_value() {
        let found = read_bytes("a.jsonl", b"{\"a\":1}\n{\"a\":2}\n");
        assert_eq!(found.text(), "a: 1\n\na: 2\n");
    }

    #[test]
    fn broken_and_too_deep_json_are_read_as_plain_text_with_a_warning() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in ["{\"a\": 1, \"b\": ", deep.as_str()] {
            let found = read_bytes("a.json", text.as_bytes());
            assert_eq!(found.text(), text);
            assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
        }
    }
}
