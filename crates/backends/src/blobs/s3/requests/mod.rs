//! Single requests to the server, each of which may be repeated without harm. `object_store` makes most of them; a
//! few it has no call for are made here with its signature: to end an upload only where nothing is, to copy a part,
//! and to list uploads that never ended.
//!
//! Nothing here is tried twice, and no answer is believed that has another length than it said.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use docmill_core::clock::Timestamp;
use docmill_core::config::CloudVariables;
use docmill_core::id::BlobKey;
use docmill_core::ports::blobs::{BlobInfo, Put};
use docmill_core::{Error, ErrorKind, Result};
use futures::stream::{BoxStream, StreamExt as _};
use hyper::http::request::Builder;
use hyper::{Request, header};
use object_store::aws::{AmazonS3, AwsAuthorizer};
use object_store::client::{HttpClient, HttpRequestBody};
use object_store::list::{PaginatedListOptions, PaginatedListStore as _};
use object_store::multipart::MultipartStore as _;
use object_store::path::Path;
use object_store::{
    ClientOptions, GetOptions, GetRange, ObjectMeta, ObjectStore as _, ObjectStoreExt as _, PutMode,
    PutPayload, RetryConfig,
};
use serde::Deserialize;

use super::super::keys::check_key;
use super::address::Address;
use super::etag::{Etags, Verdict};
use super::failure::failure;
use super::http::{Connector, Shared, Timing};

/// How many blobs a page of a listing has at most; no server gives more.
const PAGE: usize = 1_000;

/// Servers understand no larger numbers in ranges.
pub(super) const FURTHEST: u64 = i64::MAX as u64;

/// Makes requests.
pub(super) struct Requests {
    pub(super) address: Address,
    store: AmazonS3,
    http: HttpClient,
    etags: Etags,
}

/// Content on its way in, and what it belongs to.
pub(super) struct Download {
    /// Length of the whole blob.
    pub(super) bytes: u64,
    pub(super) etag: Option<String>,
    /// All of it, if nothing happens.
    pub(super) body: BoxStream<'static, object_store::Result<Bytes>>,
}

/// One page of a listing.
pub(super) struct Page {
    pub(super) blobs: Vec<BlobInfo>,
    /// How to ask for the next one.
    pub(super) next: Option<String>,
}

/// An upload that was begun and neither ended nor aborted.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Unfinished {
    pub(super) key: String,
    pub(super) upload_id: String,
    pub(super) initiated: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UnfinishedXml {
    #[serde(default)]
    is_truncated: bool,
    #[serde(default)]
    next_key_marker: String,
    #[serde(default)]
    next_upload_id_marker: String,
    #[serde(default)]
    upload: Vec<Unfinished>,
}

#[derive(Deserialize)]
struct CopiedXml {
    #[serde(rename = "ETag")]
    etag: String,
}

impl Requests {
    /// Talks to nobody yet.
    pub(super) fn new(address: Address, variables: &CloudVariables, timing: Timing) -> Result<Self> {
        let connector = Arc::new(Connector::new(timing));
        let http = connector.client(address.is_plain()).map_err(|e| {
            Error::missing_dependency("cannot load the certificates that this machine trusts")
                .with_hint("install the package `ca-certificates`")
                .with_source(e)
        })?;
        let builder = address.identify(variables)?;
        let store = builder
            .with_bucket_name(&address.bucket)
            .with_region(&address.region)
            .with_endpoint(&address.endpoint)
            .with_client_options(ClientOptions::new().with_allow_http(address.is_plain()))
            .with_http_connector(Shared(connector))
            // Patience is the business of `retrying` alone.
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
            // One blob at a time is what the port deletes, and what every server understands.
            .with_disable_bulk_delete(true)
            .build()
            .map_err(|e| {
                Error::invalid_config(format!("{address} cannot be used as it is set up")).with_source(e)
            })?;
        Ok(Self { address, store, http, etags: Etags::default() })
    }

    /// What is known of a blob.
    pub(super) async fn head(&self, key: &str) -> Result<Option<ObjectMeta>> {
        match self.store.head(&Path::from(key)).await.map_err(self.failed("look at", key)) {
            Ok(meta) => Ok(Some(meta)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Begins to read all of a blob.
    pub(super) async fn get(&self, key: &str) -> Result<Download> {
        let got = self.store.get_opts(&Path::from(key), GetOptions::default()).await;
        let got = got.map_err(self.failed("read", key))?;
        let (bytes, etag) = (got.meta.size, got.meta.e_tag.clone());
        Ok(Download { bytes, etag, body: got.into_stream() })
    }

    /// Some bytes of a blob, cut at its end. If an ETag is given, the blob must still be the one it belongs to.
    pub(super) async fn get_range(
        &self,
        key: &str,
        range: Range<u64>,
        etag: Option<String>,
    ) -> Result<Bytes> {
        let range = range.start..range.end.min(FURTHEST);
        let options =
            GetOptions { range: Some(GetRange::Bounded(range)), if_match: etag, ..GetOptions::default() };
        let got = self.store.get_opts(&Path::from(key), options).await.map_err(self.failed("read", key))?;
        let expected = got.range.end - got.range.start;
        self.all(key, got.into_stream(), expected).await
    }

    /// Reads a body to its end, which must come neither too early nor too late.
    pub(super) async fn all(
        &self,
        key: &str,
        mut body: BoxStream<'static, object_store::Result<Bytes>>,
        expected: u64,
    ) -> Result<Bytes> {
        let mut all = BytesMut::new();
        while let Some(piece) = body.next().await {
            let piece = piece.map_err(self.failed("read", key))?;
            if all.is_empty() && piece.len() as u64 == expected {
                return Ok(piece);
            }
            if (all.len() + piece.len()) as u64 > expected {
                return Err(self.wrong_length(key, (all.len() + piece.len()) as u64, expected));
            }
            all.extend_from_slice(&piece);
        }
        if (all.len() as u64) < expected {
            return Err(self.wrong_length(key, all.len() as u64, expected));
        }
        Ok(all.freeze())
    }

    /// Puts a blob where nothing is. What the server then has is compared with what was sent.
    pub(super) async fn put(&self, key: &str, payload: PutPayload) -> Result<Put> {
        let put = self.store.put_opts(&Path::from(key), payload.clone(), PutMode::Create.into()).await;
        match put.map_err(self.failed("put", key)) {
            Ok(done) => {
                self.verify(key, &payload, &done.e_tag.unwrap_or_default()).await?;
                Ok(Put::Created)
            }
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(Put::Existed),
            Err(error) => Err(error),
        }
    }

    /// Sees that the server stored what was sent; if not, it goes again, so that it is never taken for the blob.
    async fn verify(&self, key: &str, payload: &PutPayload, etag: &str) -> Result<()> {
        let verdict = self.etags.judge(payload, etag).await?;
        if verdict == Verdict::Same {
            return Ok(());
        }
        let sent = payload.content_length() as u64;
        self.expect_length(key, sent).await?;
        if verdict == Verdict::Opaque || sent == 0 {
            return Ok(());
        }
        // Only the content itself tells whether the ETag is at fault or the store.
        let stored = self.get_range(key, 0..sent, None).await?;
        if Bytes::from(payload.clone()) != stored {
            self.delete(key).await?;
            let what = format!("{} has stored other bytes as blob `{key}` than were sent", self.address);
            return Err(Error::unavailable(what));
        }
        self.etags.tell_nothing();
        Ok(())
    }

    /// Begins an upload in parts.
    pub(super) async fn begin(&self, key: &str) -> Result<String> {
        self.store.create_multipart(&Path::from(key)).await.map_err(self.failed("begin an upload of", key))
    }

    /// Sends a part; the numbers begin at 1. Tells its ETag.
    pub(super) async fn send(
        &self,
        key: &str,
        upload: &str,
        number: usize,
        payload: PutPayload,
    ) -> Result<String> {
        let sent =
            self.store.put_part(&Path::from(key), &upload.to_owned(), number - 1, payload.clone()).await;
        let etag = sent.map_err(self.failed("send a part of", key))?.content_id;
        if self.etags.judge(&payload, &etag).await? == Verdict::Different {
            let what = format!("{} has taken in other bytes as part {number} of `{key}`", self.address);
            return Err(Error::unavailable(what));
        }
        Ok(etag)
    }

    /// Makes some bytes of another blob a part. The other must not have changed.
    pub(super) async fn copy(
        &self,
        from: (&str, Option<&str>),
        to: &str,
        upload: &str,
        number: usize,
        range: Range<u64>,
    ) -> Result<String> {
        let (source, etag) = from;
        let mut request =
            Request::put(self.url(to, &[("partNumber", &number.to_string()), ("uploadId", upload)]))
                .header("x-amz-copy-source", format!("{}/{source}", self.address.bucket))
                .header("x-amz-copy-source-range", format!("bytes={}-{}", range.start, range.end - 1));
        if let Some(etag) = etag {
            request = request.header("x-amz-copy-source-if-match", etag);
        }
        let answer = self.call(request, Bytes::new()).await.map_err(self.failed("copy a part to", to))?;
        let copied: CopiedXml = self.read(&answer, "copy a part to", to)?;
        Ok(copied.etag)
    }

    /// Makes the parts one blob, unless something is there. Its length is told beforehand and looked at afterwards.
    pub(super) async fn end(&self, key: &str, upload: &str, etags: &[String], bytes: u64) -> Result<Put> {
        let request = Request::post(self.url(key, &[("uploadId", upload)]))
            .header(header::IF_NONE_MATCH, "*")
            .header("x-amz-mp-object-size", bytes);
        let answer = self.call(request, parts_xml(etags).into()).await;
        match answer.map_err(self.failed("end the upload of", key)) {
            Ok(_) => {
                self.expect_length(key, bytes).await?;
                Ok(Put::Created)
            }
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(Put::Existed),
            Err(error) => Err(error),
        }
    }

    /// Gives up an upload; no error if there is none.
    pub(super) async fn abort(&self, key: &str, upload: &str) -> Result<()> {
        let aborted = self.store.abort_multipart(&Path::from(key), &upload.to_owned()).await;
        match aborted.map_err(self.failed("abort the upload of", key)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            answer => answer,
        }
    }

    /// Removes a blob; no error if there is none.
    pub(super) async fn delete(&self, key: &str) -> Result<()> {
        match self.store.delete(&Path::from(key)).await.map_err(self.failed("delete", key)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            answer => answer,
        }
    }

    /// The first page of what begins with `prefix`, or the one after another.
    pub(super) async fn list(&self, prefix: &str, after: Option<String>) -> Result<Page> {
        let options = PaginatedListOptions {
            max_keys: Some(PAGE),
            page_token: after,
            ..PaginatedListOptions::default()
        };
        let page = self.store.list_paginated(Some(prefix), options).await;
        let page = page.map_err(self.failed("list", prefix))?;
        let blobs = page.result.objects.iter().filter_map(|meta| self.info(meta)).collect();
        Ok(Page { blobs, next: page.page_token })
    }

    /// All uploads below the prefix that were begun and neither ended nor aborted.
    pub(super) async fn unfinished(&self) -> Result<Vec<Unfinished>> {
        let (mut all, mut key_marker, mut id_marker) = (Vec::new(), String::new(), String::new());
        loop {
            let mut query = vec![("uploads", ""), ("prefix", self.address.prefix.as_str())];
            if !key_marker.is_empty() {
                query.extend([("key-marker", key_marker.as_str()), ("upload-id-marker", id_marker.as_str())]);
            }
            let doing = "list the unfinished uploads of";
            let answer = self.call(Request::get(self.url("", &query)), Bytes::new()).await;
            let answer = answer.map_err(self.failed(doing, &self.address.prefix))?;
            let page: UnfinishedXml = self.read(&answer, doing, &self.address.prefix)?;
            all.extend(page.upload);
            if !page.is_truncated || page.next_key_marker.is_empty() {
                return Ok(all);
            }
            (key_marker, id_marker) = (page.next_key_marker, page.next_upload_id_marker);
        }
    }

    /// What a listing tells of a blob; nothing if it is none of docmill's, such as the mark of an empty folder.
    pub(super) fn info(&self, meta: &ObjectMeta) -> Option<BlobInfo> {
        let key = meta.location.as_ref().strip_prefix(&self.address.prefix)?;
        let ours = key.contains('/') && check_key(key).is_ok();
        ours.then(|| BlobInfo {
            key: BlobKey::stored(key),
            bytes: meta.size,
            modified_at: Timestamp(meta.last_modified.timestamp_millis()),
        })
    }

    /// Sees that a blob that was just made has its length; if not, it goes again.
    async fn expect_length(&self, key: &str, bytes: u64) -> Result<()> {
        match self.head(key).await? {
            Some(meta) if meta.size == bytes => Ok(()),
            Some(meta) => {
                self.delete(key).await?;
                Err(self.wrong_length(key, meta.size, bytes))
            }
            None => Err(Error::unavailable(format!(
                "blob `{key}` was put into {} and cannot be seen there",
                self.address
            ))),
        }
    }

    pub(super) fn wrong_length(&self, key: &str, bytes: u64, expected: u64) -> Error {
        Error::unavailable(format!("{bytes} bytes of blob `{key}` in {} are not {expected}", self.address))
            .with_hint("see that the server is well; work goes on by itself")
    }

    fn failed<'a>(
        &'a self,
        doing: &'static str,
        key: &'a str,
    ) -> impl FnOnce(object_store::Error) -> Error + 'a {
        move |error| {
            let folder = key.is_empty() || key.ends_with('/');
            let what = if folder { format!("blobs below `/{key}`") } else { format!("blob `{key}`") };
            failure(doing, &what, &self.address, error)
        }
    }

    /// Keys hold nothing that means something in a URL; values may.
    fn url(&self, key: &str, query: &[(&str, &str)]) -> String {
        let Address { endpoint, bucket, .. } = &self.address;
        let slash = if key.is_empty() { "" } else { "/" };
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        format!("{endpoint}/{bucket}{slash}{key}?{}", query.join("&"))
    }

    /// Signs a request and sends it. An answer that says in its body that it failed has failed.
    async fn call(&self, request: Builder, body: Bytes) -> object_store::Result<Bytes> {
        let generic = |source: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic {
            store: "S3",
            source,
        };
        let request = request.header(header::CONTENT_LENGTH, body.len());
        let mut request = request.body(HttpRequestBody::from(body)).map_err(|e| generic(Box::new(e)))?;
        let credential = self.store.credentials().get_credential().await?;
        AwsAuthorizer::new(&credential, "s3", &self.address.region).try_authorize(&mut request, None)?;
        let answer = self.http.execute(request).await.map_err(|e| generic(Box::new(e)))?;
        let status = answer.status().as_u16();
        let body = answer.into_body().bytes().await.map_err(|e| generic(Box::new(e)))?;
        // S3 begins to answer before it knows how a long operation ends, so a failure may carry the status 200.
        let refusal = super::http::Refusal::new(self.address.host().to_owned(), status, &body);
        if refusal.code.is_empty() { Ok(body) } else { Err(generic(Box::new(refusal))) }
    }

    fn read<'x, T: Deserialize<'x>>(&self, xml: &'x [u8], doing: &'static str, key: &str) -> Result<T> {
        let generic = |source| object_store::Error::Generic { store: "S3", source };
        let text = std::str::from_utf8(xml).map_err(|e| self.failed(doing, key)(generic(Box::new(e))))?;
        quick_xml::de::from_str(text.trim_start()).map_err(|e| self.failed(doing, key)(generic(Box::new(e))))
    }
}

/// What S3 wants to hear at the end of an upload.
fn parts_xml(etags: &[String]) -> String {
    let mut xml = String::from("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (number, etag) in (1..).zip(etags) {
        let etag = quick_xml::escape::escape(etag.as_str());
        xml.push_str(&format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"));
    }
    xml.push_str("</CompleteMultipartUpload>");
    xml
}

fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests;
