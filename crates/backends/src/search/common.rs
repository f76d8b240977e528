//! Words that nearly every text of their language has. Where some words of a question are enough, these are not: a
//! document that shares nothing but `and` with it does not answer it.

/// Folded as the index folds, in the order of the alphabet, which the test insists on.
const COMMON: &[&str] = &[
    "a", "about", "after", "al", "all", "als", "am", "an", "and", "are", "as", "at", "au", "auf", "aus",
    "be", "been", "bei", "by", "can", "che", "con", "could", "da", "das", "de", "del", "della", "dem", "den",
    "der", "des", "di", "did", "die", "do", "does", "du", "een", "ein", "eine", "einer", "el", "em", "en",
    "er", "es", "est", "et", "for", "from", "fur", "had", "has", "have", "het", "how", "i", "ich", "if",
    "il", "im", "in", "into", "is", "ist", "it", "its", "je", "la", "las", "le", "les", "lo", "los", "mit",
    "more", "nicht", "no", "not", "o", "of", "on", "op", "or", "os", "ou", "par", "para", "per", "por",
    "pour", "que", "qui", "se", "should", "si", "sich", "sie", "so", "some", "sur", "than", "that", "the",
    "their", "them", "there", "these", "they", "this", "to", "um", "un", "una", "und", "une", "van", "von",
    "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "y", "you",
    "zu", "zum", "zur",
];

/// Whether a folded word is one of them.
pub(super) fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_in_order_so_that_they_are_found() {
        assert!(COMMON.is_sorted());
        assert!(COMMON.iter().all(|word| is_common(word)));
        assert!(!is_common("invoice"));
    }
}
