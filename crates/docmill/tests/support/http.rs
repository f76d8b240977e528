//! Plain requests, written out by hand: every header is the test's to choose.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// One request as raw text, so that the `Host` header is ours to choose.
pub(crate) fn get(address: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A server, and who asks it.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: String,
    pub(crate) key: Option<String>,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A file of a form.
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    pub(crate) file_name: Option<&'a str>,
    pub(crate) content: &'a [u8],
}

impl<'a> Part<'a> {
    pub(crate) fn file(file_name: &'a str, content: &'a [u8]) -> Self {
        Self { name: "file", file_name: Some(file_name), content }
    }

    pub(crate) fn field(name: &'a str, value: &'a str) -> Self {
        Self { name, file_name: None, content: value.as_bytes() }
    }
}

impl Client {
    pub(crate) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), key: None }
    }

    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], &[])
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.json("POST", path, body)
    }

    pub(crate) fn json(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.send(method, path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    pub(crate) fn upload(&self, path: &str, headers: &[(&str, &str)], parts: &[Part<'_>]) -> Reply {
        let mut headers = headers.to_vec();
        headers.push(("Content-Type", "multipart/form-data; boundary=oOo"));
        self.send("POST", path, &headers, &form(parts))
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = self.begin(method, path, headers, body.len());
        stream.write_all(body).unwrap();
        Reply::read(stream, method == "HEAD")
    }

    /// Sends the head of a request; the body is the caller's to send, or not.
    pub(crate) fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        length: usize,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        if let Some(key) = &self.key {
            head += &format!("Authorization: Bearer {key}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        write!(stream, "{head}\r\n").unwrap();
        stream
    }
}

/// A form as browsers send it.
pub(crate) fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        write!(out, "--oOo\r\nContent-Disposition: form-data; name=\"{}\"", part.name).unwrap();
        if let Some(file_name) = part.file_name {
            write!(out, "; filename=\"{file_name}\"\r\nContent-Type: application/octet-stream").unwrap();
        }
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(part.content);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"--oOo--\r\n");
    out
}

impl Reply {
    /// Reads an answer to its end.
    pub(crate) fn read(stream: TcpStream, without_body: bool) -> Self {
        let mut from = BufReader::new(stream);
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        assert!(status.is_some(), "no answer: {line:?}");
        let status = status.unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            from.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let mut body = Vec::new();
        if !without_body {
            from.read_to_end(&mut body).unwrap();
        }
        if headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
            body = unchunked(&body);
        }
        Self { status, headers, body }
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.headers, self.text());
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let parsed = serde_json::from_slice(&self.body);
        assert!(parsed.is_ok(), "not JSON: {}", self.text());
        parsed.unwrap()
    }

    /// Insists on a problem with this status and code, in its proper form.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        let reply = self.expect(status);
        assert_eq!(reply.headers["content-type"], "application/problem+json");
        let problem = reply.json();
        assert_eq!((&problem["status"], &problem["code"]), (&status.into(), &code.into()), "{problem}");
        assert_eq!(problem["request_id"].as_str(), Some(reply.headers["x-request-id"].as_str()), "{problem}");
        assert!(problem["detail"].is_string() && problem["title"].is_string(), "{problem}");
        problem
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = body.windows(2).position(|w| w == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap().trim(), 16).unwrap();
        let start = end + 2;
        out.extend_from_slice(&body[start..start + length]);
        body = &body[start + length + 2..];
        if length == 0 {
            break;
        }
    }
    out
}
