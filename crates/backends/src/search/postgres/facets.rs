//! Counts of what documents are.

use docmill_core::Result;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::filter::Facets;
use sqlx_core::query_as::query_as;
use sqlx_postgres::{PgPool, Postgres};

use super::broken;

/// Counts rows that an expression with the columns of `text_index_row` gives: facet, value, how many. Facet 0 is all.
macro_rules! counted {
    ($documents:expr) => {
        concat!(
            "WITH d AS MATERIALIZED (",
            $documents,
            ")
             SELECT 0, '', count(*) FROM d
             UNION ALL SELECT 1, kind, count(*) FROM d WHERE kind IS NOT NULL GROUP BY kind
             UNION ALL SELECT 2, media_type, count(*) FROM d WHERE media_type IS NOT NULL GROUP BY media_type
             UNION ALL SELECT 3, language, count(*) FROM d WHERE language IS NOT NULL GROUP BY language
             UNION ALL SELECT 4, (day / 10000)::text, count(*) FROM d WHERE day IS NOT NULL GROUP BY day / 10000
             UNION ALL (SELECT 5, t.tag, count(*) AS times FROM d CROSS JOIN LATERAL unnest(d.tags) AS t (tag)
               GROUP BY t.tag ORDER BY times DESC, t.tag LIMIT 100)"
        )
    };
}
pub(super) use counted;

/// A line of the answer.
pub(super) type Line = (i32, String, i64);

/// How many there are, and of what.
pub(super) fn of_lines(lines: Vec<Line>) -> (u64, Facets) {
    let (mut total, mut facets) = (0, Facets::default());
    for (facet, value, count) in lines {
        let count = count.unsigned_abs();
        let values = match facet {
            1 => &mut facets.kind,
            2 => &mut facets.media_type,
            3 => &mut facets.language,
            4 => &mut facets.year,
            5 => &mut facets.tag,
            _ => {
                total = count;
                continue;
            }
        };
        values.insert(value, count);
    }
    (total, facets.most_frequent())
}

/// Counts these documents.
pub(super) async fn of_documents(
    pool: &PgPool,
    tenant: TenantId,
    documents: &[DocumentId],
) -> Result<Facets> {
    let sql = counted!(
        "SELECT r.kind, r.media_type, r.language, r.day, r.tags FROM text_index_row r
         WHERE r.document_id = ANY ($2) AND r.tenant_id = $1 AND r.part = 0"
    );
    let lines = query_as::<Postgres, Line>(sql)
        .bind(tenant.0)
        .bind(documents.iter().map(|id| id.0).collect::<Vec<_>>())
        .fetch_all(pool)
        .await
        .map_err(broken("count what documents are"))?;
    Ok(of_lines(lines).1)
}
