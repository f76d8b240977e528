//! How commands that change many things say how many.

use docmill_core::answer::CountAnswer;

use crate::terminal::{count, counted};

/// `3 documents started again, 2 left as they are (busy: 2)`.
pub(super) fn sentence(answer: &CountAnswer, one: &str, many: &str, verb: &str) -> String {
    let would = if answer.dry_run { "would be " } else { "" };
    let mut out = format!("{} {would}{verb}", counted(answer.count, one, many));
    if answer.skipped > 0 {
        out.push_str(&format!(", {} left as they are", count(answer.skipped)));
        let reasons: Vec<String> =
            answer.reasons.iter().map(|(why, n)| format!("{why}: {}", count(*n))).collect();
        if !reasons.is_empty() {
            out.push_str(&format!(" ({})", reasons.join(", ")));
        }
    }
    if let Some(batch) = answer.batch_id {
        out.push_str(&format!("; batch {batch}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn sentence_names_what_was_left_and_why() {
        let answer = CountAnswer {
            count: 3,
            skipped: 2,
            reasons: BTreeMap::from([("busy".to_owned(), 2)]),
            dry_run: true,
            ..CountAnswer::default()
        };
        let text = sentence(&answer, "document", "documents", "started again");
        assert_eq!(text, "3 documents would be started again, 2 left as they are (busy: 2)");
    }
}
