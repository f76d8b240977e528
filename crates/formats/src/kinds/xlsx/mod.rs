//! Excel workbooks (Office Open XML and its binary cousin): every sheet a page that begins with its name, a line for a
//! row, cells apart by tabs; comments, text boxes, charts and headers follow. Embedded files are members.
//!
//! Sheets are streamed. Held are the shared texts, up to a limit, and the page at hand.

mod binary;
mod book;
mod sheet;
mod strings;

use docmill_core::Result;
use docmill_core::wire::{Found, ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::document::{Troubles, native_page};
use crate::shared::flow::Flow;
use crate::shared::opc::{Relations, chart, drawing, embedded, main_part, tell_properties};
use crate::shared::package::Package;
use crate::shared::xml::Xml;
use crate::sink::Sink;
use crate::sniff::Head;
use book::{Book, Sheet};

pub(super) struct Xlsx;

impl Format for Xlsx {
    fn name(&self) -> &'static str {
        "xlsx"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
            "application/vnd.ms-excel.sheet.macroEnabled.12",
            "application/vnd.ms-excel.template.macroEnabled.12",
            "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
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
        let usual = if package.has("xl/workbook.bin") { "xl/workbook.bin" } else { "xl/workbook.xml" };
        let main = main_part(&mut package, usual, limits)?;
        let mut book = Book::read(&mut package, &main, limits, &mut troubles)?;
        if want.metadata {
            sink.meta("sheet_count", &book.sheets.len().to_string())?;
        }
        let mut all_relations = Vec::new();
        if want.text {
            sink.put(Found::PageCount(book.sheets.len() as u32))?;
            book.read_strings(&mut package, limits, &mut troubles)?;
        }
        let sheets = std::mem::take(&mut book.sheets);
        for (index, sheet) in sheets.iter().enumerate() {
            let relations = match Relations::of(&mut package, &sheet.part, limits) {
                Ok(relations) => relations,
                Err(e) => {
                    troubles.note(Err(e))?;
                    Relations::default()
                }
            };
            if want.text {
                let mut flow = Flow::default();
                let result = page(&mut package, &book, sheet, &relations, limits, &mut troubles, &mut flow);
                troubles.cut(&flow);
                sink.page(native_page(index as u32 + 1, "cells of the sheet", flow.finish()))?;
                result?;
            }
            all_relations.push(relations);
        }
        all_relations.push(book.relations);
        embedded::give(&mut package, &all_relations, want, sink)?;
        troubles.tell(sink)
    }
}

/// Everything on one sheet.
fn page(
    package: &mut Package<'_>,
    book: &Book,
    sheet: &Sheet,
    relations: &Relations,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    flow: &mut Flow,
) -> Result<()> {
    flow.text(&sheet.name);
    if sheet.is_hidden {
        flow.text(" (hidden sheet)");
    }
    flow.end_line();
    let result = match package.part(&sheet.part) {
        Ok(Some(part)) if book.is_binary => binary::sheet(part, &sheet.part, book, flow),
        Ok(Some(part)) => sheet::write(Xml::new(part, &sheet.part, limits), book, flow),
        Ok(None) => Ok(()),
        Err(e) => Err(e),
    };
    troubles.note(result)?;
    // Older programs are shown a copy of each thread, which says nothing more.
    let threads = relations.of_kind("threadedComment").next().is_some();
    for part in relations.of_kind("comments").chain(relations.of_kind("threadedComment")) {
        let result = match package.part(part) {
            Ok(Some(content)) if part.ends_with(".bin") => binary::comments(content, part, flow),
            Ok(Some(content)) => sheet::write_comments(Xml::new(content, part, limits), threads, flow),
            Ok(None) => Ok(()),
            Err(e) => Err(e),
        };
        troubles.note(result)?;
    }
    for part in relations.of_kind("drawing") {
        troubles.note(over_sheet(package, part, limits, flow))?;
    }
    Ok(())
}

/// Text boxes, charts and diagrams that lie over a sheet.
fn over_sheet(package: &mut Package<'_>, part: &str, limits: &ReadLimits, flow: &mut Flow) -> Result<()> {
    let relations = Relations::of(package, part, limits)?;
    drawing::write(package, part, limits, flow)?;
    for target in relations.of_kind("chart") {
        chart::write(package, target, limits, flow)?;
    }
    for target in relations.of_kind("diagramData") {
        drawing::write(package, target, limits, flow)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
