//! What a browser must not be led into. Where no key is needed, the server must make sure that the browser's user meant
//! it: a foreign page that points its own name at this address (DNS rebinding) sends its own name as host, and one that
//! sends a form here says where it comes from. Both are refused.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use docmill_core::Error;

use crate::problem::Problem;

/// For an address that has nothing but pages for machines on this machine.
pub(crate) async fn guard(request: Request, next: Next) -> Response {
    match check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.written("").into_response(),
    }
}

/// Whether a request without a key was meant by whoever sits at this machine.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    if !is_loopback(host) {
        return Err(Problem::of_http(
            StatusCode::MISDIRECTED_REQUEST,
            "misdirected",
            Error::forbidden(format!(
                "without a key this server answers to a loopback name only, and not to `{host}`"
            ))
            .with_hint("use a name such as http://127.0.0.1:8420/, or make a key with `docmill key create`"),
        ));
    }
    // Browsers say where a request comes from; programs do not.
    let foreign = match text(header::ORIGIN) {
        Some(origin) => origin.split_once("://").is_none_or(|(_, origin)| origin != host),
        None => {
            text(header::HeaderName::from_static("sec-fetch-site")).is_some_and(|site| site == "cross-site")
        }
    };
    if foreign {
        return Err(Error::forbidden("a page of another site may not use this server").into());
    }
    Ok(())
}

/// Whether a `Host` header names this machine: an address of 127.0.0.0/8, `[::1]` or `localhost`.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) if port.is_empty() || port.starts_with(':') => name,
            _ => return false,
        },
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_hosts_pass() {
        for host in ["127.0.0.1:8420", "localhost", "LOCALHOST:1", "[::1]:8420", "127.9.9.9", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "10.0.0.1", "", "[::1", "[::1]x"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let ask = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            check(&headers).is_ok()
        };
        let host = ("host", "127.0.0.1:8420");
        assert!(ask(&[host]));
        assert!(ask(&[host, ("origin", "http://127.0.0.1:8420")]));
        assert!(ask(&[host, ("sec-fetch-site", "none")]));
        assert!(ask(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(!ask(&[host, ("sec-fetch-site", "cross-site")]));
        assert!(!ask(&[host, ("origin", "https://evil.example")]));
        assert!(!ask(&[host, ("origin", "http://127.0.0.1:9999")]));
        assert!(!ask(&[host, ("origin", "null")]));
    }
}
