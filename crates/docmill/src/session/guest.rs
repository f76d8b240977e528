//! The way to the owner: HTTP/1.1 over its Unix socket.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use docmill_core::call::Call;
use docmill_core::config::Settings;
use docmill_core::error::ErrorNote;
use docmill_core::limits::Limits;
use docmill_core::picture::PictureSize;
use docmill_core::ports::store::Received;
use docmill_core::{Error, ErrorKind, Result};
use docmill_pipeline::Offer;
use docmill_server::control::{CallRequest, TENANT_HEADER};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, Response, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixStream;

use super::socket;
use super::upload::{self, Large, Packed};

/// The body of a request.
pub(super) type Body = BoxBody<Bytes, io::Error>;

/// A file that changes while it is sent is sent so many times.
const TRIES: usize = 3;

/// An answer longer than this is a mistake.
const MAX_ANSWER_BYTES: usize = 1 << 30;

/// A connection for each request at once; idle ones are used again.
pub(crate) struct Guest {
    data: PathBuf,
    tenant: String,
    limits: Limits,
    idle: Mutex<Vec<SendRequest<Body>>>,
    /// The answer that says that the owner counts on us; dropping it says goodbye.
    stay: Mutex<Option<Response<Incoming>>>,
}

/// The bytes of a document, as they arrive.
pub(crate) struct Download {
    body: Incoming,
}

impl Download {
    /// The next piece.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|e| lost(e, "while it sent a document"))?;
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

impl Guest {
    /// Becomes a guest: the owner stays until this is dropped.
    pub(super) async fn new(settings: &Arc<Settings>, stream: UnixStream) -> Result<Self> {
        let guest = Self {
            data: settings.data.clone(),
            tenant: settings.tenant.clone(),
            limits: settings.limits.clone(),
            idle: Mutex::default(),
            stay: Mutex::default(),
        };
        let connection = handshake(stream).await?;
        guest.give_back(connection);
        guest.stay().await?;
        Ok(guest)
    }

    pub(super) async fn call(&self, call: Call) -> Result<Value> {
        let request = CallRequest { tenant: self.tenant.clone(), call };
        let body = serde_json::to_vec(&request)
            .map_err(|e| Error::bug("cannot write a call as JSON").with_source(e))?;
        let request = Request::builder()
            .method(Method::POST)
            .uri("/call")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::HOST, "docmill");
        let request = request.body(whole(body.into())).map_err(malformed)?;
        let (connection, response) = self.send(request).await?;
        let answer = self.finish(connection, response).await?;
        serde_json::from_slice(&answer)
            .map_err(|e| Error::bug("the owner's answer is not JSON").with_source(e))
    }

    pub(super) async fn receive(&self, offers: Vec<Offer>) -> Result<Vec<Received>> {
        let mut answers: Vec<Option<Received>> = vec![None; offers.len()];
        let Packed { together, alone } = upload::pack(offers)?;
        if let Some((places, body)) = together {
            let received = self.bring(body, places.len()).await?;
            for (place, received) in places.into_iter().zip(received) {
                if let Some(answer) = answers.get_mut(place) {
                    *answer = Some(received);
                }
            }
        }
        for (place, large) in alone {
            if let Some(answer) = answers.get_mut(place) {
                *answer = self.bring_large(&large).await?.pop();
            }
        }
        answers.into_iter().collect::<Option<_>>().ok_or_else(|| Error::bug("an item was not answered"))
    }

    /// A large file: sent again if it changed on the way; what is its own fault makes it fail, and nothing else.
    async fn bring_large(&self, large: &Large) -> Result<Vec<Received>> {
        for _ in 0..TRIES {
            let state = match large.state().and_then(|state| large.check(&self.limits, state).map(|()| state))
            {
                Ok(state) => state,
                Err(error) => return self.bring(large.refused(&error)?, 1).await,
            };
            match self.bring(large.body(state)?, 1).await {
                Ok(received) => return Ok(received),
                // Whatever the owner made of a request that broke off: the file is why.
                Err(_) if large.state().is_ok_and(|now| now != state) => {}
                Err(error) if error.kind() == ErrorKind::LimitExceeded => {
                    return self.bring(large.refused(&error)?, 1).await;
                }
                Err(error) => return Err(error),
            }
        }
        self.bring(large.refused(&large.changed(TRIES))?, 1).await
    }

    /// One request with so many items.
    async fn bring(&self, body: Body, items: usize) -> Result<Vec<Received>> {
        let tenant = header::HeaderValue::from_bytes(self.tenant.as_bytes()).map_err(malformed)?;
        let request = Request::builder()
            .method(Method::POST)
            .uri("/receive")
            .header(TENANT_HEADER, tenant)
            .header(header::HOST, "docmill")
            .body(body)
            .map_err(malformed)?;
        let (connection, response) = self.send(request).await?;
        let answer = self.finish(connection, response).await?;
        let received: Vec<Received> = serde_json::from_slice(&answer)
            .map_err(|e| Error::bug("the owner's answer is not a list of receipts").with_source(e))?;
        if received.len() == items {
            return Ok(received);
        }
        Err(Error::bug(format!("sent {items} items, {} were answered", received.len())))
    }

    pub(super) async fn original(&self, id: &str) -> Result<Download> {
        self.download("original", id, "").await
    }

    pub(super) async fn page(&self, id: &str, number: u32, size: PictureSize) -> Result<Download> {
        self.download("page", id, &format!("/{number}/{}", size.width)).await
    }

    async fn download(&self, what: &str, id: &str, rest: &str) -> Result<Download> {
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if !plain(id) || id.is_empty() {
            return Err(Error::not_found(format!("there is no document `{id}`")));
        }
        let uri = format!("/{what}/{}/{id}{rest}", escape(&self.tenant));
        let request =
            Request::builder().uri(uri).header(header::HOST, "docmill").body(empty()).map_err(malformed)?;
        let (connection, response) = self.send(request).await?;
        if response.status().is_success() {
            return Ok(Download { body: response.into_body() });
        }
        match self.finish(connection, response).await {
            Err(error) => Err(error),
            Ok(_) => Err(Error::bug("a refusal without a reason")),
        }
    }

    /// Tells the owner that this process needs it until it is dropped. An owner that is about to end refuses.
    async fn stay(&self) -> Result<()> {
        let (connection, response) = self.send(bare(Method::GET, "/stay")?).await?;
        if !response.status().is_success() {
            return self.finish(connection, response).await.map(|_| ());
        }
        *self.stayed() = Some(response);
        Ok(())
    }

    /// The owner need not wait for this process any more.
    pub(super) fn may_be_left(&self) {
        *self.stayed() = None;
    }

    /// Has the owner do the work that is queued, for as long as this process needs the owner.
    pub(super) async fn need_engine(&self) -> Result<()> {
        let (connection, response) = self.send(bare(Method::POST, "/engine")?).await?;
        self.finish(connection, response).await.map(|_| ())
    }

    fn stayed(&self) -> MutexGuard<'_, Option<Response<Incoming>>> {
        self.stay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, request: Request<Body>) -> Result<(SendRequest<Body>, Response<Incoming>)> {
        let mut connection = self.connection().await?;
        let response = connection.send_request(request).await.map_err(|e| lost(e, "before it answered"))?;
        Ok((connection, response))
    }

    async fn connection(&self) -> Result<SendRequest<Body>> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut idle) = idle else { break };
            if idle.ready().await.is_ok() {
                return Ok(idle);
            }
        }
        let stream = socket::connect(&self.data).await.map_err(|e| lost(e, "before it was asked"))?;
        handshake(stream).await
    }

    fn give_back(&self, connection: SendRequest<Body>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// Reads the whole answer; a refusal becomes the error that it carries.
    async fn finish(&self, connection: SendRequest<Body>, response: Response<Incoming>) -> Result<Bytes> {
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|e| lost(e, "in the middle of its answer"))?.to_bytes();
        self.give_back(connection);
        if status.is_success() {
            return Ok(body);
        }
        let note: ErrorNote = serde_json::from_slice(&body).map_err(|e| {
            Error::bug(format!("the owner refused with status {status}, without a reason")).with_source(e)
        })?;
        Err(note.into())
    }
}

async fn handshake(stream: UnixStream) -> Result<SendRequest<Body>> {
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|e| lost(e, "before it was asked"))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection to the owner ended");
        }
    });
    Ok(sender)
}

pub(super) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed()
}

/// A request that says all in its name.
fn bare(method: Method, uri: &str) -> Result<Request<Body>> {
    Request::builder()
        .method(method)
        .uri(uri)
        .header(header::HOST, "docmill")
        .body(empty())
        .map_err(malformed)
}

fn empty() -> Body {
    whole(Bytes::new())
}

/// A name as one part of a path.
fn escape(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    text.bytes().map(|b| if plain(b) { (b as char).to_string() } else { format!("%{b:02X}") }).collect()
}

fn lost(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>, when: &str) -> Error {
    Error::unavailable(format!("the docmill process that owns the data directory went away {when}"))
        .with_source(cause)
        .with_hint("run the command again; nothing that was answered is lost")
}

fn malformed(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::invalid_request("cannot form a request to the owner of the data directory").with_source(cause)
}
