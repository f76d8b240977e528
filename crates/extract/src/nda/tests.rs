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

/// The record of an agreement, as texts: parties, date, law and term.
fn said(text: &str) -> (Vec<String>, [Option<String>; 3]) {
    let data = agreement(&[Page { number: 1, text }], NONE).data;
    let own = |value: &Value| value.as_str().map(str::to_owned);
    let parties = data.get("party").and_then(Value::as_array).into_iter().flatten();
    let single = ["effective_date", "jurisdiction", "term"].map(|name| data.get(name).and_then(own));
    (parties.filter_map(own).collect(), single)
}

fn is_said(text: &str, parties: &[&str], single: [Option<&str>; 3]) {
    let (found, others) = said(text);
    assert_eq!(
        (found, others),
        (parties.iter().map(|&p| p.to_owned()).collect(), single.map(|s| s.map(str::to_owned)))
    );
}

#[test]
fn names_that_hold_words_of_forms_are_whole_and_places_in_addresses_are_no_parties() {
    is_said(
        "EX-10.1 2 ex101.htm EXHIBIT 10.1 This Agreement is made as of the 1st day of March, 2012, by and between Bank \
         of Harrow Corporation, a Delaware corporation with its place of business at 12 Main and Oak Streets, Dover \
         (“Harrow”), and Limited Stores, Inc., an Ohio corporation. WHEREAS Big Name and Other Name differ. 7. Term. \
         This Agreement shall expire three (3) years after the Effective Date. 9. This Agreement shall be governed by \
         Ohio law. Nothing remained in Texas.",
        &["Bank of Harrow Corporation", "Limited Stores Inc."],
        [Some("2012-03-01"), Some("Ohio"), Some("3 years")],
    );
}

#[test]
fn letter_has_its_own_date_and_those_who_sign_it() {
    is_said(
        "March 24, 2007 Vista Point Capital Partners, L.P. 100 Main Street New York, New York Ladies and Gentlemen: In \
         connection with a possible transaction with us, the relationship between the Company and you is private. \
         This agreement shall be governed by the internal laws of the State of Minnesota. The obligations under this \
         letter agreement shall terminate two years from the date hereof. Very truly yours, GRANITE PEAK SOFTWARE, \
         INC. By: /s/ A. Smith Name: A. Smith Date: April 2, 2007 Confirmed: VISTA POINT CAPITAL PARTNERS, L.P. By: \
         /s/ B. Jones",
        &["GRANITE PEAK SOFTWARE INC.", "VISTA POINT CAPITAL PARTNERS L.P."],
        [Some("2007-03-24"), Some("Minnesota"), Some("2 years")],
    );
}

#[test]
fn parties_with_numbers_and_days_in_words_are_read() {
    is_said(
        "THIS AGREEMENT is made this first day of May 2009 BETWEEN: (1) ORBITAL DYNAMICS LIMITED, a company \
         incorporated in England (“Orbital”); and (2) eMagine Kestrel PLC (“Kestrel”). It shall be governed by the \
         laws of England and Wales.",
        &["ORBITAL DYNAMICS LIMITED", "eMagine Kestrel PLC"],
        [Some("2009-05-01"), Some("England"), None],
    );
}

#[test]
fn who_signs_for_themselves_is_a_party_and_what_nobody_may_do_for_years_is_no_term() {
    is_said(
        "In consideration of my employment by Harbor Light Foods Corp., a Nevada corporation, I agree as follows. The \
         Merger Agreement dated May 2, 2008 stays. For a period of two (2) years following the termination of my \
         employment I shall not solicit. This Agreement is construed under the laws of the State of West Virginia. \
         /s/ Peter Quill Peter Quill Date: Jan. 15, 2010 HARBOR LIGHT FOODS CORP. By: /s/ R. Roe Title: CEO",
        &["HARBOR LIGHT FOODS CORP.", "Peter Quill"],
        [Some("2010-01-15"), Some("West Virginia"), None],
    );
}

#[test]
fn value_that_goes_on_overleaf_has_the_box_of_its_beginning_and_one_without_a_box_is_not_accepted() {
    let texts = ["by and between Brook Mill", "Trading, Inc. (“Brook”) and Otto Miller (“Miller”)"];
    let pages: Vec<Page<'_>> = (1..).zip(texts).map(|(number, text)| Page { number, text }).collect();
    let words = |text: &str| crate::layout::tests::page(&[text]);
    let confident = |first: &str| {
        let found = agreement(&pages, &[words(first)]).fields.remove("party[0]").unwrap();
        (found.value, found.confidence >= crate::gate::ACCEPTED, found.evidence[0].frame.is_some())
    };
    let name = Value::from("Brook Mill Trading Inc.");
    assert_eq!(confident(texts[0]), (name.clone(), true, true));
    assert_eq!(confident("a picture of something else"), (name, false, false));
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

#[test]
fn form_in_small_letters_belongs_to_the_name_and_no_name_goes_over_the_end_of_a_sentence() {
    is_said(
        "This Agreement is made as of May 2, 2010, between Harrow Therapeutics plc, having an office in Dover (“Harrow”); \
         and Otto Miller (“Miller”).",
        &["Harrow Therapeutics plc", "Otto Miller"],
        [Some("2010-05-02"), None, None],
    );
    is_said(
        "Nothing was said by anyone. Those who sign bow to the State of Maine. HARROW MILLS, INC. By: /s/ A. Smith",
        &["HARROW MILLS INC."],
        [None, None, None],
    );
}

#[test]
fn term_may_end_with_an_anniversary() {
    is_said(
        "The obligations under this Agreement shall expire on the second anniversary of the date hereof.",
        &[],
        [None, None, Some("2 years")],
    );
    is_said(
        "The Board met on the tenth anniversary of the Company. This Agreement holds.",
        &[],
        [None, None, None],
    );
}

#[test]
fn sides_that_a_preamble_lists_or_that_made_it_are_found() {
    is_said(
        "This letter is the agreement between Harrow Foods, Inc. (the “Company”), River Capital LP and Otto Miller (the \
         “Director”), and nobody else.",
        &["Harrow Foods Inc.", "River Capital LP", "Otto Miller"],
        [None, None, None],
    );
    is_said(
        "This Agreement is entered into by Harrow Funding Corp. (“Harrow”) and Atlas Mills, L.L.C. (“Atlas”).",
        &["Harrow Funding Corp.", "Atlas Mills L.L.C."],
        [None, None, None],
    );
    is_said(
        "This Agreement is between Harrow Inns Inc. (“Harrow”) and Otto R. Miller, Jr. (“Miller”).",
        &["Harrow Inns Inc.", "Otto R. Miller Jr."],
        [None, None, None],
    );
    is_said(
        "What is above holds. HARROW MILLS, INC. By: /s/ R. Ames ATLAS MILLS, INC. By: /s/ T. Cho",
        &["HARROW MILLS INC.", "ATLAS MILLS INC."],
        [None, None, None],
    );
}
