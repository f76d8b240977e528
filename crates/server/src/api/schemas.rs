//! Schemas of records.

use axum::http::Method;
use axum::routing::{get, post, put};
use docmill_core::call::Call;
use docmill_core::id::DocumentId;
use docmill_core::record::{ExtractAnswer, SchemaAdded, SchemaAnswer, SchemaRef, SchemasAnswer};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::input::{At, Told, Verbatim};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/schemas", "listSchemas", "The schemas that there are", get(list))
            .answers::<SchemasAnswer>(200, "The newest version of each."),
        Operation::get("/v1/schemas/{name}", "getSchema", "One schema", get(show))
            .place::<Name>("name")
            .answers::<SchemaAnswer>(200, "Its newest version."),
        Operation::change(
            Method::PUT,
            "/v1/schemas/{name}",
            "putSchema",
            "Add a schema, or change one",
            put(add),
        )
        .place::<Name>("name")
        .takes::<Body>()
        .answers::<SchemaAdded>(200, "Its version; the one it has if nothing is new."),
        Operation::change(
            Method::POST,
            "/v1/schemas/{name}/test",
            "testSchema",
            "What a schema gives on one document; nothing is stored",
            post(test),
        )
        .for_readers()
        .place::<Name>("name")
        .takes::<On>()
        .answers::<ExtractAnswer>(200, "The record, with the places of its values."),
    ]
}

/// The name of a schema.
#[derive(Debug, JsonSchema)]
#[schemars(inline)]
struct Name(
    #[schemars(regex(pattern = r"^[a-z0-9_-]{1,64}$"))]
    #[expect(dead_code, reason = "described")]
    String,
);

async fn list(cx: Cx) -> Answer {
    reply::call(&cx, Call::Schemas).await
}

async fn show(cx: Cx, At(name): At<String>) -> Answer {
    reply::call(&cx, Call::Schema { name }).await
}

/// A JSON Schema of records, with annotations under `x-docmill`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Body(#[expect(dead_code, reason = "only its text keeps the order of its fields")] Map<String, Value>);

async fn add(cx: Cx, At(name): At<String>, Verbatim(schema, _): Verbatim<Body>) -> Answer {
    reply::call(&cx, Call::SchemaAdd { name, schema }).await
}

/// On which document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct On {
    /// Which.
    document_id: DocumentId,
}

async fn test(cx: Cx, At(name): At<String>, Told(on): Told<On>) -> Answer {
    let id = on.document_id.to_string();
    reply::call(&cx, Call::SchemaTest { schema: SchemaRef::Named(name), id }).await
}
