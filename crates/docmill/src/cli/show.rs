//! `docmill show`.

use docmill_core::Result;
use docmill_core::answer::ShowAnswer;
use docmill_core::call::Call;
use docmill_core::sketch::NearAnswer;
use docmill_core::text::{shown, size};

use super::print;
use crate::context::{Context, Exit};
use crate::session::Session;
use crate::terminal::{count, relative, table};

/// Members and events that are shown; `--json` has them all
const SHOWN: usize = 20;

/// Of what a file says of itself; `--json` has all of it
const METADATA_SHOWN: &[&str] = &["author", "from", "to", "cc", "date", "subject"];

/// Show everything about one document
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of a document or an ingestion
    id: String,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let session = Session::open(&cx.settings, &cx.clock, "show").await?;
        let answer = look(cx, &session, self.id).await;
        let closed = session.close(std::time::Duration::ZERO).await;
        let (answer, near) = answer?;
        closed?;
        print(cx, &answer, |answer| human(cx, answer, &near))?;
        Ok(Exit::Ok)
    }
}

/// The document, and for people those that say nearly the same; `--json` is promised to be the document alone.
async fn look(cx: &Context, session: &Session, id: String) -> Result<(ShowAnswer, NearAnswer)> {
    let answer = session.ask(Call::Show { id: id.clone() }).await?;
    let near = if cx.terminal.json { NearAnswer::default() } else { session.ask(Call::Near { id }).await? };
    Ok((answer, near))
}

fn human(cx: &Context, answer: &ShowAnswer, near: &NearAnswer) -> String {
    let now = cx.clock.now();
    let mut facts: Vec<(&str, String)> = vec![
        ("document", answer.document_id.to_string()),
        ("name", answer.name.clone()),
        ("state", state(answer)),
        ("type", answer.media_type.clone().unwrap_or_else(|| "not known yet".into())),
        ("size", size(answer.bytes)),
        ("sha256", answer.content_hash.to_string()),
    ];
    let optional = [
        ("title", answer.title.clone()),
        ("kind", answer.kind.clone()),
        ("date", answer.date.clone()),
        ("tags", (!answer.tags.is_empty()).then(|| answer.tags.join(", "))),
        ("summary", answer.summary.clone()),
        ("pages", answer.page_count.map(|n| count(u64::from(n)))),
        ("words", answer.word_count.map(count)),
        ("language", answer.language.clone()),
        ("quality", answer.quality.map(|q| format!("{q:.2}"))),
        ("inside", answer.parent.as_ref().map(|p| format!("{} ({})", p.name, p.ingestion_id))),
    ];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let mut out = String::new();
    for (name, value) in &facts {
        out.push_str(&format!("{name:<10}{}\n", shown(value)));
    }
    for key in METADATA_SHOWN {
        if let Some(value) = answer.metadata.get(*key) {
            out.push_str(&format!("{key:<10}{}\n", shown(value)));
        }
    }
    if let Some(record) = &answer.record {
        let sure = record.confidence * 100.0;
        out.push_str(&format!("record    {} {}, {sure:.0} %\n", record.schema, record.version));
        for (path, field) in &record.fields {
            let value = field.value.as_str().map_or_else(|| field.value.to_string(), str::to_owned);
            out.push_str(&format!("          {path}: {}\n", shown(&value)));
        }
    }
    if let Some(review) = &answer.review_id {
        out.push_str(&format!("review    {review}\n"));
    }
    for problem in &answer.problems {
        out.push_str(&format!("problem   {}: {}\n", problem.code.name(), shown(&problem.message)));
    }
    for (set, said) in &answer.labels {
        let labels = if said.labels.is_empty() { "–".to_owned() } else { said.labels.join(", ") };
        let sure = said.confidence * 100.0;
        out.push_str(&format!(
            "label     {}: {} ({}, {sure:.0} %)\n",
            shown(set),
            shown(&labels),
            said.method
        ));
    }
    let alike = near.items.iter().map(|line| {
        let title = line.title.clone().unwrap_or_default();
        vec![
            line.document_id.to_string(),
            format!("{:.0} %", line.similarity * 100.0),
            line.name.clone(),
            title,
        ]
    });
    section(&mut out, &["NEARLY THE SAME", "SHARED", "NAME", "TITLE"], alike.collect());
    let receipts = answer.ingestions.iter().map(|line| {
        vec![
            line.ingestion_id.to_string(),
            line.status.name().to_owned(),
            line.result.map_or_else(String::new, |r| r.name().to_owned()),
            relative(now, line.created_at),
            line.origin.clone(),
        ]
    });
    section(&mut out, &["INGESTION", "STATUS", "RESULT", "RECEIVED", "FROM"], receipts.collect());
    let members = answer.children.iter().map(|line| {
        let id = line.document_id.map_or_else(|| line.ingestion_id.to_string(), |id| id.to_string());
        let title = line.title.as_deref().unwrap_or_default().to_owned();
        vec![id, line.status.name().to_owned(), line.name.clone(), title]
    });
    section(&mut out, &["MEMBER", "STATUS", "NAME", "TITLE"], members.collect());
    let timeline = answer.timeline.iter().map(|line| {
        vec![
            relative(now, line.at),
            line.what.clone(),
            line.outcome.clone(),
            line.duration_ms.map_or_else(String::new, |ms| format!("{ms} ms")),
            line.detail.clone().unwrap_or_default(),
        ]
    });
    section(&mut out, &["WHEN", "WHAT", "OUTCOME", "TOOK", "DETAIL"], timeline.collect());
    out.trim_end().to_owned()
}

fn state(answer: &ShowAnswer) -> String {
    let mut text = answer.state.name().to_owned();
    if answer.status.name() != text {
        text.push_str(&format!(", {}", answer.status.name()));
    }
    if answer.needs_review {
        text.push_str(", a person should look at it");
    }
    text
}

fn section(out: &mut String, head: &[&str], mut rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let more = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    out.push_str(&format!("\n{}\n", table(head, &rows)));
    if more > 0 {
        out.push_str(&format!("and {} more (`--json` has all)\n", count(more as u64)));
    }
}
