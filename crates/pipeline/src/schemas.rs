//! Schemas by their names: those that are built in, and those of a tenant.

use docmill_core::clock::Timestamp;
use docmill_core::id::TenantId;
use docmill_core::text::shown;
use docmill_core::{Error, Result};

use crate::deps::Deps;

/// A schema that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    /// Its name.
    pub(crate) name: String,
    /// Of this text.
    pub(crate) version: u32,
    /// A JSON Schema.
    pub(crate) text: String,
    /// When it was given; null if it is built in.
    pub(crate) created_at: Option<Timestamp>,
}

impl Known {
    pub(crate) fn is_built_in(&self) -> bool {
        self.created_at.is_none()
    }
}

/// The schema of that name: this version, or the newest.
pub(crate) async fn find(deps: &Deps, tenant: TenantId, name: &str, version: Option<u32>) -> Result<Known> {
    let known = match built_in(deps, name)? {
        Some(known) => Some(known),
        None => deps.store.schema(tenant, name, version).await?.map(|stored| Known {
            name: stored.name,
            version: stored.version,
            text: stored.text,
            created_at: Some(stored.created_at),
        }),
    };
    let known = known.ok_or_else(|| {
        Error::not_found(format!("there is no schema `{}`", shown(name)))
            .with_hint("`docmill schema list` shows those there are, `docmill schema add FILE` adds one")
    })?;
    match version {
        Some(version) if version != known.version => Err(Error::conflict(format!(
            "this is of version {version} of the schema `{name}`, and this docmill has version {}",
            known.version
        ))
        .with_hint("process the document again: `docmill reprocess ID --from extracting`")),
        _ => Ok(known),
    }
}

/// The built-in schema of that name.
pub(crate) fn built_in(deps: &Deps, name: &str) -> Result<Option<Known>> {
    let found = deps.extractor.built_in().into_iter().find(|(known, _)| *known == name);
    let Some((name, text)) = found else { return Ok(None) };
    let version = deps.extractor.sketch(text)?.version;
    Ok(Some(Known { name: name.to_owned(), version, text: text.to_owned(), created_at: None }))
}
