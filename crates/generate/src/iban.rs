//! Accounts at banks that do not exist, with check digits that are right.

use crate::cast::Country;
use crate::chance::Chance;

/// An account as a bill names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Account {
    /// Without blanks.
    pub(crate) iban: String,
    pub(crate) bic: String,
    pub(crate) bank: String,
}

/// Banks that do not exist: the name and the four letters of their BIC.
const BANKS: [(&str, &str); 8] = [
    ("Nordkontor Bank", "NOKB"),
    ("Banque Lavandière", "BQLV"),
    ("Harbourstone Bank", "HBSN"),
    ("Talbrücker Volkskasse", "TBVK"),
    ("Crédit du Marais", "CDMA"),
    ("Penhallow & Sons Bank", "PNHL"),
    ("Alpenrand Privatbank", "ALPB"),
    ("Meridian Mutual", "MRMU"),
];

/// An account in `country`; the same number gives the same account.
pub(crate) fn account(country: Country, number: u64) -> Account {
    let mut chance = Chance::of(0x1BA4, number.wrapping_mul(31) + country as u64);
    let (bank, letters) = *chance.pick(&BANKS);
    let place = match country {
        Country::De => "DEHH",
        Country::Fr => "FRPP",
        Country::Gb => "GB2L",
        Country::Us => "US33",
        Country::Ch => "CHZZ",
        Country::At => "ATWW",
    };
    // Bank codes begin with digits that no bank of the country has.
    let inner = match country {
        Country::De => format!("99{}{}", chance.digits(6), chance.digits(10)),
        Country::Fr => {
            with_rib_key(&format!("99{}{}{}", chance.digits(3), chance.digits(5), chance.digits(11)))
        }
        Country::Gb => format!("{letters}99{}{}", chance.digits(4), chance.digits(8)),
        Country::Ch => format!("99{}{}", chance.digits(3), chance.digits(12)),
        Country::At => format!("99{}{}", chance.digits(3), chance.digits(11)),
        Country::Us => String::new(),
    };
    let iban = if inner.is_empty() { String::new() } else { with_check_digits(country.code(), &inner) };
    Account { iban, bic: format!("{letters}{place}"), bank: bank.to_owned() }
}

/// In groups of four, as people write it.
pub(crate) fn grouped(iban: &str) -> String {
    let chars: Vec<char> = iban.chars().collect();
    chars.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

/// The French key of an account: the remainder by 97 of bank, branch and account is made zero.
fn with_rib_key(inner: &str) -> String {
    let key = 97 - remainder(&format!("{inner}00"));
    format!("{inner}{key:02}")
}

fn with_check_digits(country: &str, inner: &str) -> String {
    let check = 98 - remainder(&format!("{inner}{country}00"));
    format!("{country}{check:02}{inner}")
}

/// Of a number of any length by 97; letters count as 10 to 35.
fn remainder(text: &str) -> u64 {
    text.chars().filter_map(|c| c.to_digit(36)).fold(0, |rest, digit| {
        let by = if digit > 9 { 100 } else { 10 };
        (rest * by + u64::from(digit)) % 97
    })
}

/// Whether the check digits are right.
#[cfg(test)]
pub(crate) fn is_valid(iban: &str) -> bool {
    iban.len() > 4 && iban.is_char_boundary(4) && remainder(&format!("{}{}", &iban[4..], &iban[..4])) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_the_standard() {
        // The examples of the register of the standard.
        for good in ["DE89370400440532013000", "FR1420041010050500013M02606", "GB29NWBK60161331926819"] {
            assert!(is_valid(good), "{good}");
        }
        assert!(!is_valid("DE88370400440532013000"));
    }

    #[test]
    fn accounts_have_the_length_of_their_country() {
        for (country, length) in
            [(Country::De, 22), (Country::Fr, 27), (Country::Gb, 22), (Country::Ch, 21), (Country::At, 20)]
        {
            for number in 0..50 {
                let account = account(country, number);
                assert_eq!(account.iban.len(), length, "{account:?}");
                assert!(is_valid(&account.iban), "{account:?}");
            }
        }
        assert_eq!(account(Country::Us, 1).iban, "");
    }

    #[test]
    fn grouped_puts_a_blank_after_every_four() {
        assert_eq!(grouped("DE89370400440532013000"), "DE89 3704 0044 0532 0130 00");
    }
}
