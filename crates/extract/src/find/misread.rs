//! What recognition makes of letters and signs, where the place of a word says what it must have been.
//!
//! Words that the file itself holds are never touched.

use crate::labels::{self, at_most_one_apart, lettered};
use crate::layout::{Sheet, Span, Token, folded};

/// Forms of companies that have two words.
const FORMS: &[(&str, &str)] =
    &[("sdn", "bhd"), ("pte", "ltd"), ("pvt", "ltd"), ("co", "kg"), ("pty", "ltd")];

/// A line of an address: quotes are dust, `29O` is a number, and a full stop inside is a comma.
pub(super) fn in_address(sheet: &Sheet, line: &Span, is_last: bool) -> String {
    let Some(tokens) = sheet.rows.get(line.row).and_then(|row| row.tokens.get(line.tokens.clone())) else {
        return String::new();
    };
    let words = tokens.iter().enumerate().filter(|(_, token)| !is_dust(token)).map(|(at, token)| {
        if token.confidence >= 1.0 {
            return token.text.clone();
        }
        let mut word = number(token.text.trim_start_matches(['"', '\'', '“', '‘', '*', '.', ',', '`']));
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let inside = at + 1 < tokens.len() || !is_last;
        if inside && letters > 3 && word.ends_with('.') && letters + 1 == word.chars().count() {
            word.pop();
            word.push(',');
        }
        word
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The name of a company: without dust, and with letters where digits stand for its form.
pub(super) fn in_name(sheet: &Sheet, line: &Span) -> String {
    let Some(tokens) = sheet.rows.get(line.row).and_then(|row| row.tokens.get(line.tokens.clone())) else {
        return String::new();
    };
    let last = tokens.len().saturating_sub(1);
    let words = tokens.iter().enumerate().filter(|(_, token)| !is_dust(token)).map(|(at, token)| {
        let digits = token.fold.bytes().any(|b| b.is_ascii_digit());
        let form = labels::of("company_form").has(&token.fold.chars().map(lettered).collect::<String>());
        if at == last && at > 0 && digits && form && token.text.contains('/') {
            return token.text.to_lowercase().chars().map(lettered).collect::<String>().to_uppercase();
        }
        in_pair(tokens, at).unwrap_or_else(|| token.text.clone())
    });
    let name = words.collect::<Vec<_>>().join(" ");
    name.trim_matches(|c: char| ",;:|‘'\"".contains(c) || c.is_whitespace()).to_owned()
}

/// A word of a form of two words, if its neighbour is the other one and it was read with a wrong letter: `SON BHD`.
fn in_pair(tokens: &[Token], at: usize) -> Option<String> {
    let token = tokens.get(at).filter(|token| token.confidence < 1.0)?;
    let fold = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map(|token| token.fold.as_str());
    let (before, after) = (fold(at.checked_sub(1)), fold(at.checked_add(1)));
    let near = |word: &str| token.fold != word && at_most_one_apart(&token.fold, word);
    let meant = FORMS.iter().find_map(|&(first, second)| {
        let is_first = after == Some(second) && near(first);
        let is_second = before == Some(first) && near(second);
        if is_first { Some(first) } else { is_second.then_some(second) }
    })?;
    let capitals = token.text.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase);
    Some(if capitals { meant.to_uppercase() } else { meant[..1].to_uppercase() + &meant[1..] })
}

/// What was bought: without dust at its beginning, and `1 1` at its end is a litre.
pub(super) fn in_item(sheet: &Sheet, line: &Span) -> String {
    let Some(tokens) = sheet.rows.get(line.row).and_then(|row| row.tokens.get(line.tokens.clone())) else {
        return String::new();
    };
    let from = tokens.iter().position(|token| !token.fold.is_empty()).unwrap_or(0);
    let mut words: Vec<&str> = tokens[from..].iter().map(|token| token.text.as_str()).collect();
    let number = |token: &Token| token.fold.bytes().all(|b| b.is_ascii_digit()) && !token.fold.is_empty();
    if let [.., before, last] = &tokens[from..]
        && last.text == "1"
        && last.confidence < 1.0
        && number(before)
    {
        words.pop();
        words.push("l");
    }
    words.join(" ")
}

/// A sign by itself that was hardly read.
fn is_dust(token: &Token) -> bool {
    token.fold.is_empty() && token.confidence < 0.5 && !matches!(token.text.as_str(), "&" | "-" | "/")
}

/// `29O,` is `290,`: digits with a letter at their end that looks like one.
fn number(word: &str) -> String {
    let fold = folded(word);
    let digits = fold.bytes().take_while(u8::is_ascii_digit).count();
    let rest = fold.get(digits..).unwrap_or_default();
    if digits >= 2 && !rest.is_empty() && rest.bytes().all(|b| b == b'o') {
        return word.replace(['O', 'o'], "0");
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::page;

    fn both(confidence: Option<f32>, line: &str) -> (String, String) {
        let mut page = page(&[line]);
        for word in &mut page.words {
            word.confidence = confidence;
        }
        let sheet = Sheet::new(&[page]);
        let all = Span { row: 0, tokens: 0..sheet.rows[0].tokens.len() };
        (in_address(&sheet, &all, true), in_name(&sheet, &all))
    }

    #[test]
    fn misread_signs_are_mended_in_what_was_recognised_alone() {
        let line = "\"NO 29O, JALAN AIR PANAS. SETAPAK";
        assert_eq!(both(Some(0.9), line).0, "NO 290, JALAN AIR PANAS, SETAPAK");
        assert_eq!(both(None, line).0, line);
        assert_eq!(both(Some(0.4), "99 SPEED | MART 5/8").1, "99 SPEED MART S/B");
        assert_eq!(both(Some(0.4), "99 SPEED MART 5/B").1, "99 SPEED MART S/B");
        assert_eq!(both(Some(0.9), "UNIHAKKA SON BHD").1, "UNIHAKKA SDN BHD");
        assert_eq!(both(Some(0.9), "Seafood Sdn Bho").1, "Seafood Sdn Bhd");
        assert_eq!(both(None, "UNIHAKKA SON BHD").1, "UNIHAKKA SON BHD");
        let mut milk = page(&["- Milk 1 1"]);
        let said = |page: &docmill_core::words::PageWords| {
            let sheet = Sheet::new(std::slice::from_ref(page));
            in_item(&sheet, &Span { row: 0, tokens: 0..4 })
        };
        assert_eq!(said(&milk), "Milk 1 1");
        milk.words[3].confidence = Some(0.8);
        assert_eq!(said(&milk), "Milk 1 l");
        assert_eq!(both(Some(0.9), "NO.1 ST. PAUL 8/27A").0, "NO.1 ST. PAUL 8/27A");
    }
}
