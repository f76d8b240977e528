//! Amounts as people write them: `1.234,56`, `1,234.56`, `1 234,56`, `(12.00)`, `RM39.00`, `5,00-`.
//!
//! They are counted in ten-thousandths, which holds every price and quantity that was met.

use std::ops::Range;

/// Ten-thousandths in one.
const ONE: i64 = 10_000;

/// Longer runs of digits are numbers of something, not amounts.
const MAX_DIGITS: usize = 13;

/// A number with its decimal places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Amount {
    /// In ten-thousandths.
    pub units: i64,
    /// Places after the point, as written, up to four.
    pub places: u8,
}

/// An amount in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mention {
    /// Its bytes, with sign, without currency.
    pub range: Range<usize>,
    /// What it says.
    pub amount: Amount,
    /// Whether a percent sign follows.
    pub percent: bool,
    /// ISO code of the currency that stands right before or behind it.
    pub currency: Option<&'static str>,
}

impl Amount {
    /// Of whole hundredths.
    pub fn of_cents(cents: i64) -> Self {
        Self { units: cents.saturating_mul(ONE / 100), places: 2 }
    }

    /// As a decimal string with a point and at least two places.
    pub fn money(self) -> String {
        self.written(usize::from(self.places).max(2))
    }

    /// As a decimal string with a point, without zeros at its end.
    pub fn plain(self) -> String {
        let text = self.written(4);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    fn written(self, places: usize) -> String {
        let sign = if self.units < 0 { "-" } else { "" };
        let units = self.units.unsigned_abs();
        let fraction = format!("{:04}", units % ONE.unsigned_abs());
        // Never fewer places than the number has.
        let needed = fraction.trim_end_matches('0').len().max(places.min(4));
        let whole = units / ONE.unsigned_abs();
        if needed == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{}", &fraction[..needed]) }
    }

    /// Whether the two differ by no more than this many hundredths.
    pub fn near(self, other: Self, cents: i64) -> bool {
        self.units.abs_diff(other.units) <= (cents.max(0) * (ONE / 100)).unsigned_abs()
    }

    /// Together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { units: self.units.saturating_add(other.units), places: self.places.max(other.places) }
    }

    /// What remains.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self { units: other.units.saturating_neg(), ..other })
    }

    /// The product, rounded to hundredths.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let product = i128::from(self.units) * i128::from(other.units) / i128::from(ONE);
        let cents = (product + 50 * product.signum()) / 100;
        Self::of_cents(i64::try_from(cents).unwrap_or(i64::MAX))
    }

    /// Reads the whole of a text as one amount; a currency and spaces around it do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let found = scan(text);
        let [one] = found.as_slice() else { return None };
        let rest = text[..one.range.start].chars().chain(text[one.range.end..].chars());
        let said = rest.filter(|c| !c.is_whitespace()).collect::<String>();
        (said.is_empty() || super::codes::currency(&said).is_some() || said == "%").then_some(one.amount)
    }
}

/// All amounts of a line. Digits that are part of a word, of a date or of a number with other signs are none.
pub fn scan(line: &str) -> Vec<Mention> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let end = run_end(bytes, at);
        if let Some(mention) = mention(line, at, end) {
            found.push(mention);
        }
        at = end;
    }
    found
}

/// The end of digits with separators between them; a blank only where three digits and no more follow it.
fn run_end(bytes: &[u8], from: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = from;
    let mut grouped = true;
    loop {
        let start = end;
        while digit(end) {
            end += 1;
        }
        let blank = bytes.get(end) == Some(&b' ');
        let group = digit(end + 1) && digit(end + 2) && digit(end + 3) && !digit(end + 4);
        // The first part has one to three digits, each next one exactly three, and decimals end it.
        let length = end - start;
        grouped = grouped && (if start == from { length <= 3 } else { length == 3 });
        let inner = matches!(bytes.get(end), Some(b'.' | b',' | b'\'')) && digit(end + 1);
        if inner {
            if bytes[end] != b'\'' && bytes[from..end].contains(&b' ') {
                grouped = false;
            }
            end += 1;
        } else if blank && group && grouped && !bytes[from..end].iter().any(|b| matches!(b, b'.' | b',')) {
            // `1 349,95` is one number, `10 500` may be two: decimals must follow.
            let decimals = matches!(bytes.get(end + 4), Some(b'.' | b',')) || further_group(bytes, end + 4);
            if !decimals {
                return end;
            }
            end += 1;
        } else {
            return end;
        }
    }
}

fn further_group(bytes: &[u8], at: usize) -> bool {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    bytes.get(at) == Some(&b' ')
        && digit(at + 1)
        && digit(at + 2)
        && digit(at + 3)
        && matches!(bytes.get(at + 4), Some(b'.' | b','))
}

fn mention(line: &str, from: usize, end: usize) -> Option<Mention> {
    let before = line[..from].chars().next_back();
    let after = line[end..].chars().next();
    let word = line[..from].rsplit([' ', '\t', ':', '(', '=']).next().unwrap_or_default();
    let sign = word.ends_with(['-', '−', '–']) && word.trim_end_matches(['-', '−', '–', '~', '—']).is_empty();
    let letters = word.trim_start_matches(['-', '+', '~', '—']);
    let attached = super::codes::currency(letters.trim_end_matches('-'));
    let other_sign =
        before.is_some_and(|c| matches!(c, '/' | '-' | '#' | '_' | '@' | '*' | '.' | ',' | '\''));
    let free = before.is_none_or(|c| c.is_whitespace() || "(:=".contains(c));
    let beside = letters.is_empty() || attached.is_some() || free || sign;
    let inside = other_sign && !sign && attached.is_none() && !letters.is_empty();
    if !beside || inside {
        return None;
    }
    let tail = line[end..].split([' ', '\t']).next().unwrap_or_default();
    let tail_clean = tail.trim_end_matches([',', ';', '.', ')', ':', '|']);
    let percent = tail_clean.starts_with('%') || line[end..].trim_start_matches(' ').starts_with('%');
    let minus_after = matches!(tail_clean, "-" | "−");
    let behind = super::codes::currency(tail_clean);
    if !(tail_clean.is_empty()
        || percent
        || minus_after
        || behind.is_some()
        || tail_clean.len() == 1 && after == Some('x'))
    {
        return None;
    }
    let amount = value(&line[from..end])?;
    let negative = sign || minus_after || before == Some('(') && tail.starts_with(')') && amount.places == 2;
    let units = if negative { -amount.units } else { amount.units };
    let previous = line[..from].trim_end().rsplit([' ', '\t']).next().unwrap_or_default();
    let next = line[end..].trim_start().split([' ', '\t']).next().unwrap_or_default();
    let currency = attached
        .or(behind)
        .or_else(|| super::codes::currency(previous))
        .or_else(|| super::codes::currency(next.trim_end_matches([',', '.', ';'])));
    let start = if sign { from - word.chars().next_back().map_or(0, char::len_utf8) } else { from };
    Some(Mention { range: start..end, amount: Amount { units, ..amount }, percent, currency })
}

/// Of digits with `.`, `,`, `'` and blanks between them.
fn value(text: &str) -> Option<Amount> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 || digits > MAX_DIGITS {
        return None;
    }
    let last = text.rfind(['.', ',']);
    let decimal = last.filter(|&at| {
        let mark = text.as_bytes()[at];
        let once = text.bytes().filter(|&b| b == mark).count() == 1;
        let (head, tail) = (&text[..at], text.len() - at - 1);
        let other = text.bytes().any(|b| matches!(b, b'.' | b',') && b != mark);
        // Three digits after the only mark are thousands, unless nothing but a zero stands before it.
        once && (other || tail != 3 || head == "0" || head.contains([' ', '\'']))
    });
    let (whole, fraction) = decimal.map_or((text, ""), |at| (&text[..at], &text[at + 1..]));
    if decimal.is_none() && last.is_some() && !groups_of_three(text) || fraction.len() > 4 {
        return None;
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let padded = format!("{fraction:0<4}");
    let units = whole.parse::<i64>().ok()?.checked_mul(ONE)?.checked_add(padded.parse::<i64>().ok()?)?;
    Some(Amount { units, places: fraction.len() as u8 })
}

fn groups_of_three(text: &str) -> bool {
    let mut groups = text.split(['.', ',', '\'', ' ']);
    groups.next().is_some_and(|g| g.len() <= 3) && groups.all(|g| g.len() == 3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_of_many_notations_read_the_same() {
        for text in [
            "1234.56",
            "1,234.56",
            "1.234,56",
            "1 234,56",
            "1'234.56",
            "EUR 1.234,56",
            "1.234,56 €",
            "$1,234.56",
        ] {
            assert_eq!(Amount::parse(text).map(Amount::money).as_deref(), Some("1234.56"), "{text}");
        }
        for (text, said) in [
            ("-7,67", "-7.67"),
            ("7,67-", "-7.67"),
            ("(7.67)", "-7.67"),
            ("0.025", "0.025"),
            ("RM39.00", "39.00"),
        ] {
            let found = scan(text);
            assert_eq!(found.first().map(|m| m.amount.money()).as_deref(), Some(said), "{text}");
        }
        assert_eq!(Amount::parse("12.000").map(Amount::plain).as_deref(), Some("12000"));
    }

    #[test]
    fn columns_stay_apart_and_dates_are_no_amounts() {
        let read = |line: &str| scan(line).iter().map(|m| m.amount.plain()).collect::<Vec<_>>();
        assert_eq!(read("5,00\t1 349,95\t10%"), ["5", "1349.95", "10"]);
        assert_eq!(read("23.08.2024"), Vec::<String>::new());
        assert_eq!(read("MT-13129 AB12 12/03/2018"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn any_line_is_scanned_without_harm(line in "\\PC{0,80}") {
            for mention in scan(&line) {
                prop_assert!(line.get(mention.range).is_some());
            }
        }

        #[test]
        fn what_is_written_is_read_again(cents in -10_000_000_i64..10_000_000) {
            let amount = Amount::of_cents(cents);
            prop_assert_eq!(Amount::parse(&amount.money()), Some(amount));
        }
    }
}
