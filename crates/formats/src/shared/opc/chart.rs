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
    let (mut place, mut points, mut at) = (Place::Elsewhere, 0, None::<usize>);
    let mut title = None::<String>;
    loop {
        match xml.next() {
            Node::Open(tag) => match tag.name() {
                "title" => title = Some(String::new()),
                "ser" => all.push(Series::default()),
                "tx" if !all.is_empty() && title.is_none() => place = Place::Name,
                "cat" | "xVal" => place = Place::Categories,
                "val" | "yVal" => place = Place::Values,
                // A point that has no value is left out; the others keep their numbers.
                "pt" => at = tag.get("idx").and_then(|number| number.parse().ok()),
                "v" | "t" if points < MAX_POINTS => {
                    let text = xml.text_inside();
                    if let Some(title) = &mut title {
                        title.push_str(&text);
                    } else if let Some(series) = all.last_mut() {
                        let left = MAX_POINTS - points;
                        points += match place {
                            Place::Name => {
                                series.name.push_str(&text);
                                1
                            }
                            Place::Categories => put(&mut series.categories, at, text, left),
                            Place::Values => put(&mut series.values, at, text, left),
                            Place::Elsewhere => 1,
                        };
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

/// Puts a point where its number says, behind the last one if that has been taken: categories may have several levels.
/// Gives how many places that took, of which there are so many left.
fn put(points: &mut Vec<String>, at: Option<usize>, text: String, left: usize) -> usize {
    let behind = points.len();
    let at = at.filter(|at| (behind..behind.saturating_add(left)).contains(at)).unwrap_or(behind);
    points.resize(at, String::new());
    points.push(text);
    points.len() - behind
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

#[cfg(test)]
mod tests {
    use crate::tests_support::{package_of, read_bytes};

    #[test]
    fn points_stand_where_their_numbers_say() {
        let chart = b"<c:chartSpace><c:ser><c:tx><c:v>S</c:v></c:tx>\
            <c:cat><c:pt idx='0'><c:v>a</c:v></c:pt><c:pt idx='1'><c:v>b</c:v></c:pt><c:pt idx='2'><c:v>c</c:v></c:pt></c:cat>\
            <c:val><c:pt idx='0'><c:v>1</c:v></c:pt><c:pt idx='2'><c:v>3</c:v></c:pt><c:pt idx='99999999'><c:v>4</c:v></c:pt></c:val>\
            </c:ser></c:chartSpace>";
        let relations =
            b"<Relationships><Relationship Id='r1' Type='x/chart' Target='c.xml'/></Relationships>";
        let parts: [(&str, &[u8]); 4] = [
            ("[Content_Types].xml", b"<Types/>"),
            (
                "word/document.xml",
                b"<w:document><w:body><w:p><c:chart r:id='r1'/></w:p></w:body></w:document>",
            ),
            ("word/_rels/document.xml.rels", relations),
            ("word/c.xml", chart),
        ];
        assert_eq!(read_bytes("a.docx", &package_of(&parts)).text(), "\tS\na\t1\nb\nc\t3\n\t4\n");
    }
}
