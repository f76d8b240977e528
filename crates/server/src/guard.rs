//! What holds for every answer. The server has no keys yet, so it must make sure that the browser's user
//! meant it: a foreign page that points its own name at this address (DNS rebinding) sends its own name as
//! host, and is refused.

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderName, Request, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const HEADERS: &[(HeaderName, &str)] = &[
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

pub(crate) async fn guard(request: Request<Body>, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let mut response = if host.is_some_and(is_loopback) {
        next.run(request).await
    } else {
        let text = "this server answers to a loopback name only, such as http://127.0.0.1:8420/\n";
        (StatusCode::MISDIRECTED_REQUEST, text).into_response()
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name.clone(), HeaderValue::from_static(value));
    }
    response
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
    use super::is_loopback;

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
}
