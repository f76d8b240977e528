//! Fields of documents that are of a type with a schema. `record` is the task, `material` what a record is taken from,
//! `found` what rules take, `asked` what a model adds, `estimate` what that would cost; whoever tries a schema on one document
//! uses the same rules.

mod asked;
pub(crate) mod estimate;
pub(crate) mod found;
pub(crate) mod material;
pub mod record;

use docmill_core::understanding::Understanding;

use crate::stages::Context;

/// The schema by which a record is taken of a document that was understood like this.
pub(crate) fn schema_of(cx: &Context<'_>, understood: Option<&Understanding>) -> Option<String> {
    let kind = understood?.kind.as_deref()?;
    cx.deps.settings.extract.schema_of(kind).map(str::to_owned)
}
