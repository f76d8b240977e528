//! How questions travel: over the HTTP and TLS that docmill has for its other servers. One POST, one reply in memory.

use std::error::Error as StdError;
use std::time::Duration;

use bytes::Bytes;
use docmill_core::{Error, Result};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::remote::Reply;

/// Until a connection stands.
const CONNECT: Duration = Duration::from_secs(10);

/// Servers close connections that are idle for longer.
const IDLE: Duration = Duration::from_secs(15);

/// An answer is short; whoever sends more is no model.
const REPLY_BYTES: usize = 4 << 20;

/// A client; connections are kept and shared.
pub(super) enum Http {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Tls(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Http {
    /// For an address. The machine's certificates are read only where they are needed.
    pub(super) fn new(base: &str) -> Result<Self> {
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(CONNECT));
        tcp.set_nodelay(true);
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
        if base.starts_with("http://") {
            return Ok(Self::Plain(builder.build(tcp)));
        }
        tcp.enforce_http(false);
        let tls = HttpsConnectorBuilder::new().with_native_roots().map_err(|e| {
            Error::missing_dependency(
                "cannot read the certificates of this machine, which the language model needs",
            )
            .with_source(e)
            .with_hint("install the package `ca-certificates`")
        })?;
        Ok(Self::Tls(builder.build(tls.https_only().enable_http1().wrap_connector(tcp))))
    }

    /// Sends, and waits for everything.
    pub(super) async fn post(
        &self,
        url: &str,
        headers: Vec<(&'static str, String)>,
        body: String,
    ) -> Result<Reply> {
        let unfit = |what: &str| {
            Error::invalid_config(format!("{what} cannot be sent")).with_hint("look at `llm.key`")
        };
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = url
            .parse()
            .map_err(|e| Error::invalid_config("`llm.url` and `llm.model` make no address").with_source(e))?;
        let known = request.headers_mut();
        known.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        known.insert(USER_AGENT, HeaderValue::from_static("docmill"));
        for (name, value) in headers {
            // The cause is left out: it may quote the key.
            let mut value = HeaderValue::from_str(&value).map_err(|_quotes| unfit(name))?;
            value.set_sensitive(true);
            known.insert(HeaderName::from_static(name), value);
        }
        let sent = match self {
            Self::Plain(client) => client.request(request).await,
            Self::Tls(client) => client.request(request).await,
        };
        let reply = sent.map_err(|e| {
            let what = if e.is_connect() { "cannot connect to" } else { "lost the connection to" };
            Error::unavailable(format!("{what} the language model: {}", innermost(&e)))
        })?;
        let status = reply.status().as_u16();
        let retry_after =
            reply.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(Into::into);
        let body = Limited::new(reply.into_body(), REPLY_BYTES).collect().await.map_err(|e| {
            Error::unavailable(format!(
                "the reply of the language model broke off: {}",
                innermost(e.as_ref())
            ))
        })?;
        Ok(Reply { status, retry_after, body: body.to_bytes().to_vec() })
    }
}

/// What the causes come down to; the words around it repeat each other.
fn innermost<'e>(mut error: &'e (dyn StdError + 'static)) -> &'e (dyn StdError + 'static) {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error
}
