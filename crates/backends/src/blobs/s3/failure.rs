//! What an error of the server, or the lack of any answer, means for a blob.
//!
//! What a person must change (keys, bucket, region) is `invalid_config`: asking again at once would not help, and
//! asking again in a minute will, once it is changed. What may pass is `unavailable`.

use std::error::Error as StdError;

use docmill_core::Error;

use super::address::{Address, no_credentials};
use super::http::{NoAnswer, Refusal};

/// What docmill must be allowed to do.
const RIGHTS: &str = "s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload on the blobs, s3:ListBucket \
     and s3:ListBucketMultipartUploads on the bucket";

/// Says what could not be done (`put`, `list`, …) and to what, in the kind that fits.
pub(super) fn failure(doing: &str, what: &str, address: &Address, error: object_store::Error) -> Error {
    if let Some(refusal) = cause::<Refusal>(&error) {
        return refused(doing, what, address, refusal).with_source(refusal.clone());
    }
    if let Some(silence) = cause::<NoAnswer>(&error) {
        return unanswered(doing, what, address, silence).with_source(silence.clone());
    }
    Error::unavailable(format!("cannot {doing} {what} in {address}")).with_source(error)
}

fn unanswered(doing: &str, what: &str, address: &Address, silence: &NoAnswer) -> Error {
    if silence.host != address.host() {
        // Whoever was asked for keys, not the store.
        return no_credentials(address);
    }
    let error = Error::unavailable(format!("cannot {doing} {what} in {address}"));
    if silence.unreachable {
        return error.with_hint("see that the server runs and that `blobs.endpoint` is its address");
    }
    error.with_hint("see that the server is well; work goes on by itself")
}

fn refused(doing: &str, what: &str, address: &Address, refusal: &Refusal) -> Error {
    if refusal.host != address.host() {
        return no_credentials(address);
    }
    let message = format!("cannot {doing} {what} in {address}");
    let misconfigured = |hint: String| Error::invalid_config(message.clone()).with_hint(hint);
    match (refusal.code.as_str(), refusal.status) {
        ("NoSuchBucket", _) => {
            misconfigured("there is no such bucket: make it, or correct `blobs.url`".to_owned())
        }
        ("InvalidAccessKeyId" | "SignatureDoesNotMatch" | "UnrecognizedClientException", _) => misconfigured(
            "the server does not know these keys: correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                .to_owned(),
        ),
        ("ExpiredToken" | "InvalidToken" | "TokenRefreshRequired", _) => misconfigured(
            "the session has ended: get new keys and a new AWS_SESSION_TOKEN, and start docmill again"
                .to_owned(),
        ),
        ("RequestTimeTooSkewed", _) => {
            misconfigured("the clocks of this machine and of the server differ: set them".to_owned())
        }
        ("AuthorizationHeaderMalformed" | "PermanentRedirect" | "IllegalLocationConstraintException", _)
        | (_, 301 | 307) => {
            misconfigured(format!("the bucket is not in `{}`: correct `blobs.region`", address.region))
        }
        (_, 401 | 403) => misconfigured(format!("give docmill's keys the right to {RIGHTS}")),
        ("SlowDown" | "TooManyRequests" | "RequestLimitExceeded", _) | (_, 429) => {
            Error::rate_limited(message)
        }
        ("QuotaExceeded" | "XMinioStorageFull" | "XMinioAdminBucketQuotaExceeded", _) | (_, 507) => {
            Error::disk_full(message).with_hint("make room in the blob store; work goes on by itself")
        }
        ("NoSuchKey" | "NoSuchUpload", _) | (_, 404) => {
            Error::not_found(format!("there is no {what} in {address}"))
        }
        ("PreconditionFailed", _) | (_, 412) => {
            Error::conflict(format!("{what} in {address} is not what it was expected to be"))
        }
        (_, 416) => Error::invalid_request(format!("{what} in {address} ends before the bytes asked for")),
        // A conflict of two writers (409) has passed when asked again, and so has a slow body (400, 408). A long
        // operation may have begun its answer with 200 before it failed.
        ("RequestTimeout" | "InternalError" | "ServiceUnavailable", _) | (_, 408 | 409 | 500 | 502..=599) => {
            Error::unavailable(message).with_hint("see that the server is well; work goes on by itself")
        }
        _ => misconfigured(format!("{} may not speak S3 as docmill needs it", address.endpoint)),
    }
}

/// The first cause of this type.
fn cause<'e, E: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;
    use docmill_core::config::{BlobSettings, CloudVariables};
    use object_store::client::HttpError;

    use super::*;

    fn address() -> Address {
        let pairs = [("AWS_ENDPOINT_URL".to_owned(), "http://server:9".to_owned())];
        let settings = BlobSettings { variables: CloudVariables::of(pairs), ..BlobSettings::default() };
        Address::new("//docs/a", &settings).unwrap()
    }

    fn refused_with(host: &str, status: u16, code: &str) -> Error {
        let xml = format!("<Error><Code>{code}</Code><Message>words</Message></Error>");
        let refusal = HttpError::from(Refusal::new(host.into(), status, xml.as_bytes()));
        let error = object_store::Error::Generic { store: "S3", source: Box::new(refusal) };
        failure("put", "blob `x`", &address(), error)
    }

    #[test]
    fn kind_and_way_out_follow_what_the_server_says() {
        use ErrorKind as K;
        for (status, code, kind, hint) in [
            (404, "NoSuchBucket", K::InvalidConfig, "`blobs.url`"),
            (403, "InvalidAccessKeyId", K::InvalidConfig, "AWS_ACCESS_KEY_ID"),
            (403, "SignatureDoesNotMatch", K::InvalidConfig, "AWS_SECRET_ACCESS_KEY"),
            (400, "ExpiredToken", K::InvalidConfig, "AWS_SESSION_TOKEN"),
            (403, "AccessDenied", K::InvalidConfig, "s3:PutObject"),
            (403, "", K::InvalidConfig, "s3:ListBucket"),
            (403, "RequestTimeTooSkewed", K::InvalidConfig, "clocks"),
            (301, "PermanentRedirect", K::InvalidConfig, "`blobs.region`"),
            (400, "AuthorizationHeaderMalformed", K::InvalidConfig, "`us-east-1`"),
            (501, "NotImplemented", K::InvalidConfig, "http://server:9"),
            (400, "MalformedXML", K::InvalidConfig, "http://server:9"),
            (404, "NoSuchKey", K::NotFound, ""),
            (404, "", K::NotFound, ""),
            (404, "NoSuchUpload", K::NotFound, ""),
            (409, "ConditionalRequestConflict", K::Unavailable, ""),
            (412, "PreconditionFailed", K::Conflict, ""),
            (416, "InvalidRange", K::InvalidRequest, ""),
            (503, "SlowDown", K::RateLimited, ""),
            (429, "", K::RateLimited, ""),
            (500, "InternalError", K::Unavailable, ""),
            (200, "InternalError", K::Unavailable, ""),
            (200, "PreconditionFailed", K::Conflict, ""),
            (503, "ServiceUnavailable", K::Unavailable, ""),
            (502, "", K::Unavailable, ""),
            (400, "RequestTimeout", K::Unavailable, ""),
            (507, "XMinioStorageFull", K::DiskFull, "room"),
        ] {
            let error = refused_with("server:9", status, code);
            assert_eq!(error.kind(), kind, "{status} {code}");
            assert!(error.hint().unwrap_or_default().contains(hint), "{status} {code}: {:?}", error.hint());
            assert!(error.chain().contains(&status.to_string()), "{}", error.chain());
        }
        let error = refused_with("server:9", 500, "InternalError");
        assert_eq!(
            error.chain(),
            "cannot put blob `x` in bucket `docs` at http://server:9: server:9 answered 500 InternalError: words"
        );
    }

    #[test]
    fn whoever_gives_no_keys_is_told_apart_from_the_store() {
        let error = refused_with("169.254.169.254", 404, "");
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert!(error.message().contains("no credentials"), "{error}");
    }
}
