//! `multipart/form-data` (RFC 7578) as it arrives: a part at a time, a piece at a time, never a whole part in memory.
//!
//! The sender chooses everything in it, so everything has a limit, counted on real bytes: what comes before the first
//! part, the heads of parts, and how many there are. How long a part may be is for its reader to say.

use bytes::{Buf as _, Bytes, BytesMut};
use docmill_core::{Error, Result};
use futures::{Stream, StreamExt as _};
use memchr::memmem;

/// What may stand before the first part.
const MAX_PREAMBLE_BYTES: usize = 8 << 10;
/// The headers of one part.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Longer than any browser's or library's; the standard says 70.
const MAX_BOUNDARY_BYTES: usize = 200;

/// The parts of a body.
pub(super) struct Parts<S> {
    body: S,
    buffer: BytesMut,
    /// What stands between parts: a line break, two hyphens and the boundary.
    delimiter: Vec<u8>,
    place: Place,
    at_most: usize,
    begun: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Preamble,
    /// In the content of a part.
    Inside,
    /// Behind a delimiter.
    Between,
    End,
}

/// What a part says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PartHead {
    /// Of the field.
    pub(super) name: String,
    /// As the sender says, if it is a file.
    pub(super) file_name: Option<String>,
}

impl<S: Stream<Item = Result<Bytes>> + Unpin + Send> Parts<S> {
    /// The parts of `body`, whose boundary its content type names.
    pub(super) fn new(content_type: &str, body: S, at_most: usize) -> Result<Self> {
        let boundary = boundary(content_type)?;
        // The first delimiter may stand at the very beginning, without the line break before it.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        Ok(Self { body, buffer, delimiter, place: Place::Preamble, at_most, begun: 0 })
    }

    /// The next part, or none after the last. What is left of the one before is skipped.
    pub(super) async fn next(&mut self) -> Result<Option<PartHead>> {
        let mut skipped = 0;
        while matches!(self.place, Place::Preamble | Place::Inside) {
            let before = self.place;
            let piece = self.piece().await?;
            skipped += piece.map_or(0, |piece| piece.len());
            if before == Place::Preamble && skipped > MAX_PREAMBLE_BYTES {
                return Err(malformed(&format!(
                    "its first part does not begin within {MAX_PREAMBLE_BYTES} bytes"
                )));
            }
        }
        if self.place == Place::End {
            return Ok(None);
        }
        while self.buffer.len() < 2 {
            self.fill_or("it ends without its last delimiter").await?;
        }
        if self.buffer.starts_with(b"--") {
            self.place = Place::End;
            return Ok(None);
        }
        self.begun += 1;
        if self.begun > self.at_most {
            return Err(Error::limit_exceeded(format!(
                "the request has more than the {} parts it may have",
                self.at_most
            ))
            .with_hint("send the rest in further requests"));
        }
        let head = self.head().await?;
        self.place = Place::Inside;
        read_head(&head)
    }

    /// Some bytes of the part that is being read, or none at its end.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>> {
        if matches!(self.place, Place::Between | Place::End) {
            return Ok(None);
        }
        loop {
            match memmem::find(&self.buffer, &self.delimiter) {
                Some(0) => {
                    self.buffer.advance(self.delimiter.len());
                    self.place = Place::Between;
                    return Ok(None);
                }
                Some(at) => return Ok(Some(self.buffer.split_to(at).freeze())),
                None => {
                    // Its last bytes may be the beginning of a delimiter.
                    let sure = self.buffer.len().saturating_sub(self.delimiter.len() - 1);
                    if sure > 0 {
                        return Ok(Some(self.buffer.split_to(sure).freeze()));
                    }
                    self.fill_or("it breaks off inside a part").await?;
                }
            }
        }
    }

    /// The headers of a part, from the line break behind its delimiter to the empty line.
    async fn head(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(at) = memmem::find(&self.buffer, b"\r\n\r\n") {
                let head = self.buffer.split_to(at);
                self.buffer.advance(4);
                // The delimiter's line may have blanks at its end.
                let lines = head.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(head.len());
                return match head.get(lines..) {
                    Some(rest) if rest.is_empty() || rest.starts_with(b"\r\n") => Ok(rest.to_vec()),
                    _ => Err(malformed("something stands behind a delimiter")),
                };
            }
            if self.buffer.len() > MAX_HEAD_BYTES {
                return Err(malformed(&format!("the head of a part has more than {MAX_HEAD_BYTES} bytes")));
            }
            self.fill_or("it breaks off inside the head of a part").await?;
        }
    }

    async fn fill_or(&mut self, broken: &str) -> Result<()> {
        match self.body.next().await {
            Some(Ok(bytes)) => {
                self.buffer.extend_from_slice(&bytes);
                Ok(())
            }
            Some(Err(error)) => Err(error),
            None => Err(malformed(broken)),
        }
    }
}

fn malformed(why: &str) -> Error {
    Error::invalid_request(format!("the body is not multipart/form-data: {why}"))
}

fn boundary(content_type: &str) -> Result<String> {
    let (kind, rest) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return Err(Error::invalid_request(format!(
            "the body is `{}`, and not `multipart/form-data`",
            docmill_core::text::shown(kind.trim())
        ))
        .with_hint("send the file as a form does: `curl -F file=@x.pdf …`"));
    }
    let boundary = parameter(rest.as_bytes(), b"boundary").unwrap_or_default();
    let boundary = String::from_utf8_lossy(&boundary).into_owned();
    if boundary.is_empty() || boundary.len() > MAX_BOUNDARY_BYTES {
        return Err(malformed(&format!(
            "its content type names no boundary of 1 to {MAX_BOUNDARY_BYTES} characters"
        )));
    }
    Ok(boundary)
}

fn read_head(head: &[u8]) -> Result<Option<PartHead>> {
    for line in head.split(|b| *b == b'\n') {
        let line = line.trim_ascii();
        let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
        let (field, value) = (&line[..colon], &line[colon + 1..]);
        if !field.trim_ascii().eq_ignore_ascii_case(b"content-disposition") {
            continue;
        }
        let text =
            |name: &[u8]| parameter(value, name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let name = text(b"name").ok_or_else(|| malformed("a part has no name"))?;
        let extended = parameter(value, b"filename*").and_then(|value| extended(&value));
        return Ok(Some(PartHead { name, file_name: extended.or_else(|| text(b"filename")) }));
    }
    Err(malformed("a part has no `Content-Disposition`"))
}

/// The value of a parameter, in quotes or not. Inside quotes a backslash protects a quote, as old programs write it, and
/// stands for itself before anything else, as in a path of Windows; `%22` is a quote, as browsers write it.
fn parameter(value: &[u8], wanted: &[u8]) -> Option<Vec<u8>> {
    let mut rest = value;
    while let Some(start) = rest.iter().position(|b| !matches!(b, b';' | b' ' | b'\t')) {
        rest = &rest[start..];
        let end = rest.iter().position(|b| matches!(b, b'=' | b';')).unwrap_or(rest.len());
        let name = rest[..end].trim_ascii();
        rest = &rest[end..];
        let Some(after) = rest.strip_prefix(b"=") else { continue };
        let (found, after) = if let Some(quoted) = after.strip_prefix(b"\"") {
            unquoted(quoted)
        } else {
            let end = after.iter().position(|b| *b == b';').unwrap_or(after.len());
            (after[..end].trim_ascii().to_vec(), &after[end..])
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(found);
        }
        rest = after;
    }
    None
}

fn unquoted(quoted: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = quoted.get(at) {
        match byte {
            b'"' => return (out, &quoted[at + 1..]),
            b'\\' if quoted.get(at + 1) == Some(&b'"') => {
                out.push(b'"');
                at += 2;
            }
            b'%' if quoted.get(at + 1..at + 3) == Some(b"22") => {
                out.push(b'"');
                at += 3;
            }
            other => {
                out.push(*other);
                at += 1;
            }
        }
    }
    (out, &[])
}

/// `UTF-8''na%C3%AFve.pdf`
fn extended(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    let (charset, rest) = text.split_once('\'')?;
    let (_, coded) = rest.split_once('\'')?;
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let mut out = Vec::new();
    let mut bytes = coded.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let pair = [bytes.next()?, bytes.next()?];
            out.push(u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=XX";

    type Read = Vec<(PartHead, Vec<u8>)>;

    async fn read_cut(body: &[u8], cut: usize) -> Result<Read> {
        let pieces: Vec<Result<Bytes>> = body.chunks(cut).map(|c| Ok(Bytes::copy_from_slice(c))).collect();
        let mut parts = Parts::new(TYPE, futures::stream::iter(pieces), 8)?;
        let mut out = Vec::new();
        while let Some(head) = parts.next().await? {
            let mut content = Vec::new();
            while let Some(piece) = parts.piece().await? {
                assert!(!piece.is_empty(), "an empty piece");
                content.extend_from_slice(&piece);
            }
            out.push((head, content));
        }
        Ok(out)
    }

    fn part(name: &str, file_name: Option<&str>, content: &[u8]) -> (PartHead, Vec<u8>) {
        (PartHead { name: name.into(), file_name: file_name.map(Into::into) }, content.to_vec())
    }

    #[tokio::test]
    async fn parts_are_the_same_however_the_bytes_are_cut() {
        let body = b"preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
            Content-Type: text/plain\r\n\r\nline\r\n--X\r\n--XY\r\n\r\n--XX  \r\ncontent-disposition:form-data;name=b\r\n\r\n\
            \r\n--XX\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\nthree\r\n--XX--\r\nepilogue";
        let expected = vec![
            part("file", Some("a.txt"), b"line\r\n--X\r\n--XY\r\n"),
            part("b", None, b""),
            part("c", None, b"three"),
        ];
        for cut in 1..=body.len() {
            assert_eq!(read_cut(body, cut).await.unwrap(), expected, "cut into pieces of {cut}");
        }
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_refused_wherever_it_does() {
        let body = b"--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\ncontent\r\n--XX--";
        for length in 0..body.len() {
            let error = read_cut(&body[..length], 7).await;
            assert!(error.is_err(), "{length} bytes: {error:?}");
        }
        assert_eq!(read_cut(body, 7).await.unwrap(), [part("file", None, b"content")]);
    }

    #[tokio::test]
    async fn everything_has_a_limit() {
        let long = vec![b'x'; 40 << 10];
        for (body, says) in [
            (long.clone(), "first part"),
            ([b"--XX\r\n", long.as_slice()].concat(), "head of a part"),
            (b"--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n".repeat(9), "8 parts"),
            (b"--XX\r\nContent-Type: text/plain\r\n\r\n\r\n--XX--".to_vec(), "Content-Disposition"),
            (b"--XX\r\nContent-Disposition: form-data\r\n\r\n\r\n--XX--".to_vec(), "no name"),
            (b"--XXY\r\n\r\n".to_vec(), "behind a delimiter"),
        ] {
            let error = read_cut(&body, 4096).await.unwrap_err();
            assert!(error.message().contains(says), "{error:?}");
        }
    }

    #[test]
    fn content_type_must_be_a_form_with_a_boundary() {
        assert_eq!(boundary("multipart/form-data; charset=x; boundary=\"a b\"").unwrap(), "a b");
        assert_eq!(boundary("Multipart/Form-Data;BOUNDARY=ab").unwrap(), "ab");
        for bad in ["", "application/json", "multipart/form-data", "multipart/form-data; boundary="] {
            assert_eq!(boundary(bad).unwrap_err().kind(), ErrorKind::InvalidRequest, "{bad}");
        }
    }

    #[test]
    fn file_names_are_read_as_browsers_and_curl_write_them() {
        let name = |value: &str| {
            let head = format!("\r\nContent-Disposition: form-data; name=\"f\"; {value}");
            read_head(head.as_bytes()).unwrap().unwrap().file_name
        };
        assert_eq!(name("filename=\"März 1.pdf\"").as_deref(), Some("März 1.pdf"));
        assert_eq!(name("filename=\"a;b=c.pdf\"").as_deref(), Some("a;b=c.pdf"));
        assert_eq!(name("filename=\"say %22hi%22\"").as_deref(), Some("say \"hi\""));
        assert_eq!(name("filename=\"say \\\"hi\\\"\"").as_deref(), Some("say \"hi\""));
        assert_eq!(name(r#"filename="C:\x\a.pdf""#).as_deref(), Some(r"C:\x\a.pdf"));
        assert_eq!(name("filename=plain.pdf; x=y").as_deref(), Some("plain.pdf"));
        assert_eq!(name("filename=\"x\"; filename*=UTF-8''na%C3%AFve.pdf").as_deref(), Some("naïve.pdf"));
        assert_eq!(name("filename*=latin1''%ff; filename=\"x\"").as_deref(), Some("x"));
        assert_eq!(name("x=y"), None);
    }
}
