//! What documents must be, as statements get it: seven values in a row.

use docmill_core::ports::filter::{Day, Filter};
use sqlx_core::query_as::QueryAs;
use sqlx_postgres::{PgArguments, Postgres};

use super::text;

/// A filter for `name = ALL`, `media_type = ALL`, `kind = ALL`, `language = ALL`, `tags @>`, the first and the last day.
pub(crate) struct SqlFilter {
    lists: [Vec<String>; 5],
    days: [Option<i32>; 2],
}

impl SqlFilter {
    pub(crate) fn of(filter: &Filter<'_>) -> Self {
        let list = |values: &[&str]| values.iter().map(|value| text(value)).collect();
        let day = |day: Option<Day>| day.and_then(|day| i32::try_from(day.0).ok());
        Self {
            lists: [
                list(&filter.names),
                list(&filter.media_types),
                list(&filter.kinds),
                list(&filter.languages),
                list(&filter.tags),
            ],
            days: [day(filter.from), day(filter.to)],
        }
    }

    /// Binds the next seven places.
    pub(crate) fn bind<'q, T>(
        &self,
        mut query: QueryAs<'q, Postgres, T, PgArguments>,
    ) -> QueryAs<'q, Postgres, T, PgArguments> {
        for list in &self.lists {
            query = query.bind(list.clone());
        }
        for day in self.days {
            query = query.bind(day);
        }
        query
    }
}
