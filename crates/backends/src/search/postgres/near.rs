//! Words of a tenant's documents that are spelled nearly like one.

use docmill_core::Result;
use docmill_core::id::TenantId;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgPool, Postgres};

use super::broken;
use super::lexeme::{Kind, Spelling};
use super::wire::TsQuery;
use crate::search::meaning::Meaning;
use crate::search::near::{MAX_NEAR, Near};
use crate::search::stems;

/// `$1` the tenant, `$2` what they begin with, `$3` what lies behind that.
const OFFERED: &str =
    "SELECT word FROM text_index_word WHERE tenant_id = $1 AND word >= $2 AND word < $3 ORDER BY word";

/// `$1` the tenant, `$2` queries: whether a document meets each.
const MET: &str = "
SELECT EXISTS (SELECT FROM text_index_row r WHERE r.tenant_id = $1 AND r.words @@ w.query)
FROM unnest($2::tsquery[]) WITH ORDINALITY AS w (query, place) ORDER BY w.place";

/// Finds the words that a query is to be looked for by as well.
pub(super) async fn resolve(
    pool: &PgPool,
    tenant: TenantId,
    meaning: &mut Meaning<'_>,
    forgiving: bool,
) -> Result<()> {
    for doubtful in meaning.doubtful(forgiving) {
        let word = &doubtful.word;
        if doubtful.if_missing && met(pool, tenant, vec![word_or_form(tenant, word)]).await? == [true] {
            continue;
        }
        let Some(near) = Near::to(word) else { continue };
        let offered = near.choose(offered(pool, tenant, &near).await?.into_iter());
        // The list has words of documents that are gone.
        let there = met(pool, tenant, offered.iter().map(|word| this_word(tenant, word)).collect()).await?;
        let found = offered.into_iter().zip(there).filter_map(|(word, there)| there.then_some(word));
        meaning.take_near(doubtful, found.take(MAX_NEAR).collect());
    }
    Ok(())
}

async fn offered(pool: &PgPool, tenant: TenantId, near: &Near) -> Result<Vec<String>> {
    let from = near.beginning();
    let to = format!("{from}{}", char::MAX);
    query_scalar::<Postgres, String>(OFFERED)
        .bind(tenant.0)
        .bind(from)
        .bind(to)
        .fetch_all(pool)
        .await
        .map_err(broken("look for words that are spelled nearly so"))
}

async fn met(pool: &PgPool, tenant: TenantId, queries: Vec<TsQuery>) -> Result<Vec<bool>> {
    query_scalar::<Postgres, bool>(MET)
        .bind(tenant.0)
        .bind(queries)
        .fetch_all(pool)
        .await
        .map_err(broken("look whether words are there"))
}

fn this_word(tenant: TenantId, word: &str) -> TsQuery {
    let kinds = [Kind::Word, Kind::Title, Kind::Name, Kind::Spill];
    TsQuery::Any(kinds.map(|kind| TsQuery::Lexeme(Spelling::of(tenant).spell(kind, word))).to_vec())
}

fn word_or_form(tenant: TenantId, word: &str) -> TsQuery {
    let mut any = vec![this_word(tenant, word)];
    let lexeme = |stem: &stems::Stem| Spelling::of(tenant).spell(Kind::Stem, &stem.spelled());
    any.extend(stems::of_query(word).iter().map(|stem| TsQuery::Lexeme(lexeme(stem))));
    TsQuery::Any(any)
}
