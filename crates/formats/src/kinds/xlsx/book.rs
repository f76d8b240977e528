//! The workbook: which sheets there are, which texts they share, how numbers are shown.

use std::collections::HashMap;

use docmill_core::Result;
use docmill_core::wire::ReadLimits;

use super::binary;
use super::strings::Strings;
use crate::shared::cells::Shown;
use crate::shared::document::Troubles;
use crate::shared::opc::Relations;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};

/// Formats of one workbook beyond this are shown as plain numbers.
const MAX_FORMATS: usize = 100_000;

/// A sheet.
pub(super) struct Sheet {
    pub(super) name: String,
    pub(super) is_hidden: bool,
    pub(super) part: String,
}

/// The workbook without its cells.
pub(super) struct Book {
    pub(super) sheets: Vec<Sheet>,
    pub(super) relations: Relations,
    pub(super) from_1904: bool,
    pub(super) is_binary: bool,
    pub(super) strings: Strings,
    /// By the number a cell gives.
    pub(super) formats: Vec<Shown>,
}

impl Book {
    pub(super) fn read(
        package: &mut Package<'_>,
        main: &str,
        limits: &ReadLimits,
        troubles: &mut Troubles,
    ) -> Result<Self> {
        let relations = match Relations::of(package, main, limits) {
            Ok(relations) => relations,
            Err(e) => {
                troubles.note(Err(e))?;
                Relations::default()
            }
        };
        let mut book = Self {
            sheets: Vec::new(),
            relations,
            from_1904: false,
            is_binary: main.ends_with(".bin"),
            strings: Strings::default(),
            formats: Vec::new(),
        };
        let result = match package.part(main)? {
            Some(part) if book.is_binary => binary::book(part, main, &mut book, limits),
            Some(part) => book.list(Xml::new(part, main, limits), limits),
            None => Ok(()),
        };
        troubles.note(result)?;
        if book.sheets.is_empty() {
            book.guess_sheets(package);
        }
        Ok(book)
    }

    fn list(&mut self, mut xml: Xml<'_>, limits: &ReadLimits) -> Result<()> {
        loop {
            match xml.next() {
                Node::Open(tag) => match tag.name() {
                    "sheet" => {
                        let hidden = tag.get("state").is_some_and(|state| state != "visible");
                        let name = tag.get("name").unwrap_or_default();
                        // The sheet's own number is called `sheetId`, its relation `r:id`.
                        self.add_sheet(name, hidden, tag.get("id").as_deref(), limits);
                    }
                    "workbookPr" => {
                        self.from_1904 = tag.get("date1904").is_some_and(|v| v == "1" || v == "true");
                    }
                    _ => {}
                },
                Node::End => return xml.finish(),
                _ => {}
            }
        }
    }

    /// Adds a sheet by its relation. A sheet beyond the limit of pages would not be given.
    pub(super) fn add_sheet(&mut self, name: String, is_hidden: bool, id: Option<&str>, limits: &ReadLimits) {
        if self.sheets.len() as u64 <= u64::from(limits.max_pages)
            && let Some(part) = id.and_then(|id| self.relations.target(id))
        {
            let part = part.to_owned();
            self.sheets.push(Sheet { name, is_hidden, part });
        }
    }

    /// Sheets by their usual names, where the list of them is lost.
    fn guess_sheets(&mut self, package: &Package<'_>) {
        let mut parts: Vec<String> = package
            .names()
            .iter()
            .filter(|name| {
                let name = name.to_lowercase();
                name.starts_with("xl/worksheets/sheet") && (name.ends_with(".xml") || name.ends_with(".bin"))
            })
            .cloned()
            .collect();
        parts.sort_by_key(|name| (name.len(), name.clone()));
        for part in parts {
            let file = part.rsplit('/').next().unwrap_or_default();
            let name = file.split('.').next().unwrap_or_default().to_owned();
            self.sheets.push(Sheet { name, is_hidden: false, part });
        }
    }

    /// Reads what the cells of all sheets refer to.
    pub(super) fn read_strings(
        &mut self,
        package: &mut Package<'_>,
        limits: &ReadLimits,
        troubles: &mut Troubles,
    ) -> Result<()> {
        let first = |kind: &str| self.relations.of_kind(kind).next().map(str::to_owned);
        if let Some(name) = first("sharedStrings") {
            let result = match package.part(&name) {
                Ok(Some(part)) if name.ends_with(".bin") => {
                    binary::strings(part, &name, &mut self.strings, limits)
                }
                Ok(Some(part)) => self.strings.read(Xml::new(part, &name, limits), limits),
                Ok(None) => Ok(()),
                Err(e) => Err(e),
            };
            troubles.note(result)?;
        }
        if let Some(name) = first("styles") {
            let result = match package.part(&name) {
                Ok(Some(part)) if name.ends_with(".bin") => binary::styles(part, &name, &mut self.formats),
                Ok(Some(part)) => self.read_formats(Xml::new(part, &name, limits)),
                Ok(None) => Ok(()),
                Err(e) => Err(e),
            };
            troubles.note(result)?;
        }
        Ok(())
    }

    fn read_formats(&mut self, mut xml: Xml<'_>) -> Result<()> {
        let mut own = HashMap::new();
        let mut in_cells = false;
        loop {
            match xml.next() {
                Node::Open(tag) => match tag.name() {
                    "numFmt" if own.len() < MAX_FORMATS => {
                        if let (Some(id), Some(code)) = (tag.get("numFmtId"), tag.get("formatCode")) {
                            own.insert(id, Shown::of_code(&code));
                        }
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells && self.formats.len() < MAX_FORMATS => {
                        let id = tag.get("numFmtId").unwrap_or_default();
                        let shown = own.get(&id).copied();
                        let builtin = || id.parse().ok().and_then(Shown::builtin);
                        self.formats.push(shown.or_else(builtin).unwrap_or_default());
                    }
                    _ => {}
                },
                Node::Close("cellXfs") => in_cells = false,
                Node::Close(_) | Node::Text(_) => {}
                Node::End => return xml.finish(),
            }
        }
    }

    /// How a number of this format is shown.
    pub(super) fn shown(&self, format: usize) -> Shown {
        self.formats.get(format).copied().unwrap_or_default()
    }
}
