//! The OpenAPI 3.1 document, made from the routes themselves.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::operation::{Content, Operation};
use super::operations;
use crate::problem::{self, ProblemForm};

/// What stands at the top of the document.
const ABOUT: &str = "docmill takes any pile of files and returns deduplicated, readable, searchable documents, with an \
    account for every item that came in.\n\nOn a loopback address without keys everything is answered for the local tenant. \
    Otherwise a key is needed, sent as `Authorization: Bearer dm_…`. What a key may do is its role: `read`, `write` or \
    `admin`. Everything belongs to the key's tenant; the id of somebody else's document is not found.\n\nWhatever goes \
    wrong is answered as `application/problem+json`, with a `request_id` that finds it in the server's log.";

/// The document as it is committed and served.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.definitions_path = "/components/schemas".into();
        s.meta_schema = None;
    });
    // What is sent has every field that is ever written; what comes in may leave fields out.
    let mut out =
        Schemas { sent: settings.clone().for_serialize().into_generator(), taken: settings.into_generator() };
    let problem = value(out.sent.subschema_for::<ProblemForm<'static>>());
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations() {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        let method = operation.method.as_str().to_lowercase();
        let written = write(&operation, &mut out, &problem);
        if let Some(path) = path.as_object_mut() {
            path.insert(method, written);
        }
    }
    let mut schemas = Map::new();
    for generator in [&mut out.taken, &mut out.sent] {
        schemas.extend(generator.take_definitions(true));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "docmill",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": { "type": "http", "scheme": "bearer", "description": "A key as `docmill key create` shows it." },
            },
        },
    })
}

struct Schemas {
    sent: SchemaGenerator,
    taken: SchemaGenerator,
}

fn write(operation: &Operation, schemas: &mut Schemas, problem: &Value) -> Value {
    let mut written = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "description": format!("Needs the role `{}`.", operation.role.name()),
        "tags": [tag(operation.path)],
        // Without keys, where there are none.
        "security": [{ "key": [] }, {}],
        "responses": responses(operation, schemas, problem),
    });
    let parameters = parameters(operation, schemas);
    let Some(object) = written.as_object_mut() else { return written };
    if !parameters.is_empty() {
        object.insert("parameters".into(), parameters.into());
    }
    if let Some(body) = &operation.body {
        let content = content(body, &mut schemas.taken);
        object.insert(
            "requestBody".into(),
            json!({ "required": !operation.body_optional, "content": content }),
        );
    }
    written
}

/// The word after `/v1/`, or what stands there instead.
fn tag(path: &str) -> &str {
    path.trim_start_matches("/v1/").trim_start_matches("/api/").split('/').next().unwrap_or(path)
}

fn parameters(operation: &Operation, schemas: &mut Schemas) -> Vec<Value> {
    let mut parameters = Vec::new();
    for place in places(operation.path) {
        let schema = match operation.places.iter().find(|(name, _)| *name == place) {
            Some((_, describe)) => value(describe(&mut schemas.taken)),
            None => json!({ "type": "string", "format": "uuid" }),
        };
        parameters.push(json!({ "name": place, "in": "path", "required": true, "schema": schema }));
    }
    if let Some(query) = operation.query {
        let schema = value(query(&mut schemas.taken));
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let mut property = property.clone();
            let description = property.as_object_mut().and_then(|p| p.remove("description"));
            parameters.push(json!({
                "name": name,
                "in": "query",
                "required": required.iter().any(|r| r == name),
                "description": description.unwrap_or_default(),
                "schema": not_null(property),
            }));
        }
    }
    for (name, says) in &operation.headers {
        let schema = json!({ "type": "string" });
        parameters.push(json!({ "name": name, "in": "header", "description": says, "schema": schema }));
    }
    parameters
}

/// The names between braces.
fn places(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

/// A parameter that is not there is left out; there is no way to send a null.
fn not_null(mut schema: Value) -> Value {
    let Some(object) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(any)) = object.get_mut("anyOf") {
        any.retain(|s| s["type"] != "null");
        if let [only] = any.as_slice() {
            return only.clone();
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    object.remove("default");
    schema
}

fn responses(operation: &Operation, schemas: &mut Schemas, problem: &Value) -> Value {
    let mut responses = Map::new();
    for answer in &operation.answers {
        let mut written = json!({ "description": answer.says });
        if let Some(object) = written.as_object_mut() {
            if let Some(body) = &answer.content {
                object.insert("content".into(), content(body, &mut schemas.sent));
            }
            if !answer.headers.is_empty() {
                let headers = answer.headers.iter().map(|(name, says)| {
                    ((*name).to_owned(), json!({ "description": says, "schema": { "type": "string" } }))
                });
                object.insert("headers".into(), Value::Object(headers.collect()));
            }
        }
        responses.insert(answer.status.to_string(), written);
    }
    let refused = json!({ problem::MEDIA_TYPE: { "schema": problem } });
    responses.insert(
        "4XX".into(),
        json!({ "description": "The request cannot be answered.", "content": refused }),
    );
    responses.insert(
        "5XX".into(),
        json!({ "description": "docmill cannot answer now, or has a fault.", "content": refused }),
    );
    Value::Object(responses)
}

fn content(content: &Content, generator: &mut SchemaGenerator) -> Value {
    json!({ content.media_type: { "schema": value((content.schema)(generator)) } })
}

fn value(schema: schemars::Schema) -> Value {
    schema.to_value()
}
