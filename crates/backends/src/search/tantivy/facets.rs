//! Counts of what hits are, read from columns: nothing of a document is loaded.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use docmill_core::ports::filter::{Day, Facets, MAX_FACET_VALUES};
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

/// So many values of a segment may be frequent in all of them together. Twice as many as are shown, because what is
/// frequent in one segment need not be so in the next.
const FREQUENT: usize = 2 * MAX_FACET_VALUES;

/// Of segments that have met more, so many together get their names: looking a name up costs more than counting, and an
/// index has dozens of segments, most of which have met most values once.
const NAMED: usize = 4 * FREQUENT;

/// A value that a segment has met.
struct Met {
    count: u32,
    segment: usize,
    /// In the dictionary of the segment.
    number: u64,
}

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

    /// The most frequent values, and whether these are all that were met.
    fn frequent(&self, segment: usize) -> (Vec<Met>, bool) {
        let met = self.counts.iter().zip(0..).filter(|(count, _)| **count > 0);
        let mut met: Vec<Met> = met.map(|(count, number)| Met { count: *count, segment, number }).collect();
        let all = met.len() <= FREQUENT;
        keep_most(&mut met, FREQUENT);
        (met, all)
    }

    /// What some values are called that stand in the order of their numbers: each block of the dictionary is unpacked once.
    fn named(&self, met: &[Met]) -> io::Result<BTreeMap<String, u64>> {
        let Some(column) = &self.column else { return Ok(BTreeMap::new()) };
        let numbers: Vec<u64> = met.iter().map(|met| met.number).collect();
        let mut counts = met.iter().map(|met| u64::from(met.count));
        let mut named = BTreeMap::new();
        column.dictionary().sorted_ords_to_term_cb(&numbers, |name| {
            named.insert(String::from_utf8_lossy(name).into_owned(), counts.next().unwrap_or_default());
        })?;
        Ok(named)
    }

    /// How often a value was met.
    fn count_of(&self, name: &str) -> io::Result<u64> {
        let Some(column) = &self.column else { return Ok(0) };
        let number = column.dictionary().term_ord(name)?;
        Ok(number.and_then(|number| self.counts.get(number as usize)).map_or(0, |count| u64::from(*count)))
    }
}

fn keep_most(met: &mut Vec<Met>, at_most: usize) {
    if met.len() > at_most {
        met.select_nth_unstable_by_key(at_most, |met| Reverse(met.count));
        met.truncate(at_most);
    }
}

/// Counts the values of all segments together. Which may be frequent is taken from the most frequent ones of the segments;
/// how often those were met is then exact, also where they are rare.
fn together(segments: &[&Values]) -> io::Result<BTreeMap<String, u64>> {
    let (mut frequent, mut pool, mut complete) = (Vec::new(), Vec::new(), Vec::new());
    for (segment, values) in segments.iter().enumerate() {
        let (most, all) = values.frequent(segment);
        if all {
            frequent.extend(most);
        } else {
            pool.extend(most);
        }
        complete.push(all);
    }
    keep_most(&mut pool, NAMED);
    frequent.append(&mut pool);
    frequent.sort_unstable_by_key(|met| (met.segment, met.number));
    let mut known = Vec::with_capacity(segments.len());
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (segment, (values, all)) in segments.iter().zip(complete).enumerate() {
        let own = frequent.partition_point(|met| met.segment < segment)
            ..frequent.partition_point(|met| met.segment <= segment);
        let named = values.named(&frequent[own])?;
        for (name, count) in &named {
            *sums.entry(name.clone()).or_default() += count;
        }
        known.push((values, named, all));
    }
    let mut likely: Vec<(String, u64)> = sums.into_iter().collect();
    likely.sort_by_key(|(_, count)| Reverse(*count));
    likely.truncate(FREQUENT);
    for (name, sum) in &mut likely {
        for (values, named, all) in &known {
            if !all && !named.contains_key(name) {
                *sum += values.count_of(name)?;
            }
        }
    }
    Ok(likely.into_iter().collect())
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

    fn merge_fruits(&self, mut segments: Vec<SegmentFacets>) -> tantivy::Result<Counted> {
        segments.retain(|segment| segment.total > 0);
        let mut year: BTreeMap<String, u64> = BTreeMap::new();
        for segment in &segments {
            for (number, count) in &segment.years {
                *year.entry(number.to_string()).or_default() += count;
            }
        }
        let of = |values: fn(&SegmentFacets) -> &Values| {
            together(&segments.iter().map(values).collect::<Vec<_>>())
        };
        let facets = Facets {
            kind: of(|segment| &segment.kind)?,
            media_type: of(|segment| &segment.media_type)?,
            language: of(|segment| &segment.language)?,
            year,
            tag: of(|segment| &segment.tag)?,
        };
        let total = segments.iter().map(|segment| segment.total).sum();
        Ok(Counted { total, facets: facets.most_frequent() })
    }
}

impl SegmentCollector for SegmentFacets {
    type Fruit = Self;

    fn collect(&mut self, doc: DocId, _: Score) {
        self.total += 1;
        for values in [&mut self.kind, &mut self.media_type, &mut self.language, &mut self.tag] {
            values.collect(doc);
        }
        if let Some(date) = self.date.first(doc).and_then(|date| u32::try_from(date).ok()) {
            *self.years.entry(Day(date).year()).or_default() += 1;
        }
    }

    fn harvest(self) -> Self {
        self
    }
}
