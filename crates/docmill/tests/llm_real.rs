//! One document through a real model. Runs where `DOCMILL_TEST_LLM` has the address of a server that speaks like
//! OpenAI's, and shows as ignored elsewhere. `docs/how-to/ask-a-language-model.md` says how to start one.
//!
//! A small model says mostly wrong things, so this holds the way there and back, and not what is said.
#![expect(clippy::unwrap_used, reason = "a test binary without a harness: a failed step is a failed case")]

mod support;

use std::process::ExitCode;

use docmill_testkit::conformance::{self, Availability};
use libtest_mimic::Trial;
use support::Mill;

const LETTER: &str = "ACME Ltd\nSpringfield, 9 March 2024\n\nYour order of garden chairs\n\nDear Ms Miller,\n\nwe are sorry \
    to tell you that the garden chairs you ordered will arrive later than we promised.\n\nKind regards\nJoe\n";

fn document_goes_through_a_real_model(url: &str) {
    let mill = Mill::new().with_settings(&[
        ("DOCMILL_LLM_URL", url),
        ("DOCMILL_LLM_MODEL", "local"),
        ("DOCMILL_LLM_PRICE_IN", "1"),
        // A busy machine without a graphics card writes a few tokens a second.
        ("DOCMILL_LLM_TIMEOUT", "15m"),
        ("DOCMILL_LLM_TOTAL_TIMEOUT", "15m"),
    ]);
    mill.write("letter.txt", LETTER);
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let list = mill.run(&["list", "--json"]).expect(0).json();
    let id = list["documents"][0]["document_id"].as_str().unwrap();
    let shown = mill.run(&["show", id, "--json"]).expect(0).json();
    assert_eq!((shown["state"].as_str(), shown["title"].is_string()), (Some("ready"), true), "{shown}");
    let usage = &shown["usage"][0];
    assert!(
        usage["tokens_in"].as_u64().unwrap() > 100 && usage["tokens_out"].as_u64().unwrap() > 5,
        "{shown}"
    );
    // The model answered; what it said has the form, or a problem says that it has not.
    let by_the_model = shown["evidence"].to_string().contains("\"llm\"");
    let refused = shown["problems"].to_string().contains("NOT_CLASSIFIED");
    assert!(by_the_model || refused, "{shown}");
    mill.run(&["reprocess", id, "--from", "classifying"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let again = mill.run(&["show", id, "--json"]).expect(0).json();
    if by_the_model {
        assert_eq!(again["usage"].as_array().unwrap().len(), 1, "paid once: {again}");
        assert_eq!(again["title"], shown["title"]);
    }
}

fn main() -> ExitCode {
    let (url, ignored) = Availability::AskedBy("DOCMILL_TEST_LLM").look();
    let trial = Trial::test("document_goes_through_a_real_model", move || {
        document_goes_through_a_real_model(&url.unwrap_or_default());
        Ok(())
    });
    conformance::run(vec![trial.with_ignored_flag(ignored)])
}
