//! The routes. Each is one call of the service.

use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use docmill_core::call::Call;
use docmill_core::event::{EventFilter, EventType};
use docmill_core::id::{BatchId, DocumentId};
use docmill_core::{Error, Result};
use serde::Deserialize;

use super::Web;
use crate::problem;

// Everything the page needs; nothing comes from another host.
const PAGE: &str = include_str!("../../assets/status.html");
const STYLE: &str = include_str!("../../assets/status.css");
const SCRIPT: &str = include_str!("../../assets/status.js");

/// Events of one answer, unless asked for fewer.
const EVENTS: usize = 1000;

pub(super) async fn page() -> Html<&'static str> {
    Html(PAGE)
}

pub(super) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

pub(super) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}

pub(super) async fn status(State(web): State<Web>) -> Response {
    answer(&web, Ok(Call::Status)).await
}

pub(super) async fn dead(State(web): State<Web>) -> Response {
    answer(&web, Ok(Call::DeadList { limit: 100 })).await
}

/// What may be asked of the events, all as text, so that a mistake can be named.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    after: Option<String>,
    limit: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    batch_id: Option<String>,
    document_id: Option<String>,
}

pub(super) async fn events(State(web): State<Web>, Query(wanted): Query<Wanted>) -> Response {
    answer(&web, filter(&wanted).map(|filter| Call::Events { filter })).await
}

fn filter(wanted: &Wanted) -> Result<EventFilter> {
    let types = wanted.kind.as_deref().unwrap_or("").split(',').filter(|name| !name.is_empty());
    Ok(EventFilter {
        after: number(wanted.after.as_ref(), "after")?.unwrap_or(0),
        limit: Some(number(wanted.limit.as_ref(), "limit")?.unwrap_or(EVENTS).min(EVENTS)),
        types: types
            .map(|name| {
                EventType::from_name(name)
                    .ok_or_else(|| Error::invalid_request(format!("there is no event type `{name}`")))
            })
            .collect::<Result<_>>()?,
        batch_id: wanted.batch_id.as_deref().map(str::parse::<BatchId>).transpose()?,
        document_id: wanted.document_id.as_deref().map(str::parse::<DocumentId>).transpose()?,
    })
}

fn number<T: std::str::FromStr>(text: Option<&String>, name: &str) -> Result<Option<T>> {
    let parsed = text.map(|text| text.parse().map_err(|_not_one| text)).transpose();
    parsed.map_err(|text| Error::invalid_request(format!("`{name}={text}` is not a number of this kind")))
}

async fn answer(web: &Web, call: Result<Call>) -> Response {
    let answered = async { web.service.call(web.tenant, call?).await };
    match answered.await {
        Ok(value) => ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response(),
        Err(error) => problem::public(&error, &web.ids.next().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_names_what_it_does_not_understand() {
        let wanted = Wanted { after: Some("x".into()), ..Wanted::default() };
        assert!(filter(&wanted).unwrap_err().message().contains("`after=x`"));
        let wanted = Wanted { kind: Some("JOB_FINISHED,NOPE".into()), ..Wanted::default() };
        assert!(filter(&wanted).unwrap_err().message().contains("NOPE"));
        let wanted = Wanted { limit: Some("999999".into()), ..Wanted::default() };
        assert_eq!(filter(&wanted).unwrap().limit, Some(EVENTS));
    }
}
