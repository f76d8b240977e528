//! Spans over OTLP/HTTP. The SDK gathers them into batches on a thread of its own and drops what it cannot deliver: no
//! document waits for a collector.
//!
//! The trace of an ingestion has the ingestion's id, so that one can be found by the other, and whether it is traced
//! follows from that id too: every process that works on it decides alike.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use docmill_core::config::OtelSettings;
use docmill_core::ports::Spans;
use docmill_core::ports::spans::Span;
use docmill_core::{Error, Result};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use opentelemetry::trace::{SpanContext, SpanKind, Status, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, Key, KeyValue, SpanId, TraceId};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor as _};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

/// The end of the address of a collector.
const PATH: &str = "/v1/traces";

/// A collector that does not answer within this time is not there.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What waits at the end has so long to be delivered.
const LAST_DELIVERY: Duration = Duration::from_secs(3);

/// No collector has more to say.
const MAX_ANSWER: usize = 1 << 20;

/// Spans are sampled by the last bits of the trace's id, which are random (or a hash) in every ingestion's id.
const RANDOM_BITS: u32 = 56;

struct Otlp {
    processor: Arc<BatchSpanProcessor>,
    scope: InstrumentationScope,
    /// Traces whose random bits are below it are delivered.
    below: u64,
}

/// Begins to deliver to a collector. Must be called on the runtime.
pub(super) fn open(settings: &OtelSettings) -> Result<Arc<dyn Spans>> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(address(&settings.endpoint))
        .with_http_client(Plain { runtime: Handle::current() })
        .build()
        .map_err(|e| {
            Error::invalid_config("`otel.endpoint` is not the address of a collector")
                .with_source(e)
                .with_hint("write for instance `http://127.0.0.1:4318`")
        })?;
    let mut processor = BatchSpanProcessor::builder(exporter).build();
    processor.set_resource(&resource());
    Ok(Arc::new(Otlp {
        processor: Arc::new(processor),
        scope: InstrumentationScope::builder("docmill").with_version(env!("CARGO_PKG_VERSION")).build(),
        below: (settings.sample * (1_u64 << RANDOM_BITS) as f64) as u64,
    }))
}

/// The address of the collector's traces.
fn address(endpoint: &str) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    if endpoint.ends_with(PATH) { endpoint.to_owned() } else { format!("{endpoint}{PATH}") }
}

/// Who delivers: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`, which the SDK reads, or else our own name.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let found = Resource::builder().with_attribute(version).build();
    let name = found.get(&Key::new("service.name")).map(|name| name.to_string()).unwrap_or_default();
    if name.is_empty() || name.starts_with("unknown_service") {
        let found = found.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        return Resource::builder_empty().with_attributes(found).with_service_name("docmill").build();
    }
    found
}

#[async_trait]
impl Spans for Otlp {
    fn ended(&self, span: Span) {
        let trace = span.trace.0.as_u128();
        if (trace as u64 & ((1 << RANDOM_BITS) - 1)) >= self.below {
            return;
        }
        let began = SystemTime::UNIX_EPOCH + Duration::from_millis(span.began_at.0.unsigned_abs());
        let mut attributes: Vec<KeyValue> =
            span.attributes.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
        if let Some(kind) = span.error {
            attributes.push(KeyValue::new("error.type", kind.name()));
        }
        self.processor.on_end(SpanData {
            span_context: SpanContext::new(
                TraceId::from_bytes(trace.to_be_bytes()),
                SpanId::from_bytes(span.id.0.to_be_bytes()),
                TraceFlags::SAMPLED,
                false,
                TraceState::NONE,
            ),
            parent_span_id: span.parent.map_or(SpanId::INVALID, |id| SpanId::from_bytes(id.0.to_be_bytes())),
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: span.name.into(),
            start_time: began,
            end_time: began + span.duration,
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: span.error.map_or(Status::Unset, |kind| Status::error(kind.name())),
            instrumentation_scope: self.scope.clone(),
        });
    }

    async fn close(&self) {
        let processor = Arc::clone(&self.processor);
        let closed =
            tokio::task::spawn_blocking(move || processor.shutdown_with_timeout(LAST_DELIVERY)).await;
        match closed {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "some spans were not delivered"),
            Err(error) => tracing::warn!(%error, "some spans were not delivered"),
        }
    }
}

/// Plain HTTP/1.1, a connection for each batch: one every few seconds is not worth keeping. The SDK's thread has no
/// runtime of its own, so requests are sent on ours.
#[derive(Debug)]
struct Plain {
    runtime: Handle,
}

#[async_trait]
impl HttpClient for Plain {
    async fn send_bytes(&self, request: Request<Bytes>) -> std::result::Result<Response<Bytes>, HttpError> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let sending = self.runtime.spawn(async { tokio::time::timeout(TIMEOUT, send(request)).await });
        let answer = match sending.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(late)) => Err(late.into()),
            Err(stopped) => Err(stopped.into()),
        };
        match &answer {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => tracing::warn!(host, status = %response.status(), "the collector refused spans"),
            Err(error) => tracing::warn!(host, %error, "spans could not be delivered"),
        }
        answer
    }
}

async fn send(request: Request<Bytes>) -> std::result::Result<Response<Bytes>, HttpError> {
    let (mut head, body) = request.into_parts();
    let authority = head.uri.authority().ok_or("the address of the collector names no host")?.clone();
    let stream = TcpStream::connect((authority.host(), authority.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection to the collector ended");
        }
    });
    // Whoever is named before an @ is nobody's business but the connection's.
    let named = authority.as_str().rsplit('@').next().unwrap_or_default();
    head.headers.insert(HOST, HeaderValue::from_str(named)?);
    head.uri = head.uri.path_and_query().map_or("/", |path| path.as_str()).parse()?;
    let response = sender.send_request(Request::from_parts(head, Full::new(body))).await?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_gets_its_path_once() {
        for given in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces"] {
            assert_eq!(address(given), "http://c:4318/v1/traces");
        }
        assert_eq!(address("http://c/otlp"), "http://c/otlp/v1/traces");
    }
}
