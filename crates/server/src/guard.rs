//! What a browser must not be led into. Where no key is needed, the server must make sure that the browser's user meant
//! it: a foreign page that points its own name at this address (DNS rebinding) sends its own name as host, and one that
//! sends a form here says where it comes from. Both are refused.

use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use docmill_core::Error;

use crate::problem::Problem;

/// What browsers say of a request: how its page is related to this server, and what for it is made.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// For an address that has nothing but pages for machines on this machine.
pub(crate) async fn guard(request: Request, next: Next) -> Response {
    match check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.written("").into_response(),
    }
}

/// Whether a request without a key was meant by whoever sits at this machine.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Problem> {
    check_host(headers)?;
    let foreign = match text(headers, &header::ORIGIN) {
        // Browsers say where a request comes from; programs do not.
        Some(origin) => {
            let host = text(headers, &header::HOST).unwrap_or_default();
            origin.split_once("://").is_none_or(|(_, origin)| origin != host)
        }
        // Another port of this machine is another site too, whatever browsers call it.
        None => text(headers, &SITE).is_some_and(|site| !matches!(site, "same-origin" | "none")),
    };
    if foreign {
        return Err(Error::forbidden("a page of another site may not use this server").into());
    }
    Ok(())
}

/// The same for pages, which hold nothing and do nothing: somebody may follow a link to one.
pub(crate) fn check_page(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let followed = method == Method::GET
        && text(headers, &MODE) == Some("navigate")
        && text(headers, &DEST) == Some("document")
        && !headers.contains_key(header::ORIGIN);
    if followed { check_host(headers) } else { check(headers) }
}

/// A foreign name that points here is somebody else's page.
fn check_host(headers: &HeaderMap) -> Result<(), Problem> {
    let host = text(headers, &header::HOST).unwrap_or_default();
    // Of two names nobody knows which one was meant.
    if is_loopback(host) && headers.get_all(header::HOST).iter().count() == 1 {
        return Ok(());
    }
    let host = docmill_core::text::shown(host);
    Err(Problem::of_http(
        StatusCode::MISDIRECTED_REQUEST,
        "misdirected",
        Error::forbidden(format!(
            "without a key this server answers to a loopback name only, and not to `{host}`"
        ))
        .with_hint("use a name such as http://127.0.0.1:8420/, or make a key with `docmill key create`"),
    ))
}

/// A header that cannot be read is none that a browser sent, and must not pass for one that is not there.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
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
        let ask = |pairs: &[(&'static str, &str)]| check(&headers(pairs)).is_ok();
        let host = ("host", "127.0.0.1:8420");
        assert!(ask(&[host]));
        assert!(ask(&[host, ("origin", "http://127.0.0.1:8420")]));
        assert!(ask(&[host, ("sec-fetch-site", "none")]));
        assert!(ask(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(!ask(&[host, ("sec-fetch-site", "cross-site")]));
        assert!(!ask(&[host, ("origin", "https://evil.example")]));
        assert!(!ask(&[host, ("origin", "http://127.0.0.1:9999")]));
        assert!(!ask(&[host, ("origin", "null")]));
        assert!(!ask(&[host, ("origin", "\u{e9}")]), "what cannot be read is not absent");
        assert!(!ask(&[host, ("sec-fetch-site", "same-site")]), "another port of this machine");
        let mut two = headers(&[host]);
        two.append(header::HOST, "evil.example".parse().unwrap());
        assert!(check(&two).is_err());
    }

    #[test]
    fn a_link_may_lead_to_a_page_and_nothing_else_may() {
        let ask = |method: Method, pairs: &[(&'static str, &str)]| {
            let mut all = vec![("host", "127.0.0.1:8420"), ("sec-fetch-site", "cross-site")];
            all.extend(pairs);
            check_page(&method, &headers(&all)).is_ok()
        };
        let followed = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        assert!(ask(Method::GET, &followed));
        assert!(!ask(Method::POST, &followed), "a form");
        assert!(!ask(Method::GET, &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "script")]));
        assert!(!ask(Method::GET, &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]));
        assert!(!ask(Method::GET, &[followed[0], followed[1], ("host", "evil.example")]));
        assert!(!ask(Method::GET, &[]));
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, axum::http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }
}
