//! Who: the two sides of "by and between X ("…") and Y", else whoever signs, and companies by their form.

use super::Hit;
use super::text::Text;

/// The beginning of an agreement, in which it says who makes it.
const HEAD: usize = 3_000;

/// Its end, where people sign.
const TAIL: usize = 4_000;

/// What comes after the first party, up to the second.
const PREAMBLE: usize = 900;

/// What ends the name of a company, wherever it stands.
const FORMS: &[&str] = &[
    "Inc",
    "Incorporated",
    "Incorporation",
    "Corp",
    "Corporation",
    "LLC",
    "L.L.C",
    "LP",
    "L.P",
    "LLP",
    "L.L.P",
    "Ltd",
    "PLC",
    "N.V",
    "NV",
    "B.V",
    "BV",
    "S.A",
    "S.A.R.L",
    "S.p.A",
    "GmbH",
    "A/S",
    "AG",
    "KG",
    "SE",
    "AB",
    "Oy",
    "Pty",
    "Pte",
    "N.A",
];

/// What ends many names, and stands in the middle of others: `Bank of Harrow Corporation`.
const KINDS: &[&str] = &[
    "Company",
    "Co",
    "Limited",
    "Trust",
    "Bank",
    "Partners",
    "Fund",
    "Association",
    "University",
    "Foundation",
    "Group",
    "Holdings",
    "Institute",
];

/// What ends the names of people behind a comma.
const BORN: &[&str] = &["Jr", "Sr", "II", "III", "IV"];

/// Words of titles, heads and signatures that are written with capitals and belong to no name.
const NEVER: &[&str] = &[
    "agreement",
    "agreements",
    "amended",
    "annex",
    "appendix",
    "attention",
    "attn",
    "background",
    "chairman",
    "confidentiality",
    "consultant",
    "copy",
    "date",
    "dated",
    "dear",
    "director",
    "discloser",
    "effective",
    "employee",
    "employer",
    "execution",
    "executive",
    "exhibit",
    "gentlemen",
    "ladies",
    "name",
    "non-competition",
    "non-disclosure",
    "non-solicitation",
    "nondisclosure",
    "notice",
    "officer",
    "page",
    "parties",
    "party",
    "president",
    "recipient",
    "recitals",
    "restated",
    "schedule",
    "secretary",
    "shareholder",
    "signature",
    "stockholder",
    "this",
    "title",
    "undersigned",
    "whereas",
    "witnesseth",
    "as",
    "between",
    "among",
    "by",
    "from",
    "in",
    "re",
    "to",
    "with",
];

/// Small words inside names.
const JOINING: &[&str] = &["of", "&", "de", "for", "the", "van", "von"];

/// What may stand between the word and the first name: `each of`, `(1)`, `Mr.`.
const BEFORE_NAMES: &[&str] = &[
    "and among ",
    "each of ",
    "(i) ",
    "(ii) ",
    "(1) ",
    "(2) ",
    "(a) ",
    "(b) ",
    "mr. ",
    "ms. ",
    "mrs. ",
    "dr. ",
];

/// Where the sentence that names the parties is over, or names the second one no further.
const OVER: &[&str] = &[
    "whereas",
    "witnesseth",
    "recitals",
    "background",
    "in consideration",
    "for good and",
    " and the undersigned",
    " and each of the undersigned",
    " and you",
];

/// How a preamble goes on behind the name of a party: `, organized under the laws of`.
const DESCRIBING: &[&str] = &[
    "acting",
    "as",
    "collectively",
    "having",
    "hereinafter",
    "incorporated",
    "located",
    "of",
    "on",
    "organized",
    "registered",
    "residing",
    "together",
    "whereby",
    "which",
    "whose",
    "with",
];

/// What a party is said to be: `, a Delaware corporation`.
const BEINGS: &[&str] = &[
    "association",
    "bank",
    "citizen",
    "company",
    "corporation",
    "division",
    "entity",
    "firm",
    "institution",
    "university",
    "agency",
    "municipality",
    "nonprofit",
    "organization",
    "individual",
    "limited",
    "partnership",
    "person",
    "resident",
    "subsidiary",
    "trust",
];

/// Most names have no more words.
const MAX_WORDS: usize = 10;

/// What sides do with an agreement.
const MADE: &[&str] = &["entered into", "made ", "executed"];

/// More sides than these and two no preamble lists.
const MAX_BETWEEN: usize = 4;

/// How sure a party is that its preamble describes, and one that it only names.
const DESCRIBED: f32 = 0.85;
const NAMED: f32 = 0.7;

pub(super) fn parties(text: &Text) -> Vec<Hit> {
    let mut found = preamble(text);
    if found.len() < 2 {
        signing(text, &mut found);
    }
    if found.is_empty() {
        let head = text.ahead(0, HEAD);
        let starts = head.match_indices(' ').map(|(at, _)| at + 1).take(600);
        let first = starts.filter_map(|at| name(text, at, 0.5)).find(|hit| has_form(&hit.value));
        add(&mut found, first);
    }
    if found.len() < 2 {
        // Whoever signs for nobody but themselves: the last signature that is by nobody.
        let signed = text.after("/s/ ").filter(|at| !text.before(*at, 12).contains("by"));
        add(&mut found, signed.filter_map(|at| name(text, at, 0.5)).last());
    }
    found
}

/// The sides of the first "between" that a name follows.
fn preamble(text: &Text) -> Vec<Hit> {
    let mut starts: Vec<usize> =
        text.after("between").chain(text.after("among")).filter(|at| *at < HEAD).collect();
    starts.sort_unstable();
    let party = |at: usize| {
        let mut hit = name(text, begin(text, at), NAMED)?;
        let described = is_described(text, hit.end);
        if described {
            hit.confidence = DESCRIBED;
        }
        // `Brook Mill and Outlet Stores, Inc.` is one name: whoever has no form before an "and" is doubted.
        let joined = text.ahead(hit.end, 5).trim_start().starts_with("and");
        (described || joined || has_form(&hit.value)).then_some(hit)
    };
    // `entered into by Brook Mill, Inc. ("Brook")`: only who is described, since much is done by somebody.
    let made = || {
        let formed = |hit: &Hit| hit.confidence >= DESCRIBED && has_form(&hit.value);
        let by = |at: &usize| MADE.iter().any(|made| text.before(*at, 45).contains(made));
        text.after(" by ").filter(|at| *at < HEAD).filter(by).filter_map(party).find(formed)
    };
    let first = starts.into_iter().find_map(party).or_else(made);
    let Some(first) = first else { return Vec::new() };
    let small = text.small();
    let rest = small.get(first.end..).unwrap_or_default();
    let rest = &rest[..rest.floor_char_boundary(PREAMBLE)];
    let over = OVER.iter().filter_map(|word| rest.find(word)).min().unwrap_or(rest.len());
    let ands = rest[..over].match_indices(" and").map(|(at, and)| first.end + at + and.len());
    let other = |hit: &Hit| key(&hit.value) != key(&first.value);
    let mut ands = ands.filter_map(|at| Some((at, party(at)?)));
    let second = ands.find(|(_, hit)| other(hit));
    // `A, Inc. ("A"), B LP and C`: whoever stands between the first and the last.
    let until = second.as_ref().map_or(first.end, |(at, _)| *at);
    let commas = rest.match_indices("), ").map(|(at, sign)| first.end + at + sign.len());
    let between = commas.take_while(|at| *at < until).filter_map(party).filter(other);
    let between: Vec<Hit> = between.take(MAX_BETWEEN).collect();
    std::iter::once(first.clone()).chain(between).chain(second.map(|(_, hit)| hit)).collect()
}

/// Where a name begins that may have a number or a title before it.
fn begin(text: &Text, mut at: usize) -> usize {
    loop {
        let rest = text.small().get(at..).unwrap_or_default();
        let skipped = rest.len() - rest.trim_start_matches([' ', ':']).len();
        let rest = &rest[skipped..];
        let before =
            BEFORE_NAMES.iter().find(|before| rest.starts_with(**before)).map_or(0, |before| before.len());
        at += skipped + before;
        if before == 0 {
            return at;
        }
    }
}

/// Whether what stands here describes the party named before: `("Brook")`, `, a Delaware corporation`.
fn is_described(text: &Text, end: usize) -> bool {
    let rest = text.ahead(end, 100).trim_start_matches([' ', ',', ';', ':']);
    if rest.starts_with(['(', '"', '“', '”']) {
        return true;
    }
    let mut words = rest.split([' ', ',', ';']).map(str::to_ascii_lowercase);
    match words.next().as_deref() {
        Some("a" | "an") => words.take(6).any(|word| BEINGS.contains(&word.as_str())),
        Some("and") => words.next().is_some_and(|word| matches!(word.as_str(), "its" | "all" | "any")),
        Some(word) => DESCRIBING.contains(&word),
        None => false,
    }
}

/// Companies that sign: a name with its form right before `By:`.
fn signing(text: &Text, found: &mut Vec<Hit>) {
    let plain = text.plain();
    let from = plain.ceil_char_boundary(plain.len().saturating_sub(TAIL));
    for (at, _) in plain[from..].match_indices("By").map(|(at, by)| (from + at, by)).take(40) {
        if found.len() >= 2 {
            return;
        }
        let start = plain.ceil_char_boundary(at.saturating_sub(90));
        let words = std::iter::once(start)
            .chain(plain[start..at].match_indices(' ').map(|(blank, _)| start + blank + 1));
        let signs = |hit: &Hit| {
            has_form(&hit.value) && hit.end <= at && at - hit.end <= 3 && !begins_with_another(&hit.value)
        };
        add(found, words.filter_map(|word| name(text, word, 0.6)).find(signs));
    }
}

/// `R. Ames HARROW MILLS, INC.`: whoever signed above, and a company in capitals.
fn begins_with_another(name: &str) -> bool {
    let shouted = |word: &str| {
        word.chars().filter(|c| c.is_alphabetic()).count() > 1 && !word.chars().any(char::is_lowercase)
    };
    let mut words = name.split(' ').filter(|word| !is_one_of(word, FORMS));
    let first = words.next().is_some_and(shouted);
    !first && words.any(shouted)
}

fn add(found: &mut Vec<Hit>, hit: Option<Hit>) {
    if let Some(hit) = hit
        && !found.iter().any(|other| key(&other.value) == key(&hit.value))
    {
        found.push(hit);
    }
}

/// A name by its letters and digits: `Brook Mill, Inc.` is `BROOK MILL INC`.
fn key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The name that begins here: words with capitals, up to the form of a company or what cannot be of a name.
fn name(text: &Text, start: usize, confidence: f32) -> Option<Hit> {
    let ahead = text.ahead(start, 180);
    let bared = |word: &str| word.trim_end_matches([',', ';', ':']).len();
    let mut words: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    let mut parts = ahead.split(' ').take(MAX_WORDS).peekable();
    while let Some(word) = parts.next() {
        let bare = &word[..bared(word)];
        let small = bare.trim_end_matches('.').to_ascii_lowercase();
        let joins = JOINING.contains(&small.as_str()) && !words.is_empty();
        // `Brook Therapeutics plc` has its form in small letters.
        let small_form = !words.is_empty() && bare.len() < 6 && is_one_of(bare, FORMS);
        if !(joins || small_form || is_capital(bare, words.is_empty())) || NEVER.contains(&small.as_str()) {
            break;
        }
        // A sentence ends here, unless only a form goes on: `Brook Mill. Inc.`.
        let ends = ends_sentence(bare) && !is_one_of(bare, FORMS) && !is_one_of(bare, KINDS);
        let formed = parts.peek().is_some_and(|next| is_one_of(&next[..bared(next)], FORMS));
        if ends && !formed {
            if words.is_empty() || parts.peek().is_none() {
                return None;
            }
            words.push((bare.trim_end_matches('.'), at + bare.len() - 1));
            break;
        }
        let bare = if ends { bare.trim_end_matches('.') } else { bare };
        words.push((bare, at + bare.len()));
        at += word.len() + 1;
        // `Co., Ltd.` and `Holdings LLC` go on; a comma without a form after it ends a name.
        let goes_on = parts.peek().is_some_and(|next| {
            let next = &next[..bared(next)];
            is_one_of(next, FORMS) || is_one_of(next, KINDS) || is_one_of(next, BORN)
        });
        if !goes_on && (is_one_of(bare, FORMS) && words.len() > 1 || bare.len() < word.len()) {
            break;
        }
    }
    while words.last().is_some_and(|(word, _)| JOINING.contains(&word.to_ascii_lowercase().as_str())) {
        words.pop();
    }
    // Below a signature the name is printed once more.
    let half = words.len() / 2;
    let twice = half > 1
        && words.len().is_multiple_of(2)
        && words[..half].iter().zip(&words[half..]).all(|(one, two)| one.0.eq_ignore_ascii_case(two.0));
    if twice {
        words.truncate(half);
    }
    let (first, end) = (words.first()?.0, words.last()?.1);
    let value = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
    let known = words.len() >= 2 && !is_one_of(first, FORMS) && !value.eq_ignore_ascii_case("the company");
    known.then(|| Hit { value, start, end: start + end, confidence, method: "preamble" })
}

/// Whether a full stop behind a word is that of a sentence: `Delaware.`, and neither `Inc.` nor `H.` nor `Bros.`.
fn ends_sentence(word: &str) -> bool {
    word.ends_with('.')
        && !word[..word.len() - 1].contains('.')
        && word.chars().filter(|c| c.is_alphabetic()).count() > 4
}

/// Whether a word may be of a name: `Brook`, `eMagine`, and, not at the beginning, `3M`.
fn is_capital(word: &str, is_first: bool) -> bool {
    let mut letters = word.chars();
    let (Some(first), second) = (letters.next(), letters.next()) else { return false };
    let later = second.is_some_and(char::is_uppercase);
    first.is_uppercase()
        || first.is_lowercase() && later
        || first.is_ascii_digit() && (later || !is_first && word.chars().any(char::is_alphabetic))
}

fn is_one_of(word: &str, forms: &[&str]) -> bool {
    let word = word.trim_end_matches('.');
    forms.iter().any(|form| form.eq_ignore_ascii_case(word))
}

fn has_form(name: &str) -> bool {
    name.rsplit(' ').next().is_some_and(|last| is_one_of(last, FORMS) || is_one_of(last, KINDS))
}
