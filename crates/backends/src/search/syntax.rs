//! What a user may type into the search box:
//!
//! - `annual report`: both words or forms of them; `"annual report"`: exactly so, side by side in this order;
//! - `-draft` or `NOT draft`: without it; `invoice OR receipt`: one of them;
//! - `invoic*`: words that begin so; `recieve~`: words that are spelled nearly so;
//! - `name:`, `title:`, `type:`, `tag:` before any of these: only there, and exactly so.
//!
//! Reading never fails: what is not syntax is text. An unknown `field:` belongs to the text (`a:b`,
//! `https://…`), a quotation mark without its partner reaches to the end, operators without a word count for
//! nothing. A general query language was left out on purpose: its errors about `C++` or `foo@bar.com` help
//! nobody, and its ranges and patterns can be made arbitrarily costly from outside.

/// Where to look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    /// Text, title and name.
    Everywhere,
    /// The file name.
    Name,
    /// The title.
    Title,
    /// The media type, and what the document is.
    Type,
    /// The tags.
    Tag,
}

/// One thing to look for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Clause {
    /// Where.
    pub(super) scope: Scope,
    /// What: a word, or the words of a phrase.
    pub(super) text: String,
    /// Whether its last word is only the beginning of one.
    pub(super) prefix: bool,
    /// Whether words that are spelled nearly so will do.
    pub(super) roughly: bool,
    /// Whether it was put into quotation marks: then no other form will do.
    pub(super) quoted: bool,
    /// Whether it must *not* be there.
    pub(super) negated: bool,
    /// Whether it is an alternative to the clause before.
    pub(super) alternative: bool,
}

/// Reads what a user typed.
pub(super) fn parse(input: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut rest = input.trim_start();
    let (mut negated, mut alternative) = (false, false);
    while !rest.is_empty() {
        if let Some((operator, after)) = operator(rest) {
            match operator {
                "OR" => alternative = !clauses.is_empty(),
                "NOT" => negated = true,
                _ => {}
            }
            rest = after.trim_start();
            continue;
        }
        let (clause, after) = clause(rest);
        clauses.push(Clause { negated: clause.negated || negated, alternative, ..clause });
        (negated, alternative) = (false, false);
        rest = after.trim_start();
    }
    clauses
}

/// `AND`, `OR` or `NOT` as a word of its own, in capitals.
fn operator(text: &str) -> Option<(&str, &str)> {
    let (word, after) = split_at_space(text);
    matches!(word, "AND" | "OR" | "NOT").then_some((word, after))
}

fn clause(text: &str) -> (Clause, &str) {
    // A sign counts only directly before something: `a - b` is three words, one of them empty.
    let (negated, text) = match text.strip_prefix('-') {
        Some(after) if !after.starts_with(char::is_whitespace) => (true, after),
        _ => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (scope, text) = scope(text);
    let clause = |text: &str, prefix, roughly, quoted| Clause {
        scope,
        text: text.to_owned(),
        prefix,
        roughly,
        quoted,
        negated,
        alternative: false,
    };
    if let Some(quoted) = text.strip_prefix('"') {
        let (phrase, after) = quoted.split_once('"').unwrap_or((quoted, ""));
        return match after.strip_prefix('*') {
            Some(after) => (clause(phrase, true, false, true), after),
            None => (clause(phrase, false, false, true), after),
        };
    }
    let (word, after) = split_at_space(text);
    match word.strip_suffix('~') {
        Some(word) if !word.is_empty() => (clause(word, false, true, false), after),
        _ => (clause(word.trim_end_matches('*'), word.ends_with('*'), false, false), after),
    }
}

fn scope(text: &str) -> (Scope, &str) {
    const FIELDS: [(&str, Scope); 4] =
        [("name:", Scope::Name), ("title:", Scope::Title), ("type:", Scope::Type), ("tag:", Scope::Tag)];
    for (field, scope) in FIELDS {
        if let Some(after) = text.strip_prefix(field)
            && !after.is_empty()
            && !after.starts_with(char::is_whitespace)
        {
            return (scope, after);
        }
    }
    (Scope::Everywhere, text)
}

fn split_at_space(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints clauses briefly: `|` alternative, `-` negated, `*` prefix, `~` roughly, brackets for a scope.
    fn read(input: &str) -> String {
        let print = |c: &Clause| {
            let scope = match c.scope {
                Scope::Everywhere => String::new(),
                scope => format!("{scope:?}:").to_lowercase(),
            };
            let (or, not) = (if c.alternative { "|" } else { "" }, if c.negated { "-" } else { "" });
            let (star, wave) = (if c.prefix { "*" } else { "" }, if c.roughly { "~" } else { "" });
            format!("{or}{not}{scope}[{}]{star}{wave}", c.text)
        };
        parse(input).iter().map(print).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn parse_reads_words_phrases_signs_and_fields() {
        for (input, expected) in [
            ("annual report", "[annual] [report]"),
            ("  \"annual  report\"  x", "[annual  report] [x]"),
            ("a -b +c", "[a] -[b] [c]"),
            ("NOT a AND b", "-[a] [b]"),
            ("a OR b c", "[a] |[b] [c]"),
            ("name:foo.pdf title:\"two words\" -type:pdf", "name:[foo.pdf] title:[two words] -type:[pdf]"),
            ("inv* \"two wo\"*", "[inv]* [two wo]*"),
            ("recieve~ -tag:energy", "[recieve]~ -tag:[energy]"),
        ] {
            assert_eq!(read(input), expected, "{input}");
        }
    }

    #[test]
    fn parse_takes_what_is_not_syntax_as_text() {
        for (input, expected) in [
            ("foo@bar.com C++ file_name.pdf", "[foo@bar.com] [C++] [file_name.pdf]"),
            ("a:b https://x.org/?q=1 text:x", "[a:b] [https://x.org/?q=1] [text:x]"),
            ("name: foo", "[name:] [foo]"),
            ("a - b", "[a] [-] [b]"),
            ("\"open", "[open]"),
            ("OR a OR", "[a]"),
            ("or not and", "[or] [not] [and]"),
            ("(a) [1 TO 2] /x.*/ ^2 ~", "[(a)] [[1] [TO] [2]] [/x.*/] [^2] [~]"),
            ("***", "[]*"),
            ("\"\"\"", "[] []"),
            ("", ""),
            ("東京 OR 大阪", "[東京] |[大阪]"),
        ] {
            assert_eq!(read(input), expected, "{input}");
        }
    }
}
