//! Reads a label set from its file, and tells all mistakes at once: which label, which key, which value, and what to
//! write instead.

use std::fmt::Write as _;

use docmill_core::{Error, Result};
use toml::{Table, Value};

use super::{Choose, Label, LabelSet, Mode};

/// Larger files are refused.
const MAX_FILE_BYTES: usize = 16 << 20;
const MAX_LABELS: usize = 500;
const MAX_KEYWORDS: usize = 20_000;

const SET_KEYS: [&str; 6] = ["name", "mode", "choose", "threshold", "default", "label"];
const LABEL_KEYS: [&str; 5] = ["name", "description", "keywords", "examples", "files"];

/// Collects what is wrong.
#[derive(Default)]
struct Mistakes(Vec<String>);

impl Mistakes {
    fn add(&mut self, mistake: impl Into<String>) {
        self.0.push(mistake.into());
    }

    fn unknown_keys(&mut self, place: &str, table: &Table, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.as_str())) {
            let near = known.iter().find(|k| strsim::damerau_levenshtein(k, key) <= 2);
            let way_out = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", listed(known)),
            };
            self.add(format!("{place}: unknown key `{key}`; {way_out}"));
        }
    }
}

pub(super) fn parse(text: &str) -> Result<LabelSet> {
    if text.len() > MAX_FILE_BYTES {
        return Err(Error::invalid_config(format!(
            "a label set of {} bytes is larger than the {MAX_FILE_BYTES} that are read",
            text.len()
        ))
        .with_hint("name example texts under `files` instead of writing them into the set"));
    }
    let table: Table = text.parse().map_err(|e: toml::de::Error| {
        Error::invalid_config(format!("the label set is not valid TOML: {}", e.to_string().trim_end()))
            .with_hint("texts stand in quotes, and each label begins with a line [[label]]")
    })?;
    let mut mistakes = Mistakes::default();
    let set = read_set(&table, &mut mistakes);
    if mistakes.0.is_empty() {
        return Ok(set);
    }
    let mut message = format!("the label set `{}` has {} mistakes", set.name, mistakes.0.len());
    if mistakes.0.len() == 1 {
        message = format!("the label set `{}` has a mistake", set.name);
    }
    for mistake in &mistakes.0 {
        // Writing to a string cannot fail.
        if write!(message, "\n  {mistake}").is_err() {
            break;
        }
    }
    Err(Error::invalid_config(message))
}

fn read_set(table: &Table, mistakes: &mut Mistakes) -> LabelSet {
    mistakes.unknown_keys("the set", table, &SET_KEYS);
    let name = text_of("the set", table, "name", mistakes).unwrap_or_default();
    if name.is_empty() {
        mistakes.add("the set: `name` is missing; write for example name = \"privacy\"");
    }
    let mode = one_of(
        table,
        "mode",
        &[("rules", Mode::Rules), ("semantic", Mode::Semantic), ("examples", Mode::Examples)],
        None,
        mistakes,
    )
    .unwrap_or(Mode::Rules);
    let choose =
        one_of(table, "choose", &[("one", Choose::One), ("many", Choose::Many)], Some(Choose::One), mistakes)
            .unwrap_or(Choose::One);
    let threshold = match table.get("threshold").map(|value| (number(value), value)) {
        None => match mode {
            Mode::Rules => 1.0,
            Mode::Semantic => 0.2,
            Mode::Examples => 0.0,
        },
        Some((Some(number), _)) if number >= 0.0 => number,
        Some((_, value)) => {
            mistakes.add(format!("the set: `threshold` is {}; write a number from 0 on", shown(value)));
            0.0
        }
    };
    let labels = read_labels(table, mode, mistakes);
    let default = text_of("the set", table, "default", mistakes);
    if let Some(default) = default.as_ref().filter(|d| !labels.iter().any(|l| l.name == **d)) {
        let names: Vec<&str> = labels.iter().map(|l| l.name.as_str()).collect();
        mistakes.add(format!(
            "the set: `default` is `{default}`, which is none of its labels {}",
            listed(&names)
        ));
    }
    LabelSet { name, mode, choose, threshold, default, labels }
}

fn read_labels(table: &Table, mode: Mode, mistakes: &mut Mistakes) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    let entries = match table.get("label") {
        Some(Value::Array(entries)) => entries.as_slice(),
        Some(value) => {
            mistakes
                .add(format!("the set: `label` is {}; begin each label with a line [[label]]", shown(value)));
            return labels;
        }
        None => &[],
    };
    if entries.len() < 2 {
        mistakes.add(format!("the set: it has {} labels; at least two make a choice", entries.len()));
    }
    if entries.len() > MAX_LABELS {
        mistakes.add(format!("the set: it has {} labels; at most {MAX_LABELS} are read", entries.len()));
    }
    for (number, entry) in (1..).zip(entries.iter().take(MAX_LABELS)) {
        let Some(entry) = entry.as_table() else {
            mistakes
                .add(format!("label {number} is {}; begin each label with a line [[label]]", shown(entry)));
            continue;
        };
        let label = read_label(number, entry, mode, mistakes);
        if labels.iter().any(|l| l.name == label.name && !l.name.is_empty()) {
            mistakes.add(format!(
                "label `{}` is there twice; put its keywords and examples together",
                label.name
            ));
        }
        labels.push(label);
    }
    let keywords: usize = labels.iter().map(|l| l.keywords.len()).sum();
    if keywords > MAX_KEYWORDS {
        mistakes.add(format!("the set: it has {keywords} keywords; at most {MAX_KEYWORDS} are looked for"));
    }
    labels
}

fn read_label(number: usize, table: &Table, mode: Mode, mistakes: &mut Mistakes) -> Label {
    let unnamed = format!("label {number}");
    let name = text_of(&unnamed, table, "name", mistakes).unwrap_or_default();
    let place = if name.is_empty() { unnamed } else { format!("label `{name}`") };
    if name.is_empty() {
        mistakes.add(format!("{place}: `name` is missing; write for example name = \"secret\""));
    }
    mistakes.unknown_keys(&place, table, &LABEL_KEYS);
    let description = text_of(&place, table, "description", mistakes).unwrap_or_default();
    if mode == Mode::Semantic && description.is_empty() {
        mistakes.add(format!(
            "{place}: `description` is missing; a semantic set compares texts with it, so say in a sentence what the \
             label means"
        ));
    }
    let keywords = read_keywords(&place, table, mistakes);
    if mode == Mode::Semantic && !keywords.is_empty() {
        mistakes.add(format!(
            "{place}: `keywords` are for mode = \"rules\"; a semantic set does not look at them"
        ));
    }
    let examples = texts_of(&place, table, "examples", mistakes);
    let files = texts_of(&place, table, "files", mistakes);
    Label { name, description, keywords, examples, files }
}

/// `keywords = ["a", "b"]`, each with the weight 1, or a table of phrases and weights.
fn read_keywords(place: &str, table: &Table, mistakes: &mut Mistakes) -> Vec<(String, f32)> {
    let mut keywords = Vec::new();
    match table.get("keywords") {
        None => {}
        Some(Value::Array(_)) => {
            keywords.extend(texts_of(place, table, "keywords", mistakes).into_iter().map(|word| (word, 1.0)));
        }
        Some(Value::Table(weights)) => {
            for (phrase, weight) in weights {
                match number(weight) {
                    Some(number) => keywords.push((phrase.clone(), number)),
                    None => mistakes.add(format!(
                        "{place}: the weight of the keyword `{phrase}` is {}; write a number, such as 2 or -1.5",
                        shown(weight)
                    )),
                }
            }
        }
        Some(value) => mistakes.add(format!(
            "{place}: `keywords` is {}; write a list of texts, or [label.keywords] and lines such as \"trade secret\" = 3",
            shown(value)
        )),
    }
    for (phrase, _) in &keywords {
        let words = crate::words::words(phrase).count();
        if words == 0 {
            mistakes
                .add(format!("{place}: the keyword `{phrase}` has no letters or digits and is never found"));
        } else if words > crate::rules::MAX_WORDS {
            mistakes.add(format!(
                "{place}: the keyword `{phrase}` has {words} words; at most {} are compared",
                crate::rules::MAX_WORDS
            ));
        }
    }
    keywords
}

fn one_of<T: Copy>(
    table: &Table,
    key: &str,
    values: &[(&str, T)],
    default: Option<T>,
    mistakes: &mut Mistakes,
) -> Option<T> {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let Some(value) = table.get(key) else {
        if default.is_none() {
            mistakes.add(format!("the set: `{key}` is missing; write one of {}", listed(&names)));
        }
        return default;
    };
    let found = value.as_str().and_then(|text| values.iter().find(|(name, _)| *name == text));
    if found.is_none() {
        mistakes.add(format!("the set: `{key}` is {}; write one of {}", shown(value), listed(&names)));
    }
    found.map(|(_, value)| *value)
}

fn text_of(place: &str, table: &Table, key: &str, mistakes: &mut Mistakes) -> Option<String> {
    let value = table.get(key)?;
    if value.as_str().is_none() {
        mistakes.add(format!("{place}: `{key}` is {}; write a text in quotes", shown(value)));
    }
    value.as_str().map(|text| text.trim().to_owned())
}

fn texts_of(place: &str, table: &Table, key: &str, mistakes: &mut Mistakes) -> Vec<String> {
    let Some(value) = table.get(key) else { return Vec::new() };
    let Some(entries) = value.as_array() else {
        mistakes
            .add(format!("{place}: `{key}` is {}; write a list of texts in square brackets", shown(value)));
        return Vec::new();
    };
    let mut texts = Vec::with_capacity(entries.len());
    for (number, entry) in (1..).zip(entries) {
        match entry.as_str() {
            Some(text) if !text.trim().is_empty() => texts.push(text.to_owned()),
            _ => mistakes.add(format!(
                "{place}: entry {number} of `{key}` is {}; write a text in quotes",
                shown(entry)
            )),
        }
    }
    texts
}

fn number(value: &Value) -> Option<f32> {
    let number = match value {
        Value::Integer(n) => *n as f32,
        Value::Float(n) => *n as f32,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// A value as the file has it, cut where it is long.
fn shown(value: &Value) -> String {
    const MAX: usize = 60;
    let text = value.to_string();
    if text.len() <= MAX {
        format!("`{text}`")
    } else {
        format!("`{}…`", &text[..text.floor_char_boundary(MAX)])
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_are_told_at_once_with_the_way_out() {
        let text = "name = 'x'\nmode = 'rule'\ntreshold = 3\ndefault = 'c'\n\
                    [[label]]\nname = 'a'\n[label.keywords]\nsecret = 'high'\n'!!' = 1\n\
                    [[label]]\ndescripton = 'b'\nexamples = [1, 'fine']\n";
        let error = parse(text).err().unwrap().to_string();
        for part in [
            "has 8 mistakes",
            "unknown key `treshold`; did you mean `threshold`?",
            "`mode` is `\"rule\"`; write one of `rules`, `semantic`, `examples`",
            "label `a`: the weight of the keyword `secret` is `\"high\"`; write a number",
            "label `a`: the keyword `!!` has no letters or digits",
            "label 2: `name` is missing",
            "label 2: unknown key `descripton`; did you mean `description`?",
            "label 2: entry 1 of `examples` is `1`; write a text in quotes",
            "`default` is `c`, which is none of its labels",
        ] {
            assert!(error.contains(part), "{part}\n{error}");
        }
    }

    #[test]
    fn text_that_is_no_toml_is_told_with_its_place() {
        let error = parse("name = x").err().unwrap();
        assert!(
            error.to_string().contains("not valid TOML") && error.to_string().contains("line 1"),
            "{error}"
        );
        assert!(error.hint().is_some());
    }

    #[test]
    fn keywords_may_be_a_list_or_a_table() {
        let set = parse(
            "name = 'x'\nmode = 'rules'\n[[label]]\nname = 'a'\nkeywords = ['one', 'two']\n[[label]]\nname = 'b'\n\
             [label.keywords]\nthree = 2.5\n",
        )
        .unwrap();
        assert_eq!(set.labels[0].keywords[1], ("two".to_owned(), 1.0));
        assert_eq!(set.labels[1].keywords, [("three".to_owned(), 2.5)]);
    }
}
