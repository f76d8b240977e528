//! Amounts in cents, and how countries write them.

use crate::cast::Country;

/// With a point and two digits, as truth has it.
pub(crate) fn decimal(cents: i64) -> String {
    format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
}

/// As the country writes it, without a currency.
pub(crate) fn plain(cents: i64, country: Country) -> String {
    let (group, point) = match country {
        Country::Gb | Country::Us => (",", "."),
        Country::De | Country::At => (".", ","),
        Country::Fr => (" ", ","),
        Country::Ch => ("'", "."),
    };
    let whole = (cents.abs() / 100).to_string();
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push_str(group);
        }
        grouped.push(digit);
    }
    format!("{}{grouped}{point}{:02}", if cents < 0 { "-" } else { "" }, cents.abs() % 100)
}

/// As the country writes it, with its currency.
pub(crate) fn shown(cents: i64, country: Country) -> String {
    let amount = plain(cents, country);
    match country {
        Country::Gb => format!("£{amount}"),
        Country::Us => format!("${amount}"),
        Country::Ch => format!("CHF {amount}"),
        Country::De | Country::Fr | Country::At => format!("{amount} €"),
    }
}

/// Hundredths, with as many digits as are needed: `3`, `7.5`, `7.25`.
pub(crate) fn short(hundredths: i64) -> String {
    decimal(hundredths).trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The same with the country's point.
pub(crate) fn short_shown(hundredths: i64, country: Country) -> String {
    let text = short(hundredths);
    match country {
        Country::Gb | Country::Us | Country::Ch => text,
        Country::De | Country::Fr | Country::At => text.replace('.', ","),
    }
}

/// A part of an amount in hundredths of a per cent, rounded half up.
pub(crate) fn part(cents: i64, rate: i64) -> i64 {
    (cents * rate + 5000).div_euclid(10_000)
}

/// The tax that an amount holds already.
pub(crate) fn held(gross: i64, rate: i64) -> i64 {
    let whole = 10_000 + rate;
    let net = (gross * 10_000 + whole / 2).div_euclid(whole);
    gross - net
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_in_their_country() {
        for (country, written) in [
            (Country::Gb, "£1,234,567.05"),
            (Country::Us, "$1,234,567.05"),
            (Country::De, "1.234.567,05 €"),
            (Country::Fr, "1 234 567,05 €"),
            (Country::Ch, "CHF 1'234'567.05"),
        ] {
            assert_eq!(shown(123_456_705, country), written);
        }
        assert_eq!(plain(-105, Country::De), "-1,05");
        assert_eq!(decimal(-105), "-1.05");
        assert_eq!((short(300), short(750), short(725)), ("3".into(), "7.5".into(), "7.25".into()));
    }

    #[test]
    fn tax_is_rounded_half_up_and_can_be_taken_out_again() {
        assert_eq!(part(1050, 1900), 200);
        assert_eq!(held(11_900, 1900), 1900);
        assert_eq!(held(1000, 0), 0);
    }
}
