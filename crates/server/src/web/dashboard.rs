//! The dashboard, out of the binary. Its files are named by their content, so a browser may keep them for ever; the page
//! that names them is asked for every time. Every address that is no file and no route is the page: the screen it means
//! is found by the page itself.

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use crate::squeeze::Whole;

/// Path and content of each file; empty if the binary was built without the dashboard.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));

/// The page.
const PAGE: &str = "index.html";
/// The folder of files that are named by their content.
const NAMED_BY_CONTENT: &str = "assets/";

/// Folders that never mean a screen: what is not there is not there.
const NO_SCREEN: &[&str] = &["v1", "api", "assets"];

/// The page; none in a binary without the dashboard.
pub(super) fn page() -> Option<Response> {
    file(PAGE)
}

/// A file of the dashboard by its address, or the page where the address may be a screen's.
pub(super) fn find(uri: &Uri) -> Option<Response> {
    let path = uri.path();
    if let Some(found) = file(path.trim_start_matches('/')) {
        return Some(found);
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let folder = path.split('/').nth(1).unwrap_or_default();
    let screen = !last.contains('.') && !NO_SCREEN.contains(&folder);
    if screen { page() } else { None }
}

fn file(name: &str) -> Option<Response> {
    let (_, content) = FILES.iter().find(|(known, _)| *known == name)?;
    let bytes = Bytes::from_static(content);
    let kept =
        if name.starts_with(NAMED_BY_CONTENT) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = (StatusCode::OK, bytes.clone()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    response.extensions_mut().insert(Whole(bytes));
    Some(response)
}

/// Of the few types that a build leaves.
fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_screen_is_not_answered_with_the_page() {
        for path in ["/v1", "/v1/nothing", "/api/x", "/assets/gone.js", "/favicon.ico", "/assets/x"] {
            assert!(find(&path.parse().unwrap()).is_none(), "{path}");
        }
    }

    #[test]
    fn screens_are_the_page_and_files_are_kept() {
        if FILES.is_empty() {
            // Without `web/dist` there is nothing to look at: the browser tests, which make it, hold the rest.
            assert!(page().is_none() && find(&"/library".parse().unwrap()).is_none());
            return;
        }
        let kept =
            |response: Response| response.headers()[header::CACHE_CONTROL].to_str().unwrap().to_owned();
        for path in ["/", "/library", "/documents/0198b1e0-0000-7000-8000-000000000000", "/settings/"] {
            let found = find(&path.parse().unwrap()).unwrap();
            assert_eq!(found.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8", "{path}");
            assert_eq!(kept(found), "no-cache", "{path}");
        }
        let (script, _) = FILES.iter().find(|(name, _)| name.ends_with(".js")).unwrap();
        assert!(kept(find(&format!("/{script}").parse().unwrap()).unwrap()).contains("immutable"));
    }
}
