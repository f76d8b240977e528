//! The title of a document, taken from what it says: its subject, its own metadata, a heading, its first lines.
//!
//! The name of the file is never a title, and neither is what programs write where a title should be.

use crate::headings::{is_heading, without_number};
use crate::kind::Kinds;
use crate::small_print::{is_salutation, is_small_print};
use crate::table_title::{by_columns, by_keys, joined};
use crate::words::{fold, is_number, words};
use crate::{Document, Guess, Page};

/// A longer title is cut at a word.
const MAX_CHARS: usize = 120;

/// Lines that are looked at.
const MAX_LINES: usize = 40;

/// What a line needs to be taken for a title rather than for the beginning of the text.
const LEAST: f32 = 1.5;

/// Words before the subject of a letter or a message.
const SUBJECTS: &[&str] = &[
    "subject",
    "re",
    "betreff",
    "betrifft",
    "betr",
    "objet",
    "asunto",
    "oggetto",
    "onderwerp",
    "betreft",
    "assunto",
    "ämne",
    "emne",
    "temat",
    "concerne",
    "referencia",
    "title",
    "titel",
];

/// Before the subject of an answer or of something passed on.
const ANSWERS: &[&str] =
    &["re", "aw", "fw", "fwd", "wg", "tr", "rv", "sv", "vs", "antw", "doorst", "res", "enc", "ref"];

/// The title of a document.
pub(crate) fn title(document: &Document<'_>, kinds: &Kinds) -> Option<Guess<String>> {
    if let Some(subject) = document.subject.map(without_answers).and_then(clean) {
        return Some(Guess { value: subject, confidence: 0.95, method: "subject" });
    }
    let metadata = document.title.and_then(|title| from_metadata(title, document));
    if let Some((title, true)) = &metadata {
        return Some(Guess { value: title.clone(), confidence: 0.95, method: "metadata" });
    }
    let page = document.pages.iter().find(|page| has_letters(page.text));
    let subject = page.and_then(|page| subject_line(page.text, kinds));
    if let Some(subject) = subject {
        return Some(Guess { value: subject, confidence: 0.85, method: "subject" });
    }
    if let Some((title, _)) = metadata {
        return Some(Guess { value: title, confidence: 0.75, method: "metadata" });
    }
    let page = page?;
    // The lines of a table are its rows, and those of a data file its values: none of them is a title.
    let by_names = match document.media_type {
        Some("text/csv" | "text/tab-separated-values") => by_columns(head(page.text)),
        Some(
            "application/json"
            | "application/x-ndjson"
            | "application/yaml"
            | "application/x-yaml"
            | "text/yaml",
        ) => by_keys(head(page.text)),
        _ => None,
    };
    by_names
        .or_else(|| numbered_heading(page.text, kinds))
        .or_else(|| best_line(page, kinds))
        .or_else(|| beginning(page.text))
        .and_then(|guess| Some(Guess { value: clean(&guess.value)?, ..guess }))
}

/// A heading that says nothing but the kind, with the number of the document: better than the letterhead above it.
fn numbered_heading(text: &str, kinds: &Kinds) -> Option<Guess<String>> {
    /// `TAX INVOICE`, `Avis de paiement`.
    const MAX_WORDS: usize = 3;
    let is_short = |line: &&str| has_letters(line) && words(line).take(MAX_WORDS + 1).count() <= MAX_WORDS;
    let mut headings = head(text).lines().map(str::trim).take(MAX_LINES).filter(is_short);
    let value = headings.find_map(|line| numbered(line, text, kinds))?;
    Some(Guess { value, confidence: 0.75, method: "heading" })
}

/// A heading that says nothing but the kind, `FACTUUR.`, with the number that the document gives itself beside the same
/// word: `Factuurnummer: 20417`.
fn numbered(title: &str, text: &str, kinds: &Kinds) -> Option<String> {
    const NUMBER: &[&str] = &["no", "nr", "n", "num", "number", "nummer", "numero", "id"];
    /// As much as `Factuur` and `Factuurnummer`, `Rechnung` and `Rechnungs-Nr.` have in common.
    const STEM: usize = 5;
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    if !kinds.is_heading_of_a_kind(title) || has_digit(title) {
        return None;
    }
    let stems: Vec<String> = words(title).map(|word| fold(word.text).chars().take(STEM).collect()).collect();
    let value = head(text).lines().take(MAX_LINES * 2).find_map(|line| {
        let mut before = String::new();
        for part in line.split_whitespace().take(8) {
            let bare = part.trim_matches(|c: char| !c.is_alphanumeric());
            let labelled = words(&before).map(|word| fold(word.text)).any(|word| {
                NUMBER.contains(&word.as_str())
                    || ["nummer", "number", "nr"].iter().any(|end| word.ends_with(end))
            });
            let same = words(&before).any(|word| stems.iter().any(|stem| fold(word.text).starts_with(stem)));
            if labelled && same && has_digit(bare) && bare.len() > 2 {
                return Some(bare);
            }
            before.push_str(part);
            before.push(' ');
        }
        None
    })?;
    Some(format!("{} {value}", title.trim_end_matches(['.', ':'])))
}

/// What a file says of itself, unless it says nothing; and whether the first page shows it too.
fn from_metadata(title: &str, document: &Document<'_>) -> Option<(String, bool)> {
    let title = clean(title)?;
    if is_junk(&title, document.name) {
        return None;
    }
    let joined = |text: &str| words(text).take(2_000).map(|w| fold(w.text)).collect::<Vec<_>>().join(" ");
    let wanted = joined(&title);
    let shown = document.pages.first().is_some_and(|page| joined(head(page.text)).contains(&wanted));
    Some((title, shown && !wanted.is_empty()))
}

/// Whether a title was made by a program: names of files, of scanners, of empty documents.
fn is_junk(title: &str, file_name: Option<&str>) -> bool {
    const BEGINNINGS: &[&str] = &[
        "untitled",
        "unbenannt",
        "sans titre",
        "sin título",
        "senza titolo",
        "naamloos",
        "microsoft word",
        "microsoft excel",
        "microsoft powerpoint",
        "powerpoint presentation",
        "powerpoint-präsentation",
        "présentation powerpoint",
        "slide 1",
        "folie 1",
        "new document",
        "neues dokument",
        "http:",
        "https:",
        "file:",
        "layout 1",
    ];
    const DEVICES: &[&str] = &[
        "scan", "scanned", "img", "image", "skm", "kmbt", "xerox", "canon", "hp scan", "brother", "ricoh",
        "epson", "print",
    ];
    const ALONE: &[&str] = &[
        "document",
        "dokument",
        "documento",
        "doc",
        "presentation",
        "präsentation",
        "book",
        "mappe",
        "classeur",
        "tabelle",
        "sheet",
        "pdf",
        "unknown",
        "none",
        "null",
        "no title",
        "output",
        "default",
        "test",
        "template",
        "vorlage",
        "normal",
        "title",
        "titel",
    ];
    const ENDINGS: &[&str] = &[
        ".doc", ".docx", ".pdf", ".xls", ".xlsx", ".ppt", ".pptx", ".txt", ".rtf", ".odt", ".indd", ".qxd",
        ".qxp", ".tex", ".dvi", ".ps", ".eps", ".cdr", ".ai", ".tif", ".tiff", ".jpg", ".png", ".wpd",
        ".pub", ".html",
    ];
    let lower = title.to_lowercase();
    let letters = lower.chars().filter(|c| c.is_alphabetic()).count();
    let stem = |name: &str| fold(name.rsplit_once('.').map_or(name, |(stem, _)| stem));
    let without_number = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
    letters < 3
        || BEGINNINGS.iter().any(|b| after(&lower, b).is_some())
        || DEVICES.iter().any(|d| after(&lower, d).is_some_and(says_nothing))
        || ALONE.contains(&without_number)
        || ENDINGS.iter().any(|e| lower.ends_with(e))
        || file_name.is_some_and(|name| stem(name) == fold(title) || fold(name) == fold(title))
        // One word with digits or underscores in it is a name for machines.
        || (!title.contains(char::is_whitespace) && title.contains(['_', '\\', '/', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
        || title.contains(":\\")
}

/// What follows a word at the beginning.
fn after<'t>(title: &'t str, beginning: &str) -> Option<&'t str> {
    title.strip_prefix(beginning).filter(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Whether no word of what a scanner added says anything: `Scan 12.03.2024`, but not `Image processing`.
fn says_nothing(rest: &str) -> bool {
    const WORDS: &[&str] = &["document", "dokument", "scan", "from", "file", "page", "image"];
    words(rest).all(|w| w.text.len() < 4 || is_number(w.text) || WORDS.contains(&w.text))
}

/// What stands after `Subject:` or its like in the first lines. A document that has called itself an invoice by then has a
/// remark with a subject, and no subject.
fn subject_line(text: &str, kinds: &Kinds) -> Option<String> {
    for line in head(text).lines().take(MAX_LINES) {
        let Some((name, rest)) = line.split_once(':') else {
            if kinds.is_heading_of_a_kind(line) {
                return None;
            }
            continue;
        };
        let name = fold(name.trim());
        if SUBJECTS.iter().any(|s| fold(s) == name) {
            let subject = clean(without_answers(rest));
            if subject.as_ref().is_some_and(|s| words(s).count() >= 2 || s.len() > 4) {
                return subject;
            }
        }
    }
    None
}

/// A subject without `Re:` and `Fwd:` before it.
fn without_answers(subject: &str) -> &str {
    let mut rest = subject.trim();
    while let Some((before, after)) = rest.split_once(':') {
        let name = fold(before.trim().trim_end_matches(|c: char| c.is_ascii_digit() || "[]()".contains(c)));
        if !ANSWERS.contains(&name.as_str()) || after.trim().is_empty() {
            break;
        }
        rest = after.trim();
    }
    rest
}

/// The line near the beginning that looks most like a title.
fn best_line(page: &Page<'_>, kinds: &Kinds) -> Option<Guess<String>> {
    let lines: Vec<&str> = head(page.text).lines().map(str::trim).collect();
    let filled: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].is_empty()).take(MAX_LINES).collect();
    let mut best: Option<(f32, usize)> = None;
    for (place, at) in filled.iter().enumerate() {
        let alone = at.checked_sub(1).is_none_or(|b| lines[b].is_empty())
            && lines.get(at + 1).is_none_or(|next| next.is_empty());
        let late = 0.12 * place as f32;
        let score = worth(lines[*at], alone, kinds, best.map(|(most, _)| most + late)) - late;
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, *at));
        }
    }
    let (score, mut at) = best.filter(|(score, _)| *score >= LEAST)?;
    // The second line of a title may look better than the first.
    while at > 0 && is_open(lines[at - 1]) {
        at -= 1;
    }
    // Where most is in capitals they do not tell what belongs together.
    let (upper, lower) = (count_of(page.text, char::is_uppercase), count_of(page.text, char::is_lowercase));
    let value = clean(&with_next_line(&lines, at, lower > upper))?;
    let method = if lines[at].starts_with('#') || is_heading(lines[at]) { "heading" } else { "first_lines" };
    Some(Guess { value, confidence: (0.25 + 0.1 * score).clamp(0.3, 0.75), method })
}

/// What the heading of a kind is worth.
const OF_A_KIND: f32 = 1.6;

/// How much a line looks like a title. Less is said of one that is worth no more than `enough` in any case.
fn worth(line: &str, alone: bool, kinds: &Kinds, enough: Option<f32>) -> f32 {
    let cut: Vec<_> = words(line).take(40).collect();
    let count = cut.len();
    if !has_letters(line) {
        return -5.0;
    }
    let mut worth = match count {
        1 => 0.6,
        2 => 1.2,
        3..=12 => 2.2,
        13..=18 => 1.0,
        19..=25 => -0.5,
        _ => -3.0,
    };
    let marked = line.starts_with("# ") || line.starts_with("## ");
    worth += if marked { 3.0 } else { 0.0 };
    worth += if is_heading(line) { 0.8 } else { 0.0 };
    worth += if alone { 0.5 } else { 0.0 };
    let capitals = cut.iter().filter(|w| w.text.starts_with(char::is_uppercase)).count();
    worth += if capitals * 2 > count && count > 1 { 0.5 } else { 0.0 };
    let numbers = cut.iter().filter(|w| is_number(w.text)).count();
    // Addresses, telephone numbers, rows of tables.
    let of_numbers = 2.5 * numbers as f32 / count.max(1) as f32;
    let full_stop = if line.ends_with(['.', ',', ';', ':']) { 1.2 } else { 0.0 };
    worth -= of_numbers + full_stop;
    if line.contains(['@', '|', '=', '<', '>', '\t']) || line.contains("http") || line.contains("www.") {
        worth -= 2.5;
    }
    // `Name: value` is a field.
    if line.split_once(':').is_some_and(|(name, value)| words(name).count() <= 2 && !value.trim().is_empty())
    {
        worth -= 1.5;
    }
    if is_small_print(line) {
        worth -= 3.0;
    }
    // Looking for all the words that tell kinds is most of the work.
    if enough.is_some_and(|enough| worth + OF_A_KIND + full_stop + of_numbers <= enough) {
        return worth;
    }
    if kinds.is_heading_of_a_kind(line) {
        // `FACTUUR.`, `Invoice 4711 of 5 March 2018`: neither full stops nor numbers speak against it.
        worth += OF_A_KIND + full_stop + of_numbers;
    }
    worth -= if count <= 25 && kinds.is_head_of_a_table(line) { 2.0 } else { 0.0 };
    worth
}

fn count_of(text: &str, what: fn(char) -> bool) -> usize {
    head(text).chars().filter(|c| what(*c)).count()
}

/// A title that goes on in the next line: one that ends in the middle, or the next begins in the middle, or both stand in
/// capitals that mean something.
fn with_next_line(lines: &[&str], at: usize, capitals_tell: bool) -> String {
    let mut title = lines[at].to_owned();
    for next in lines[at + 1..].iter().take(2) {
        let goes_on =
            next.starts_with(char::is_lowercase) && words(next).take(13).count() <= 12 && !next.contains('@');
        let both = capitals_tell && in_capitals(&title) && in_capitals(next);
        if next.is_empty()
            || !(is_open(&title) || goes_on || both)
            || title.len() + next.len() > 2 * MAX_CHARS
        {
            break;
        }
        title.push(' ');
        title.push_str(next);
    }
    title
}

fn in_capitals(line: &str) -> bool {
    line.len() <= MAX_CHARS
        && line.chars().filter(|c| c.is_uppercase()).count() >= 4
        && !line.contains(|c: char| c.is_lowercase() || c.is_ascii_digit())
}

/// Whether a line ends with a word that another must follow.
fn is_open(line: &str) -> bool {
    const OPEN: &[&str] = &[
        "of", "the", "and", "for", "in", "on", "a", "an", "to", "with", "by", "from", "und", "der", "die",
        "das", "für", "von", "de", "du", "des", "la", "le", "et",
    ];
    let short = line.len() <= MAX_CHARS;
    short
        && words(line)
            .last()
            .is_some_and(|w| w.end() == line.len() && OPEN.contains(&w.text.to_lowercase().as_str()))
}

/// The first words of the text, where nothing looks like a title; those that people write, if there are any.
fn beginning(text: &str) -> Option<Guess<String>> {
    let head = head(text);
    let sentences = |text| crate::words::sentences(text).take(MAX_LINES).filter(|s| has_word(s.text));
    // A rule of stars or a declaration is no part of the sentence that follows it.
    let from = head.split_inclusive('\n').take_while(|line| !is_prose(line)).map(str::len).sum::<usize>();
    if let Some(columns) = head.lines().find(|line| line.contains('\t')).and_then(by_columns) {
        return Some(columns);
    }
    // Whom a letter is for is not what it is about.
    let says = |text: &str| is_prose(text) && !is_salutation(text) && !is_small_print(text);
    let written = || sentences(&head[from..]);
    let first = written().find(|s| says(s.text)).or_else(|| written().find(|s| is_prose(s.text)));
    let (sentence, confidence) = match first {
        Some(sentence) => (sentence, 0.3),
        None => (sentences(head).next()?, 0.1),
    };
    Some(Guess { value: clean(sentence.text)?, confidence, method: "first_words" })
}

/// What a text is called that has nothing to be called by, not a word: its first line, or the cells of its first row.
pub(crate) fn first_line(text: &str) -> Option<Guess<String>> {
    let line = head(text).lines().find(|line| line.contains(char::is_alphanumeric))?;
    let cells: Vec<&str> = line.split('\t').map(str::trim).filter(|cell| !cell.is_empty()).collect();
    Some(Guess { value: in_one_line(&joined(&cells))?, confidence: 0.05, method: "first_line" })
}

/// Whether people write like that: neither markup nor code, no rules of stars and no rows of numbers.
fn is_prose(text: &str) -> bool {
    let (mut letters, mut others) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        if c.is_alphabetic() {
            letters += 1;
        } else {
            others += 1;
        }
    }
    letters >= 3 * others && !text.contains(['<', '>', '{', '}', '|', '='])
}

/// Whether there is a word in it: three letters, or one sign of a script that has no spaces.
pub(crate) fn has_word(text: &str) -> bool {
    let mut run = 0;
    text.chars().any(|c| {
        run = if c.is_alphabetic() { run + 1 } else { 0 };
        run >= 3 || (c >= '\u{2e80}' && c.is_alphabetic())
    })
}

/// A title in one line, without marks around it, cut at a word; nothing if nothing is left.
fn clean(title: &str) -> Option<String> {
    let title = without_number(&title[..title.floor_char_boundary(4 * MAX_CHARS * 2)]);
    in_one_line(title).filter(|title| has_word(title))
}

/// The same of what need not be a word.
fn in_one_line(title: &str) -> Option<String> {
    let title = &title[..title.floor_char_boundary(4 * MAX_CHARS * 2)];
    let spaced: String = title
        .chars()
        .map(|c| if c.is_control() || c.is_whitespace() || is_invisible(c) { ' ' } else { c })
        .collect();
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let trimmed = joined
        .trim_matches(|c: char| c.is_whitespace() || "*_=~|•·-–—#<>".contains(c))
        .trim_end_matches([':', ',', ';'])
        .trim();
    if !trimmed.contains(char::is_alphanumeric) {
        return None;
    }
    if trimmed.chars().count() <= MAX_CHARS {
        return Some(trimmed.to_owned());
    }
    let cut: String = trimmed.chars().take(MAX_CHARS).collect();
    let at_word = cut.rsplit_once(' ').map_or(cut.as_str(), |(before, _)| before);
    Some(format!("{}…", at_word.trim_end_matches([',', ';', ':', '-', '–'])))
}

/// Marks that change the direction of what is shown, and others that show nothing.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffd}')
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// Enough of a page for forty lines.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(16 << 10)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(document: &Document<'_>) -> Option<(String, &'static str)> {
        title(document, &Kinds::load().unwrap()).map(|g| (g.value, g.method))
    }

    fn of_text(text: &str) -> Option<String> {
        let pages = [Page { number: 1, text }];
        found(&Document::of(&pages)).map(|(title, _)| title)
    }

    #[test]
    fn metadata_is_the_title_unless_a_program_wrote_it() {
        let pages =
            [Page { number: 1, text: "Budget for next year\n\nThe council met and agreed on the budget." }];
        let document = Document { name: Some("budget_v2.pdf"), ..Document::of(&pages) };
        for junk in [
            "Microsoft Word - budget.doc",
            "untitled",
            "Untitled-1",
            "Dokument1",
            "budget_v2",
            "SKM_C25823010112",
            "scan0001",
            "report.indd",
            "PowerPoint Presentation",
            "  ",
            "123",
            "IMG_2031",
            "C:\\temp\\x",
            "Scan 12.03.2024",
            "Title",
        ] {
            let title = found(&Document { title: Some(junk), ..document }).unwrap();
            assert_eq!(title, ("Budget for next year".to_owned(), "heading"), "{junk}");
        }
        for good in ["Image processing for bees", "Scandinavian history", "Printing in Europe"] {
            assert_eq!(found(&Document { title: Some(good), ..document }).unwrap().0, good);
        }
        let good = found(&Document { title: Some("The town's budget"), ..document }).unwrap();
        assert_eq!(good, ("The town's budget".to_owned(), "metadata"));
    }

    #[test]
    fn subject_of_a_mail_is_its_title() {
        let pages = [Page { number: 1, text: "Hello" }];
        let document = Document { subject: Some("Re: AW: Fwd: Lunch on Monday"), ..Document::of(&pages) };
        assert_eq!(found(&document).unwrap(), ("Lunch on Monday".to_owned(), "subject"));
        assert_eq!(of_text("From: x\nSubject: Re: Old bikes\n\nHello").unwrap(), "Old bikes");
        assert_eq!(
            of_text("Firma\nBetreff: Ihre Anfrage vom Mai\n\nGuten Tag").unwrap(),
            "Ihre Anfrage vom Mai"
        );
    }

    #[test]
    fn heading_is_found_among_first_lines() {
        assert_eq!(of_text("# 1. Guide to bees\n\nBees are small.").unwrap(), "Guide to bees");
        assert_eq!(
            of_text(
                "Page 1 of 3\nwww.example.org\n\nA Study of the\nBehaviour of Bees\n\nWe looked at bees."
            )
            .unwrap(),
            "A Study of the Behaviour of Bees"
        );
        assert_eq!(
            of_text("12.03.2024\nTel. 555 123\nAnnual Report 2023\n\nText follows here.").unwrap(),
            "Annual Report 2023"
        );
    }

    #[test]
    fn title_goes_on_in_capitals_and_is_no_head_of_a_table() {
        let text = "NON-COMPETITION AND CONFIDENTIALITY\nAGREEMENT\n\nThis agreement is made by two people who met in \
                    the small town of Leeds and talked for a long time.";
        assert_eq!(of_text(text).unwrap(), "NON-COMPETITION AND CONFIDENTIALITY AGREEMENT");
        let table = "Artikel Menge Einzelpreis MwSt\nStuhl 1 5,00\n\nIhr Einkauf bei uns\n";
        assert_eq!(of_text(table).unwrap(), "Ihr Einkauf bei uns");
    }

    #[test]
    fn invoice_is_headed_by_what_it_is_and_not_by_its_letterhead() {
        let text = "FACTUUR.\nTot de volgende keer.\n\nMolenwinkel B.V.\nKade 12\n1234 AB Zaandam\nNederland\n\n\
                    KvK Zaandam 12345678\nBTW NL123456789B01\nIBAN NL00BANK0123456789\n";
        assert_eq!(of_text(text).unwrap(), "FACTUUR.");
        assert_eq!(of_text(&format!("{text}\nFactuurnummer: 20417\n")).unwrap(), "FACTUUR 20417");
        let text = "Muster für elektronische Belege, (c) Mühle 2022\n\nSeite 1 von 2\n\n\
                    Handelsrechnung (380) Nr. M20-4 vom 03.10.2020\n\nWährung: EUR\n\nVerkäufer\nName: Praxis\n\
                    DE 12345 Beispielstadt\n";
        assert_eq!(of_text(text).unwrap(), "Handelsrechnung (380) Nr. M20-4 vom 03.10.2020");
    }

    #[test]
    fn subject_of_a_remark_is_no_title_of_an_invoice() {
        let text = "Seite 1 von 2\n\nHandelsrechnung Nr. 4711 vom 05.03.2018\n\nBemerkungen\nBetreff: REG Regulatory information";
        assert_eq!(of_text(text).unwrap(), "Handelsrechnung Nr. 4711 vom 05.03.2018");
    }

    #[test]
    fn signature_of_a_letter_is_no_title() {
        let text = "I had hoped to write to you much earlier this year, but the garden and the children left me no time at \
                    all until the rain came.\n\nWarmly, Imogen\n";
        let title = of_text(text).unwrap();
        assert!(title.starts_with("I had hoped to write"), "{title}");
    }

    #[test]
    fn letter_is_called_by_what_it_says_and_not_by_whom_it_is_for() {
        let text = "Dear Bob,\n\nit was such a pleasure to see you and the children at the lake last week, and I still think \
                    of the boats, the geese and the pie that your sister had made for all of us.\n\nWarmly, Imogen\n";
        let title = of_text(text).unwrap();
        assert!(title.starts_with("it was such a pleasure"), "{title}");
        assert_eq!(of_text("Dear Bob,\n\nWarmly, Imogen\n").unwrap(), "Dear Bob");
    }

    #[test]
    fn tables_and_data_files_are_called_by_what_they_hold() {
        let pages = [Page { number: 1, text: "Industry\nAccounting/Finance\nAutomotive\n" }];
        let table = Document { media_type: Some("text/csv"), ..Document::of(&pages) };
        assert_eq!(found(&table).unwrap(), ("Industry".to_owned(), "columns"));
        let pages = [Page { number: 1, text: "orders:\n  - id: 17\n    total: 3\ncustomer:\n  name: x\n" }];
        let data = Document { media_type: Some("application/json"), ..Document::of(&pages) };
        assert_eq!(found(&data).unwrap(), ("orders, customer".to_owned(), "keys"));
    }

    #[test]
    fn text_without_heading_is_titled_by_its_first_words() {
        let text = "it was a long day, and nobody knew what would come of it, because the river had risen again and the bridge was \
                    closed for everyone who lived on the other side.";
        let title = of_text(text).unwrap();
        assert!(
            title.starts_with("it was a long day")
                && title.ends_with('…')
                && title.chars().count() <= MAX_CHARS + 1
        );
    }

    #[test]
    fn first_words_are_those_that_people_write() {
        for (text, title) in [
            (
                "/*****************\n * Reads a file of fonts and names them one by one and then all of them at once for ever.",
                "Reads a file",
            ),
            (
                "<?xml version=\"1.0\"?>\n<a b=\"c\"/>\nall of this was written by a person who had time to write it down, for whoever",
                "all of this was",
            ),
        ] {
            let found = of_text(text).unwrap();
            assert!(found.starts_with(title), "{found}");
        }
        // What a picture of an icon was taken for.
        for text in ["r", "xe", "a b\n1", "?! "] {
            assert_eq!(of_text(text), None, "{text}");
        }
        assert_eq!(of_text("{\"id\": 17, \"total\": 3}").as_deref(), Some("{\"id\": 17, \"total\": 3}"));
        assert_eq!(of_text("請求").as_deref(), Some("請求"));
    }

    #[test]
    fn hostile_texts_give_short_titles_or_none() {
        let long = "x".repeat(1 << 20);
        for text in ["", "\0\0", "1 2 3", "\u{202e}", &long, "日本語の文書", "\n\n\n"] {
            let title = of_text(text);
            assert!(
                title.is_none_or(|t| t.chars().count() <= MAX_CHARS + 1 && !t.contains('\u{202e}')),
                "{text:.20}"
            );
        }
        assert_eq!(of_text("日本語の文書").unwrap(), "日本語の文書");
    }
}
