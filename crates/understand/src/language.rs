//! Words that say nothing about what a text is about, for each language, and which language a text has by them.
//!
//! The lists lie in `data/words`. A text of another language has no such words here; what is rare in it has to do.

use docmill_core::{Error, Result};
use foldhash::HashMap;
use serde::Deserialize;

use crate::words::{fold, folded, words};

const FILES: [&str; 7] = [
    include_str!("../data/words/en.toml"),
    include_str!("../data/words/de.toml"),
    include_str!("../data/words/fr.toml"),
    include_str!("../data/words/es.toml"),
    include_str!("../data/words/it.toml"),
    include_str!("../data/words/nl.toml"),
    include_str!("../data/words/pt.toml"),
];

/// More words do not make the answer better.
const SAMPLE_WORDS: usize = 2_000;

/// Fewer stop words than this, for each word of the text, are chance: prose has about four in ten.
const MIN_SHARE: f32 = 0.08;

/// What a word is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weight {
    /// Ends a phrase.
    Stop,
    /// Ends a phrase as well, but is no sign of a language: forms of verbs look alike in many.
    Verb,
    /// May stand inside a phrase only.
    Weak,
    /// Says something.
    Full,
}

/// The words of one language that say nothing.
pub(crate) struct Language {
    /// By ISO 639-3.
    pub(crate) code: &'static str,
    words: HashMap<String, Weight>,
}

impl Language {
    /// What a folded word is good for.
    pub(crate) fn weigh(&self, folded: &str) -> Weight {
        // `l'état` is its second half; `don't` is its first.
        let word = match folded.split_once('\'') {
            Some((before, after)) if before.len() <= 2 => after,
            Some((before, _)) => before,
            None => folded,
        };
        self.words.get(word).copied().unwrap_or(Weight::Full)
    }
}

/// All languages that there are lists for.
pub(crate) struct Languages {
    all: Vec<Language>,
    /// For texts of any other language.
    other: Language,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    code: String,
    stop: String,
    verbs: String,
    weak: String,
}

impl Languages {
    pub(crate) fn load() -> Result<Self> {
        const CODES: [&str; 7] = ["eng", "deu", "fra", "spa", "ita", "nld", "por"];
        let mut all = Vec::with_capacity(FILES.len());
        for text in FILES {
            let file: File = toml::from_str(text)
                .map_err(|e| Error::bug("a built-in list of words cannot be read").with_source(e))?;
            let code = CODES.into_iter().find(|c| *c == file.code).ok_or_else(|| {
                Error::bug(format!("a built-in list of words has the unknown language `{}`", file.code))
            })?;
            let mut words = HashMap::default();
            // Of several lists that have a word the last one here counts: the strictest.
            for (list, weight) in
                [(&file.weak, Weight::Weak), (&file.verbs, Weight::Verb), (&file.stop, Weight::Stop)]
            {
                words.extend(list.split_whitespace().map(|word| (fold(word), weight)));
            }
            all.push(Language { code, words });
        }
        Ok(Self { all, other: Language { code: "und", words: HashMap::default() } })
    }

    /// The language of a text: the one that is named, or the one whose stop words it has most of.
    pub(crate) fn of(&self, named: Option<&str>, text: &str) -> &Language {
        if let Some(code) = named {
            return self.all.iter().find(|l| l.code == code).unwrap_or(&self.other);
        }
        let mut hits = vec![0_u32; self.all.len()];
        let mut seen = 0_u32;
        for word in words(text).take(SAMPLE_WORDS) {
            let folded = folded(word.text);
            seen += 1;
            for (hits, language) in hits.iter_mut().zip(&self.all) {
                *hits += u32::from(language.weigh(&folded) == Weight::Stop);
            }
        }
        // The first of equals, so that the order of the files decides and not chance.
        let best = hits.iter().zip(&self.all).rev().max_by_key(|(hits, _)| **hits);
        match best {
            Some((hits, language)) if *hits as f32 >= MIN_SHARE * seen as f32 && *hits > 0 => language,
            _ => &self.other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_told_by_stop_words() {
        let languages = Languages::load().unwrap();
        for (text, code) in [
            ("The committee approved the budget after a long discussion about costs.", "eng"),
            ("Der Ausschuss hat den Haushalt nach einer langen Aussprache genehmigt.", "deu"),
            ("Le comité a approuvé le budget après une longue discussion sur les coûts.", "fra"),
            ("El comité aprobó el presupuesto después de una larga discusión sobre los costes.", "spa"),
            ("Il comitato ha approvato il bilancio dopo una lunga discussione sui costi.", "ita"),
            ("De commissie heeft de begroting na een lange discussie over de kosten goedgekeurd.", "nld"),
            ("O comitê aprovou o orçamento depois de uma longa discussão sobre os custos.", "por"),
            ("Комитет утвердил годовой бюджет", "und"),
            ("", "und"),
        ] {
            assert_eq!(languages.of(None, text).code, code, "{text}");
        }
        assert_eq!(languages.of(Some("deu"), "the and of").code, "deu");
    }
}
