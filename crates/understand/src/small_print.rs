//! Lines of a letterhead, a foot or a signature: they stand where titles stand and are none.

use crate::words::{fold, is_number, words};

/// How a line of small print begins.
const BEGINNINGS: &[&str] = &[
    "page ",
    "seite ",
    "tel",
    "phone",
    "fax",
    "dear ",
    "sehr geehrte",
    "copyright",
    "©",
    "(c)",
    "hello",
    "hi ",
];

/// What stands before the number of a register, an account or a tax payer.
const REGISTERS: &[&str] = &[
    "kvk",
    "btw",
    "iban",
    "bic",
    "swift",
    "vat",
    "hrb",
    "hra",
    "ust",
    "uid",
    "steuernummer",
    "siret",
    "siren",
    "rcs",
    "tva",
    "nif",
    "cif",
    "nipc",
    "abn",
    "ein",
    "gst",
    "sst",
    "eori",
    "gln",
    "company",
    "registered",
    "handelsregister",
    "amtsgericht",
    "account",
    "konto",
    "kontonummer",
    "blz",
    "bankverbindung",
    "reg",
];

/// How letters close.
const CLOSINGS: &[&str] = &[
    "warmly",
    "warm regards",
    "best",
    "best regards",
    "best wishes",
    "kind regards",
    "regards",
    "many thanks",
    "thanks",
    "thank you",
    "cheers",
    "sincerely",
    "yours",
    "yours sincerely",
    "yours faithfully",
    "yours truly",
    "love",
    "with kind regards",
    "mit freundlichen grüßen",
    "freundliche grüße",
    "viele grüße",
    "beste grüße",
    "herzliche grüße",
    "liebe grüße",
    "hochachtungsvoll",
    "cordialement",
    "bien cordialement",
    "salutations distinguées",
    "saludos",
    "atentamente",
    "un saludo",
    "cordiali saluti",
    "distinti saluti",
    "met vriendelijke groet",
    "groeten",
    "atenciosamente",
    "com os melhores cumprimentos",
];

/// How letters greet whom they are for: with his name behind it.
const SALUTATIONS: &[&str] = &[
    "dear",
    "dearest",
    "liebe",
    "lieber",
    "sehr geehrte",
    "sehr geehrter",
    "cher",
    "chère",
    "querido",
    "querida",
    "estimado",
    "estimada",
    "caro",
    "cara",
    "beste",
    "lieve",
    "geachte",
    "prezado",
    "prezada",
];

/// Whether a line greets somebody and says no more: `Dear Bob,`.
pub(crate) fn is_salutation(line: &str) -> bool {
    const MAX_WORDS: usize = 6;
    let line = line.trim();
    let said = fold(line);
    let greets = SALUTATIONS.iter().any(|salutation| {
        said.strip_prefix(fold(salutation).as_str()).is_some_and(|rest| rest.starts_with(char::is_whitespace))
    });
    greets && line.ends_with([',', '!', ':', ';']) && words(line).take(MAX_WORDS + 1).count() <= MAX_WORDS
}

/// Whether somebody is greeted near the beginning of a text, and it closes as letters do near its end.
pub(crate) fn is_between_greetings(text: &str) -> bool {
    const FIRST: usize = 12;
    const LAST: usize = 8;
    let filled = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    filled().take(FIRST).any(is_salutation) && filled().rev().take(LAST).any(is_closing)
}

/// Whether a line belongs to a letterhead, a foot or a signature.
pub(crate) fn is_small_print(line: &str) -> bool {
    let lower = line.to_lowercase();
    BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        || lower.contains('©')
        || lower.contains("(c)")
        || lower.contains("all rights reserved")
        || is_of_a_register(line)
        || is_address(line)
        || is_closing(line)
}

/// `KvK Rotterdam 24330087`, `IBAN NL50 INGB 0683 2513 09`: the name of a register, and a long number.
fn is_of_a_register(line: &str) -> bool {
    let mut cut = words(line).take(12);
    let Some(first) = cut.next() else { return false };
    let named = REGISTERS.contains(&fold(first.text).as_str());
    let digits = line.chars().filter(char::is_ascii_digit).count();
    named && digits >= 5
}

/// `3012 CN Rotterdam`, `DE 80333 München`: a country at most, a code, and the name of a place.
fn is_address(line: &str) -> bool {
    let cut: Vec<_> = words(line).take(7).collect();
    let country = |word: &str| word.len() <= 3 && word.chars().all(|c| c.is_ascii_uppercase());
    let rest = match cut.as_slice() {
        [first, rest @ ..] if country(first.text) => rest,
        all => all,
    };
    let [code, place @ ..] = rest else { return false };
    let is_code = is_number(code.text) && matches!(code.text.len(), 4..=6) && !is_year(code.text, line);
    is_code && (1..=4).contains(&place.len()) && place.iter().all(|word| !is_number(word.text))
}

/// `2024 Budget` begins with a year; after a country nothing does.
fn is_year(number: &str, line: &str) -> bool {
    line.starts_with(number) && (number.starts_with("19") || number.starts_with("20")) && number.len() == 4
}

/// `Warmly, Imogen`: the end of a letter, with the name behind it or not.
fn is_closing(line: &str) -> bool {
    let (before, after) = line.split_once([',', '!']).unwrap_or((line, ""));
    let closes = || {
        let said = fold(before.trim());
        CLOSINGS.iter().any(|closing| fold(closing) == said)
    };
    before.len() <= 40 && words(after).take(5).count() <= 4 && closes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letterheads_and_signatures_are_small_print() {
        for line in [
            "KvK Rotterdam 24330087",
            "BTW NL810433941B01",
            "IBAN NL50INGB0683251309",
            "VAT Reg. No. GB 123 4567 89",
            "DE 80333 München",
            "3012 CN Rotterdam",
            "75002 Paris",
            "Warmly, Imogen",
            "Warmly,",
            "Kind regards, Ann Smith",
            "Mit freundlichen Grüßen",
            "Seite 1 von 2",
            "Annual report (c) 2024",
        ] {
            assert!(is_small_print(line), "{line}");
        }
    }

    #[test]
    fn letter_stands_between_greetings() {
        for text in [
            "Dear Bob,\n\nthe kettle works.\n\nRegards, Alice\n",
            "Liebe Anna!\nDanke.\nViele Grüße\nTom",
            "Chère Léa,\n\nmerci.\n\nCordialement\nPaul",
        ] {
            assert!(is_between_greetings(text), "{text}");
        }
        for text in [
            "",
            "Dear Bob,\n\nthe kettle works.",
            "The kettle works.\n\nRegards, Alice",
            "Dear is the price of tea in the north,\nand cheap that of ale.\nRegards",
            "Cara mia ben credimi\nCordialement",
        ] {
            assert!(!is_between_greetings(text), "{text}");
        }
    }

    #[test]
    fn titles_are_not_small_print() {
        for line in [
            "2024 Budget",
            "2024 Annual Report",
            "Best practices, and how to find them in a large company",
            "Company history",
            "Regards from the edge of the world",
            "Invoice 24330087",
            "VAT in the European Union",
            "Thanks to everybody",
            "Handelsrechnung (380) Nr. 4711 vom 05.03.2018",
        ] {
            assert!(!is_small_print(line), "{line}");
        }
    }
}
