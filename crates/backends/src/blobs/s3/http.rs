//! How requests travel: connections, how long nobody may say anything, and what the other side refuses.
//!
//! `object_store` asks for a client; this one is made of what docmill has for its own sockets already, so that there
//! is one HTTP and one TLS stack. A refusal becomes an error here that keeps the server's own code, which
//! `failure` understands.

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector as TcpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientOptions, Result};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};

/// Requests under way at once. More would not go faster, and each has a connection and a part in memory.
const AT_ONCE: usize = 64;

/// A connection that sends less than this in a second counts as broken.
const SLOWEST_BYTES: u64 = 256 * 1024;

/// The words of a refusal are short; whoever sends more is no S3 server.
const REFUSAL_BYTES: usize = 64 * 1024;

/// Servers close connections that are idle for longer.
const IDLE: Duration = Duration::from_secs(15);

/// How long the network may do nothing.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until an answer begins, once everything was sent, and between any two pieces of it.
    pub silence: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), silence: Duration::from_secs(20) }
    }
}

/// Makes clients; all of a kind share their connections.
#[derive(Debug)]
pub(super) struct Connector {
    timing: Timing,
    at_once: Arc<Semaphore>,
    plain: HttpClient,
    /// Made when first asked for: it reads the machine's certificates, which plain connections do without.
    tls: Mutex<Option<HttpClient>>,
}

impl Connector {
    pub(super) fn new(timing: Timing) -> Self {
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(tcp(timing));
        let plain = HttpClient::new(Transport { client, timing, at_once: Arc::clone(&at_once) });
        Self { timing, at_once, plain, tls: Mutex::new(None) }
    }

    /// The client for an address.
    pub(super) fn client(&self, plain: bool) -> std::io::Result<HttpClient> {
        if plain {
            return Ok(self.plain.clone());
        }
        let mut made = self.tls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*made {
            return Ok(client.clone());
        }
        let mut tcp = tcp(self.timing);
        tcp.enforce_http(false);
        let connector = HttpsConnectorBuilder::new().with_native_roots()?.https_only().enable_http1();
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector.wrap_connector(tcp));
        let (timing, at_once) = (self.timing, Arc::clone(&self.at_once));
        Ok(made.insert(HttpClient::new(Transport { client, timing, at_once })).clone())
    }
}

fn tcp(timing: Timing) -> TcpConnector {
    let mut tcp = TcpConnector::new();
    tcp.set_connect_timeout(Some(timing.connect));
    tcp.set_nodelay(true);
    tcp
}

/// Handed to `object_store`, which wants to own one.
#[derive(Debug, Clone)]
pub(super) struct Shared(pub(super) Arc<Connector>);

impl HttpConnector for Shared {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        self.0.client(plain).map_err(|e| object_store::Error::Generic { store: "S3", source: Box::new(e) })
    }
}

/// A client over connections of the kind `C`.
struct Transport<C> {
    client: Client<C, HttpRequestBody>,
    timing: Timing,
    at_once: Arc<Semaphore>,
}

impl<C> fmt::Debug for Transport<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("timing", &self.timing).finish_non_exhaustive()
    }
}

#[async_trait]
impl<C: Connect + Clone + Send + Sync + 'static> HttpService for Transport<C> {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let broken = |source: Box<dyn StdError + Send + Sync>| NoAnswer::broken(&host, source.as_ref());
        let permit = Arc::clone(&self.at_once).acquire_owned().await.map_err(|e| broken(Box::new(e)))?;
        let sending = Duration::from_secs(request.body().content_length() as u64 / SLOWEST_BYTES);
        let answer = tokio::time::timeout(self.timing.silence + sending, self.client.request(request)).await;
        let answer = match answer {
            Err(_elapsed) => return Err(NoAnswer::silent(&host, self.timing.silence + sending).into()),
            Ok(Err(e)) if e.is_connect() => return Err(NoAnswer::unreachable(&host, &e).into()),
            Ok(Err(e)) => return Err(broken(Box::new(e)).into()),
            Ok(Ok(answer)) => answer,
        };
        let (parts, incoming) = answer.into_parts();
        let silence = self.timing.silence;
        let deadline = Box::pin(tokio::time::sleep(silence));
        let body = Answer { incoming, host: host.clone(), silence, deadline, _permit: permit };
        if parts.status.is_success() {
            return Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)));
        }
        let words = Limited::new(body, REFUSAL_BYTES).collect().await.map_err(broken)?;
        Err(Refusal::new(host, parts.status.as_u16(), &words.to_bytes()).into())
    }
}

/// The body of an answer, which must not fall silent.
struct Answer {
    incoming: Incoming,
    host: String,
    silence: Duration,
    deadline: Pin<Box<Sleep>>,
    /// Held until the last byte: a connection is in use so long.
    _permit: OwnedSemaphorePermit,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, HttpError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.incoming).poll_frame(cx) {
            this.deadline.as_mut().reset(Instant::now() + this.silence);
            return Poll::Ready(frame.map(|f| f.map_err(|e| NoAnswer::broken(&this.host, &e).into())));
        }
        ready!(this.deadline.as_mut().poll(cx));
        Poll::Ready(Some(Err(NoAnswer::silent(&this.host, this.silence).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// The other side did not answer, or not to the end.
#[derive(Clone, Debug)]
pub(super) struct NoAnswer {
    pub(super) host: String,
    /// Whether there was no connection at all.
    pub(super) unreachable: bool,
    words: String,
}

impl NoAnswer {
    fn unreachable(host: &str, error: &(dyn StdError + 'static)) -> Self {
        let words = format!("cannot connect to {host}: {}", innermost(error));
        Self { host: host.to_owned(), unreachable: true, words }
    }

    fn silent(host: &str, silence: Duration) -> Self {
        let words = format!("{host} said nothing for {} seconds", silence.as_secs());
        Self { host: host.to_owned(), unreachable: false, words }
    }

    fn broken(host: &str, error: &(dyn StdError + 'static)) -> Self {
        let words = format!("the connection to {host} broke: {}", innermost(error));
        Self { host: host.to_owned(), unreachable: false, words }
    }
}

/// What the causes come down to; the words around it repeat each other.
fn innermost<'e>(mut error: &'e (dyn StdError + 'static)) -> &'e (dyn StdError + 'static) {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl StdError for NoAnswer {}

impl From<NoAnswer> for HttpError {
    fn from(error: NoAnswer) -> Self {
        Self::new(HttpErrorKind::Unknown, error)
    }
}

/// The other side answered that it will not.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) host: String,
    pub(super) status: u16,
    /// What S3 calls it, for instance `NoSuchBucket`; empty if nothing was said.
    pub(super) code: String,
    message: String,
}

/// How S3 writes a refusal down.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RefusalXml {
    code: String,
    #[serde(default)]
    message: String,
}

impl Refusal {
    /// Reads what came with a status; an answer to HEAD has no words, and a proxy's are not XML.
    pub(super) fn new(host: String, status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let (code, message) = match quick_xml::de::from_str::<RefusalXml>(text.trim_start()) {
            Ok(RefusalXml { code, message }) => (code, message),
            Err(_other_words) => (String::new(), String::new()),
        };
        Self { host, status, code, message }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answered {}", self.host, self.status)?;
        if !self.code.is_empty() {
            write!(f, " {}", docmill_core::text::shown(&self.code))?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", docmill_core::text::shown(&self.message))?;
        }
        Ok(())
    }
}

impl StdError for Refusal {}

impl From<Refusal> for HttpError {
    fn from(error: Refusal) -> Self {
        Self::new(HttpErrorKind::Unknown, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_keeps_the_servers_own_code() {
        let xml =
            b"<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>gone</Message><X/></Error>";
        let refusal = Refusal::new("h:1".into(), 404, xml);
        assert_eq!((refusal.code.as_str(), refusal.status), ("NoSuchBucket", 404));
        assert_eq!(refusal.to_string(), "h:1 answered 404 NoSuchBucket: gone");
        for words in [&b""[..], b"<html>Bad Gateway</html>", b"\xff\xfe", b"<Error></Error>"] {
            assert_eq!(Refusal::new("h".into(), 502, words).to_string(), "h answered 502");
        }
    }
}
