//! Account numbers: words that together have the form of an IBAN, whose check digits tell what was read wrongly.

use super::{Found, Reading};
use crate::layout::Span;
use crate::normalise::codes;

/// Countries whose numbers are letters of a bank in four places and digits in all others.
const LETTERED: &[&str] = &["GB", "IE", "NL", "BG", "GI", "LV", "RO"];

/// Countries whose numbers have digits alone behind their letters.
const NUMBERED: &[&str] = &["DE", "AT", "BE", "CH", "DK", "ES", "FI", "NO", "PL", "PT", "SE", "CZ", "HU"];

/// An account number: words that together have its form.
pub(super) fn find(reading: &Reading<'_>) -> Option<Found> {
    let mut shaped = None;
    for (index, row) in reading.sheet.rows.iter().enumerate() {
        for from in 0..row.tokens.len() {
            let text = row.tokens[from].text.trim_start_matches("IBAN").trim_start_matches(':');
            let country = text.len() >= 2 && text.bytes().take(2).all(|b| b.is_ascii_uppercase());
            if !country {
                continue;
            }
            let labelled = from > 0
                && row.tokens[from.saturating_sub(2)..from]
                    .iter()
                    .any(|token| token.fold.starts_with("iban"))
                || row.tokens[from].fold.starts_with("iban");
            let mut joined = String::new();
            for at in from..row.tokens.len().min(from + 9) {
                joined.push_str(if at == from { text } else { &row.tokens[at].text });
                let cleaned = joined.trim_end_matches([',', '.', ';', '·']);
                let span = Span { row: index, tokens: from..at + 1 };
                if let Some(iban) = codes::iban(cleaned) {
                    return Some(Found::text(iban, 0.97, "check digits", span));
                }
                let mended = mended(cleaned).filter(|_| reading.sheet.confidence(&span) < 1.0);
                if let Some(iban) = mended.as_deref().and_then(codes::iban) {
                    return Some(Found::text(iban, 0.9, "check digits", span));
                }
                let meant = mended.as_deref().unwrap_or(cleaned);
                if labelled && codes::iban_shape(meant) && shaped.is_none() && at == from {
                    // Its check digits do not hold: told, but doubted.
                    shaped = Some(Found::text(meant, 0.75, "label", span));
                }
            }
        }
    }
    shaped
}

/// The number that a scanner made this of: where the form asks for a digit, a letter that looks like one is that digit,
/// and the other way round.
fn mended(text: &str) -> Option<String> {
    let country = text.get(..2)?;
    let lettered = LETTERED.contains(&country);
    if !lettered && !NUMBERED.contains(&country) || !(15..=34).contains(&text.len()) {
        return None;
    }
    let mend = |(at, sign): (usize, char)| match (at, sign) {
        (0 | 1, _) => sign,
        (4..=7, '0') if lettered => 'O',
        (4..=7, '1') if lettered => 'I',
        (4..=7, '5') if lettered => 'S',
        (4..=7, '8') if lettered => 'B',
        (4..=7, '6') if lettered => 'G',
        (4..=7, '2') if lettered => 'Z',
        (4..=7, _) if lettered => sign,
        (_, 'O' | 'o' | 'Q' | 'D') => '0',
        (_, 'I' | 'l' | '|') => '1',
        (_, 'S') => '5',
        (_, 'B') => '8',
        (_, 'Z') => '2',
        (_, 'G') => '6',
        _ => sign,
    };
    let mended: String = text.chars().enumerate().map(mend).collect();
    (mended != text).then_some(mended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Sheet;
    use crate::layout::tests::page;

    fn read(confidence: Option<f32>, line: &str) -> Option<(String, f32)> {
        let mut page = page(&[line]);
        for word in &mut page.words {
            word.confidence = confidence;
        }
        let sheet = Sheet::new(&[page]);
        let found = find(&Reading::new(&sheet))?;
        Some((found.value.as_str()?.to_owned(), found.confidence))
    }

    #[test]
    fn letters_and_digits_that_look_alike_are_told_apart_by_their_places() {
        let right = Some(("GB82WEST12345698765432".to_owned(), 0.9));
        assert_eq!(read(Some(0.95), "IBAN: GB82WE5T12345698765432"), right);
        assert_eq!(read(Some(0.95), "IBAN: GBB2WESTI2345698765432"), right);
        assert_eq!(read(None, "IBAN: GB82WE5T12345698765432").map(|found| found.1), Some(0.75));
        let doubted = read(Some(0.95), "IBAN: GBO5ABCD34325216718258");
        assert_eq!(doubted, Some(("GB05ABCD34325216718258".to_owned(), 0.75)));
    }
}
