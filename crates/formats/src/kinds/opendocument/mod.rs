//! OpenDocument (and its forerunner of OpenOffice 1): texts, spreadsheets, presentations and drawings, packed or as one
//! flat file. Sheets and slides are pages, sheets begin with their name; notes and comments follow the text.
//! Embedded files are members.
//!
//! The markup is streamed; held are the page at hand and the notes that follow it.

mod body;
mod facts;
mod objects;

use std::io::BufReader;

use docmill_core::error::ErrorKind;
use docmill_core::wire::{ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::document::Troubles;
use crate::shared::inline::Pictures;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};
use crate::sink::Sink;
use crate::sniff::Head;
use body::Body;

const FLAT_TEXT: &str = "application/vnd.oasis.opendocument.text-flat-xml";
const FLAT_SHEET: &str = "application/vnd.oasis.opendocument.spreadsheet-flat-xml";
const FLAT_SLIDES: &str = "application/vnd.oasis.opendocument.presentation-flat-xml";
const FLAT_DRAWING: &str = "application/vnd.oasis.opendocument.graphics-flat-xml";

pub(super) struct OpenDocument;

impl Format for OpenDocument {
    fn name(&self) -> &'static str {
        "opendocument"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[
            "application/vnd.oasis.opendocument.text",
            "application/vnd.oasis.opendocument.text-template",
            "application/vnd.oasis.opendocument.text-master",
            "application/vnd.oasis.opendocument.text-web",
            "application/vnd.oasis.opendocument.spreadsheet",
            "application/vnd.oasis.opendocument.spreadsheet-template",
            "application/vnd.oasis.opendocument.presentation",
            "application/vnd.oasis.opendocument.presentation-template",
            "application/vnd.oasis.opendocument.graphics",
            "application/vnd.oasis.opendocument.graphics-template",
            "application/vnd.oasis.opendocument.chart",
            "application/vnd.oasis.opendocument.formula",
            "application/vnd.sun.xml.writer",
            "application/vnd.sun.xml.writer.template",
            "application/vnd.sun.xml.calc",
            "application/vnd.sun.xml.impress",
            "application/vnd.sun.xml.draw",
            FLAT_TEXT,
            FLAT_SHEET,
            FLAT_SLIDES,
            FLAT_DRAWING,
        ]
    }

    /// Packed documents are told apart by `sniff::zip_family`; flat ones say in their root what they are.
    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let text = head.text.as_ref()?;
        let root = &text[text.find("<office:document ").or_else(|| text.find("<office:document\n"))?..];
        let kind = |name: &str| {
            root.contains(&format!("office:mimetype=\"application/vnd.oasis.opendocument.{name}"))
        };
        Some(Claim::certain(match () {
            () if kind("spreadsheet") => FLAT_SHEET,
            () if kind("presentation") => FLAT_SLIDES,
            () if kind("graphics") => FLAT_DRAWING,
            () => FLAT_TEXT,
        }))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut troubles = Troubles::default();
        if !input.head(4)?.starts_with(b"PK") {
            return flat(input, want, limits, sink, troubles);
        }
        let mut package = Package::open(input, limits)?;
        troubles.note(package.take_trouble().map_or(Ok(()), Err))?;
        let manifest = objects::Manifest::read(&mut package, limits, &mut troubles)?;
        if want.metadata
            && let Some(part) = part_of(&mut package, "meta.xml", &mut troubles)?
        {
            let mut xml = Xml::new(part, "meta.xml", limits);
            facts::tell(&mut xml, sink)?;
            troubles.note(xml.finish())?;
        }
        if want.text {
            text(&mut package, &manifest, want, limits, &mut troubles, sink)?;
        }
        objects::give(&mut package, &manifest, want, sink)?;
        troubles.tell(sink)
    }
}

fn part_of<'p>(
    package: &'p mut Package<'_>,
    name: &str,
    troubles: &mut Troubles,
) -> Result<Option<crate::shared::package::Part<'p>>> {
    match package.part(name) {
        Ok(part) => Ok(part),
        Err(e) => {
            troubles.note(Err(e))?;
            Ok(None)
        }
    }
}

fn text(
    package: &mut Package<'_>,
    manifest: &objects::Manifest,
    want: Want,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    sink: &mut dyn Sink,
) -> Result<()> {
    let Some(part) = package.part("content.xml")? else {
        return Err(Error::corrupt("the document's main part is missing: there is no `content.xml`"));
    };
    let mut body = Body::new();
    let mut xml = Xml::new(part, "content.xml", limits);
    body.read(&mut xml, sink)?;
    let result =
        troubles.note(xml.finish()).and_then(|()| beside(package, manifest, limits, troubles, &mut body));
    let found = body.finish(troubles, sink)?;
    result?;
    let mut pictures = Pictures::new(want);
    for (page, part) in &found {
        pictures.give(package, [part.as_str()], *page, limits, sink)?;
    }
    pictures.finish(sink)
}

/// What follows the text: inner documents, headers and footers.
fn beside(
    package: &mut Package<'_>,
    manifest: &objects::Manifest,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    body: &mut Body,
) -> Result<()> {
    // Objects that are documents of their own kind inside this one: charts, formulas, tables.
    for name in manifest.inner_documents(package) {
        if let Some(part) = part_of(package, &name, troubles)? {
            let mut xml = Xml::new(part, &name, limits);
            body.read_aside(&mut xml);
            troubles.note(xml.finish())?;
        }
    }
    // Headers and footers stand with the styles of pages.
    if let Some(part) = part_of(package, "styles.xml", troubles)? {
        let mut xml = Xml::new(part, "styles.xml", limits);
        body.read_styles(&mut xml);
        troubles.note(xml.finish())?;
    }
    Ok(())
}

/// One file with everything in it.
fn flat(
    input: &mut Input,
    want: Want,
    limits: &ReadLimits,
    sink: &mut dyn Sink,
    mut troubles: Troubles,
) -> Result<()> {
    input.go_to(0)?;
    let mut xml = Xml::new(BufReader::new(input), "document", limits);
    let mut body = Body::new();
    loop {
        match xml.next() {
            Node::Open(tag) => match tag.name() {
                "meta" if tag.full_name() == "office:meta" => {
                    if want.metadata {
                        facts::tell_inside(&mut xml, sink)?;
                    } else {
                        xml.skip();
                    }
                }
                "automatic-styles" => body.note_styles(&mut xml),
                "master-styles" => body.read_styles_inside(&mut xml),
                "body" if want.text => body.read_inside(&mut xml, sink)?,
                "body" | "styles" | "scripts" | "settings" | "font-face-decls" => xml.skip(),
                _ => {}
            },
            Node::End => break,
            _ => {}
        }
    }
    let result = xml.finish();
    if result.as_ref().is_err_and(|e| e.kind() == ErrorKind::BombSuspected) {
        return result;
    }
    troubles.note(result)?;
    if want.text {
        body.finish(&mut troubles, sink)?;
    }
    troubles.tell(sink)
}

#[cfg(test)]
mod tests;
