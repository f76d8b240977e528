//! Schemas: which there are, new ones, what one gives on a document, and the records that one has given.

use std::sync::Arc;

use docmill_core::id::TenantId;
use docmill_core::ports::store::DocumentHead;
use docmill_core::record::{
    ExtractAnswer, RecordQuery, RecordsAnswer, SchemaAdded, SchemaAnswer, SchemaLine, SchemaRef,
    SchemasAnswer, titled,
};
use docmill_core::text::shown;
use docmill_core::{Error, ErrorKind, Result};

use super::{Inner, find_head};
use crate::deps::Deps;
use crate::schemas::{Known, built_in, find};
use crate::stages::extract::found::found;
use crate::stages::extract::material::Source;
use crate::transcripts;

/// Names of schemas are no longer.
const MAX_NAME: usize = 64;

/// No schema is longer.
const MAX_BYTES: usize = 1 << 20;

pub(super) async fn list(inner: &Inner, tenant: TenantId) -> Result<SchemasAnswer> {
    let deps = &inner.deps;
    let mut items = Vec::new();
    for (name, text) in deps.extractor.built_in() {
        let sketch = deps.extractor.sketch(text)?;
        let (name, version, fields) = (name.to_owned(), sketch.version, sketch.fields);
        items.push(SchemaLine { name, version, title: sketch.title, built_in: true, fields });
    }
    for stored in deps.store.schemas(tenant).await? {
        // One that an older docmill took and this one cannot read is still there.
        let (title, fields) = match deps.extractor.sketch(&stored.text) {
            Ok(sketch) => (sketch.title, sketch.fields),
            Err(_) => (stored.name.clone(), Vec::new()),
        };
        let (name, version) = (stored.name, stored.version);
        items.push(SchemaLine { name, version, title, built_in: false, fields });
    }
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(SchemasAnswer { items })
}

pub(super) async fn show(inner: &Inner, tenant: TenantId, name: &str) -> Result<SchemaAnswer> {
    let known = find(&inner.deps, tenant, name, None).await?;
    let schema = serde_json::from_str(&known.text)
        .map_err(|e| Error::bug(format!("the schema `{name}` is no JSON")).with_source(e))?;
    let built_in = known.is_built_in();
    Ok(SchemaAnswer {
        name: known.name,
        version: known.version,
        built_in,
        created_at: known.created_at,
        schema,
    })
}

pub(super) async fn add(inner: &Inner, tenant: TenantId, name: &str, schema: &str) -> Result<SchemaAdded> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_name) {
        return Err(Error::invalid_request(format!(
            "`{}` is no name of a schema: 1 to {MAX_NAME} of a-z, 0-9, `_` and `-`",
            shown(name)
        )));
    }
    if built_in(&inner.deps, name)?.is_some() {
        return Err(Error::invalid_request(format!("the schema `{name}` is built in and stays as it is"))
            .with_hint(format!("give yours another name, for instance `my_{name}`")));
    }
    let text = checked(&inner.deps, &titled(schema, name))?;
    let version = inner.deps.store.put_schema(tenant, name, &text).await?;
    Ok(SchemaAdded { name: name.to_owned(), version })
}

/// A schema as it is kept, if it is one: as given, with the order of its fields, without the white space around them.
fn checked(deps: &Deps, schema: &str) -> Result<String> {
    let text = compact(schema);
    if text.len() > MAX_BYTES {
        return Err(Error::limit_exceeded(format!(
            "the schema has {} bytes, more than the {MAX_BYTES} it may have",
            text.len()
        )));
    }
    deps.extractor.sketch(&text).map_err(|error| match error.kind() {
        // Not the configuration is wrong here, but what was sent.
        ErrorKind::InvalidConfig => Error::invalid_request(error.message()),
        _ => error,
    })?;
    Ok(text)
}

/// JSON without white space between its parts, so that another layout of a file is no other version.
fn compact(json: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let stays = |c: &char| {
        let inside = quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        inside || !matches!(c, ' ' | '\t' | '\n' | '\r')
    };
    json.chars().filter(stays).collect()
}

/// What a schema gives on one document.
pub(super) async fn test(
    inner: &Inner,
    tenant: TenantId,
    schema: SchemaRef,
    id: &str,
) -> Result<ExtractAnswer> {
    let deps = &inner.deps;
    let schema = match schema {
        SchemaRef::Named(name) => find(deps, tenant, &name, None).await?,
        SchemaRef::Given(schema) => {
            let text = checked(deps, &schema)?;
            let name = deps.extractor.sketch(&text)?.title;
            Known { name, version: 0, text, created_at: None }
        }
    };
    let head = find_head(deps, tenant, id).await?;
    let Some(key) = &head.transcription else { return Err(unread(&head)) };
    let limit = deps.settings.limits.max_text_bytes;
    let transcript = transcripts::load(deps.blobs.as_ref(), key, limit).await?;
    let schema = Arc::new(schema);
    let looked = found(&Source::Asked(deps, tenant, &head), &schema, &transcript).await?;
    Ok(ExtractAnswer { path: head.name, extraction: looked.record(&schema).extraction })
}

fn unread(head: &DocumentHead) -> Error {
    Error::conflict(format!("document {} has no text (yet)", head.document_id))
        .with_hint("`docmill why ID` tells what it waits for")
}

/// A page of records. A schema that nobody knows has none, and says so.
pub(super) async fn records(inner: &Inner, tenant: TenantId, query: &RecordQuery) -> Result<RecordsAnswer> {
    let items = inner.deps.store.records(tenant, query).await?;
    if items.is_empty() && query.after.is_none() {
        find(&inner.deps, tenant, &query.schema, None).await?;
    }
    let next = items.last().filter(|_| items.len() == query.limit).map(|line| line.document_id);
    Ok(RecordsAnswer { items, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_of_a_schema_does_not_matter_and_its_order_stays() {
        let given = "{ \"b\" : [ 1,\n\t2 ],\r\n \"a \\\" } \" : \" c \\\\\" , \"d\": 1 }";
        assert_eq!(compact(given), r#"{"b":[1,2],"a \" } ":" c \\","d":1}"#);
    }
}
