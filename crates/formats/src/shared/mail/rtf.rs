//! Outlook's compressed rich text (MS-OXRTFCP).

use docmill_core::{Error, Result};

use super::mapi::cut_off;

/// What the window begins with.
const PRELOADED: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \
\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

const WINDOW: usize = 4096;

/// Rich text of a mail is never longer; what is, is a bomb.
const MAX_BYTES: usize = 64 << 20;

/// The rich text as it was.
pub(crate) fn expand(packed: &[u8]) -> Result<Vec<u8>> {
    let (Some(kind), Some(data)) = (packed.get(8..12), packed.get(16..)) else {
        return Err(cut_off("the message's rich text"));
    };
    match kind {
        b"MELA" => Ok(data.to_vec()),
        b"LZFu" => unpack(data),
        other => Err(Error::corrupt(format!(
            "rich text is packed as `{}`, which is unknown",
            other.escape_ascii()
        ))),
    }
}

fn unpack(data: &[u8]) -> Result<Vec<u8>> {
    let mut window = [0_u8; WINDOW];
    window[..PRELOADED.len()].copy_from_slice(PRELOADED);
    let mut at = PRELOADED.len();
    let mut out = Vec::new();
    let mut bytes = data.iter().copied();
    while let Some(control) = bytes.next() {
        for bit in 0..8 {
            if control >> bit & 1 == 0 {
                let Some(byte) = bytes.next() else { return Ok(out) };
                out.push(byte);
                window[at] = byte;
                at = (at + 1) % WINDOW;
            } else {
                let (Some(high), Some(low)) = (bytes.next(), bytes.next()) else { return Ok(out) };
                let reference = usize::from(u16::from_be_bytes([high, low]));
                let (from, length) = (reference >> 4, (reference & 15) + 2);
                if from == at {
                    return Ok(out);
                }
                for step in 0..length {
                    let byte = window[(from + step) % WINDOW];
                    out.push(byte);
                    window[at] = byte;
                    at = (at + 1) % WINDOW;
                }
            }
            if out.len() > MAX_BYTES {
                return Err(Error::limit_exceeded(format!("rich text has more than {MAX_BYTES} bytes")));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_specification_are_expanded() {
        let simple = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125\x422\x0a\xf3 hel\x09\0 bw\x05\xb0ld}\x0a\x80\x0f\xa0";
        assert_eq!(expand(simple).unwrap(), b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
        let crossing = b"\x1a\0\0\0\x1c\0\0\0LZFu\xe2\xd4\x4b\x51\x41\0\x04\x20WXYZ\x0d\x6e\x7d\x01\x0e\xb0";
        assert_eq!(expand(crossing).unwrap(), b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}");
        assert!(expand(b"short").is_err());
    }

    #[test]
    fn window_begins_as_the_specification_says() {
        assert_eq!(PRELOADED.len(), 207);
    }
}
