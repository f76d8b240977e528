//! What it means when a provider refuses: by the status, and where that is not enough by the code that it gives in its
//! own words. The words themselves are quoted to the owner and never decide anything.

use std::time::Duration;

use docmill_core::{Error, ErrorKind, text};
use serde_json::Value;

use super::remote::Reply;

/// A service whose money or quota is used up is asked again after this, if it does not say more.
const AFTER_QUOTA: Duration = Duration::from_mins(1);

/// A provider's own words are cut after so many characters.
const SHOWN: usize = 300;

/// The error for a reply that is no success.
pub(super) fn refusal(provider: &str, reply: &Reply) -> Error {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or(Value::Null);
    let code = code(&body);
    let kind = kind(reply.status, code);
    let mut words = format!("{provider} answered {}", reply.status);
    if let Some(said) = said(&body) {
        words.push_str(": ");
        words.push_str(&text::shown(&said.chars().take(SHOWN).collect::<String>()));
    }
    // A provider may quote what it was sent.
    let error = Error::new(kind, words).logged_as(format!("{provider} answered {}", reply.status));
    let error = match hint(kind) {
        Some(hint) => error.with_hint(hint),
        None => error,
    };
    let asked = reply.retry_after.as_deref().and_then(pause);
    match (asked, kind) {
        (Some(pause), _) => error.with_retry_after(pause),
        (None, ErrorKind::RateLimited) if is_quota(code) => error.with_retry_after(AFTER_QUOTA),
        (None, _) => error,
    }
}

fn kind(status: u16, code: &str) -> ErrorKind {
    match (status, code) {
        (_, "content_filter" | "content_policy_violation") => ErrorKind::ContentBlocked,
        (_, "context_length_exceeded") | (413, _) => ErrorKind::LimitExceeded,
        (_, "model_not_found") | (404 | 405, _) => ErrorKind::InvalidConfig,
        (401 | 403, _) => ErrorKind::Forbidden,
        (402 | 429, _) => ErrorKind::RateLimited,
        (408 | 504, _) => ErrorKind::Timeout,
        (500.., _) => ErrorKind::Unavailable,
        _ => ErrorKind::InvalidRequest,
    }
}

fn hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Forbidden => Some("look at `llm.key`"),
        ErrorKind::InvalidConfig => Some("look at `llm.url` and `llm.model`"),
        ErrorKind::LimitExceeded => Some("lower `llm.max_text`"),
        _ => None,
    }
}

fn is_quota(code: &str) -> bool {
    matches!(code, "insufficient_quota" | "billing_hard_limit_reached" | "RESOURCE_EXHAUSTED")
}

/// The code of an error, wherever providers put it.
fn code(body: &Value) -> &str {
    ["/error/code", "/error/type", "/error/status"]
        .iter()
        .find_map(|place| body.pointer(place).and_then(Value::as_str))
        .unwrap_or_default()
}

/// What the provider says in words.
fn said(body: &Value) -> Option<&str> {
    ["/error/message", "/error", "/message"]
        .iter()
        .find_map(|place| body.pointer(place).and_then(Value::as_str))
}

/// Seconds, as every provider sends them; a date is not understood and counts as nothing.
fn pause(header: &str) -> Option<Duration> {
    let seconds: f64 = header.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(86_400.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, retry_after: Option<&str>, body: &str) -> Error {
        let retry_after = retry_after.map(str::to_owned);
        refusal("openai", &Reply { status, retry_after, body: body.as_bytes().to_vec() })
    }

    #[test]
    fn status_and_code_say_what_happened() {
        for (status, body, kind) in [
            (401, "", ErrorKind::Forbidden),
            (404, "", ErrorKind::InvalidConfig),
            (400, r#"{"error":{"code":"model_not_found"}}"#, ErrorKind::InvalidConfig),
            (400, r#"{"error":{"code":"content_filter"}}"#, ErrorKind::ContentBlocked),
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, ErrorKind::LimitExceeded),
            (413, "", ErrorKind::LimitExceeded),
            (422, "[]", ErrorKind::InvalidRequest),
            (429, "", ErrorKind::RateLimited),
            (503, "<html>", ErrorKind::Unavailable),
            (504, "", ErrorKind::Timeout),
            (529, "", ErrorKind::Unavailable),
        ] {
            assert_eq!(refused(status, None, body).kind(), kind, "{status} {body}");
        }
    }

    #[test]
    fn pause_is_taken_from_the_header_and_is_a_minute_for_a_quota() {
        let after = |header, body| refused(429, header, body).retry_after();
        let quota = r#"{"error":{"type":"insufficient_quota"}}"#;
        assert_eq!(after(Some("7"), ""), Some(Duration::from_secs(7)));
        assert_eq!(after(Some("0.5"), quota), Some(Duration::from_millis(500)));
        assert_eq!(after(None, quota), Some(Duration::from_mins(1)));
        for odd in ["soon", "-1", "NaN", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(after(Some(odd), ""), None, "{odd}");
        }
    }

    #[test]
    fn words_of_a_provider_are_for_the_owner_and_not_for_the_log() {
        let error = refused(400, None, r#"{"error":{"message":"bad text: `dear Joe\u0007`"}}"#);
        assert_eq!(error.message(), "openai answered 400: bad text: `dear Joe\u{fffd}`");
        assert_eq!(error.for_log(), "openai answered 400");
    }
}
