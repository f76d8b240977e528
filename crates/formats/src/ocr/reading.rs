//! What an engine makes of a picture, and how good it is.

use docmill_core::ocr::Word;

/// The words of one picture, with boxes on that picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Lines separated by `\n`.
    pub(crate) text: String,
    pub(crate) words: Vec<Word>,
}

impl Reading {
    /// From 0 to 1: the confidence of each word, weighted by its characters. `None` where there are no words.
    pub(crate) fn quality(&self) -> Option<f32> {
        let (mut sum, mut weight) = (0.0, 0.0);
        for word in &self.words {
            let characters = word.text.chars().count() as f32;
            sum += word.confidence * characters;
            weight += characters;
        }
        (weight > 0.0).then(|| sum / weight)
    }

    /// How many characters there are, blanks apart.
    pub(crate) fn characters(&self) -> u32 {
        self.words.iter().map(|word| word.text.chars().count() as u32).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, confidence: f32) -> Word {
        Word { text: text.into(), confidence, line: 0, x: 0, y: 0, width: 1, height: 1 }
    }

    #[test]
    fn quality_weighs_words_by_their_length() {
        let reading = Reading { text: String::new(), words: vec![word("abcdefghi", 1.0), word("x", 0.0)] };
        assert!((reading.quality().unwrap() - 0.9).abs() < 1e-6);
        assert_eq!(reading.characters(), 10);
        assert_eq!(Reading::default().quality(), None);
    }
}
