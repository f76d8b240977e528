//! One document from its bytes to its findings: what is it, and what does its reader make of it.

use docmill_core::wire::{Found, Kind, ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::Format;
use crate::input::Input;
use crate::sink::{Counted, Sink};
use crate::sniff::sniff;

/// Reads one document. The first finding is always its [`Kind`]. May panic where a parser does: `serve` turns
/// that into an error.
pub fn read(
    input: &mut Input,
    name: &str,
    want: Want,
    limits: &ReadLimits,
    sink: &mut dyn Sink,
) -> Result<()> {
    if input.length() == 0 {
        let kind = Kind { media_type: "application/x-empty".into(), format: None, container: false };
        sink.put(Found::Kind(kind))?;
        return Err(Error::empty_file("the file has no bytes"));
    }
    let sniffed = sniff(input, name)?;
    sink.put(Found::Kind(Kind {
        media_type: sniffed.media_type.clone().into_owned(),
        format: sniffed.format.map(|f| f.name().into()),
        container: sniffed.format.is_some_and(Format::container),
    }))?;
    if want == Want::KIND {
        return Ok(());
    }
    let Some(format) = sniffed.format else {
        return Err(Error::unsupported_format(format!("no reader for `{}`", sniffed.media_type)));
    };
    if want.needs_drawn_pages() && !format.draws() {
        let message = format!("documents of type `{}` have no pages that can be drawn", sniffed.media_type);
        return Err(Error::unsupported_format(message).with_hint("PDF files and pictures have"));
    }
    input.set_name(name);
    input.go_to(0)?;
    let mut counted = Counted::new(sink, want, limits, input.length());
    let result = format.parse(input, want, limits, &mut counted);
    counted.finish(result)
}
