//! `docmill audit`.

use docmill_core::Result;
use docmill_core::answer::AuditAnswer;
use docmill_core::call::Call;

use super::{ask, print};
use crate::context::{Context, Exit};
use crate::terminal::{count, counted, table};

/// Compare what was expected with what happened to it
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this batch, by id or name
    #[arg(long, value_name = "BATCH")]
    batch: Option<String>,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let answer: AuditAnswer = ask(cx, "audit", Call::Audit { batch: self.batch }).await?;
        print(cx, &answer, human)?;
        Ok(if answer.balanced { Exit::Ok } else { Exit::SomeFailed })
    }
}

/// `12,431 expected = 12,380 completed + 31 failed + 20 skipped`.
pub(crate) fn sum(answer: &AuditAnswer) -> String {
    let skipped: u64 = answer.skipped.values().sum();
    let mut terms = vec![format!("{} completed", count(answer.completed))];
    let others = [
        (answer.failed, "failed"),
        (skipped, "skipped"),
        (answer.cancelled, "cancelled"),
        (answer.open, "open"),
    ];
    terms.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))));
    let total = answer.completed + others.iter().map(|(n, _)| n).sum::<u64>();
    let sign = if total == answer.expected { "=" } else { "≠" };
    format!("{} expected {sign} {}", count(answer.expected), terms.join(" + "))
}

fn human(answer: &AuditAnswer) -> String {
    let mut out = sum(answer);
    if answer.failed > 0 {
        out.push_str("\nfailed    `docmill events --type ERROR` names each, and `docmill why ID` says more");
    }
    for (reason, n) in &answer.skipped {
        out.push_str(&format!("\nskipped   {} {reason}", count(*n)));
    }
    if answer.duplicates > 0 {
        out.push_str(&format!(
            "\n{} had content that was there before",
            counted(answer.duplicates, "item", "items")
        ));
    }
    for batch in &answer.unsealed {
        out.push_str(&format!(
            "\nbatch {batch} is not counted to its end; the same `docmill ingest` with `--batch {batch}` resumes it"
        ));
    }
    let unbalanced: Vec<Vec<String>> = answer
        .containers
        .iter()
        .filter(|container| !container.balanced() || container.failed > 0)
        .map(|c| vec![c.id.to_string(), count(c.expected), count(c.emitted), count(c.failed), c.name.clone()])
        .collect();
    if !answer.containers.is_empty() {
        out.push_str(&format!("\n{}", counted(answer.containers.len() as u64, "container", "containers")));
    }
    if !unbalanced.is_empty() {
        out.push_str(&format!(
            "\n{}",
            table(&["CONTAINER", "EXPECTED", "EMITTED", "FAILED", "NAME"], &unbalanced)
        ));
    }
    let blobs = &answer.blobs;
    out.push_str(&format!(
        "\nblobs     {} referenced, {} missing, {} orphaned",
        count(blobs.referenced),
        count(blobs.missing),
        count(blobs.orphaned)
    ));
    out.push_str(if answer.balanced { "\nthe ledger balances" } else { "\nthe ledger does NOT balance" });
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use docmill_core::answer::BlobAudit;

    use super::*;

    #[test]
    fn sum_leaves_out_what_is_zero_and_shows_a_difference() {
        let mut answer = AuditAnswer {
            balanced: true,
            expected: 12_431,
            completed: 12_380,
            failed: 31,
            skipped: BTreeMap::from([("known_system_file".to_owned(), 20)]),
            duplicates: 0,
            cancelled: 0,
            open: 0,
            unsealed: Vec::new(),
            containers: Vec::new(),
            blobs: BlobAudit::default(),
        };
        assert_eq!(sum(&answer), "12,431 expected = 12,380 completed + 31 failed + 20 skipped");
        answer.expected += 1;
        assert!(sum(&answer).starts_with("12,432 expected ≠"));
    }
}
