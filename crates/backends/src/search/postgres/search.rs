//! Answering a query: what is rare among the tenant's documents, then the hits and their scores.
//!
//! Scores are BM25 as Tantivy's are, with three differences: a word counts in steps of how often it stands in the text
//! (`lexeme::often`), names and titles count as equally long, and the words of a phrase count as words. Nothing of it
//! needs to read a document's words, which would cost far more than finding it.

use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::text_index::TextHit;
use docmill_core::{Error, Result};
use sqlx_core::query_as::query_as;
use sqlx_postgres::{PgPool, Postgres};
use uuid::Uuid;

use super::lexeme::{Kind, OFTEN};
use super::query::{Divided, Queries, Scored};
use super::wire::TsQuery;
use super::{TIMED_OUT, broken};
use crate::postgres::{code, text};
use crate::search::meaning::{AVERAGE_WORDS, Meaning, NAME_BOOST};

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

/// `$1` the tenant, `$2` what rows answer, `$3` names and `$4` types to insist on, `$5` the limit, `$6`–`$11` marks.
macro_rules! hits {
    ($hits_in_parts:literal, $marked_rows:literal) => {
        concat!(
            "WITH found AS (
               SELECT r.document_id, 0::bigint AS points, true AS hit FROM text_index_row r
               WHERE r.tenant_id = $1 AND r.words @@ $2 AND r.name = ALL ($3) AND r.media_type = ALL ($4)
               UNION ALL ",
            $hits_in_parts,
            " SELECT r.document_id, (m.weight * (1 / (1 + r.dampening / m.times)
                - CASE WHEN m.graded THEN 1 / (1 + r.dampening) ELSE 0 END))::bigint, false
               FROM unnest($6::tsquery[], $7::float8[], $8::float8[], $9::boolean[], $10::float8[], $11::float8[])
                 AS m (query, weight, times, graded, dampening, per_word)
               CROSS JOIN LATERAL (",
            $marked_rows,
            ") AS r)
             SELECT document_id, sum(points)::bigint AS points FROM found GROUP BY document_id HAVING bool_or(hit)
             ORDER BY points DESC, document_id LIMIT $5"
        )
    };
}

/// Hits whose rows know.
const HITS: &str = hits!(
    "",
    "SELECT r.document_id, m.dampening + m.per_word * r.text_words AS dampening FROM text_index_row r
     WHERE r.tenant_id = $1 AND r.words @@ m.query"
);

/// Also those that must be looked for in parts, of which a document may have several with the same mark. `$12`
/// queries, `$13` their groups, `$14` how many groups must be met.
const HITS_DIVIDED: &str = hits!(
    "SELECT met.document_id, 0, true
     FROM (
       SELECT r.document_id FROM unnest($12::tsquery[], $13::integer[]) AS g (query, number)
       CROSS JOIN LATERAL (
         SELECT DISTINCT r.document_id FROM text_index_row r WHERE r.tenant_id = $1 AND r.words @@ g.query) AS r
       GROUP BY r.document_id
       HAVING count(DISTINCT g.number) = $14 AND min(g.number) >= 0) AS met
     JOIN text_index_row r ON r.document_id = met.document_id AND r.tenant_id = $1 AND r.part = 0
       AND r.name = ALL ($3) AND r.media_type = ALL ($4)
     UNION ALL ",
    "SELECT r.document_id, m.dampening + m.per_word * max(r.text_words) AS dampening FROM text_index_row r
     WHERE r.tenant_id = $1 AND r.words @@ m.query GROUP BY r.document_id"
);

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
            Kind::Word => (K1 * (1.0 - B), per_word),
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

/// The hits of a query, best first.
pub(super) async fn hits(
    pool: &PgPool,
    tenant: TenantId,
    meaning: &Meaning<'_>,
    limit: usize,
) -> Result<Vec<TextHit>> {
    let queries = Queries::new(tenant, meaning);
    let scored = queries.scored();
    let counted: Vec<TsQuery> =
        scored.iter().filter(|s| !s.beginning).map(|scored| queries.scored_lexeme(scored)).collect();
    let found: Option<(i64, i64, i64, Vec<i64>)> = query_as::<Postgres, _>(STATISTICS)
        .bind(tenant.0)
        .bind(counted)
        .bind(MAX_COUNTED + 1)
        .fetch_optional(pool)
        .await
        .map_err(slow("count words"))?;
    let Some((documents, long, spilled, counts)) = found else { return Ok(Vec::new()) };
    let divided = queries.divided(long > 0, spilled > 0);
    let marks = marks(&queries, &scored, documents, &counts, divided, meaning.title_boost);
    let groups = queries.groups(divided);
    let sql = if groups.is_empty() { HITS } else { HITS_DIVIDED };
    let mut query = query_as::<Postgres, (Uuid, i64)>(sql)
        .bind(tenant.0)
        .bind(queries.whole(divided))
        .bind(meaning.names.iter().map(|name| text(name)).collect::<Vec<_>>())
        .bind(meaning.media_types.iter().map(|media_type| text(media_type)).collect::<Vec<_>>())
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .bind(marks.queries)
        .bind(marks.weights)
        .bind(marks.times)
        .bind(marks.graded)
        .bind(marks.dampening)
        .bind(marks.per_word);
    if !groups.is_empty() {
        let required = i64::try_from(meaning.groups.len().max(1)).unwrap_or(i64::MAX);
        let (of, numbers): (Vec<TsQuery>, Vec<i32>) = groups.into_iter().unzip();
        query = query.bind(of).bind(numbers).bind(required);
    }
    let hits = query.fetch_all(pool).await.map_err(slow("look for hits"))?;
    Ok(hits
        .into_iter()
        .map(|(id, points)| TextHit { document_id: DocumentId(id), score: (points as f64 / POINTS) as f32 })
        .collect())
}

fn marks(
    queries: &Queries<'_>,
    scored: &[Scored<'_>],
    documents: i64,
    counts: &[i64],
    divided: Divided,
    title_boost: f32,
) -> Marks {
    let mut marks = Marks::default();
    let mut counts = counts.iter();
    for scored in scored {
        let boost = f64::from(match scored.kind {
            Kind::Title => title_boost,
            Kind::Name => NAME_BOOST,
            _ => 1.0,
        });
        // A beginning is worth the same everywhere: it stands for too many words to know how rare they are.
        let (weight, times) = if scored.beginning {
            (boost, f64::INFINITY)
        } else {
            (boost * rarity(counts.next().copied().unwrap_or(0), documents) * (K1 + 1.0), 1.0)
        };
        marks.add(queries.mark(scored, None, divided), weight, times, false, scored.kind);
        if scored.kind == Kind::Word && divided != Divided::Nothing {
            marks.add(queries.spilled_mark(scored), weight, times, false, scored.kind);
        }
        if scored.graded {
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
