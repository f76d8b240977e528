//! Counts of what hits are, read from columns: nothing of a document is loaded.

use std::collections::BTreeMap;

use docmill_core::ports::filter::{Day, Facets};
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::layout::{DATE, DOCUMENT_TYPE, LANGUAGE, MEDIA_TYPE, TAG};

/// Counts every document that a query meets.
pub(super) struct CountFacets;

/// What was counted, and how many documents there were.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) total: u64,
    pub(super) facets: Facets,
}

/// The columns of a segment, with what was counted so far.
pub(super) struct SegmentFacets {
    total: u64,
    kind: Values,
    media_type: Values,
    language: Values,
    tag: Values,
    date: Column<u64>,
    years: BTreeMap<u32, u64>,
}

/// How often each value of a column was met, by its number in the dictionary of the segment. There may be hundreds of
/// thousands of tags, and as many documents that are found: a place for each is cheaper than a map.
struct Values {
    column: Option<StrColumn>,
    counts: Vec<u32>,
}

/// So many values of a segment get their names, the most frequent ones: looking a name up costs more than counting.
const NAMED: usize = 200;

impl Values {
    fn new(segment: &SegmentReader, field: &str) -> tantivy::Result<Self> {
        let column = segment.fast_fields().str(field)?;
        let counts = vec![0; column.as_ref().map_or(0, |column| column.num_terms())];
        Ok(Self { column, counts })
    }

    fn collect(&mut self, doc: DocId) {
        if let Some(column) = &self.column {
            for number in column.ords().values_for_doc(doc) {
                if let Some(count) = self.counts.get_mut(number as usize) {
                    *count += 1;
                }
            }
        }
    }

    fn named(self) -> std::io::Result<BTreeMap<String, u64>> {
        let mut named = BTreeMap::new();
        let Some(column) = self.column else { return Ok(named) };
        let met = self.counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
        let mut met: Vec<(usize, u32)> = met.collect();
        if met.len() > NAMED {
            met.select_nth_unstable_by_key(NAMED, |(number, count)| (std::cmp::Reverse(*count), *number));
            met.truncate(NAMED);
        }
        for (number, count) in met {
            let mut name = String::new();
            if column.ord_to_str(number as u64, &mut name)? {
                named.insert(name, u64::from(count));
            }
        }
        Ok(named)
    }
}

impl Collector for CountFacets {
    type Fruit = Counted;
    type Child = SegmentFacets;

    fn for_segment(&self, _: SegmentOrdinal, segment: &SegmentReader) -> tantivy::Result<SegmentFacets> {
        Ok(SegmentFacets {
            total: 0,
            kind: Values::new(segment, DOCUMENT_TYPE)?,
            media_type: Values::new(segment, MEDIA_TYPE)?,
            language: Values::new(segment, LANGUAGE)?,
            tag: Values::new(segment, TAG)?,
            date: segment.fast_fields().u64(DATE)?,
            years: BTreeMap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, segments: Vec<std::io::Result<Counted>>) -> tantivy::Result<Counted> {
        let mut all = Counted::default();
        for segment in segments {
            let Counted { total, facets } = segment?;
            all.total += total;
            let pairs = [
                (&mut all.facets.kind, facets.kind),
                (&mut all.facets.media_type, facets.media_type),
                (&mut all.facets.language, facets.language),
                (&mut all.facets.year, facets.year),
                (&mut all.facets.tag, facets.tag),
            ];
            for (sum, counts) in pairs {
                for (value, count) in counts {
                    *sum.entry(value).or_default() += count;
                }
            }
        }
        all.facets = all.facets.most_frequent();
        Ok(all)
    }
}

impl SegmentCollector for SegmentFacets {
    type Fruit = std::io::Result<Counted>;

    fn collect(&mut self, doc: DocId, _: Score) {
        self.total += 1;
        for values in [&mut self.kind, &mut self.media_type, &mut self.language, &mut self.tag] {
            values.collect(doc);
        }
        if let Some(date) = self.date.first(doc).and_then(|date| u32::try_from(date).ok()) {
            *self.years.entry(Day(date).year()).or_default() += 1;
        }
    }

    fn harvest(self) -> std::io::Result<Counted> {
        let facets = Facets {
            kind: self.kind.named()?,
            media_type: self.media_type.named()?,
            language: self.language.named()?,
            year: self.years.into_iter().map(|(year, count)| (year.to_string(), count)).collect(),
            tag: self.tag.named()?,
        };
        Ok(Counted { total: self.total, facets })
    }
}
