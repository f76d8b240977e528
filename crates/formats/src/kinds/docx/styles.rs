//! Styles of paragraphs, as far as they matter for text: which are headings, which belong to lists.

use std::collections::HashMap;

use docmill_core::Result;
use docmill_core::wire::ReadLimits;

use crate::shared::document::Troubles;
use crate::shared::opc::Relations;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};

/// Documents have hundreds; more than this are passed over.
const MAX_STYLES: usize = 10_000;

/// How long a chain of styles that are based on each other is followed.
const MAX_CHAIN: usize = 16;

#[derive(Default, Clone)]
pub(super) struct Style {
    pub(super) is_heading: bool,
    pub(super) number: Option<String>,
    pub(super) level: Option<usize>,
    based_on: Option<String>,
}

#[derive(Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    pub(super) fn read(
        package: &mut Package<'_>,
        relations: &Relations,
        limits: &ReadLimits,
        troubles: &mut Troubles,
    ) -> Result<Self> {
        let Some(name) = relations.of_kind("styles").next() else { return Ok(Self::default()) };
        let part = match package.part(name) {
            Ok(Some(part)) => part,
            Ok(None) => return Ok(Self::default()),
            Err(e) => {
                troubles.note(Err(e))?;
                return Ok(Self::default());
            }
        };
        let mut xml = Xml::new(part, name, limits);
        let mut styles = Self::default();
        let mut open: Option<(String, Style)> = None;
        loop {
            match xml.next() {
                Node::Open(tag) => match (tag.name(), &mut open) {
                    ("style", _) => open = tag.get("styleId").map(|id| (id, Style::default())),
                    ("name", Some((_, style))) => {
                        let name = tag.get("val").unwrap_or_default().to_lowercase();
                        style.is_heading |= name.starts_with("heading ") || name == "title";
                    }
                    ("basedOn", Some((_, style))) => style.based_on = tag.get("val"),
                    ("outlineLvl", Some((_, style))) => {
                        style.is_heading |= tag.get("val").is_some_and(|level| level != "9");
                    }
                    ("numId", Some((_, style))) => style.number = tag.get("val"),
                    ("ilvl", Some((_, style))) => {
                        style.level = tag.get("val").and_then(|level| level.parse().ok());
                    }
                    _ => {}
                },
                Node::Close("style") => {
                    if let Some((id, style)) = open.take()
                        && styles.0.len() < MAX_STYLES
                    {
                        styles.0.insert(id, style);
                    }
                }
                Node::Close(_) | Node::Text(_) => {}
                Node::End => break,
            }
        }
        troubles.note(xml.finish())?;
        styles.inherit();
        Ok(styles)
    }

    /// Takes over what a style does not say from those it is based on.
    fn inherit(&mut self) {
        let ids: Vec<String> = self.0.keys().cloned().collect();
        for id in ids {
            let Some(mut style) = self.0.get(&id).cloned() else { continue };
            let mut base = style.based_on.clone();
            for _ in 0..MAX_CHAIN {
                let Some(next) = base.as_ref().and_then(|id| self.0.get(id)) else { break };
                style.is_heading |= next.is_heading;
                if style.number.is_none() {
                    style.number.clone_from(&next.number);
                    style.level = style.level.or(next.level);
                }
                base.clone_from(&next.based_on);
            }
            self.0.insert(id, style);
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&Style> {
        self.0.get(id)
    }
}
