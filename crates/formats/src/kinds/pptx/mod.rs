//! PowerPoint presentations (Office Open XML): every slide a page, with its tables and charts, then its notes and
//! comments. Embedded files are members.

mod slide;

use std::collections::HashSet;

use docmill_core::Result;
use docmill_core::wire::{Found, ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::document::{Troubles, native_page};
use crate::shared::flow::Flow;
use crate::shared::inline::Pictures;
use crate::shared::opc::{Relations, chart, drawing, embedded, main_part, tell_properties};
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};
use crate::sink::Sink;
use crate::sniff::Head;
use slide::Part;

pub(super) struct Pptx;

impl Format for Pptx {
    fn name(&self) -> &'static str {
        "pptx"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
            "application/vnd.openxmlformats-officedocument.presentationml.template",
            "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
            "application/vnd.ms-powerpoint.slideshow.macroEnabled.12",
            "application/vnd.ms-powerpoint.template.macroEnabled.12",
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
        let main = main_part(&mut package, "ppt/presentation.xml", limits)?;
        let slides = slides(&mut package, &main, limits, &mut troubles)?;
        if want.text {
            sink.put(Found::PageCount(slides.len() as u32))?;
        }
        let mut all_relations = Vec::new();
        let mut pictures = Pictures::new(want);
        let mut templates = HashSet::new();
        for (index, part) in slides.iter().enumerate() {
            let relations = relations_of(&mut package, part, limits, &mut troubles)?;
            if want.text {
                let mut flow = Flow::default();
                let result = page(&mut package, part, &relations, limits, &mut troubles, &mut flow);
                let result = result.and_then(|()| {
                    template(&mut package, &relations, &mut templates, limits, &mut troubles, &mut flow)
                });
                troubles.cut(&flow);
                let number = index as u32 + 1;
                sink.page(native_page(number, "text of the slide and its notes", flow.finish()))?;
                result?;
                pictures.give(&mut package, relations.of_kind("image"), number, limits, sink)?;
            }
            all_relations.push(relations);
        }
        pictures.finish(sink)?;
        embedded::give(&mut package, &all_relations, want, sink)?;
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

/// The parts of the slides in the order they are shown.
fn slides(
    package: &mut Package<'_>,
    main: &str,
    limits: &ReadLimits,
    troubles: &mut Troubles,
) -> Result<Vec<String>> {
    let relations = relations_of(package, main, limits, troubles)?;
    let mut out = Vec::new();
    if let Some(part) = package.part(main)? {
        let mut xml = Xml::new(part, main, limits);
        loop {
            match xml.next() {
                // The slide's own number is called `id`, its relation `r:id`.
                Node::Open(tag) if tag.name() == "sldId" => {
                    let id = tag.attributes().find(|(name, _)| name.ends_with(":id")).map(|(_, id)| id);
                    if let Some(target) = id.and_then(|id| relations.target(&id))
                        && out.len() as u64 <= u64::from(limits.max_pages)
                    {
                        out.push(target.to_owned());
                    }
                }
                Node::End => break,
                _ => {}
            }
        }
        troubles.note(xml.finish())?;
    }
    if out.is_empty() {
        // The list is lost: slides by their usual names.
        out = package
            .names()
            .iter()
            .filter(|name| name.starts_with("ppt/slides/slide") && name.ends_with(".xml"))
            .cloned()
            .collect();
        out.sort_by_key(|name| (name.len(), name.clone()));
    }
    Ok(out)
}

/// Everything on one slide.
fn page(
    package: &mut Package<'_>,
    part: &str,
    relations: &Relations,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    flow: &mut Flow,
) -> Result<()> {
    let charts = match package.part(part) {
        Ok(Some(content)) => slide::write(Xml::new(content, part, limits), Part::Whole, flow, troubles)?,
        Ok(None) => Vec::new(),
        Err(e) => {
            troubles.note(Err(e))?;
            Vec::new()
        }
    };
    for id in charts {
        if let Some(target) = relations.target(&id) {
            troubles.note(chart::write(package, target, limits, flow))?;
        }
    }
    for (kind, heading) in [("diagramData", None), ("notesSlide", Some("Notes:")), ("comments", None)] {
        for target in relations.of_kind(kind) {
            let mut beside = Flow::default();
            if kind == "diagramData" {
                troubles.note(drawing::write(package, target, limits, &mut beside))?;
                add(&mut beside, heading, flow);
                continue;
            }
            let content = match package.part(target) {
                Ok(Some(content)) => content,
                Ok(None) => continue,
                Err(e) => {
                    troubles.note(Err(e))?;
                    continue;
                }
            };
            let xml = Xml::new(content, target, limits);
            if kind == "comments" {
                troubles.note(slide::write_comments(xml, flow))?;
                continue;
            }
            slide::write(xml, Part::Whole, &mut beside, troubles)?;
            add(&mut beside, heading, flow);
        }
    }
    Ok(())
}

/// Adds what stands beside a slide behind an empty line, if it says anything.
fn add(beside: &mut Flow, heading: Option<&str>, flow: &mut Flow) {
    let text = beside.finish();
    if text.trim().is_empty() {
        return;
    }
    flow.gap();
    if let Some(heading) = heading {
        flow.text(heading);
        flow.end_line();
    }
    flow.text(&text);
}

/// What stands on every slide of a sort, with the first one of that sort.
fn template(
    package: &mut Package<'_>,
    slide: &Relations,
    seen: &mut HashSet<String>,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    flow: &mut Flow,
) -> Result<()> {
    let mut next = slide.of_kind("slideLayout").next().map(str::to_owned);
    while let Some(part) = next.filter(|part| seen.insert(part.clone())) {
        match package.part(&part) {
            Ok(Some(content)) => {
                slide::write(Xml::new(content, &part, limits), Part::Template, flow, troubles)?;
            }
            Ok(None) => {}
            Err(e) => troubles.note(Err(e))?,
        }
        let above = relations_of(package, &part, limits, troubles)?;
        next = above.of_kind("slideMaster").next().map(str::to_owned);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
