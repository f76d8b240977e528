//! `docs/reference/errors.md`: what docmill does about each kind of error, asked of the decision table itself.

use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::disposition::{self, Disposition, decide};
use docmill_core::problem::ResultCode;
use docmill_core::task::{Attempts, Size};

/// The page.
pub(super) fn page() -> String {
    let mut page = format!(
        "# Errors and what follows them\n\n\
         One pure function decides what happens after an error: `decide` in `crates/core/src/disposition.rs`.\n\
         No other place retries.\n\
         A step may fail {} times in all, {} times in one size class; retries that cost nothing end when the task \
         has been failing for {} hours.\n\n\
         | kind | first failure on small | first failure on large |\n|---|---|---|\n",
        disposition::MAX_ATTEMPTS,
        disposition::ATTEMPTS_PER_SIZE,
        disposition::MAX_FREE_RETRIES.as_secs() / 3600,
    );
    for &kind in ErrorKind::ALL {
        let first =
            |size| words(decide(kind, Attempts { lost: 1, ..Attempts::default() }, size, Duration::ZERO));
        page.push_str(&format!(
            "| [`{kind}`](../errors/{kind}.md) | {} | {} |\n",
            first(Size::Small),
            first(Size::Large),
        ));
    }
    page.push_str(
        "\n- *skip*: the item is left out with success, and counted with its reason.\n\
         - *degrade*: the item completes with what could be read, and with a problem that says what is missing.\n\
         - *retry*: the task runs again after the pause; \"free\" costs no attempt.\n\
         - *escalate*: the task runs again with the memory and time of a large one.\n\
         - *fail*: the task becomes a dead letter, and the stage decides what that means for the item.\n\
         - *abandon*: somebody else owns the work now; nothing is written.\n\
         - *release*: the work is handed back untouched.\n\n\
         ## Result codes\n\n\
         Every ingestion ends with one code (`result` in `docmill show --json`), and so does every problem in it (`code`), \
         beside the kind of the error that it comes from.\n\n\
         | code | left behind by |\n|---|---|\n",
    );
    for &code in ResultCode::ALL {
        let kinds = ErrorKind::ALL.iter().filter(|kind| ResultCode::of(**kind) == code);
        let pages: Vec<String> = kinds.map(|kind| format!("[`{kind}`](../errors/{kind}.md)")).collect();
        let by = match code {
            ResultCode::Success => "nothing: it went well".to_owned(),
            // Of a problem alone, whatever the kind: the item completes.
            ResultCode::NotExtracted => "any error while fields are taken".to_owned(),
            _ => pages.join(", "),
        };
        page.push_str(&format!("| `{}` | {by} |\n", code.name()));
    }
    page
}

fn words(disposition: Disposition) -> String {
    match disposition {
        Disposition::Skip => "skip".into(),
        Disposition::Retry { after, charged } => {
            let cost = if charged { "" } else { ", free" };
            format!("retry after {} s{cost}", after.as_secs())
        }
        Disposition::Escalate => "escalate".into(),
        Disposition::Degrade => "degrade".into(),
        Disposition::Fail => "fail".into(),
        Disposition::Abandon => "abandon".into(),
        Disposition::Release => "release".into(),
    }
}
