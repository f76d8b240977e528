//! What a reader of one file format is.
//!
//! A reader pushes what it finds into a [`Sink`] as it appears, so memory stays flat and everything found
//! before a failure survives. It never opens a file, never fetches anything, and never trusts a number that
//! the file states: the sink counts real bytes.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::input::Input;
use crate::sink::Sink;
use crate::sniff::Head;

/// How sure a format is that a file is its own. The order is the order of precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Confidence {
    /// It can be read this way if nobody else wants it.
    Fallback,
    /// The content allows it and the name says so, or the other way round.
    Likely,
    /// The content says so itself.
    Certain,
}

/// A format's claim to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// How sure.
    pub confidence: Confidence,
    /// As what.
    pub media_type: &'static str,
}

impl Claim {
    /// The content says so itself.
    pub const fn certain(media_type: &'static str) -> Self {
        Self { confidence: Confidence::Certain, media_type }
    }

    /// Content and name agree.
    pub const fn likely(media_type: &'static str) -> Self {
        Self { confidence: Confidence::Likely, media_type }
    }

    /// Better than nothing.
    pub const fn fallback(media_type: &'static str) -> Self {
        Self { confidence: Confidence::Fallback, media_type }
    }
}

/// A reader of one file format.
pub trait Format: Sync {
    /// Its name: that of its file under `kinds/` and of its folder under `fixtures/`.
    fn name(&self) -> &'static str;

    /// The media types it reads.
    fn media_types(&self) -> &'static [&'static str];

    /// Has members rather than pages. A document with text may hold files all the same: it lists them when it is
    /// asked to, and gives them when asked for children.
    fn container(&self) -> bool {
        false
    }

    /// Has pages that can be drawn: gives `Want::pictures` and `Want::words`.
    fn draws(&self) -> bool {
        false
    }

    /// Whether the file is one of its own. Looks at the head alone and must not panic on any bytes.
    fn sniff(&self, head: &Head<'_>) -> Option<Claim>;

    /// Reads what is wanted. What was put into the sink before an error stays valid.
    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()>;
}
