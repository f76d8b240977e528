//! Whether decoded text looks like words: the second opinion on what statistics say.
//!
//! The detector knows the sets of the web alone. Text in a set of DOS or of the Macintosh looks to it like one of those,
//! with signs in the middle of words (`fr‚res`, `Mšller`), or like no text at all. Each character beyond ASCII is held
//! against its neighbours here; another set is taken only where it is much better than the guess.

use encoding_rs::{Encoding, ISO_8859_2, ISO_8859_15, MACINTOSH, WINDOWS_1250, WINDOWS_1252};

use super::Charset;
use super::tables::{CP437, CP850, CP852, Table};

/// More text does not make the judgement better.
const SAMPLE_BYTES: usize = 64 << 10;

/// A set is taken instead of the guess if its characters look so much more like parts of words, in the mean. The figures
/// here and below were chosen with translations of one program into thirty languages, in up to five sets each, whole
/// and in pieces of 70 and 300 characters.
const BETTER: f64 = 0.8;

/// The less there is to look at, the more it must be: this, shared among the characters.
const BETTER_IN_ALL: f64 = 1.5;

/// Nothing worse than this is taken.
const GOOD: f64 = 0.6;

/// Of sets that nearly agree the first one is taken.
const NEARLY: f64 = 0.1;

/// The letters of languages: those that are frequent, and the others.
type Letters = (&'static str, &'static str);

const WESTERN: Letters = ("äöüßéèàçêæøåñóíáãðþ", "úùâîôûëïœìòõýÄÖÜÉÈÀÇÊÂÎÔŒÆØÅÑÓÍÁÚÃÕÞÐÝ");
const CENTRAL: Letters =
    ("ąćęłńóśźżáčéěířšúůýžöüőäăşţșț", "ďňťľôßűâîđëĄĆĘŁŃÓŚŹŻÁČĎÉĚÍŇŘŠŤÚŮÝŽĽÔÄÖÜŐŰȘȚŞŢĂÂÎĐ");

/// The guess, or a set that the detector does not know and that makes better words of `bytes`.
pub(super) fn second_opinion(guess: &'static Encoding, bytes: &[u8]) -> Charset {
    let guessed = Charset::Web(guess);
    let from = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0).saturating_sub(1);
    let sample = &bytes[from..bytes.len().min(from + SAMPLE_BYTES)];
    let Some(first) = score(guessed, sample) else { return guessed };
    if guess == WINDOWS_1252 && has_letters_of_latin_9(sample) {
        return Charset::Web(ISO_8859_15);
    }
    if !has_words(bytes) {
        return guessed;
    }
    let count = sample.iter().filter(|byte| !byte.is_ascii()).count().max(1);
    let mut best = (guessed, (first + BETTER + BETTER_IN_ALL / count as f64).max(GOOD));
    for candidate in
        [Charset::Table(&CP850), Charset::Table(&CP437), Charset::Table(&CP852), Charset::Web(MACINTOSH)]
    {
        if let Some(found) = score(candidate, sample)
            && found > best.1
        {
            best = (candidate, found + NEARLY);
        }
    }
    best.0
}

/// Whether there are blanks and plain letters as in a text: every byte is a character in these sets, and sound or pixels
/// would be words of one language or another.
fn has_words(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let count = |is: fn(&u8) -> bool| sample.iter().filter(|byte| is(byte)).count();
    // Frames and shades may fill a screen.
    let foreign = count(|byte| matches!(byte, 0x80..=0xaf | 0xe0..));
    let blanks = count(u8::is_ascii_whitespace);
    foreign * 4 <= sample.len() && (blanks * 40 >= sample.len() || sample.len() < 100)
}

/// The set that makes the best words of `bytes`; the first, if another is hardly better.
pub(crate) fn likeliest(tables: &[&'static Table], bytes: &[u8]) -> Charset {
    let mut best: Option<(&'static Table, f64)> = None;
    for table in tables.iter().copied() {
        let found = score(Charset::Table(table), bytes).unwrap_or(0.0);
        if best.is_none_or(|(_, other)| found > other + NEARLY) {
            best = Some((table, found));
        }
    }
    Charset::Table(best.map_or(&CP437, |(table, _)| table))
}

/// ISO 8859-15 is windows-1252 but for a few signs that it replaced by letters and the euro; and for the quotes and
/// dashes, which it does not have.
fn has_letters_of_latin_9(bytes: &[u8]) -> bool {
    const REPLACED: &[u8] = &[0xa4, 0xa6, 0xa8, 0xb4, 0xb8, 0xbc, 0xbd, 0xbe];
    if bytes.iter().any(|byte| matches!(byte, 0x80..=0x9f))
        || !bytes.iter().any(|byte| REPLACED.contains(byte))
    {
        return false;
    }
    // Elsewhere the sets are the same.
    let alone = |charset: Charset| {
        let text: Vec<char> = charset.decode(bytes).text.chars().collect();
        let places = bytes.iter().enumerate().filter(|(_, byte)| REPLACED.contains(byte));
        mean(places.map(|(place, _)| weight(&text, place, Some(WESTERN))))
    };
    let (latin_1, latin_9) = (alone(Charset::Web(WINDOWS_1252)), alone(Charset::Web(ISO_8859_15)));
    latin_9 > Some(0.4) && latin_9 > latin_1.map(|score| score + 1.0)
}

/// How much the characters beyond ASCII look like parts of words, in the mean; `None` if there are none.
fn score(charset: Charset, bytes: &[u8]) -> Option<f64> {
    let text: Vec<char> = charset.decode(bytes).text.chars().collect();
    let common = match charset {
        Charset::Web(encoding) if [WINDOWS_1252, ISO_8859_15, MACINTOSH].contains(&encoding) => Some(WESTERN),
        Charset::Web(encoding) if [WINDOWS_1250, ISO_8859_2].contains(&encoding) => Some(CENTRAL),
        Charset::Table(table) if *table == CP852 => Some(CENTRAL),
        Charset::Table(_) => Some(WESTERN),
        _ => None,
    };
    mean((0..text.len()).filter(|&place| !text[place].is_ascii()).map(|place| weight(&text, place, common)))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

/// What one character says for its set, by its neighbours. `common` are the letters of the languages that the set is for,
/// if they are known.
fn weight(text: &[char], place: usize, common: Option<Letters>) -> f64 {
    let c = text[place];
    let before = place.checked_sub(1).and_then(|before| text.get(before)).copied().unwrap_or(' ');
    let after = text.get(place + 1).copied().unwrap_or(' ');
    let beside = usize::from(is_letter(before)) + usize::from(is_letter(after));
    match c {
        '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}' => -3.0,
        '\u{a0}' | '\u{ad}' => 0.0,
        '’' if beside == 2 => 1.0,
        '‘' | '“' | '„' | '«' | '‹' | '¿' | '¡' if is_letter(after) && !is_letter(before) => 1.2,
        '’' | '”' | '»' | '›' | '“' if !is_letter(after) && !before.is_whitespace() => 1.2,
        '‘' | '’' | '‚' | '“' | '”' | '„' | '«' | '»' | '‹' | '›' | '–' | '—' | '…' | '•' | '·' | '¿'
        | '¡' | '€' | '£' | '§' | '°' | '²' | '³' | '½' | '¼' | '¾' | '©' | '®' | '™' | 'ª' | 'º' | '×'
        | '±' | 'µ' => {
            if beside == 2 {
                -2.0
            } else {
                0.6
            }
        }
        // Nobody writes these, but for frames.
        '¤' | '¦' => -1.0,
        // Lines and corners of frames stand beside each other.
        '\u{2500}'..='\u{259f}' => {
            let is_frame = |c: char| matches!(c, '\u{2500}'..='\u{259f}') || c.is_whitespace();
            if beside > 0 {
                -2.0
            } else if is_frame(before) && is_frame(after) {
                2.0
            } else {
                0.0
            }
        }
        _ if is_letter(c) => letter_weight(c, before, after, common),
        _ => [0.0, -1.0, -2.0][beside],
    }
}

fn letter_weight(c: char, before: char, after: char, common: Option<Letters>) -> f64 {
    let neighbours = [before, after];
    if neighbours.iter().any(|other| is_letter(*other) && script(*other) != script(c)) {
        // Han and kana stand beside Latin letters freely, as long as some of their own are near.
        let is_alone = !neighbours.iter().any(|other| is_letter(*other) && script(*other) == script(c));
        return if is_alone || script(c) != Script::Other { -2.0 } else { 1.0 };
    }
    let is_in_word = neighbours.iter().any(|other| is_letter(*other));
    if script(c) != Script::Latin {
        return if is_in_word { 2.0 } else { 0.0 };
    }
    if neighbours.iter().any(char::is_ascii_digit) {
        return -1.0;
    }
    // A line of a frame, in the wrong set.
    if neighbours == [c, c] {
        return -2.0;
    }
    let usual = match common {
        Some((frequent, _)) if frequent.contains(c) => 2.0,
        Some((_, others)) if others.contains(c) => 1.4,
        Some(_) => -0.5,
        None => 2.0,
    };
    match (c.is_uppercase(), is_in_word) {
        (true, _) if before.is_lowercase() => -2.0,
        (false, true) if before.is_uppercase() && after.is_uppercase() => -1.0,
        (_, true) => usual,
        (false, false) => usual.min(1.0),
        (true, false) => -0.5,
    }
}

/// Some signs that Unicode counts among the letters are none in a text.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'ª' | 'º' | 'ˆ' | 'ˇ' | 'ƒ' | 'µ' | 'ⁿ')
}

#[derive(PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Other,
}

fn script(c: char) -> Script {
    match c {
        'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{300}'..='\u{36f}' => {
            Script::Latin
        }
        '\u{370}'..='\u{3ff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        _ => Script::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `text` is taken for in a set, and that it comes out as it was.
    #[track_caller]
    fn assert_is_found(bytes: &[u8], text: &str, expected: &str) {
        let found = Charset::by_statistics(bytes);
        assert_eq!((found.decode(bytes).text.as_str(), found.to_string().as_str()), (text, expected));
    }

    fn encode(table: &'static Table, text: &str) -> Vec<u8> {
        text.chars()
            .map(|c| {
                (0..=255_u8).find(|&byte| Charset::Table(table).decode(&[byte]).text.starts_with(c)).unwrap()
            })
            .collect()
    }

    #[test]
    fn words_of_consoles_and_old_machines_are_told_from_those_of_the_web() {
        let german =
            "Über die Größe der Änderungen müssen wir schließlich später sprechen, schön wäre es für alle.";
        let polish =
            "Uprzejmie informujemy, że faktura za dostawę nie została jeszcze zapłacona, prosimy o wpłatę.";
        let portuguese =
            "A direção informa que não há alterações na situação da organização, até à próxima reunião.";
        assert_is_found(&encode(&CP850, german), german, "cp850");
        assert_is_found(&encode(&CP850, portuguese), portuguese, "cp850");
        assert_is_found(&encode(&CP852, polish), polish, "cp852");
        for (label, expected) in [("windows-1252", "windows-1252"), ("macintosh", "macintosh")] {
            let bytes = Encoding::for_label(label.as_bytes()).unwrap().encode(german).0;
            assert_is_found(&bytes, german, expected);
        }
        let bytes = WINDOWS_1250.encode(polish).0;
        assert_is_found(&bytes, polish, "windows-1250");
        let quoted = "„So?“ – ‘no’ – «oui» – don’t… 50 % • 3½ £ © § 20°";
        assert_is_found(&WINDOWS_1252.encode(quoted).0, quoted, "windows-1252");
    }

    #[test]
    fn sound_is_no_words() {
        let wave: Vec<u8> = (0..4000).map(|i| (128.0 + 12.0 * (f64::from(i) / 9.0).sin()) as u8).collect();
        assert_eq!(Charset::of_head(&wave), None);
    }

    #[test]
    fn frames_of_old_programs_are_frames() {
        let framed = "╔════════╗\r\n║ Menü   ║\r\n║ Löschen║\r\n╚════════╝\r\n";
        assert_is_found(&encode(&CP437, framed), framed, "cp850");
    }

    #[test]
    fn latin_9_is_told_by_what_it_replaced() {
        let french = "Le cœur du marché coûte 30 € et la sœur de l'élève a été très gênée à la société où l'été s'achève déjà";
        assert_is_found(&ISO_8859_15.encode(french).0, french, "iso-8859-15");
        let english = "Add 3½ spoons of crème fraîche and ¼ of the butter";
        assert_is_found(&WINDOWS_1252.encode(english).0, english, "windows-1252");
    }
}
