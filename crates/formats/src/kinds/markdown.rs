//! Markdown: its text as it stands, its first heading as the title.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use super::text::read_plain;
use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::charset::Charset;
use crate::sink::Sink;
use crate::sniff::Head;

/// A title further down is none.
const TITLE_SEARCH_BYTES: u64 = 64 << 10;

pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["text/markdown"]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let named = matches!(head.extension.as_str(), "md" | "markdown" | "mdown" | "mkd");
        (named && head.text.is_some()).then_some(Claim::likely("text/markdown"))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        if want.metadata {
            let head = input.head(TITLE_SEARCH_BYTES)?;
            if let Some(charset) = Charset::of_head(&head)
                && let Some(title) = title(&charset.decode(&head).text)
            {
                sink.meta("title", &title)?;
            }
        }
        read_plain(input, want, limits, sink, "markdown")
    }
}

/// The first heading: `# Title`, or a line underlined with `===`.
fn title(text: &str) -> Option<String> {
    let mut previous = "";
    let mut in_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let hashes = line.len() - line.trim_start_matches('#').len();
        if (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t']) {
            return Some(line.trim_matches('#').trim().to_owned());
        }
        if line.len() >= 3 && line.bytes().all(|b| b == b'=') && !previous.is_empty() {
            return Some(previous.to_owned());
        }
        previous = line;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::title;
    use crate::tests_support::read_fixture;

    #[test]
    fn title_is_the_first_heading_of_either_style() {
        let cases = [
            ("# One\ntext\n# Two", Some("One")),
            ("intro\n\n## Closed ##\n", Some("Closed")),
            ("Underlined\n==========\n", Some("Underlined")),
            ("```\n# comment\n```\n# Real\n", Some("Real")),
            ("#hashtag\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(title(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn fixture_keeps_its_markup_and_gets_a_title() {
        let found = read_fixture("markdown/notes.md");
        assert_eq!(found.value("title"), Some("Meeting notes"));
        assert!(found.text().contains("- **Ada** opened the meeting"));
    }
}
