//! Records as files.

use axum::http::{HeaderValue, StatusCode, header};
use axum::routing::get;
use docmill_core::call::Call;
use docmill_core::clock::Timestamp;
use docmill_core::record::{RecordLine, RecordQuery, RecordState, RecordsAnswer, SchemasAnswer};
use docmill_core::{Error, Result};
use docmill_pipeline::export::{self, Format, MAX_RECORDS};
use schemars::JsonSchema;
use serde::Deserialize;

use super::content::Anything;
use super::input::Asked;
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Records that are looked up at once.
const CHUNK: usize = 1000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/export", "exportRecords", "Records by a schema, as a file", get(export))
            .asked::<Params>()
            .answers_as::<Anything>(200, "The file, to be saved.", "*/*"),
    ]
}

/// Which records, and how.
#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// By this schema.
    schema: String,
    /// CSV unless asked for otherwise.
    format: Option<Form>,
    /// Only in this state; without one all that nobody has rejected.
    state: Option<RecordState>,
    /// Only of documents that first came in at this moment or later.
    from: Option<Timestamp>,
    /// Only of documents that first came in before this moment.
    to: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Form {
    #[default]
    Csv,
    Jsonl,
    Xlsx,
}

async fn export(cx: Cx, Asked(params): Asked<Params>) -> Answer {
    let format = match params.format.unwrap_or_default() {
        Form::Csv => Format::Csv,
        Form::Jsonl => Format::Jsonl,
        Form::Xlsx => Format::Xlsx,
    };
    let schema = params.schema;
    let query = RecordQuery {
        schema: schema.clone(),
        state: params.state,
        since: params.from,
        until: params.to,
        after: None,
        limit: CHUNK,
    };
    let lines = all(&cx, query).await?;
    let fields = if lines.is_empty() { fields(&cx, &schema).await? } else { Vec::new() };
    let written = tokio::task::spawn_blocking(move || export::write(format, &lines, &fields)).await;
    let body = written.map_err(|e| Error::bug("writing records was cut short").with_source(e))??;
    let mut response = reply::whole(StatusCode::OK, format.media_type(), body.into());
    let name = format!("attachment; filename=\"records.{}\"", format.name());
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

async fn fields(cx: &Cx, schema: &str) -> Result<Vec<String>> {
    let known: SchemasAnswer = serde_json::from_value(reply::ask(cx, Call::Schemas).await?)
        .map_err(|e| Error::bug("schemas cannot be read back").with_source(e))?;
    Ok(known.fields_of(schema))
}

async fn all(cx: &Cx, mut query: RecordQuery) -> Result<Vec<RecordLine>> {
    let mut lines = Vec::new();
    loop {
        let page = reply::ask(cx, Call::Records { query: query.clone() }).await?;
        let page: RecordsAnswer = serde_json::from_value(page)
            .map_err(|e| Error::bug("records cannot be read back").with_source(e))?;
        lines.extend(page.items);
        if lines.len() > MAX_RECORDS {
            return Err(Error::limit_exceeded(format!(
                "more than {MAX_RECORDS} records are asked for at once"
            ))
            .with_hint("ask for some of them, with `from` and `to`"));
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(lines),
        }
    }
}
