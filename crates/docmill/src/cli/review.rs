//! `docmill review`.

use std::collections::BTreeMap;

use docmill_core::call::Call;
use docmill_core::review::{
    CorrectionsAnswer, DecidedAnswer, ReviewAnswer, ReviewsAnswer, Verdict, review_id,
};
use docmill_core::text::shown;
use docmill_core::{Error, Result};
use serde_json::Value;

use super::{ask, at_least_one, print};
use crate::context::{Context, Exit};
use crate::session::Session;
use crate::terminal::{relative, table};

/// Decisions that are looked up at once.
const CHUNK: usize = 1000;

/// Look at records that docmill is not sure of
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List them, the least sure first
    List {
        /// Only of this schema
        #[arg(long, value_name = "NAME")]
        schema: Option<String>,
        /// Those that are decided
        #[arg(long)]
        done: bool,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
        limit: usize,
        /// `next` of the page before
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    },
    /// Show one with its values, why it is doubtful, and what was decided
    Show {
        /// Of the review
        id: String,
    },
    /// Say that a record is right
    Accept {
        /// Of the review
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Say that a record is right with other values
    Correct {
        /// Of the review
        id: String,
        /// A value by its path, for instance `total_amount=12.50` or `items[0].quantity=2`; nothing after `=` takes it away
        #[arg(long = "set", value_name = "PATH=VALUE", required = true)]
        values: Vec<String>,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Say that a record is of no use
    Reject {
        /// Of the review
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Print every value that was corrected, as JSON lines
    Export,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        match self.command {
            Command::List { schema, done, limit, cursor } => {
                let call = Call::Reviews { schema, done, limit, cursor };
                let answer: ReviewsAnswer = ask(cx, "review list", call).await?;
                print(cx, &answer, |answer| listed(cx, answer))?;
            }
            Command::Show { id } => {
                let answer: ReviewAnswer =
                    ask(cx, "review show", Call::Review { id: review_id(&id)? }).await?;
                print(cx, &answer, |answer| one(cx, answer))?;
            }
            Command::Accept { id, reason } => decide(cx, &id, Verdict::Accept { reason }).await?,
            Command::Correct { id, values, reason } => {
                let fields = values.iter().map(|value| given(value)).collect::<Result<BTreeMap<_, _>>>()?;
                decide(cx, &id, Verdict::Correct { fields, reason }).await?;
            }
            Command::Reject { id, reason } => decide(cx, &id, Verdict::Reject { reason }).await?,
            Command::Export => export(cx).await?,
        }
        Ok(Exit::Ok)
    }
}

fn given(value: &str) -> Result<(String, Value)> {
    let (path, value) = value.split_once('=').ok_or_else(|| {
        Error::invalid_request(format!("`--set {}` has no `=`", shown(value)))
            .with_hint("write `--set total_amount=12.50`")
    })?;
    let value = if value.is_empty() { Value::Null } else { Value::String(value.to_owned()) };
    Ok((path.to_owned(), value))
}

async fn decide(cx: &Context, id: &str, verdict: Verdict) -> Result<()> {
    let id = review_id(id)?;
    let answer: DecidedAnswer = ask(cx, "review", Call::ReviewDecide { id, verdict }).await?;
    print(cx, &answer, |answer| {
        let next = answer.next.map_or_else(|| "nothing is left".to_owned(), |next| format!("next is {next}"));
        format!("review {} is {}; {next}", answer.review_id, answer.state.name())
    })
}

async fn export(cx: &Context) -> Result<()> {
    let session = Session::open(&cx.settings, &cx.clock, "review export").await?;
    let printed = print_all(cx, &session).await;
    let closed = session.close(std::time::Duration::ZERO).await;
    printed.and(closed)
}

async fn print_all(cx: &Context, session: &Session) -> Result<()> {
    let mut cursor = None;
    loop {
        let call = Call::Corrections { limit: CHUNK, cursor: cursor.take() };
        let page: CorrectionsAnswer = session.ask(call).await?;
        for line in &page.items {
            cx.terminal.object(line)?;
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

fn listed(cx: &Context, answer: &ReviewsAnswer) -> String {
    if answer.items.is_empty() {
        return format!("nothing here; {} open", answer.open);
    }
    let now = cx.clock.now();
    let rows: Vec<Vec<String>> = answer
        .items
        .iter()
        .map(|line| {
            vec![
                line.review_id.to_string(),
                line.schema.clone(),
                format!("{:.0} %", line.confidence * 100.0),
                line.locked_by.clone().unwrap_or_else(|| line.state.name().to_owned()),
                relative(now, line.created_at),
                shown(&line.name),
                shown(line.reasons.first().map_or("", String::as_str)),
            ]
        })
        .collect();
    let mut out = table(&["REVIEW", "SCHEMA", "SURE", "STATE", "SINCE", "NAME", "WHY"], &rows);
    if let Some(next) = &answer.next {
        out.push_str(&format!("\nmore: --cursor {next}"));
    }
    out
}

fn one(cx: &Context, answer: &ReviewAnswer) -> String {
    let line = &answer.line;
    let mut out = format!(
        "{}: {} {}, {}, {:.0} %, document {}\n",
        shown(&line.name),
        line.schema,
        answer.schema_version,
        line.state.name(),
        line.confidence * 100.0,
        line.document_id
    );
    for reason in &line.reasons {
        out.push_str(&format!("why       {}\n", shown(reason)));
    }
    let rows: Vec<Vec<String>> = answer
        .fields
        .iter()
        .map(|(path, field)| {
            let value = field.value.as_str().map_or_else(|| field.value.to_string(), str::to_owned);
            let page = field.evidence.first().and_then(|at| at.page);
            let place = page.map_or_else(String::new, |page| format!("page {page}"));
            vec![path.clone(), shown(&value), format!("{:.0} %", field.confidence * 100.0), place]
        })
        .collect();
    if !rows.is_empty() {
        out.push_str(&table(&["FIELD", "VALUE", "SURE", "PLACE"], &rows));
        out.push('\n');
    }
    let now = cx.clock.now();
    for action in &answer.history {
        out.push_str(&format!(
            "{} {} by {}",
            relative(now, action.at),
            action.action.name(),
            shown(&action.by)
        ));
        if let Some(reason) = &action.reason {
            out.push_str(&format!(": {}", shown(reason)));
        }
        out.push('\n');
        for (path, change) in &action.changes {
            let told = |value: &Option<Value>| {
                let value = value.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
                shown(&value)
            };
            out.push_str(&format!("  {path}: {} -> {}\n", told(&change.before), told(&change.after)));
        }
    }
    out.trim_end().to_owned()
}
