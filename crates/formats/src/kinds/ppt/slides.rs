//! Which slides there are, and what stands on them.

use std::collections::HashMap;

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use super::records::{Record, all, id};
use crate::shared::compound::{u32_at, wide};
use crate::shared::document::Troubles;
use crate::sink::MAX_PAGE_BYTES;

/// Records inside records are followed so deep.
const MAX_DEPTH: u32 = 32;

/// Records of one list; a presentation of ten thousand slides has fewer.
const MAX_RECORDS: usize = 1_000_000;

/// Versions that were saved are followed so far back.
const MAX_EDITS: usize = 10_000;

/// The texts of all slides.
pub(super) fn read(
    bytes: &[u8],
    user: &[u8],
    limits: &ReadLimits,
    troubles: &mut Troubles,
) -> Result<Vec<String>> {
    const LOCKED: u32 = 0xf3d1_c4df;
    if u32_at(user, 12) == Some(LOCKED) {
        return Err(Error::encrypted("the presentation is encrypted; a password is needed"));
    }
    let listed =
        directory(bytes, user)?.and_then(|(places, document)| by_directory(bytes, &places, document, limits));
    if let Some(slides) = listed {
        return Ok(slides);
    }
    troubles.add(Error::corrupt(
        "the presentation's directory is damaged; slides are in the order they were saved",
    ));
    Ok(as_they_lie(bytes, limits))
}

pub(super) type Places = HashMap<u32, u32>;

/// Where everything lies in the last version, and which of it is the document.
pub(super) fn directory(bytes: &[u8], user: &[u8]) -> Result<Option<(Places, u32)>> {
    let Some(mut edit) = u32_at(user, 16) else { return Ok(None) };
    let (mut places, mut document) = (Places::new(), None);
    for _ in 0..MAX_EDITS {
        let Some(record) = Record::at(bytes, edit as usize).filter(|r| r.id == id::USER_EDIT) else { break };
        if record.body.len() >= 32 && u32_at(record.body, 28).is_some_and(|reference| reference != 0) {
            return Err(Error::encrypted("the presentation is encrypted; a password is needed"));
        }
        document = document.or(u32_at(record.body, 16));
        if let Some(at) = u32_at(record.body, 12) {
            add_places(bytes, at as usize, &mut places);
        }
        let before = u32_at(record.body, 8).unwrap_or(0);
        // Older versions lie before newer ones; anything else would go round in circles.
        if before == 0 || before >= edit {
            break;
        }
        edit = before;
    }
    Ok(document.map(|document| (places, document)))
}

/// Adds what a newer version has not told already.
fn add_places(bytes: &[u8], at: usize, places: &mut Places) {
    let Some(record) = Record::at(bytes, at).filter(|record| record.id == id::DIRECTORY) else { return };
    let mut rest = record.body;
    while let Some(head) = u32_at(rest, 0) {
        let (first, count) = (head & 0x000f_ffff, head >> 20);
        for index in 0..count {
            let Some(place) = u32_at(rest, 4 + index as usize * 4) else { return };
            places.entry(first.saturating_add(index)).or_insert(place);
        }
        rest = rest.get(4 + count as usize * 4..).unwrap_or_default();
    }
}

/// Slides in the order of the document's list.
fn by_directory(bytes: &[u8], places: &Places, document: u32, limits: &ReadLimits) -> Option<Vec<String>> {
    const SLIDES: u16 = 0;
    const NOTES: u16 = 2;
    let at = |reference: u32| Record::at(bytes, *places.get(&reference)? as usize);
    let document = at(document).filter(|record| record.id == id::DOCUMENT)?;
    let lists: Vec<Record<'_>> = document.inside().filter(|record| record.id == id::SLIDE_LIST).collect();
    let notes: HashMap<u32, Record<'_>> = lists
        .iter()
        .filter(|list| list.instance == NOTES)
        .flat_map(|list| list.inside())
        .filter(|record| record.id == id::PERSIST)
        .filter_map(|record| Some((u32_at(record.body, 12)?, at(u32_at(record.body, 0)?)?)))
        .collect();
    let mut slides: Vec<String> = Vec::new();
    for list in lists.iter().filter(|list| list.instance == SLIDES) {
        // A slide, then the texts of its outline, then the next slide.
        let records: Vec<Record<'_>> = list.inside().take(MAX_RECORDS).collect();
        let starts = records.iter().enumerate().filter(|(_, record)| record.id == id::PERSIST);
        for (start, record) in starts {
            // One more than the limit, so that it is noticed.
            if slides.len() > limits.max_pages as usize {
                break;
            }
            let after = &records[start + 1..];
            let end = after.iter().position(|record| record.id == id::PERSIST).unwrap_or(after.len());
            let slide = u32_at(record.body, 0).and_then(at);
            slides.push(page(slide, &after[..end], &notes));
        }
    }
    Some(slides)
}

/// The text of one slide. Text of titles and lists stands in the outline, and the slide refers to it.
fn page(slide: Option<Record<'_>>, outline: &[Record<'_>], notes: &HashMap<u32, Record<'_>>) -> String {
    let mut texts = Texts::new(outline);
    let mut about_notes = None;
    if let Some(slide) = slide {
        if slide
            .inside()
            .any(|r| r.id == id::SLIDE_SHOW_INFO && r.body.get(10).is_some_and(|flags| flags & 4 != 0))
        {
            texts.line("(hidden slide)");
        }
        about_notes = slide.inside().find(|r| r.id == id::SLIDE_ATOM).and_then(|atom| u32_at(atom.body, 16));
        texts.collect(slide, 0);
    }
    texts.rest_of_outline();
    let comments = std::mem::take(&mut texts.comments);
    let mut out = texts.out;
    if let Some(record) = about_notes.and_then(|number| notes.get(&number)) {
        let mut texts = Texts::new(&[]);
        texts.collect(*record, 0);
        if !texts.out.trim().is_empty() {
            out.push_str("\nNotes:\n");
            out.push_str(&texts.out);
        }
    }
    for comment in comments {
        out.push_str(&format!("comment: {comment}\n"));
    }
    out
}

/// Every slide and every note in the stream.
fn as_they_lie(bytes: &[u8], limits: &ReadLimits) -> Vec<String> {
    all(bytes)
        .filter(|record| matches!(record.id, id::SLIDE | id::NOTES | id::DOCUMENT))
        .map(|record| page(Some(record), &[], &HashMap::new()))
        .filter(|text| !text.trim().is_empty())
        .take(limits.max_pages as usize + 1)
        .collect()
}

struct Texts<'a> {
    out: String,
    /// The texts of the outline, which the slide refers to by their number, until they are written.
    outline: Vec<Option<Record<'a>>>,
    comments: Vec<String>,
}

impl<'a> Texts<'a> {
    fn new(outline: &[Record<'a>]) -> Self {
        let mut texts = Vec::new();
        for record in outline {
            match record.id {
                id::TEXT_HEADER => texts.push(None),
                id::WIDE_TEXT | id::NARROW_TEXT => {
                    if let Some(text) = texts.last_mut() {
                        *text = Some(*record);
                    }
                }
                _ => {}
            }
        }
        Self { out: String::new(), outline: texts, comments: Vec::new() }
    }

    fn collect(&mut self, record: Record<'_>, depth: u32) {
        if depth > MAX_DEPTH || self.out.len() > MAX_PAGE_BYTES {
            return;
        }
        for inner in record.inside() {
            match inner.id {
                id::WIDE_TEXT | id::NARROW_TEXT => self.line(&text_of(inner)),
                id::OUTLINE_REFERENCE => {
                    let index = u32_at(inner.body, 0).unwrap_or(u32::MAX) as usize;
                    if let Some(record) = self.outline.get_mut(index).and_then(Option::take) {
                        self.line(&text_of(record));
                    }
                }
                id::COMMENT => {
                    let text = inner
                        .inside()
                        .find(|r| r.id == id::STRING && r.instance == id::COMMENT_TEXT_INSTANCE)
                        .map(|r| wide(r.body));
                    self.comments.extend(text);
                }
                id::NOTES_ATOM => {}
                _ if inner.holds_records => self.collect(inner, depth + 1),
                _ => {}
            }
        }
    }

    /// Texts of the outline that nothing on the slide refers to.
    fn rest_of_outline(&mut self) {
        for record in std::mem::take(&mut self.outline).into_iter().flatten() {
            self.line(&text_of(record));
        }
    }

    fn line(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.out.push_str(text.trim_end_matches('\n'));
            self.out.push('\n');
        }
    }
}

/// A text with its marks as line ends; a lone `*` stands for a number or a date that the program fills in.
fn text_of(record: Record<'_>) -> String {
    let text = match record.id {
        id::WIDE_TEXT => wide(record.body),
        _ => record.body.iter().map(|&byte| char::from(byte)).collect(),
    };
    let text: String = text
        .chars()
        .map(|c| if matches!(c, '\r' | '\u{b}') { '\n' } else { c })
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    if text.trim() == "*" { String::new() } else { text }
}
