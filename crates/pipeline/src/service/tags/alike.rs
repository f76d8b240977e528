//! Which tags may be one: those that are spelt nearly alike, and those that mean nearly the same.

use docmill_core::ports::catalogue::ComparedTag;
use docmill_core::tag::{TagLine, TagPair, key};

/// Two tags may mean the same from here on. Chosen, not measured: suggestions are looked at by somebody before they count.
const LEAST_MEANING: f32 = 0.7;

/// What a difference that is no more than a plural, a hyphen or a space is worth.
const SAME_WORD: f32 = 0.98;

/// Letters that may differ, by the length of the shorter one: short words that differ in a letter are other words.
fn slips(letters: usize) -> usize {
    match letters {
        0..=5 => 0,
        6..=11 => 1,
        _ => 2,
    }
}

/// A tag made ready to be compared.
struct Spelt {
    /// Without what is no letter or number, and without the end of a plural.
    bare: Vec<char>,
    digits: Vec<char>,
}

impl Spelt {
    fn of(tag: &str) -> Self {
        let words = key(tag).unwrap_or_default();
        let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let bare: Vec<char> = words.flat_map(|word| singular(word).chars().collect::<Vec<_>>()).collect();
        let digits = bare.iter().copied().filter(char::is_ascii_digit).collect();
        Self { bare, digits }
    }
}

/// A word without the end that English plurals have; others are told by the letters that differ.
fn singular(word: &str) -> String {
    if word.chars().count() < 4 || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return format!("{stem}y");
    }
    let sibilants = ["ches", "shes", "sses", "xes", "zes"];
    if sibilants.iter().any(|end| word.ends_with(end)) {
        return word[..word.len() - 2].to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// The pairs that are most alike, at most `limit`; the more frequent tag of each is the one to merge into.
pub(super) fn pairs(tags: &[ComparedTag], limit: usize) -> Vec<TagPair> {
    let spelt: Vec<Spelt> = tags.iter().map(|tag| Spelt::of(&tag.line.tag)).collect();
    let mut found = Vec::new();
    for (at, (one, its)) in tags.iter().zip(&spelt).enumerate() {
        for (other, others) in tags.iter().zip(&spelt).skip(at + 1) {
            let by_spelling = spelling(its, others).map(|similarity| (similarity, "spelling"));
            let by_meaning = || meaning(one, other).map(|similarity| (similarity, "meaning"));
            if let Some((similarity, method)) = by_spelling.or_else(by_meaning) {
                found.push(pair(&one.line, &other.line, similarity, method));
            }
        }
    }
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(b.into.documents.cmp(&a.into.documents)));
    found.truncate(limit);
    found
}

fn pair(one: &TagLine, other: &TagLine, similarity: f32, method: &str) -> TagPair {
    let (into, from) = if other.documents > one.documents { (other, one) } else { (one, other) };
    TagPair { from: from.clone(), into: into.clone(), similarity, method: method.to_owned() }
}

/// How alike two tags are spelt, if they may be one. Numbers are never slips: `form 12` is not `form 13`.
fn spelling(one: &Spelt, other: &Spelt) -> Option<f32> {
    if one.bare.is_empty() || one.digits != other.digits {
        return None;
    }
    if one.bare == other.bare {
        return Some(SAME_WORD);
    }
    let (shorter, longer) = (one.bare.len().min(other.bare.len()), one.bare.len().max(other.bare.len()));
    let most = slips(shorter);
    if most == 0 || longer - shorter > most || one.bare.first() != other.bare.first() {
        return None;
    }
    let distance = distance(&one.bare, &other.bare, most)?;
    Some(1.0 - distance as f32 / longer as f32)
}

/// How many letters have to be changed, added or left out; none if it is more than `most`.
fn distance(one: &[char], other: &[char], most: usize) -> Option<usize> {
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, a) in one.iter().enumerate() {
        let mut diagonal = above[0];
        above[0] = row + 1;
        let mut least = above[0];
        for (column, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = above[column + 1];
            above[column + 1] = changed.min(diagonal + 1).min(above[column] + 1);
            least = least.min(above[column + 1]);
        }
        if least > most {
            return None;
        }
    }
    above.last().copied().filter(|distance| *distance <= most)
}

/// How alike two tags are in what they mean, if they may be one. Vectors have the length 1.
fn meaning(one: &ComparedTag, other: &ComparedTag) -> Option<f32> {
    let (a, b) = (one.meaning.as_ref()?, other.meaning.as_ref()?);
    let similarity: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    (similarity >= LEAST_MEANING).then_some(similarity.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(name: &str, documents: u64, meaning: Option<[f32; 2]>) -> ComparedTag {
        ComparedTag { line: TagLine { tag: name.into(), documents }, meaning: meaning.map(Vec::from) }
    }

    fn alike(one: &str, other: &str) -> bool {
        !pairs(&[tag(one, 1, None), tag(other, 1, None)], 10).is_empty()
    }

    #[test]
    fn plurals_hyphens_and_slips_are_alike() {
        for (one, other) in [
            ("office chair", "Office Chairs"),
            ("e-mail", "email"),
            ("data base", "database"),
            ("tax categories", "tax category"),
            ("delivery boxes", "delivery box"),
            ("recieved goods", "received goods"),
            ("colour printer", "color printer"),
        ] {
            assert!(alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn other_words_and_other_numbers_are_not_alike() {
        for (one, other) in [
            ("form 12", "form 13"),
            ("cat", "car"),
            ("house", "mouse"),
            ("sales", "scales"),
            ("import", "export"),
            ("invoice", "letter"),
        ] {
            assert!(!alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn meanings_tell_where_spelling_does_not_and_the_frequent_one_stays() {
        let tags = [
            tag("car", 2, Some([1.0, 0.0])),
            tag("automobile", 5, Some([0.9, 0.43])),
            tag("river", 9, Some([0.0, 1.0])),
            tag("unknown", 1, None),
        ];
        let found = pairs(&tags, 10);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].from.tag.as_str(), found[0].into.tag.as_str()), ("car", "automobile"));
        assert_eq!(found[0].method, "meaning");
        assert!(pairs(&tags, 0).is_empty());
    }
}
