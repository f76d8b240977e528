//! A message's own text: plain text where there is some, else what its HTML shows.
//!
//! Of alternatives the plain one is taken, and the HTML beside it only where it says something else: a plain part
//! that reads "your program cannot show this" must not hide the message.

use std::collections::HashSet;

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::kinds::visible_text;
use crate::shared::charset::{Charset, of_seven_bits, shifts_to_japanese};
use crate::shared::members::Members;
use crate::shared::pager::Pager;

/// What the text is called where it comes as a member.
const MEMBER_NAME: &str = "message.txt";

/// Texts of a message.
#[derive(Default)]
pub(crate) struct Body {
    parts: Vec<Part>,
    replaced: u64,
}

struct Part {
    text: String,
    html: bool,
    /// Parts with the same number say the same in different ways.
    alternative: Option<usize>,
}

impl Body {
    /// Adds plain text.
    pub(crate) fn add_plain(&mut self, bytes: &[u8], charset: Option<&str>, alternative: Option<usize>) {
        let text = self.decode(bytes, charset);
        self.add(text, false, alternative);
    }

    /// Adds markup, of which only what is seen counts.
    pub(crate) fn add_html(
        &mut self,
        bytes: &[u8],
        charset: Option<&str>,
        alternative: Option<usize>,
        limits: &ReadLimits,
    ) -> Result<()> {
        // Without a label the markup may say itself what it is in.
        let text = match charset {
            Some(_) => visible_text(self.decode(bytes, charset).as_bytes(), true, limits)?,
            None => visible_text(bytes, false, limits)?,
        };
        self.add(text, true, alternative);
        Ok(())
    }

    fn add(&mut self, text: String, html: bool, alternative: Option<usize>) {
        if !text.trim().is_empty() {
            self.parts.push(Part { text, html, alternative });
        }
    }

    fn decode(&mut self, bytes: &[u8], charset: Option<&str>) -> String {
        let decoded = decode(bytes, charset);
        self.replaced += decoded.1;
        decoded.0
    }

    /// Nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Gives the text away: as pages, or, where members alone are wanted, as one of them.
    pub(crate) fn give(self, members: &mut Members<'_>, want: Want) -> Result<()> {
        let replaced = self.replaced;
        let text = self.chosen();
        if want.text {
            let mut pager = Pager::new(members.sink(), "the message's own text");
            pager.push(&text)?;
            pager.replaced(replaced);
            return pager.finish();
        }
        if want.children && !text.is_empty() {
            members.begin(MEMBER_NAME, Some(text.len() as u64))?;
            members.write(text.as_bytes())?;
            members.end()?;
        }
        Ok(())
    }

    /// The parts worth reading, in their order.
    fn chosen(self) -> String {
        let mut said: Vec<(usize, HashSet<String>)> = Vec::new();
        for part in self.parts.iter().filter(|part| !part.html) {
            if let Some(group) = part.alternative {
                let words = words(&part.text);
                match said.iter_mut().find(|(known, _)| *known == group) {
                    Some((_, all)) => all.extend(words),
                    None => said.push((group, words.collect())),
                }
            }
        }
        let mut out = String::new();
        for part in &self.parts {
            let known = said.iter().find(|(group, _)| part.html && Some(*group) == part.alternative);
            if known.is_some_and(|(_, all)| repeats(&part.text, all)) {
                continue;
            }
            if !out.is_empty() {
                out.truncate(out.trim_end().len());
                out.push_str("\n\n");
            }
            out.push_str(&part.text);
        }
        out
    }
}

/// Whether four words in five have been said.
fn repeats(text: &str, said: &HashSet<String>) -> bool {
    let (mut known, mut all) = (0_usize, 0_usize);
    for word in words(text) {
        all += 1;
        known += usize::from(said.contains(&word));
    }
    known * 5 >= all * 4
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Text and how many characters could not be decoded. A label is believed where it can be: text beyond ASCII that
/// calls itself ASCII is looked at instead.
pub(crate) fn decode(bytes: &[u8], label: Option<&str>) -> (String, u64) {
    let label = label.map(|label| label.trim().trim_matches(['"', '\'']).to_ascii_lowercase());
    let says_nothing =
        label.as_deref().is_none_or(|l| matches!(l, "" | "us-ascii" | "ascii" | "unknown-8bit" | "binary"));
    let charset = if says_nothing { None } else { label.as_deref().and_then(Charset::from_label) };
    // Programs that call everything UTF-8 are many, and no other set can be told to be another so surely.
    let charset = charset.filter(|charset| *charset != Charset::UTF_8 || Charset::is_utf8(bytes));
    if let Some(charset) = charset {
        let decoded = charset.decode(bytes);
        return (decoded.text, decoded.replaced);
    }
    if let Some(decoded) = label.as_deref().and_then(|label| of_seven_bits(label, bytes)) {
        return (decoded.text, decoded.replaced);
    }
    if let Some(label) = label.filter(|_| !says_nothing)
        && let Some(decode) = mail_parser::decoders::charsets::map::charset_decoder(label.as_bytes())
    {
        // UTF-7 and other sets that the web has forgotten.
        return (decode(bytes), 0);
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && !shifts_to_japanese(bytes)
    {
        return (text.to_owned(), 0);
    }
    let decoded = Charset::by_statistics(bytes).decode(bytes);
    (decoded.text, decoded.replaced)
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;

    use super::*;

    fn chosen(plain: &str, html: &str) -> String {
        let limits = Limits::default().for_reader();
        let mut body = Body::default();
        body.add_plain(plain.as_bytes(), Some("utf-8"), Some(1));
        body.add_html(html.as_bytes(), None, Some(1), &limits).unwrap();
        body.chosen()
    }

    #[test]
    fn alternative_that_repeats_is_left_out_and_one_that_adds_is_not() {
        assert_eq!(chosen("Hello dear world", "<p>Hello <b>dear</b> world"), "Hello dear world");
        assert_eq!(chosen("No HTML here", "<p>The real message"), "No HTML here\n\nThe real message\n");
        assert_eq!(chosen("  ", "<p>The real message"), "The real message\n");
    }

    #[test]
    fn labels_are_believed_where_they_can_be() {
        assert_eq!(decode(b"gr\xfcn", Some("iso-8859-1")).0, "grün");
        assert_eq!(decode("grün".as_bytes(), Some("us-ascii")).0, "grün");
        assert_eq!(decode(b"Hi Mom -+Jjo--!", Some("utf-7")).0, "Hi Mom -\u{263a}-!");
        assert_eq!(decode("grün".as_bytes(), Some("nonsense")).0, "grün");
        assert_eq!(decode(b"die gr\xfcnen Fr\xf6sche", Some("utf-8")).0, "die grünen Frösche");
        assert_eq!(decode(&["größer ".repeat(10).as_bytes(), b"\xff"].concat(), Some("utf-8")).1, 1);
        assert_eq!(decode(b"Gr\x81\xe1e", Some("IBM850")).0, "Grüße");
        assert_eq!(decode(b"\x1b$B4A;z\x1b(B", None).0, "漢字");
    }
}
