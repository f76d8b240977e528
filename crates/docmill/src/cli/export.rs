//! `docmill export`.

use bytes::Bytes;
use clap::builder::PossibleValuesParser;
use docmill_core::call::Call;
use docmill_core::clock::Timestamp;
use docmill_core::ports::blobs::Content;
use docmill_core::record::{RecordLine, RecordQuery, RecordState, RecordsAnswer, SchemasAnswer};
use docmill_core::text::shown;
use docmill_core::{Error, Result};
use docmill_pipeline::export::{self, Format, MAX_RECORDS};

use super::saving::To;
use crate::context::{Context, Exit};
use crate::session::{Original, Session};

/// Records that are looked up at once.
const CHUNK: usize = 1000;

/// Write records by a schema to a file
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Records by this schema
    #[arg(long, value_name = "NAME")]
    schema: String,
    /// How they are written
    #[arg(long, value_name = "FORMAT", default_value = "csv", value_parser = formats())]
    format: String,
    /// Only those where this holds: `state=passed|open|accepted|corrected|rejected`, `from=TIME`, `to=TIME` (when the
    /// document first came in)
    #[arg(long = "filter", value_name = "KEY=VALUE")]
    filters: Vec<String>,
    #[command(flatten)]
    to: To,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.name()))
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let format = Format::from_name(&self.format)
            .ok_or_else(|| Error::invalid_request(format!("`{}` is not a format", self.format)))?;
        let query = query(&self.schema, &self.filters)?;
        self.to.check()?;
        let session = Session::open(&cx.settings, &cx.clock, "export").await?;
        let found = async {
            let lines = all(&session, query).await?;
            let known = if lines.is_empty() { Some(session.ask(Call::Schemas).await?) } else { None };
            Ok((lines, known))
        };
        let found: Result<(Vec<RecordLine>, Option<SchemasAnswer>)> = found.await;
        let closed = session.close(std::time::Duration::ZERO).await;
        let (lines, known) = found?;
        closed?;
        let fields = known.map(|known| known.fields_of(&self.schema)).unwrap_or_default();
        let body = Bytes::from(export::write(format, &lines, &fields)?);
        let bytes = self.to.write(cx, Original::Here(Content::Inline(body))).await?;
        self.to.say(cx, bytes)?;
        Ok(Exit::Ok)
    }
}

async fn all(session: &Session, mut query: RecordQuery) -> Result<Vec<RecordLine>> {
    let mut lines = Vec::new();
    loop {
        let page: RecordsAnswer = session.ask(Call::Records { query: query.clone() }).await?;
        lines.extend(page.items);
        if lines.len() > MAX_RECORDS {
            return Err(Error::limit_exceeded(format!(
                "more than {MAX_RECORDS} records are asked for at once"
            ))
            .with_hint("ask for some of them, with `--filter from=…` and `--filter to=…`"));
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(lines),
        }
    }
}

fn query(schema: &str, filters: &[String]) -> Result<RecordQuery> {
    let mut query = RecordQuery {
        schema: schema.to_owned(),
        state: None,
        since: None,
        until: None,
        after: None,
        limit: CHUNK,
    };
    for filter in filters {
        let (key, value) = filter.split_once('=').unwrap_or((filter, ""));
        match key {
            "state" => {
                let state = RecordState::from_name(value).ok_or_else(|| {
                    let names: Vec<&str> = RecordState::ALL.iter().map(|state| state.name()).collect();
                    Error::invalid_request(format!("`{}` is not a state of a record", shown(value)))
                        .with_hint(format!("the states are {}", names.join(", ")))
                })?;
                query.state = Some(state);
            }
            "from" => query.since = Some(time(value)?),
            "to" => query.until = Some(time(value)?),
            other => {
                return Err(Error::invalid_request(format!("`{}` cannot be filtered by", shown(other)))
                    .with_hint("the keys are `state`, `from` and `to`"));
            }
        }
    }
    Ok(query)
}

/// A moment, or the beginning of a day.
fn time(text: &str) -> Result<Timestamp> {
    let read = |text: &str| serde_json::from_value::<Timestamp>(text.into()).ok();
    read(text).or_else(|| read(&format!("{text}T00:00:00Z"))).ok_or_else(|| {
        Error::invalid_request(format!("`{}` is no time", shown(text)))
            .with_hint("write `2024-03-09` or `2024-03-09T10:00:00Z`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_and_mistakes_are_named() {
        let asked = query("invoice", &["state=open".into(), "from=2024-03-09".into()]).unwrap();
        assert_eq!(asked.state, Some(RecordState::Open));
        assert_eq!(asked.since.unwrap().to_string(), "2024-03-09T00:00:00Z");
        for wrong in ["state=odd", "from=soon", "size=3", "state"] {
            assert!(query("invoice", &[wrong.into()]).unwrap_err().hint().is_some(), "{wrong}");
        }
    }
}
