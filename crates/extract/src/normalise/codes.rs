//! Codes with a form of their own: accounts (IBAN, BIC), taxpayers, currencies, countries.

/// Symbols and codes of currencies as they stand beside amounts. Dollars of other countries write their letters first.
const CURRENCIES: &[(&str, &str)] = &[
    ("€", "EUR"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("$", "USD"),
    ("us$", "USD"),
    ("usd", "USD"),
    ("£", "GBP"),
    ("gbp", "GBP"),
    ("chf", "CHF"),
    ("sfr", "CHF"),
    ("fr.", "CHF"),
    ("rm", "MYR"),
    ("myr", "MYR"),
    ("₹", "INR"),
    ("rs", "INR"),
    ("rs.", "INR"),
    ("inr", "INR"),
    ("¥", "JPY"),
    ("jpy", "JPY"),
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
    ("kr", "SEK"),
    ("pln", "PLN"),
    ("zł", "PLN"),
    ("czk", "CZK"),
    ("kč", "CZK"),
    ("huf", "HUF"),
    ("cad", "CAD"),
    ("aud", "AUD"),
    ("sgd", "SGD"),
    ("s$", "SGD"),
    ("cny", "CNY"),
    ("brl", "BRL"),
    ("r$", "BRL"),
];

/// ISO code of a currency.
pub fn currency(text: &str) -> Option<&'static str> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "():,".contains(c));
    if text.is_empty() || text.len() > 5 {
        return None;
    }
    let lower = text.to_lowercase();
    CURRENCIES.iter().find(|(name, _)| *name == lower).map(|(_, code)| *code)
}

/// An account number without blanks, if its check digits hold.
pub fn iban(text: &str) -> Option<String> {
    let iban = compact(text);
    let shape = iban_shape(&iban);
    let mut rest: u32 = 0;
    for c in iban.get(4..)?.chars().chain(iban.get(..4)?.chars()) {
        let digit = c.to_digit(36)?;
        rest = (if digit > 9 { rest * 100 } else { rest * 10 } + digit) % 97;
    }
    (shape && rest == 1).then_some(iban)
}

/// Whether a text without blanks looks like an account number, whatever its check digits say.
pub fn iban_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    (15..=34).contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes[4..].iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && bytes[4..].iter().filter(|b| b.is_ascii_digit()).count() >= 6
}

/// A bank's code.
pub fn bic(text: &str) -> Option<String> {
    let bic = compact(text);
    let bytes = bic.as_bytes();
    let shape = matches!(bytes.len(), 8 | 11)
        && bytes[..6].iter().all(u8::is_ascii_uppercase)
        && bytes[6..].iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    shape.then_some(bic)
}

/// A number of a taxpayer: of the European Union with its country, of the United States, or digits with signs.
pub fn tax_id(text: &str) -> Option<String> {
    let joined = compact(text);
    let digits = joined.bytes().filter(u8::is_ascii_digit).count();
    let european = (8..=15).contains(&joined.len())
        && joined.is_char_boundary(2)
        && joined[..2].bytes().all(|b| b.is_ascii_uppercase())
        && digits >= 7
        && joined.bytes().all(|b| b.is_ascii_alphanumeric());
    if european {
        return Some(joined);
    }
    let plain = text.trim();
    // Switzerland writes its own with signs: `CHE-123.456.789`, sometimes with the name of the tax behind it.
    if let Some(number) = plain.get(..15).filter(|number| number.starts_with("CHE-")) {
        let rest = number[4..].bytes().enumerate();
        let fits = rest.into_iter().all(|(at, b)| if at % 4 == 3 { b == b'.' } else { b.is_ascii_digit() });
        let tail = plain[15..].trim();
        return (fits && matches!(tail, "" | "MWST" | "TVA" | "IVA")).then(|| number.to_owned());
    }
    let national =
        plain.bytes().all(|b| b.is_ascii_digit() || b"-/ .".contains(&b)) && (8..=14).contains(&digits);
    national.then(|| plain.to_owned())
}

/// ISO code of a country by its code or its name in some languages.
pub fn country(text: &str) -> Option<&'static str> {
    const COUNTRIES: &[(&str, &str)] = &[
        ("DE", "germany deutschland allemagne alemania germania duitsland"),
        ("AT", "austria osterreich autriche oostenrijk"),
        ("CH", "switzerland schweiz suisse svizzera suiza zwitserland"),
        ("FR", "france frankreich francia frankrijk"),
        ("IT", "italy italien italie italia"),
        ("ES", "spain spanien espagne espana spagna spanje"),
        ("NL", "netherlands niederlande paysbas nederland"),
        ("BE", "belgium belgien belgique belgie"),
        ("GB", "unitedkingdom uk greatbritain england"),
        ("US", "unitedstates usa us unitedstatesofamerica"),
        ("MY", "malaysia"),
        ("IN", "india indien inde"),
        ("PL", "poland polen polska"),
    ];
    let folded: String = crate::layout::folded(text);
    let found = COUNTRIES
        .iter()
        .find(|(code, names)| code.to_lowercase() == folded || names.split(' ').any(|name| name == folded));
    found.map(|(code, _)| *code)
}

fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iban_is_accepted_only_with_its_check_digits() {
        assert_eq!(iban("DE89 3704 0044 0532 0130 00").as_deref(), Some("DE89370400440532013000"));
        assert_eq!(iban("DE88 3704 0044 0532 0130 00"), None);
        assert_eq!(iban("ß1"), None);
        assert!(iban_shape("DE88370400440532013000"));
    }

    #[test]
    fn codes_lose_their_blanks() {
        assert_eq!(tax_id("DE 232 446 240").as_deref(), Some("DE232446240"));
        assert_eq!(tax_id("927-99-7937").as_deref(), Some("927-99-7937"));
        assert_eq!(tax_id("NL810433941B01").as_deref(), Some("NL810433941B01"));
        assert_eq!(tax_id("CHE-123.456.788 MWST").as_deref(), Some("CHE-123.456.788"));
        assert_eq!(tax_id("CHE-12.3456.788"), None);
        assert_eq!(bic("COBADEFFXXX").as_deref(), Some("COBADEFFXXX"));
        assert_eq!(currency("€"), Some("EUR"));
        assert_eq!(country("Österreich"), Some("AT"));
    }
}
