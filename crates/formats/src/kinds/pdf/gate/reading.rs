//! Whether characters read like text of some language, or like numbers of glyphs taken for characters.
//!
//! Cheap statistics that hold for many languages: which letters follow each other (Latin script), how many of
//! them have accents, whether words stay in one script, how much is marks. Each is set so that lists, forms,
//! formulas and program code pass.

use std::collections::HashSet;

use super::pairs;

/// More characters of a page are not looked at.
const MOST: usize = 20_000;

/// Fewer pairs of letters, in words that differ, say nothing.
const FEWEST_PAIRS: usize = 60;

/// Above this share of unusual pairs it is not text…
const UNUSUAL: f64 = 0.3;
/// …and below this share it certainly is.
const USUAL: f64 = 0.2;

/// Fewer characters than this say nothing.
const FEWEST: usize = 40;

/// Vietnamese has accents on a third of its letters; Cyrillic that was taken for Latin has nothing else.
const ACCENTED: f64 = 0.6;

/// Words with letters of several scripts: this share of neighbours that differ is not found in texts.
const MIXED: f64 = 0.15;

/// Code and formulas have fewer marks among their characters than this.
const MARKS: f64 = 0.6;

/// Shorter words are left out of the pairs: many are abbreviations.
const SHORTEST_WORD: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::kinds::pdf) enum Reading {
    /// Reads like a language.
    Text,
    /// Too short, or too unlike running text, to tell.
    Unclear,
    /// Reads like no language.
    Garbage,
}

/// What the text of a page reads like.
pub(in crate::kinds::pdf) fn of(text: &str) -> Reading {
    let mut seen = Seen::default();
    let mut words = HashSet::new();
    let end = text.char_indices().nth(MOST).map_or(text.len(), |(at, _)| at);
    for word in text[..end].split_whitespace() {
        // A word that comes again shows nothing new; a form of dots and dashes would drown everything else.
        if words.insert(word) {
            seen.add(word);
        }
    }
    seen.reading()
}

#[derive(Default)]
struct Seen {
    characters: usize,
    marks: usize,
    latin: usize,
    accented: usize,
    pairs: usize,
    unusual: usize,
    neighbours: usize,
    mixed: usize,
    /// Letters of scripts other than Latin.
    others: usize,
    /// Runs of letters whose pairs are counted.
    runs: HashSet<Vec<u8>>,
}

impl Seen {
    fn add(&mut self, word: &str) {
        let mut previous: Option<char> = None;
        let mut letters: Vec<u8> = Vec::new();
        for c in word.chars() {
            self.characters += 1;
            self.marks += usize::from(c.is_ascii_punctuation() && previous != Some(c));
            if c.is_alphabetic()
                && let Some(before) = previous.filter(|p| p.is_alphabetic())
            {
                self.neighbours += 1;
                self.mixed += usize::from(script(before) != script(c));
            }
            if let Some(plain) = pairs::plain(c) {
                self.latin += 1;
                self.accented += usize::from(!c.is_ascii());
                letters.push(plain);
            } else {
                self.others += usize::from(c.is_alphabetic());
                self.add_pairs(&letters);
                letters.clear();
            }
            previous = Some(c);
        }
        self.add_pairs(&letters);
    }

    fn add_pairs(&mut self, letters: &[u8]) {
        if letters.len() < SHORTEST_WORD || !self.runs.insert(letters.to_vec()) {
            return;
        }
        for pair in letters.windows(2) {
            self.pairs += 1;
            self.unusual += usize::from(!pairs::is_usual(pair[0], pair[1]));
        }
    }

    fn reading(&self) -> Reading {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        if self.characters < FEWEST {
            return Reading::Unclear;
        }
        let mixed = self.neighbours >= FEWEST / 2 && share(self.mixed, self.neighbours) > MIXED;
        let foreign = self.latin >= FEWEST && share(self.accented, self.latin) > ACCENTED;
        if mixed || foreign || share(self.marks, self.characters) > MARKS {
            return Reading::Garbage;
        }
        if self.pairs < FEWEST_PAIRS {
            let one_script = self.others >= FEWEST && share(self.mixed, self.neighbours) < MIXED / 2.0;
            return if one_script { Reading::Text } else { Reading::Unclear };
        }
        match share(self.unusual, self.pairs) {
            unusual if unusual > UNUSUAL => Reading::Garbage,
            unusual if unusual < USUAL => Reading::Text,
            _ => Reading::Unclear,
        }
    }
}

/// Scripts that share words, as one number. Chinese, Japanese and Korean mix theirs.
fn script(c: char) -> u8 {
    match c {
        // Letters of formulas and units stand among Latin ones.
        '\u{0}'..='\u{36f}'
        | '\u{1d00}'..='\u{1eff}'
        | '\u{2000}'..='\u{2bff}'
        | '\u{ff21}'..='\u{ff5a}'
        | '\u{1d400}'..='\u{1d7ff}' => 1,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => 2,
        '\u{400}'..='\u{52f}' => 3,
        '\u{530}'..='\u{58f}' => 4,
        '\u{590}'..='\u{5ff}' | '\u{fb1d}'..='\u{fb4f}' => 5,
        '\u{600}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' => 6,
        '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{20000}'..='\u{3ffff}' => 7,
        // Indic and South-East Asian scripts have blocks of 128.
        '\u{900}'..='\u{1cff}' => 8 + ((c as u32 - 0x900) / 0x80) as u8,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "The quick reader finds what the page says, and what it does not say, in a single pass over all of its letters; \
         nothing is believed before it has been looked at twice, because documents are written by people who hurry, \
         printed by machines that do not care, and kept for longer than anybody remembers why.";

    /// As a font shows it that numbers its glyphs as many do, if its numbers are taken for characters.
    fn shifted(text: &str) -> String {
        text.chars().map(|c| if c == ' ' { c } else { char::from(c as u8 - 29) }).collect()
    }

    #[test]
    fn sentences_of_many_languages_read_like_text() {
        let texts = [
            ENGLISH,
            "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich, während schwüle Luft über dem Wasser liegt \
             und niemand hinsieht, der etwas davon verstünde.",
            "Zażółć gęślą jaźń, powiedział stary nauczyciel, i wszyscy uczniowie natychmiast zaczęli przepisywać zdanie \
             do swoich zeszytów, chociaż nikt go nie rozumiał.",
            "Съешь же ещё этих мягких французских булок, да выпей чаю, сказал он и вышел из комнаты, не оглядываясь.",
            "ஒரு மொழியில் எழுதப்பட்ட உரை எப்போதும் அதன் எழுத்துகளில் இருக்கும் என்று கூறலாம் அல்லவா",
            "いろはにほへとちりぬるを我が世誰ぞ常ならむ有為の奥山今日越えて浅き夢見じ酔ひもせず京田辺市の新しい図書館",
        ];
        for text in texts {
            assert_eq!(of(text), Reading::Text, "{text}");
        }
    }

    #[test]
    fn numbers_of_glyphs_are_garbage() {
        assert_eq!(of(&shifted(&ENGLISH.replace([',', ';', '.'], ""))), Reading::Garbage);
        assert_eq!(of("̽ଋҨǥƹ ୡȥဎഁୡࣧҨဌʾဎಱ ೌ܆ȥ৞ਮΝ੧੅ͱʸ ͢ฏʤҨଋҨǥƺ ୡȥဎഔୡ࣭Ҩဌʾဎ಺ ೌ܆ȥয়ਮΝਫ਼੅ͱʺ͢ฏʦҨ"), Reading::Garbage);
        let russian_as_latin =
            "Ñúåøü æå åù¸ ýòèõ ìÿãêèõ ôðàíöóçñêèõ áóëîê äà âûïåé ÷àþ ñêàçàë îí è âûøåë èç êîìíàòû";
        assert_eq!(of(russian_as_latin), Reading::Garbage);
    }

    #[test]
    fn tables_codes_and_short_texts_are_not_called_garbage() {
        let texts = [
            "Page 1",
            "10.00 20.00 30.00 40.00 1,234.56 EUR 7 % 8.12 12/03/2024 DE89 3704 0044 0532 0130 00 BIC COBADEFFXXX",
            "for (int i = 0; i < n; ++i) { a[i] = (b[i] * c) >> 2; if (!a[i]) return -1; } /* done */ while (x--) { y[x]++; }",
            ".................... 3 .................... 17 -------------------- ==================== ____________________",
            "text35 text36 text37 text38 text39 text40 text41 text42 text43 text44 text45 text46 text47 text48 text49",
            "KWH MWST XQZT PLZ GMBH HRB UST NRWX VKZ BLZ KTO SWIFT IBAN QRTZ",
        ];
        for text in texts {
            assert_ne!(of(text), Reading::Garbage, "{text}");
        }
    }
}
