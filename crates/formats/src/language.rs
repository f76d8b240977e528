//! Which language a document is in, told cheaply from the first few thousand characters of its text.

/// More text than this does not make the answer better (trigram statistics settle long before).
const SAMPLE_BYTES: usize = 8 << 10;

/// Fewer letters than this are a coin toss between related languages.
const MIN_LETTERS: usize = 40;

/// The beginning of a document's text.
#[derive(Default)]
pub(crate) struct Sample(String);

impl Sample {
    /// Adds text until the sample is full.
    pub(crate) fn add(&mut self, text: &str) {
        let room = SAMPLE_BYTES.saturating_sub(self.0.len());
        if room > 0 {
            self.0.push_str(&text[..text.floor_char_boundary(room)]);
            self.0.push('\n');
        }
    }

    /// The ISO 639-3 code, only where the answer is a confident one.
    pub(crate) fn language(&self) -> Option<&'static str> {
        if self.0.chars().filter(|c| c.is_alphabetic()).take(MIN_LETTERS).count() < MIN_LETTERS {
            return None;
        }
        let info = whatlang::detect(&self.0)?;
        info.is_reliable().then(|| info.lang().code())
    }
}

#[cfg(test)]
mod tests {
    use super::Sample;

    #[test]
    fn language_is_told_for_prose_and_withheld_for_scraps() {
        let cases = [
            ("The committee approved the annual budget after a long discussion about costs.", Some("eng")),
            ("Der Ausschuss hat den Jahreshaushalt nach einer langen Aussprache genehmigt.", Some("deu")),
            ("Комитет утвердил годовой бюджет после долгого обсуждения расходов и доходов.", Some("rus")),
            ("ok 12", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let mut sample = Sample::default();
            sample.add(text);
            assert_eq!(sample.language(), expected, "{text}");
        }
    }
}
