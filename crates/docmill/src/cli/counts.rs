//! How commands that change many things say how many.

use docmill_core::answer::{CountAnswer, ModelEstimate};

use crate::terminal::{count, counted};

/// `3 documents started again, 2 left as they are (busy)`.
pub(super) fn sentence(answer: &CountAnswer, one: &str, many: &str, verb: &str) -> String {
    let would = if answer.dry_run { "would be " } else { "" };
    let mut out = format!("{} {would}{verb}", counted(answer.count, one, many));
    if answer.skipped > 0 {
        let left = if answer.skipped == 1 { "left as it is" } else { "left as they are" };
        out.push_str(&format!(", {} {left}", count(answer.skipped)));
        // One reason is that of all; of several each says for how many.
        let alone = answer.reasons.len() == 1;
        let reasons = answer
            .reasons
            .iter()
            .map(|(why, n)| if alone { why.clone() } else { format!("{} {why}", count(*n)) });
        let reasons: Vec<String> = reasons.collect();
        if !reasons.is_empty() {
            out.push_str(&format!(" ({})", reasons.join(", ")));
        }
    }
    if let Some(batch) = answer.batch_id {
        out.push_str(&format!("; batch {batch}"));
    }
    if let Some(model) = &answer.model {
        out.push_str(&asked(model));
    }
    out
}

/// What a language model would be asked, after what would be done.
fn asked(model: &ModelEstimate) -> String {
    if model.questions == 0 {
        return "; nothing would be asked of the language model".to_owned();
    }
    let cost = model.cost.map(|cost| format!(", cost about {cost:.2}")).unwrap_or_default();
    format!(
        "; the language model would be asked about {} at most ({}, about {} tokens read and {} written{cost})",
        counted(model.documents, "document", "documents"),
        counted(model.questions, "question", "questions"),
        count(model.tokens_in),
        count(model.tokens_out),
    )
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
        assert_eq!(text, "3 documents would be started again, 2 left as they are (busy)");
        let reasons = BTreeMap::from([("busy".to_owned(), 2), ("completed: use reprocess".to_owned(), 1)]);
        let text = sentence(&CountAnswer { skipped: 3, reasons, ..answer }, "item", "items", "tried again");
        assert!(text.ends_with("3 left as they are (2 busy, 1 completed: use reprocess)"), "{text}");
    }

    #[test]
    fn sentence_tells_what_a_model_would_be_asked() {
        let model = ModelEstimate {
            documents: 2,
            questions: 3,
            tokens_in: 12_000,
            tokens_out: 300,
            cost: Some(0.027),
            sampled: 2,
        };
        let answer = CountAnswer { count: 5, dry_run: true, model: Some(model), ..CountAnswer::default() };
        let text = sentence(&answer, "document", "documents", "started again");
        assert!(text.contains("about 2 documents at most (3 questions"), "{text}");
        assert!(text.contains("cost about 0.03"), "{text}");
        let none = CountAnswer { model: Some(ModelEstimate::default()), ..answer };
        assert!(sentence(&none, "document", "documents", "started again").contains("nothing would be asked"));
    }
}
