//! Where spans go: to a collector for OpenTelemetry, if one is named and this build can.

#[cfg(feature = "otel")]
mod otlp;

use std::sync::Arc;

use docmill_core::Result;
use docmill_core::config::OtelSettings;
use docmill_core::ports::Spans;

/// Whether this build can deliver spans.
pub(crate) const IN_THIS_BUILD: bool = cfg!(feature = "otel");

/// What a build that cannot says to the one who asks for it.
pub(crate) const NOT_IN_THIS_BUILD: (&str, &str) = (
    "`otel.endpoint`: this build cannot deliver spans",
    "build docmill with `--features otel`, or leave it out",
);

/// The way to the collector that the settings name, if they name one.
#[cfg(feature = "otel")]
pub(crate) fn open(settings: &OtelSettings) -> Result<Option<Arc<dyn Spans>>> {
    if settings.endpoint.is_empty() { Ok(None) } else { otlp::open(settings).map(Some) }
}

/// Settings that name a collector do not come this far in a build that cannot.
#[cfg(not(feature = "otel"))]
pub(crate) fn open(settings: &OtelSettings) -> Result<Option<Arc<dyn Spans>>> {
    if settings.endpoint.is_empty() {
        return Ok(None);
    }
    let (what, hint) = NOT_IN_THIS_BUILD;
    Err(docmill_core::Error::invalid_config(what).with_hint(hint))
}
