//! Who: the two sides of "by and between X ("…") and Y", else companies by their form and whoever signs.

use super::Hit;
use super::text::Text;

/// The beginning of an agreement, in which it says who makes it.
const HEAD: usize = 3_000;

/// What ends the name of a company.
const FORMS: &[&str] = &[
    "Inc",
    "Incorporated",
    "Incorporation",
    "Corp",
    "Corporation",
    "Company",
    "LLC",
    "L.L.C",
    "LP",
    "L.P",
    "LLP",
    "Ltd",
    "Limited",
    "Co",
    "PLC",
    "plc",
    "N.V",
    "B.V",
    "S.A",
    "AG",
    "GmbH",
    "A/S",
    "Trust",
    "Bank",
];

/// Most names have no more words.
const MAX_WORDS: usize = 9;

pub(super) fn parties(text: &Text) -> Vec<Hit> {
    let mut found = Vec::new();
    let head = text.small().len().min(HEAD);
    let between = text.after("between ").chain(text.after("among ")).find(|at| *at < head);
    if let Some(at) = between {
        add(&mut found, name(text, at, 0.85));
        let rest = text.ahead(at, 900);
        for (and, _) in rest.match_indices(" and ").take(8) {
            if found.len() >= 2 {
                break;
            }
            add(&mut found, name(text, at + and + 5, 0.8));
        }
    }
    if found.len() < 2 {
        let head = text.ahead(0, HEAD);
        for form in head.match_indices(' ').map(|(at, _)| at + 1).take(600) {
            if found.is_empty()
                && let Some(hit) = name(text, form, 0.6).filter(|hit| has_form(&hit.value))
            {
                add(&mut found, Some(hit));
            }
        }
    }
    if found.len() < 2 {
        // Whoever signs for nobody but themselves: the last signature that no title follows.
        let signed = text.after("/s/ ").filter_map(|at| name(text, at, 0.5));
        let own = signed.filter(|hit| !text.before(hit.start, 8).contains("by"));
        add(&mut found, own.last());
    }
    found
}

fn add(found: &mut Vec<Hit>, hit: Option<Hit>) {
    if let Some(hit) = hit
        && !found.iter().any(|other| other.value.eq_ignore_ascii_case(&hit.value))
    {
        found.push(hit);
    }
}

/// The name that begins here: words with capitals, up to the form of a company or what cannot be of a name.
fn name(text: &Text, start: usize, confidence: f32) -> Option<Hit> {
    let ahead = text.ahead(start, 160);
    let mut end = 0;
    let mut at = 0;
    let mut words: Vec<&str> = Vec::new();
    for word in ahead.split(' ').take(MAX_WORDS) {
        let bare = word.trim_end_matches([',', ';', ':']);
        let first = bare.chars().next().unwrap_or(' ');
        let joins = matches!(bare, "of" | "&" | "and" | "de") && !words.is_empty();
        if !(first.is_uppercase() || first.is_ascii_digit() && !words.is_empty() || joins && bare != "and") {
            break;
        }
        words.push(bare);
        at += word.len();
        end = at - (word.len() - bare.len());
        at += 1;
        let formed = is_form(bare);
        let next = ahead.get(at..).unwrap_or_default().split(' ').next().unwrap_or_default();
        // `Co., Ltd.` and `Holdings LLC` go on; a comma without a form after it ends a name.
        if !is_form(next.trim_end_matches([',', ';', ':'])) && (formed || word.ends_with([',', ';', ':'])) {
            break;
        }
    }
    while words.last().is_some_and(|word| matches!(*word, "of" | "&" | "de")) {
        words.pop();
    }
    let value = words.join(" ");
    let general =
        ["Company", "Employee", "Executive", "Agreement", "The Company", "Party", "This", "Recipient"];
    let known = words.len() >= 2 && !general.contains(&value.as_str());
    known.then(|| Hit { value, start, end: start + end, confidence, method: "preamble" })
}

fn is_form(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    FORMS.iter().any(|form| form.eq_ignore_ascii_case(word))
}

fn has_form(name: &str) -> bool {
    name.rsplit(' ').next().is_some_and(is_form)
}
