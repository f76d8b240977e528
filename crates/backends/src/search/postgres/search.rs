//! Answering a query: what is rare among the tenant's documents, then the hits and their scores.
//!
//! Scores are BM25 as Tantivy's are, with three differences: a word counts in steps of how often it stands in the text
//! (`lexeme::often`), names and titles count as equally long, and the words of a phrase count as words. Nothing of it
//! needs to read a document's words, which would cost far more than finding it.

use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::filter::Facets;
use docmill_core::ports::text_index::TextHit;
use docmill_core::{Error, Result};
use sqlx_core::query_as::query_as;
use sqlx_postgres::{PgPool, Postgres};
use uuid::Uuid;

use super::facets::{self, Line, counted};
use super::lexeme::{Kind, OFTEN};
use super::query::{Divided, MAX_GRADED, Queries, Scored};
use super::wire::TsQuery;
use super::{TIMED_OUT, broken};
use crate::postgres::code;
use crate::postgres::filter::SqlFilter;
use crate::search::meaning::{AVERAGE_WORDS, Meaning};

/// How soon a word that is repeated adds little, and how much a long text takes from its words: the usual figures.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How long a name, a title or a type is taken to be, in words.
const FIELD_WORDS: f64 = 8.0;

/// A word is counted up to this many documents. One that more have is taken to be in half of all: what it adds to a
/// score is then small, and counting on would take longer than everything else.
const MAX_COUNTED: i64 = 20_000;

/// Scores are added up as whole numbers of this part, so that their sum does not depend on the order.
const POINTS: f64 = 1e6;

/// `$1` the tenant, `$2` words, `$3` how far to count. One row, or none if the tenant has no documents.
const STATISTICS: &str = "
SELECT t.documents, t.long_documents, t.spilled_documents, ARRAY(
  SELECT (SELECT count(*) FROM (
    SELECT FROM text_index_row r WHERE r.tenant_id = $1 AND r.words @@ w.query LIMIT $3) AS counted)
  FROM unnest($2::tsquery[]) WITH ORDINALITY AS w (query, place) ORDER BY w.place)
FROM text_index_tenant t WHERE t.tenant_id = $1 AND t.documents > 0";

/// What documents must be. `$3`–`$9` names, media types, types, languages, tags, the first and the last day.
macro_rules! fitting {
    () => {
        " AND r.name = ALL ($3) AND r.media_type = ALL ($4) AND r.kind = ALL ($5) AND r.language = ALL ($6)
          AND r.tags @> $7 AND ($8::integer IS NULL OR r.day >= $8) AND ($9::integer IS NULL OR r.day <= $9) "
    };
}

/// Hits whose rows know. `$1` the tenant, `$2` what rows answer.
macro_rules! known {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM text_index_row r WHERE r.tenant_id = $1 AND r.words @@ $2",
            fitting!()
        )
    };
}

/// Those that must be looked for in parts, of which a document may have several with the same mark. `$10` queries, `$11`
/// their groups, `$12` how many groups must be met.
macro_rules! divided {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM (
               SELECT r.document_id FROM unnest($10::tsquery[], $11::integer[]) AS g (query, number)
               CROSS JOIN LATERAL (
                 SELECT DISTINCT r.document_id FROM text_index_row r WHERE r.tenant_id = $1 AND r.words @@ g.query) AS r
               GROUP BY r.document_id
               HAVING count(DISTINCT g.number) = $12 AND min(g.number) >= 0) AS met
             JOIN text_index_row r ON r.document_id = met.document_id AND r.tenant_id = $1 AND r.part = 0",
            fitting!()
        )
    };
}

/// Hits with their scores. `$13` the limit, `$14`–`$19` marks.
macro_rules! hits {
    ($hits:expr, $marked_rows:literal) => {
        concat!(
            "WITH found AS (",
            $hits,
            " UNION ALL
               SELECT r.document_id, (m.weight * (1 / (1 + r.dampening / m.times)
                - CASE WHEN m.graded THEN 1 / (1 + r.dampening) ELSE 0 END))::bigint, false
               FROM unnest($14::tsquery[], $15::float8[], $16::float8[], $17::boolean[], $18::float8[], $19::float8[])
                 AS m (query, weight, times, graded, dampening, per_word)
               CROSS JOIN LATERAL (",
            $marked_rows,
            ") AS r)
             SELECT document_id, sum(points)::bigint AS points FROM found GROUP BY document_id HAVING bool_or(hit)
             ORDER BY points DESC, document_id LIMIT $13"
        )
    };
}

/// Where no document is divided, the queries for those that are say nothing.
const HITS: &str = hits!(
    concat!(
        known!("r.document_id, 0::bigint AS points, true AS hit"),
        " AND $10::tsquery[] IS NOT NULL AND $11::integer[] IS NOT NULL AND $12::bigint IS NOT NULL"
    ),
    "SELECT r.document_id, m.dampening + m.per_word * r.text_words AS dampening FROM text_index_row r
     WHERE r.tenant_id = $1 AND r.words @@ m.query"
);

const HITS_DIVIDED: &str = hits!(
    concat!(
        known!("r.document_id, 0::bigint AS points, true AS hit"),
        " UNION ALL ",
        divided!("r.document_id, 0, true")
    ),
    "SELECT r.document_id, m.dampening + m.per_word * max(r.text_words) AS dampening FROM text_index_row r
     WHERE r.tenant_id = $1 AND r.words @@ m.query GROUP BY r.document_id"
);

/// What all hits are.
const FACETS: &str = counted!(concat!(
    known!("r.kind, r.media_type, r.language, r.day, r.tags"),
    " AND $10::tsquery[] IS NOT NULL AND $11::integer[] IS NOT NULL AND $12::bigint IS NOT NULL"
));

const FACETS_DIVIDED: &str = counted!(concat!(
    known!("r.kind, r.media_type, r.language, r.day, r.tags"),
    " UNION ALL ",
    divided!("r.kind, r.media_type, r.language, r.day, r.tags")
));

/// What each hit that has a mark gets.
#[derive(Default)]
struct Marks {
    queries: Vec<TsQuery>,
    /// What the word is worth here if it is there without end.
    weights: Vec<f64>,
    /// How often it is there.
    times: Vec<f64>,
    /// Whether a hit has another mark for the word being there once.
    graded: Vec<bool>,
    /// How many times make half of the weight, in a text of no words, and what each word of the text adds.
    dampening: Vec<f64>,
    per_word: Vec<f64>,
}

impl Marks {
    fn add(&mut self, query: TsQuery, weight: f64, times: f64, graded: bool, kind: Kind) {
        let per_word = K1 * B / AVERAGE_WORDS as f64;
        let (dampening, per_word) = match kind {
            Kind::Word | Kind::Stem => (K1 * (1.0 - B), per_word),
            _ => (K1 * (1.0 - B) + per_word * FIELD_WORDS, 0.0),
        };
        self.queries.push(query);
        self.weights.push(weight * POINTS);
        self.times.push(times);
        self.graded.push(graded);
        self.dampening.push(dampening);
        self.per_word.push(per_word);
    }
}

/// The hits of a query, best first; if all are to be `counted`, also how many there are, and what.
pub(super) async fn hits(
    pool: &PgPool,
    tenant: TenantId,
    meaning: &Meaning<'_>,
    limit: usize,
    counted: bool,
) -> Result<(Vec<TextHit>, u64, Facets)> {
    let queries = Queries::new(tenant, meaning);
    let scored = queries.scored();
    let lexemes: Vec<TsQuery> =
        scored.iter().filter(|s| !s.beginning).map(|scored| queries.scored_lexeme(scored)).collect();
    let found: Option<(i64, i64, i64, Vec<i64>)> = query_as::<Postgres, _>(STATISTICS)
        .bind(tenant.0)
        .bind(lexemes)
        .bind(MAX_COUNTED + 1)
        .fetch_optional(pool)
        .await
        .map_err(slow("count words"))?;
    let Some((documents, long, spilled, counts)) = found else { return Ok(Default::default()) };
    let divided = queries.divided(long > 0, spilled > 0);
    let marks = marks(&queries, &scored, documents, &counts, divided);
    let groups = queries.groups(divided);
    let (hits_sql, facets_sql) =
        if groups.is_empty() { (HITS, FACETS) } else { (HITS_DIVIDED, FACETS_DIVIDED) };
    let required = i64::try_from(meaning.groups.len().max(1)).unwrap_or(i64::MAX);
    let (of, numbers): (Vec<TsQuery>, Vec<i32>) = groups.into_iter().unzip();
    let (filter, whole) = (SqlFilter::of(&meaning.filter), queries.whole(divided));
    let hits = filter
        .bind(query_as::<Postgres, (Uuid, i64)>(hits_sql).bind(tenant.0).bind(whole.clone()))
        .bind(of.clone())
        .bind(numbers.clone())
        .bind(required)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .bind(marks.queries)
        .bind(marks.weights)
        .bind(marks.times)
        .bind(marks.graded)
        .bind(marks.dampening)
        .bind(marks.per_word)
        .fetch_all(pool)
        .await
        .map_err(slow("look for hits"))?;
    let hits = hits
        .into_iter()
        .map(|(id, points)| TextHit { document_id: DocumentId(id), score: (points as f64 / POINTS) as f32 })
        .collect();
    if !counted {
        return Ok((hits, 0, Facets::default()));
    }
    let lines = filter
        .bind(query_as::<Postgres, Line>(facets_sql).bind(tenant.0).bind(whole))
        .bind(of)
        .bind(numbers)
        .bind(required)
        .fetch_all(pool)
        .await
        .map_err(slow("count hits"))?;
    let (total, facets) = facets::of_lines(lines);
    Ok((hits, total, facets))
}

fn marks(
    queries: &Queries<'_>,
    scored: &[Scored],
    documents: i64,
    counts: &[i64],
    divided: Divided,
) -> Marks {
    let mut marks = Marks::default();
    let mut counts = counts.iter();
    let mut graded_stems = 0;
    for scored in scored {
        let boost = f64::from(scored.boost);
        // A beginning is worth the same everywhere: it stands for too many words to know how rare they are.
        let (weight, times) = if scored.beginning {
            (boost, f64::INFINITY)
        } else {
            let having = counts.next().copied().unwrap_or(0);
            // Most languages do not have the stem.
            if having == 0 && scored.kind == Kind::Stem {
                continue;
            }
            (boost * rarity(having, documents) * (K1 + 1.0), 1.0)
        };
        marks.add(queries.mark(scored, None, divided), weight, times, false, scored.kind);
        if scored.kind == Kind::Word && divided != Divided::Nothing {
            marks.add(queries.spilled_mark(scored), weight, times, false, scored.kind);
        }
        graded_stems += usize::from(scored.kind == Kind::Stem);
        if scored.graded && graded_stems <= MAX_GRADED {
            for (level, times) in (0..).zip(OFTEN) {
                let query = queries.mark(scored, Some(Kind::Often(level)), divided);
                marks.add(query, weight, times, true, scored.kind);
            }
        }
    }
    marks
}

/// How much a word that so many documents have tells them apart.
fn rarity(having: i64, documents: i64) -> f64 {
    let having = if having > MAX_COUNTED { having.max(documents / 2) } else { having };
    let (having, all) = (having as f64, documents.max(having) as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// A query that takes too long is not the server's fault.
fn slow(doing: &'static str) -> impl FnOnce(sqlx_core::Error) -> Error {
    move |error| {
        let timed_out = code(&error).as_deref() == Some(TIMED_OUT);
        let failure = broken(doing)(error);
        if timed_out {
            failure.with_hint("ask for rarer words, or for fewer beginnings of words; if plain words are slow, too, look at the load of the database server")
        } else {
            failure
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarity_falls_with_every_document_and_stays_finite() {
        let of = |having| rarity(having, 1_000);
        assert!(of(0) > of(1) && of(1) > of(10) && of(10) > of(1_000) && of(1_000) > 0.0);
        assert!(rarity(7, 3) > 0.0, "counts of two moments may differ");
        assert!(rarity(MAX_COUNTED + 1, 10_000_000) < rarity(MAX_COUNTED, 10_000_000));
    }
}
