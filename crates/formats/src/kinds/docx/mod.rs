//! Word documents (Office Open XML): the text with its tables, lists and boxes, then notes, comments, headers and
//! footers; embedded files are members.
//!
//! Parts are streamed: nothing is held but styles, numbering and the paragraph at hand. A part that is damaged costs
//! what follows in that part.

mod body;
mod numbering;
mod styles;
mod tables;

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::document::{Troubles, hand_on};
use crate::shared::flow::Flow;
use crate::shared::inline::Pictures;
use crate::shared::opc::{Relations, chart, drawing, embedded, main_part, tell_properties};
use crate::shared::package::Package;
use crate::shared::pager::Pager;
use crate::shared::xml::Xml;
use crate::sink::Sink;
use crate::sniff::Head;
use body::Body;
use numbering::Numbering;
use styles::Styles;

pub(super) struct Docx;

impl Format for Docx {
    fn name(&self) -> &'static str {
        "docx"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
            "application/vnd.ms-word.document.macroEnabled.12",
            "application/vnd.ms-word.template.macroEnabled.12",
        ]
    }

    /// The family of ZIP files is told apart by `sniff::zip_family`.
    fn sniff(&self, _: &Head<'_>) -> Option<Claim> {
        None
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut package = Package::open(input, limits)?;
        let mut troubles = Troubles::default();
        troubles.note(package.take_trouble().map_or(Ok(()), Err))?;
        if want.metadata {
            tell_properties(&mut package, limits, &mut troubles, sink)?;
        }
        let main = main_part(&mut package, "word/document.xml", limits)?;
        let relations = relations_of(&mut package, &main, limits, &mut troubles)?;
        if want.text {
            let mut pager = Pager::of_document(sink, "text of the document");
            let result = text(&mut package, &main, &relations, limits, &mut troubles, &mut pager);
            pager.finish()?;
            result?;
            // Where in the text they stand is not told: what they say follows it.
            let mut pictures = Pictures::new(want);
            pictures.give(&mut package, relations.of_kind("image"), 1, limits, sink)?;
            pictures.finish(sink)?;
        }
        embedded::give(&mut package, &[relations], want, sink)?;
        troubles.tell(sink)
    }
}

fn relations_of(
    package: &mut Package<'_>,
    part: &str,
    limits: &ReadLimits,
    troubles: &mut Troubles,
) -> Result<Relations> {
    match Relations::of(package, part, limits) {
        Ok(relations) => Ok(relations),
        Err(e) => {
            troubles.note(Err(e))?;
            Ok(Relations::default())
        }
    }
}

/// What stands beside the text, by its kind of relation, in the order it is given.
const BESIDE: &[&str] = &["footnotes", "endnotes", "comments", "header", "footer"];

fn text(
    package: &mut Package<'_>,
    main: &str,
    relations: &Relations,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    pager: &mut Pager<'_>,
) -> Result<()> {
    let styles = Styles::read(package, relations, limits, troubles)?;
    let numbering = Numbering::read(package, relations, limits, troubles)?;
    let mut parts = vec![main];
    for target in BESIDE.iter().flat_map(|kind| relations.of_kind(kind)) {
        if !parts.contains(&target) {
            parts.push(target);
        }
    }
    let mut reading = Reading { package, relations, limits, styles, numbering, flow: Flow::default() };
    let result = parts.iter().try_for_each(|part| reading.part(part, *part == main, troubles, pager));
    troubles.cut(&reading.flow);
    pager.push(&reading.flow.finish())?;
    result
}

/// One document while its parts are read.
struct Reading<'r, 'p> {
    package: &'r mut Package<'p>,
    relations: &'r Relations,
    limits: &'r ReadLimits,
    styles: Styles,
    numbering: Numbering,
    flow: Flow,
}

impl Reading<'_, '_> {
    /// Reads one part: the document itself, or what stands beside it.
    fn part(
        &mut self,
        part: &str,
        is_main: bool,
        troubles: &mut Troubles,
        pager: &mut Pager<'_>,
    ) -> Result<()> {
        if !is_main {
            self.flow.gap();
        }
        if self.relations.of_kind("comments").any(|comments| comments == part) {
            self.flow.text("Comments:");
            self.flow.end_line();
        }
        let content = match self.package.part(part) {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(()),
            Err(e) if is_main => return Err(e),
            Err(e) => return troubles.note(Err(e)),
        };
        let mut xml = Xml::new(content, part, self.limits);
        let mut body = Body::new(&self.styles, &mut self.numbering);
        while body.step(&mut xml, &mut self.flow) {
            hand_on(&mut self.flow, pager)?;
        }
        let charts = body.into_charts();
        troubles.note(xml.finish())?;
        for id in charts.iter().filter(|_| is_main) {
            if let Some(target) = self.relations.target(id) {
                self.flow.gap();
                troubles.note(chart::write(self.package, target, self.limits, &mut self.flow))?;
            }
        }
        for target in self.relations.of_kind("diagramData").filter(|_| is_main) {
            self.flow.gap();
            troubles.note(drawing::write(self.package, target, self.limits, &mut self.flow))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
