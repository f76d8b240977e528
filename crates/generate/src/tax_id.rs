//! Numbers by which companies pay their taxes, with check digits that are right where the country has some.

use crate::cast::Country;
use crate::chance::Chance;

/// One for a company in `country`; the same number gives the same.
pub(crate) fn make(country: Country, number: u64) -> String {
    let mut chance = Chance::of(0x7A81D, number.wrapping_mul(17) + country as u64);
    match country {
        Country::De => german(&chance.digits(8)),
        Country::Fr => french(&chance.digits(8)),
        Country::Gb => british(&chance.digits(7)),
        Country::Us => format!("{}-{}", chance.between(10, 95), chance.digits(7)),
        Country::Ch => swiss(&mut chance),
        Country::At => austrian(&chance.digits(7)),
    }
}

fn values(digits: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    digits.chars().filter_map(|c| c.to_digit(10))
}

/// ISO 7064, mod 11,10.
fn german(digits: &str) -> String {
    let product = values(digits).fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    format!("DE{digits}{}", (11 - product) % 10)
}

/// The company's number has a last digit after Luhn; the key before it is a remainder by 97.
fn french(digits: &str) -> String {
    let sum: u32 = values(digits)
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { digit })
        .sum();
    let siren = format!("{digits}{}", (10 - sum % 10) % 10);
    let number = values(&siren).fold(0_u64, |number, digit| number * 10 + u64::from(digit));
    format!("FR{:02}{siren}", (12 + 3 * (number % 97)) % 97)
}

fn british(digits: &str) -> String {
    let sum: u32 = values(digits).zip((2..=8).rev()).map(|(digit, weight)| digit * weight).sum();
    format!("GB{digits}{:02}", 97 - sum % 97)
}

fn austrian(digits: &str) -> String {
    let sum: u32 = values(digits)
        .enumerate()
        .map(|(at, digit)| if at % 2 == 1 { digit * 2 / 10 + digit * 2 % 10 } else { digit })
        .sum();
    format!("ATU{digits}{}", (96 - sum) % 10)
}

fn swiss(chance: &mut Chance) -> String {
    loop {
        let digits = chance.digits(8);
        let sum: u32 =
            values(&digits).zip([5, 4, 3, 2, 7, 6, 5, 4]).map(|(digit, weight)| digit * weight).sum();
        // Numbers whose check digit would be ten are not given out.
        let check = (11 - sum % 11) % 11;
        if check < 10 {
            let all = format!("{digits}{check}");
            return format!("CHE-{}.{}.{}", &all[..3], &all[3..6], &all[6..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_numbers_in_public_use() {
        // Numbers that the authorities print in their own descriptions of the algorithms.
        assert_eq!(german("13669597"), "DE136695976");
        assert_eq!(austrian("1358562"), "ATU13585627");
        assert_eq!(british("9807806"), "GB980780684");
        assert_eq!(french("40483304"), "FR83404833048");
    }
}
