//! JSON text to indented lines, in one pass without recursion.
//!
//! Not through a value tree: that would sort keys, drop duplicates, round numbers and take many times the
//! file's length in memory. Here every key and value comes out in its place, as it was written.

use serde::de::IgnoredAny;

/// Why a text is not JSON, with the byte it was noticed at.
pub(super) type Broken = String;

/// All values of `text` (one, or several in a row) as lines.
pub(super) fn flatten(text: &str, max_depth: u32) -> Result<String, Broken> {
    let mut flattening =
        Flattening { text, at: 0, open: Vec::new(), fresh: false, out: String::with_capacity(text.len()) };
    flattening.skip_blank();
    if flattening.peek().is_none() {
        return Err("JSON is empty".into());
    }
    while flattening.peek().is_some() {
        if !flattening.out.is_empty() {
            flattening.out.push('\n');
        }
        flattening.value(max_depth)?;
        flattening.skip_blank();
    }
    Ok(flattening.out)
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Object,
    Array,
}

struct Flattening<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Open>,
    /// The container at hand has just been opened: no comma yet.
    fresh: bool,
    out: String,
}

impl Flattening<'_> {
    /// One value from its first to its last character.
    fn value(&mut self, max_depth: u32) -> Result<(), Broken> {
        loop {
            // Here a value must stand.
            self.skip_blank();
            match self.peek() {
                Some(b'{') => self.enter(Open::Object, max_depth)?,
                Some(b'[') => self.enter(Open::Array, max_depth)?,
                _ => {
                    let scalar = self.scalar()?;
                    if !self.open.is_empty() {
                        self.out.push(' ');
                    }
                    self.out.push_str(&scalar);
                    self.out.push('\n');
                }
            }
            // Then containers end, or another value begins.
            loop {
                self.skip_blank();
                let Some(&container) = self.open.last() else { return Ok(()) };
                let fresh = std::mem::take(&mut self.fresh);
                match self.peek() {
                    Some(b'}') if container == Open::Object => self.leave(),
                    Some(b']') if container == Open::Array => self.leave(),
                    Some(b',') if !fresh => {
                        self.at += 1;
                        self.label(container)?;
                        break;
                    }
                    Some(_) if fresh => {
                        self.label(container)?;
                        break;
                    }
                    _ => return Err(self.broken("expected `,` or the end of the container")),
                }
            }
        }
    }

    fn enter(&mut self, container: Open, max_depth: u32) -> Result<(), Broken> {
        if self.open.len() >= max_depth as usize {
            return Err(format!("JSON is nested deeper than {max_depth} levels (`limits.max_markup_depth`)"));
        }
        if !self.open.is_empty() {
            self.out.push('\n');
        }
        self.open.push(container);
        self.fresh = true;
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.open.pop();
        self.at += 1;
    }

    /// What stands before a value on its line: its key, or a dash.
    fn label(&mut self, container: Open) -> Result<(), Broken> {
        self.skip_blank();
        for _ in 1..self.open.len() {
            self.out.push_str("  ");
        }
        if container == Open::Array {
            self.out.push('-');
            return Ok(());
        }
        if self.peek() != Some(b'"') {
            return Err(self.broken("expected a key"));
        }
        let key = self.scalar()?;
        self.out.push_str(&key);
        self.skip_blank();
        if self.peek() != Some(b':') {
            return Err(self.broken("expected `:`"));
        }
        self.at += 1;
        self.out.push(':');
        Ok(())
    }

    /// A string without its quotes and escapes; any other scalar as it is written.
    fn scalar(&mut self) -> Result<String, Broken> {
        let rest = &self.text[self.at..];
        if rest.starts_with('"') {
            let length = string_length(rest).ok_or_else(|| self.broken("string without an end"))?;
            let text = serde_json::from_str(&rest[..length])
                .map_err(|e| self.broken(&format!("bad string: {e}")))?;
            self.at += length;
            return Ok(text);
        }
        let length =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        if serde_json::from_str::<IgnoredAny>(word).is_err() {
            return Err(self.broken("expected a value"));
        }
        self.at += length;
        Ok(word.to_owned())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(BLANK).len();
    }

    fn broken(&self, what: &str) -> Broken {
        format!("JSON is broken at byte {}: {what}", self.at)
    }
}

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// The length of the string literal that `text` begins with, quotes included.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::flatten;

    #[test]
    fn flatten_keeps_order_duplicates_and_numbers_as_written() {
        let cases = [
            ("{\"b\": 9.90, \"a\": 1e400, \"b\": -0}", "b: 9.90\na: 1e400\nb: -0\n"),
            ("[]", ""),
            ("{\"a\": {}, \"b\": [ ]}", "a:\nb:\n"),
            ("[[1,[2]],3]", "-\n  - 1\n  -\n    - 2\n- 3\n"),
            ("\"a\\u00e4\\n\"", "aä\n\n"),
            ("1 2", "1\n\n2\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(flatten(text, 10).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn flatten_refuses_what_is_not_json() {
        let broken = [
            "",
            "{",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{a: 1}",
            "[1 2]",
            "nul",
            "\"open",
            "]",
            "{\"a\":1]",
            "01",
            "[[[[",
            "{\"a\":,}",
        ];
        for text in broken {
            assert!(flatten(text, 3).is_err(), "{text}");
        }
    }
}
