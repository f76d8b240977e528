//! `intake-document`: what is it (content first, name second), and which way does it go?

use async_trait::async_trait;
use docmill_core::ingestion::Facts;
use docmill_core::ports::store::Done;
use docmill_core::task::{Lease, TaskKind};
use docmill_core::wire::{Found, Kind, Want};
use docmill_core::{Error, Result, crash};

use crate::plan::Outcome;
use crate::stages::reading::{self, Readings};
use crate::stages::{Context, TaskHandler, document};

/// The kind.
pub const KIND: TaskKind = TaskKind::named("intake-document");

/// The media type of nothing at all.
const EMPTY_TYPE: &str = "application/x-empty";

/// The handler.
pub struct IntakeDocument;

#[async_trait]
impl TaskHandler for IntakeDocument {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        if document(lease)?.bytes == 0 {
            return cx.done(lease, Outcome::Empty, typed(EMPTY_TYPE.into()));
        }
        let mut readings = reading::open(cx, lease, Want::KIND).await?;
        let kind = sniffed(&mut readings).await?;
        crash::point("intake.after_sniff");
        let outcome = route(cx, lease, &kind);
        cx.done(lease, outcome, typed(kind.media_type))
    }
}

/// What the reader takes it for; always the first thing it says.
pub(crate) async fn sniffed(readings: &mut Readings<'_>) -> Result<Kind> {
    match readings.next().await? {
        Some(Found::Kind(kind)) => Ok(kind),
        _ => Err(Error::bug("the reader did not say first what it reads")),
    }
}

/// Which way something of this kind goes.
pub(crate) fn route(cx: &Context<'_>, lease: &Lease, kind: &Kind) -> Outcome {
    match kind {
        Kind { format: None, media_type, .. } => Outcome::Unsupported { media_type: media_type.clone() },
        Kind { container: true, .. } => match too_deep(cx, lease) {
            Some(error) => Outcome::TooDeep((&error).into()),
            None => Outcome::Container,
        },
        Kind { container: false, .. } => Outcome::Readable,
    }
}

/// Why the members of something are not unpacked, if it lies too many containers deep for that.
pub(crate) fn too_deep(cx: &Context<'_>, lease: &Lease) -> Option<Error> {
    let (depth, limit) = (lease.subject.depth, cx.deps.settings.limits.max_nesting);
    (depth >= limit).then(|| {
        Error::nesting_too_deep(format!(
            "`{}` lies {depth} containers deep, the limit is {limit}",
            docmill_core::text::shown(&lease.subject.name)
        ))
        .with_hint("raise `limits.max_nesting`")
    })
}

fn typed(media_type: String) -> Done {
    Done { facts: Facts { media_type: Some(media_type), ..Facts::default() }, ..Done::default() }
}
