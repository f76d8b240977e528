//! A chart as text: its titles, and its figures as a table.

use docmill_core::Result;
use docmill_core::wire::ReadLimits;

use crate::shared::flow::Flow;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};

/// A chart has a few series of a few dozen points; more than this is not for reading.
const MAX_POINTS: usize = 100_000;

#[derive(Default)]
struct Series {
    name: String,
    categories: Vec<String>,
    values: Vec<String>,
}

/// Writes the chart in part `name`.
pub(crate) fn write(
    package: &mut Package<'_>,
    name: &str,
    limits: &ReadLimits,
    flow: &mut Flow,
) -> Result<()> {
    let Some(part) = package.part(name)? else { return Ok(()) };
    let mut xml = Xml::new(part, name, limits);
    let (mut titles, mut all) = (Vec::<String>::new(), Vec::<Series>::new());
    let (mut place, mut points) = (Place::Elsewhere, 0);
    let mut title = None::<String>;
    loop {
        match xml.next() {
            Node::Open(tag) => match tag.name() {
                "title" => title = Some(String::new()),
                "ser" => all.push(Series::default()),
                "tx" if !all.is_empty() && title.is_none() => place = Place::Name,
                "cat" | "xVal" => place = Place::Categories,
                "val" | "yVal" => place = Place::Values,
                "v" | "t" if points < MAX_POINTS => {
                    let text = xml.text_inside();
                    if let Some(title) = &mut title {
                        title.push_str(&text);
                    } else if let Some(series) = all.last_mut() {
                        points += 1;
                        match place {
                            Place::Name => series.name.push_str(&text),
                            Place::Categories => series.categories.push(text),
                            Place::Values => series.values.push(text),
                            Place::Elsewhere => {}
                        }
                    }
                }
                _ => {}
            },
            Node::Close(closed) => match closed {
                "title" => titles.extend(title.take()),
                "tx" | "cat" | "xVal" | "val" | "yVal" => place = Place::Elsewhere,
                _ => {}
            },
            Node::Text(_) => {}
            Node::End => break,
        }
    }
    for title in titles.iter().filter(|title| !title.trim().is_empty()) {
        flow.text(title);
        flow.end_line();
    }
    write_table(&all, flow);
    xml.finish()
}

#[derive(Clone, Copy)]
enum Place {
    Name,
    Categories,
    Values,
    Elsewhere,
}

fn write_table(all: &[Series], flow: &mut Flow) {
    let rows = all.iter().map(|s| s.values.len().max(s.categories.len())).max().unwrap_or(0);
    let categories = all.iter().map(|s| &s.categories).max_by_key(|c| c.len());
    flow.begin_table();
    flow.end_cell(1);
    for series in all {
        flow.text(&series.name);
        flow.end_cell(1);
    }
    flow.end_row();
    for row in 0..rows {
        flow.text(categories.and_then(|c| c.get(row)).map_or("", String::as_str));
        flow.end_cell(1);
        for series in all {
            flow.text(series.values.get(row).map_or("", String::as_str));
            flow.end_cell(1);
        }
        flow.end_row();
    }
    flow.end_table();
}
