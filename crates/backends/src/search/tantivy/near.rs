//! Words of a tenant's documents that are spelled nearly like one.

use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use super::layout::Fields;
use super::statistics::TenantStatistics;
use crate::search::meaning::Meaning;
use crate::search::near::{MAX_NEAR, Near};
use crate::search::stems;

/// Finds the words that a query is to be looked for by as well.
pub(super) fn resolve(
    fields: &Fields,
    searcher: &Searcher,
    statistics: &TenantStatistics<'_>,
    meaning: &mut Meaning<'_>,
    forgiving: bool,
) -> tantivy::Result<()> {
    for doubtful in meaning.doubtful(forgiving) {
        let word = &doubtful.word;
        if doubtful.if_missing && (has_word(fields, statistics, word)? || has_form(fields, statistics, word)?)
        {
            continue;
        }
        let Some(near) = Near::to(word) else { continue };
        let mut found = Vec::new();
        for offered in near.choose(offered(fields, searcher, &near)?.into_iter()) {
            // The index has the words of all tenants; only one's own are spoken of.
            if found.len() < MAX_NEAR && has_word(fields, statistics, &offered)? {
                found.push(offered);
            }
        }
        meaning.take_near(doubtful, found);
    }
    Ok(())
}

fn in_fields(fields: &Fields) -> [Field; 3] {
    [fields.text, fields.title, fields.name]
}

fn has_word(fields: &Fields, statistics: &TenantStatistics<'_>, word: &str) -> tantivy::Result<bool> {
    for field in in_fields(fields) {
        if statistics.has(&Term::from_field_text(field, word))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_form(fields: &Fields, statistics: &TenantStatistics<'_>, word: &str) -> tantivy::Result<bool> {
    for stem in stems::of_query(word) {
        if statistics.has(&Term::from_field_text(fields.stems[stem.language], &stem.stem))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// All words that begin as a near one must.
fn offered(fields: &Fields, searcher: &Searcher, near: &Near) -> tantivy::Result<Vec<String>> {
    let from = near.beginning();
    let to = format!("{from}{}", char::MAX);
    let mut words = Vec::new();
    for segment in searcher.segment_readers() {
        for field in in_fields(fields) {
            let index = segment.inverted_index(field)?;
            let mut stream = index.terms().range().ge(&from).lt(&to).into_stream()?;
            while stream.advance() {
                if let Ok(word) = std::str::from_utf8(stream.key())
                    && near.is_near(word)
                {
                    words.push(word.to_owned());
                }
            }
        }
    }
    Ok(words)
}
