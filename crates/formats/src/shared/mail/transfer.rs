//! Transfer encodings of mail, undone line by line. Damage never stops them: what does not belong is passed over,
//! as every mail program does.

/// How a part is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encoding {
    /// As it is.
    Identity,
    Base64,
    QuotedPrintable,
    Uuencode,
}

impl Encoding {
    /// What `Content-Transfer-Encoding` says.
    pub(crate) fn named(name: &str) -> Self {
        let name = name.trim().trim_matches('"').to_ascii_lowercase();
        match name.as_str() {
            "base64" => Self::Base64,
            "quoted-printable" => Self::QuotedPrintable,
            "x-uuencode" | "x-uue" | "uuencode" | "uue" => Self::Uuencode,
            _ => Self::Identity,
        }
    }
}

/// Decodes one part. Line ends belong to the line that follows: the last one is the boundary's.
pub(crate) struct Decoder {
    encoding: Encoding,
    /// The end of the line before, not yet given.
    line_end: Vec<u8>,
    bits: u32,
    have: u32,
    in_uuencoded: bool,
    /// Whether anything had to be passed over.
    pub(crate) damaged: bool,
}

impl Decoder {
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, line_end: Vec::new(), bits: 0, have: 0, in_uuencoded: false, damaged: false }
    }

    /// Appends what a line, or a piece of one, means.
    pub(crate) fn push(&mut self, line: &[u8], end: &[u8], out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Identity => {
                out.append(&mut self.line_end);
                out.extend_from_slice(line);
                self.line_end.extend_from_slice(end);
            }
            Encoding::Base64 => self.base64(line, out),
            Encoding::QuotedPrintable => self.quoted_printable(line, end, out),
            Encoding::Uuencode => self.uuencoded(line, out),
        }
    }

    /// Appends the line end that is still held, where no boundary takes it.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.line_end);
    }

    fn base64(&mut self, line: &[u8], out: &mut Vec<u8>) {
        for &byte in line {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                b'=' => {
                    // Padding ends a group; some programs put groups that were encoded apart one after the other.
                    (self.bits, self.have) = (0, 0);
                    continue;
                }
                _ => {
                    self.damaged |= !byte.is_ascii_whitespace();
                    continue;
                }
            };
            self.bits = self.bits << 6 | u32::from(value);
            self.have += 6;
            if self.have >= 8 {
                self.have -= 8;
                out.push((self.bits >> self.have) as u8);
            }
        }
    }

    fn quoted_printable(&mut self, line: &[u8], end: &[u8], out: &mut Vec<u8>) {
        out.append(&mut self.line_end);
        let complete = !end.is_empty();
        let line = if complete { line.trim_ascii_end() } else { line };
        let mut at = 0;
        while at < line.len() {
            let byte = line[at];
            at += 1;
            if byte != b'=' {
                out.push(byte);
                continue;
            }
            match (line.get(at).copied().and_then(hex), line.get(at + 1).copied().and_then(hex)) {
                (Some(high), Some(low)) => {
                    out.push(high << 4 | low);
                    at += 2;
                }
                // A soft line break: the line goes on below.
                _ if at == line.len() => return,
                _ => {
                    self.damaged = true;
                    out.push(b'=');
                }
            }
        }
        self.line_end.extend_from_slice(end);
    }

    fn uuencoded(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if !self.in_uuencoded {
            self.in_uuencoded = uu_name(line).is_some();
        } else if line.trim_ascii() == b"end" {
            self.in_uuencoded = false;
        } else {
            self.damaged |= !uu_line(line, out);
        }
    }
}

/// The file name of `begin 644 name`.
pub(crate) fn uu_name(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"begin ")?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let name = rest[digits..].strip_prefix(b" ")?.trim_ascii();
    ((3..=4).contains(&digits) && !name.is_empty()).then_some(name)
}

/// Appends what one uuencoded line means; false if it is none.
pub(crate) fn uu_line(line: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((&first, data)) = line.split_first() else { return true };
    if !(b' '..=b'`').contains(&first) {
        return false;
    }
    let mut left = usize::from((first - b' ') & 63);
    let value = |at: usize| u32::from(data.get(at).map_or(0, |b| b.wrapping_sub(b' ') & 63));
    let mut at = 0;
    while left > 0 && at < data.len() {
        let bits = value(at) << 18 | value(at + 1) << 12 | value(at + 2) << 6 | value(at + 3);
        let take = left.min(3);
        out.extend_from_slice(&bits.to_be_bytes()[1..=take]);
        left -= take;
        at += 4;
    }
    left == 0
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: Encoding, lines: &[&str]) -> String {
        let (mut decoder, mut out) = (Decoder::new(encoding), Vec::new());
        for line in lines {
            decoder.push(line.as_bytes(), b"\n", &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn encodings_are_undone_and_damage_is_passed_over() {
        assert_eq!(decoded(Encoding::Identity, &["a", "", "b"]), "a\n\nb");
        assert_eq!(decoded(Encoding::Base64, &["aGVs", "bG8g", "d29ybGQ="]), "hello world");
        assert_eq!(decoded(Encoding::Base64, &["aGVs!", "b G8=", "aGVs"]), "hellohel");
        let quoted = ["gr=C3=BC=", "n  ", "=3D=zz=20"];
        assert_eq!(decoded(Encoding::QuotedPrintable, &quoted), "grün\n==zz ");
        let uu = ["begin 644 a.txt", "#0V%T", "`", "end", "junk"];
        assert_eq!(decoded(Encoding::Uuencode, &uu), "Cat");
    }

    #[test]
    fn line_end_before_a_boundary_is_given_only_without_one() {
        let (mut decoder, mut out) = (Decoder::new(Encoding::Identity), Vec::new());
        decoder.push(b"a", b"\r\n", &mut out);
        assert_eq!(out, b"a");
        decoder.finish(&mut out);
        assert_eq!(out, b"a\r\n");
    }
}
