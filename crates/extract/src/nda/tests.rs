use docmill_core::words::PageWords;
use proptest::prelude::*;

use super::*;

const NONE: &[PageWords] = &[];

#[test]
fn preamble_gives_parties_date_law_and_term() {
    let text = "This Agreement is made as of the 3rd day of July, 2005, by and between Brook Mill, Inc., a Delaware \
                corporation (the “Company”) and Otto Miller (the “Recipient”). 5. Term. This Agreement shall remain in \
                effect for a period of five (5)\nyears. It shall be governed by the laws of the State of New York.";
    let found = agreement(&[Page { number: 1, text }], NONE);
    assert_eq!(found.data["party"], serde_json::json!(["Brook Mill Inc.", "Otto Miller"]));
    assert_eq!(found.data["effective_date"], "2005-07-03");
    assert_eq!(found.data["jurisdiction"], "New York");
    assert_eq!(found.data["term"], "5 years");
    let evidence = &found.fields["term"].evidence[0];
    assert_eq!((evidence.page, evidence.span.as_deref()), (Some(1), Some("five (5) years")));
}

proptest! {
    #[test]
    fn any_text_gives_a_record(text in any::<String>()) {
        agreement(&[Page { number: 1, text: &text }], NONE);
    }

    #[test]
    fn any_phrases_give_a_record(
        words in proptest::collection::vec("between|and|Ünd|laws|governed|İ|/s/|five|\\(5\\)|year|may|3|2005|,|Inc\\.|term", 0..40),
    ) {
        agreement(&[Page { number: 1, text: &words.join(" ") }], NONE);
    }
}
