//! Values as data writes them, in the form of a record: dates as ISO 8601, amounts with a point.

use jiff::civil::Date;

/// Digits of a number; longer ones are none that anybody means.
const MAX_DIGITS: usize = 30;

/// The day that a text says: `20180305` (format 102), `201803051230` (203), `2018-03-05`, `2018-03-05T00:00:00+01:00`.
pub(super) fn date(text: &str) -> Option<String> {
    let text = text.trim();
    let digits: String = text.chars().take_while(char::is_ascii_digit).take(MAX_DIGITS).collect();
    let (year, month, day) = if digits.len() >= 8 {
        (digits.get(..4)?, digits.get(4..6)?, digits.get(6..8)?)
    } else {
        let day = text.get(..10)?;
        let mut parts = day.splitn(3, '-');
        (parts.next()?, parts.next()?, parts.next()?)
    };
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?;
    (date.year() >= 1800).then(|| date.to_string())
}

/// The number that a text says, with the places it is written with: `473.00`, `-7.67`, and `12,50` as `12.50`.
pub(super) fn number(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).take(MAX_DIGITS + 4).collect();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(&text)),
    };
    // A comma is against the rules of both forms, but there is one thing only that it can mean if it stands alone.
    let rest = if rest.contains('.') { rest.to_owned() } else { rest.replacen(',', ".", 1) };
    let (whole, places) = rest.split_once('.').unwrap_or((&rest, ""));
    let digits = whole.len() + places.len();
    if digits == 0 || digits > MAX_DIGITS || !whole.chars().chain(places.chars()).all(|c| c.is_ascii_digit())
    {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    Some(if places.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{places}") })
}

/// The same without noughts at its end: `20` for `20.0000`.
pub(super) fn short_number(text: &str) -> Option<String> {
    let number = number(text)?;
    if !number.contains('.') {
        return Some(number);
    }
    Some(number.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// A price for one of what costs `price` for each `basis`; nothing if it cannot be told in eight places.
pub(super) fn price_of_one(price: &str, basis: &str) -> Option<String> {
    const PLACES: u32 = 8;
    let basis = short_number(basis)?;
    if basis == "1" {
        return number(price);
    }
    let (price, price_places) = units(&number(price)?)?;
    let (basis, basis_places) = units(&basis)?;
    let dividend = price.checked_mul(10_i128.checked_pow(PLACES + basis_places)?)?;
    let divisor = basis.checked_mul(10_i128.checked_pow(price_places)?)?;
    if divisor <= 0 || dividend % divisor != 0 {
        return None;
    }
    let quotient = dividend / divisor;
    let sign = if quotient < 0 { "-" } else { "" };
    let one = 10_u128.pow(PLACES);
    let (whole, rest) = (quotient.unsigned_abs() / one, quotient.unsigned_abs() % one);
    let places = format!("{rest:08}");
    let places = places.trim_end_matches('0');
    Some(format!("{sign}{whole}.{places:0<2}"))
}

fn units(number: &str) -> Option<(i128, u32)> {
    let places = number.split_once('.').map_or(0, |(_, places)| places.len());
    Some((number.replace('.', "").parse().ok()?, u32::try_from(places).ok()?))
}

/// An account number if it has the form of an IBAN, without spaces.
pub(super) fn iban(text: &str) -> Option<String> {
    let text: String =
        text.chars().filter(|c| !c.is_whitespace()).take(40).collect::<String>().to_ascii_uppercase();
    let bytes = text.as_bytes();
    let fits = (15..=34).contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_alphabetic)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes.iter().all(u8::is_ascii_alphanumeric);
    fits.then_some(text)
}

/// A text on one line.
pub(super) fn line(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn date_reads_both_forms() {
        assert_eq!(date("20180305").as_deref(), Some("2018-03-05"));
        assert_eq!(date("201803051230").as_deref(), Some("2018-03-05"));
        assert_eq!(date(" 2018-03-05+01:00 ").as_deref(), Some("2018-03-05"));
        assert_eq!(date("2018-03-05T10:00:00").as_deref(), Some("2018-03-05"));
        assert_eq!(date("20181305"), None);
        assert_eq!(date("05.03.2018"), None);
    }

    #[test]
    fn number_keeps_its_places() {
        assert_eq!(number(" 473.00\n").as_deref(), Some("473.00"));
        assert_eq!(number("-.50").as_deref(), Some("-0.50"));
        assert_eq!(number("+007,5").as_deref(), Some("7.5"));
        assert_eq!(short_number("20.0000").as_deref(), Some("20"));
        assert_eq!(short_number("1200").as_deref(), Some("1200"));
        for none in ["", "-", ".", "1e3", "1.234,50", "1.2.3", "NaN"] {
            assert_eq!(number(none), None, "{none}");
        }
    }

    #[test]
    fn price_of_one_divides_by_what_it_is_for() {
        assert_eq!(price_of_one("9.9000", "1.0000").as_deref(), Some("9.9000"));
        assert_eq!(price_of_one("12.50", "100").as_deref(), Some("0.125"));
        assert_eq!(price_of_one("-10", "2.5").as_deref(), Some("-4.00"));
        assert_eq!(price_of_one("1.00", "3"), None);
        assert_eq!(price_of_one("1.00", "0"), None);
    }

    #[test]
    fn iban_has_its_form() {
        assert_eq!(iban("de08 7009 0100 1234 5678 90").as_deref(), Some("DE08700901001234567890"));
        assert_eq!(iban("1234567890123456"), None);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_value_or_none(text in any::<String>(), other in any::<String>()) {
            date(&text);
            number(&text);
            short_number(&text);
            price_of_one(&text, &other);
            iban(&text);
        }

        #[test]
        fn any_number_gives_a_price_or_none(price in "[-0-9.,]{0,40}", basis in "[-0-9.,]{0,40}") {
            price_of_one(&price, &basis);
        }
    }
}
