//! Pages as people see them: pictures, and words with their places on them.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use docmill_core::picture::PictureSize;
use docmill_core::words::PageWords;
use docmill_core::{Error, ErrorKind, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::content::{Anything, SANDBOX};
use super::input::{Asked, At};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;
use crate::problem::Problem;

/// What a page is asked for as.
const PNG: &str = ".png";

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/v1/documents/{id}/pages/{number}.png",
            "getPagePicture",
            "A page as a picture",
            get(picture),
        )
        .place::<Number>("number")
        .asked::<Size>()
        .answers_as::<Anything>(200, "The page, upright as its file says, on white paper.", "image/png")
        .with("ETag", "Stays the same for as long as pages are drawn the same way.")
        .answers_nothing(304, "The caller has this picture already."),
        Operation::get(
            "/v1/documents/{id}/pages/{number}/words",
            "getPageWords",
            "The words of a page, and where they stand on its picture",
            get(words),
        )
        .place::<Number>("number")
        .answers::<PageWords>(200, "The words in the order of reading.")
        .with("ETag", "Changes with the answer.")
        .answers_nothing(304, "The caller has this answer already."),
    ]
}

/// A page, from 1.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(
    dead_code,
    reason = "describes the number; what comes is read as text, to name what is wrong with it"
)]
struct Number(#[schemars(range(min = 1))] u32);

/// How large.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Size {
    /// Pixels across, 1024 if it is left out; the height follows. A picture is not made larger than it is, and a page that
    /// would have more than 12 million pixels is drawn smaller.
    #[schemars(range(min = 16, max = 4096))]
    width: Option<u32>,
}

impl Size {
    fn wanted(&self) -> Result<PictureSize> {
        let width = self.width.unwrap_or(PictureSize::SCREEN.width);
        if !(PictureSize::MIN_WIDTH..=PictureSize::MAX_WIDTH).contains(&width) {
            return Err(Error::invalid_request(format!(
                "`width={width}` is not a number from {} to {}",
                PictureSize::MIN_WIDTH,
                PictureSize::MAX_WIDTH
            )));
        }
        Ok(PictureSize { width })
    }
}

async fn picture(
    cx: Cx,
    At((id, place)): At<(String, String)>,
    Asked(size): Asked<Size>,
    headers: HeaderMap,
) -> Answer {
    let size = size.wanted()?;
    let (service, tenant) = (&cx.web.service, cx.caller.tenant);
    let head = service.head(tenant, &id).await?;
    let page = place.strip_suffix(PNG).and_then(number).ok_or_else(|| no_page(&place))?;
    // The content of a document never changes; how it is drawn may, with the version.
    let tag = format!("\"{}-{page}-{}-{}\"", head.document_id, size.width, env!("CARGO_PKG_VERSION"));
    if reply::has(&headers, &tag) {
        return Ok(dressed(Response::new(Body::empty()), StatusCode::NOT_MODIFIED, &tag));
    }
    let drawn = service.page_picture(tenant, &head, page, size).await;
    let picture = match drawn {
        Ok(picture) => picture,
        Err(error) => return Ok(refused(error)),
    };
    let mut response = dressed(Response::new(Body::from(picture.png)), StatusCode::OK, &tag);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("image/png"));
    Ok(response)
}

async fn words(cx: Cx, At((id, place)): At<(String, String)>, headers: HeaderMap) -> Answer {
    let (service, tenant) = (&cx.web.service, cx.caller.tenant);
    // Whose document it is comes first, whatever the page is.
    service.head(tenant, &id).await?;
    let page = number(&place).ok_or_else(|| no_page(&place))?;
    match service.page_words(tenant, &id, page).await {
        Ok(words) => reply::tagged(&headers, &words),
        Err(error) => Ok(refused(error)),
    }
}

fn number(text: &str) -> Option<u32> {
    // `+1` and `01` would be second names of one thing.
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

fn no_page(place: &str) -> Error {
    let place = docmill_core::text::shown(place);
    Error::not_found(format!("there is no page `{place}`"))
        .with_hint("pages are numbered from 1; `…/pages/1.png` is the picture of the first")
}

/// Why there is no such picture. What a page does to its reader is the page's fault and no matter of trying again.
fn refused(error: Error) -> Response {
    match error.kind() {
        kind @ (ErrorKind::Timeout | ErrorKind::OutOfMemory | ErrorKind::ChildCrashed) => {
            Problem::of_http(StatusCode::UNPROCESSABLE_ENTITY, kind.name(), error).into_response()
        }
        _ => Problem::from(error).into_response(),
    }
}

fn dressed(mut response: Response, status: StatusCode, tag: &str) -> Response {
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_one_name() {
        assert_eq!((number("1"), number("900")), (Some(1), Some(900)));
        for other in ["", "0", "01", "+1", "-1", "1.0", "x", "99999999999", "١"] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn widths_beyond_reason_are_refused() {
        assert_eq!(Size::default().wanted().unwrap(), PictureSize::SCREEN);
        for width in [0, 15, 4097, u32::MAX] {
            assert!(Size { width: Some(width) }.wanted().is_err(), "{width}");
        }
    }
}
