//! HTML and XHTML: the text a reader would see, in lines, with table cells apart.
//!
//! Works on tokens, not on a tree: nothing grows with the nesting of the markup, and a page of a hundred
//! thousand open elements costs what its bytes cost. Nothing is ever fetched.

mod spans;
mod visible;

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};
use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tokenizer, TokenizerOpts};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::charset::{Charset, Decoder, PIECE_BYTES};
use crate::shared::pager::Pager;
use crate::sink::{Collected, Sink};
use crate::sniff::Head;
use visible::Visible;

/// Where a page may say what character set it is in (the standard demands the first 1,024 bytes).
const CHARSET_SEARCH_BYTES: u64 = 4096;

const HTML: &str = "text/html";
const XHTML: &str = "application/xhtml+xml";

pub(super) struct Html;

impl Format for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[HTML, XHTML]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let text = head.text.as_ref()?;
        let named = matches!(head.extension.as_str(), "html" | "htm" | "xhtml" | "xht" | "shtml");
        let start = skip_prologue(text);
        let begins = |tag: &str| start.get(..tag.len()).is_some_and(|s| s.eq_ignore_ascii_case(tag));
        let by_content = begins("<!doctype html") || begins("<html") || begins("<head") || begins("<body");
        let media_type = if text.contains("http://www.w3.org/1999/xhtml") { XHTML } else { HTML };
        if by_content {
            return Some(Claim::certain(media_type));
        }
        (named && text.contains('<')).then_some(Claim::likely(media_type))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let charset = charset(input, limits)?;
        let mark = Charset::from_mark(&input.head(4)?).map_or(0, |(_, length)| length);
        input.go_to(mark as u64)?;
        let tokenizer = Tokenizer::new(Visible::default(), TokenizerOpts::default());
        let queue = BufferQueue::default();
        let mut decoder = Decoder::new(charset);
        let mut pager = Pager::new(sink, format!("visible text of the markup, {charset}"));
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            let filled = input.fill(&mut buffer)?;
            let last = filled < buffer.len();
            let (mut text, before) = (String::new(), decoder.replaced);
            decoder.push(&buffer[..filled], last, &mut text);
            pager.replaced(decoder.replaced - before);
            queue.push_back(StrTendril::from(text));
            // Scripts and encoding hints interrupt the tokenizer; nothing here acts on them.
            while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
            if last {
                tokenizer.end();
            }
            pager.push(&tokenizer.sink.take_text(last))?;
            if last {
                break;
            }
        }
        let about = tokenizer.sink.about();
        if want.text {
            pager.finish()?;
        }
        if want.metadata {
            sink.meta("charset", &charset.to_string())?;
            for (key, value) in about {
                sink.meta(key, &value)?;
            }
        }
        Ok(())
    }
}

/// What a piece of markup inside another file shows. `is_utf8` says that it has been decoded already, whatever the
/// markup states.
pub(crate) fn visible_text(markup: &[u8], is_utf8: bool, limits: &ReadLimits) -> Result<String> {
    // A byte order mark is believed before anything else.
    let mark: &[u8] = if is_utf8 { b"\xef\xbb\xbf" } else { b"" };
    let mut found = Collected::default();
    Html.parse(&mut Input::from_bytes([mark, markup].concat()), Want::TEXT, limits, &mut found)?;
    Ok(found.pages().iter().map(|page| page.text.as_str()).collect())
}

/// The text after white space, comments and an XML declaration.
fn skip_prologue(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            ">"
        } else {
            return rest;
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// A byte order mark, the page's own word, or detection, in this order.
fn charset(input: &mut Input, limits: &ReadLimits) -> Result<Charset> {
    let head = input.head(CHARSET_SEARCH_BYTES)?;
    if let Some((charset, _)) = Charset::from_mark(&head) {
        return Ok(charset);
    }
    let detected = Charset::of_input(input, limits.max_text_bytes)?;
    // Markup that can be read as ASCII cannot be UTF-16, whatever it says; and where it is UTF-16 it has been
    // detected by its zeros.
    let ascii_compatible = !head.contains(&0);
    let stated = stated_charset(&head).filter(|_| ascii_compatible);
    Ok(match stated {
        // Valid UTF-8 with a wrong label is far more common than text that looks like UTF-8 by chance.
        Some(stated) if detected != Charset::UTF_8 || is_stateful(stated) => stated,
        _ => detected,
    })
}

/// ISO-2022-JP is plain ASCII to the eye of a detector.
fn is_stateful(charset: Charset) -> bool {
    charset == Charset::Web(encoding_rs::ISO_2022_JP)
}

/// The label after `charset=` (HTML) or `encoding=` (XML) in the first bytes.
fn stated_charset(head: &[u8]) -> Option<Charset> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    for key in ["charset", "encoding"] {
        for (at, _) in text.match_indices(key) {
            let Some(value) = text[at + key.len()..].trim_start().strip_prefix('=') else { continue };
            let value = value.trim_start().trim_start_matches(['"', '\'']);
            let label: &str = value.split(['"', '\'', ';', '>', '/', ' ', '\t', '\r', '\n', '?']).next()?;
            match Charset::from_label(label) {
                Some(Charset::Web(e)) if e == encoding_rs::UTF_16LE || e == encoding_rs::UTF_16BE => {
                    return Some(Charset::UTF_8);
                }
                Some(charset) => return Some(charset),
                None => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
