//! Cells of spreadsheets as text: numbers as people write them, dates as ISO 8601.

/// Up to here a cell can hold every whole number.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// More zeros in a format than a number has digits are no padding.
const MOST_PADDED: usize = 20;

/// How a cell's number is shown, as far as it changes what the text says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Shown {
    /// As a number.
    #[default]
    Number,
    /// With a percent sign.
    Percent,
    /// As a day.
    Date,
    /// As a time of day, or hours and minutes.
    Time,
    /// As both.
    DateTime,
    /// As hours, minutes and seconds that go on beyond a day.
    Duration,
    /// With zeros before it, up to so many digits: numbers of articles, postal codes.
    Padded(u8),
}

impl Shown {
    /// By the number of a format that every Excel knows; `None` for those that a file defines.
    pub(crate) fn builtin(id: u32) -> Option<Self> {
        Some(match id {
            9 | 10 => Self::Percent,
            14..=17 | 27..=31 | 34..=36 | 50..=54 | 57 | 58 => Self::Date,
            18..=21 | 32 | 33 | 45 | 47 | 55 | 56 => Self::Time,
            46 => Self::Duration,
            22 => Self::DateTime,
            0..=163 => Self::Number,
            _ => return None,
        })
    }

    /// By a format's code, such as `dd/mm/yyyy` or `0.00%`.
    pub(crate) fn of_code(code: &str) -> Self {
        let zeros = code.split(';').next().unwrap_or_default();
        if (2..=MOST_PADDED).contains(&zeros.len()) && zeros.bytes().all(|b| b == b'0') {
            return Self::Padded(zeros.len() as u8);
        }
        let (mut date, mut time, mut months, mut percent) = (false, false, false, false);
        let mut duration = false;
        let mut characters = code.chars().peekable();
        while let Some(c) = characters.next() {
            match c {
                // Only the first section counts: the others are for negative numbers, zero and text.
                ';' => break,
                '"' => while characters.next().is_some_and(|c| c != '"') {},
                '\\' | '_' | '*' => {
                    characters.next();
                }
                '[' => {
                    let inside: String = characters.by_ref().take_while(|&c| c != ']').collect();
                    let inside = inside.to_lowercase();
                    // `[h]` counts hours beyond a day; `[Red]` and `[$-407]` are no dates.
                    duration |= !inside.is_empty() && inside.chars().all(|c| matches!(c, 'h' | 'm' | 's'));
                }
                'y' | 'Y' | 'd' | 'D' => date = true,
                'h' | 'H' | 's' | 'S' => time = true,
                'm' | 'M' => months = true,
                '%' => percent = true,
                'G' | 'g' if code.get(..7).is_some_and(|c| c.eq_ignore_ascii_case("general")) => {
                    return Self::Number;
                }
                _ => {}
            }
        }
        if duration && !date {
            return Self::Duration;
        }
        // `m` is minutes beside hours or seconds, else months.
        date |= months && !time;
        match (date, time) {
            (true, true) => Self::DateTime,
            (true, false) => Self::Date,
            (false, true) => Self::Time,
            (false, false) if percent => Self::Percent,
            (false, false) => Self::Number,
        }
    }
}

/// A cell's number as text. `from_1904` is how Excel for old Macintoshes counted days.
pub(crate) fn number(value: f64, shown: Shown, from_1904: bool) -> String {
    let moment = match shown {
        Shown::Number => None,
        Shown::Percent => return format!("{}%", plain(value * 100.0)),
        Shown::Date => moment(value, from_1904, true, value.fract() != 0.0),
        Shown::Time => moment(value, from_1904, value >= 1.0, true),
        Shown::DateTime => moment(value, from_1904, true, true),
        Shown::Duration => duration(value),
        Shown::Padded(digits) => padded(value, digits),
    };
    moment.unwrap_or_else(|| plain(value))
}

/// Fifteen digits are what a spreadsheet keeps; the rest is noise of binary fractions.
pub(crate) fn plain(value: f64) -> String {
    if !value.is_finite() {
        return "#NUM!".into();
    }
    // Whole numbers are exact up to here: those of cards and accounts have sixteen digits.
    if value.fract().abs() < f64::MIN_POSITIVE && value.abs() <= MOST_EXACT {
        return format!("{value:.0}");
    }
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if (1e-6..1e15).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// Hours, minutes and seconds, as many hours as it takes.
fn duration(days: f64) -> Option<String> {
    let seconds = (days.abs() * 86_400.0).round();
    if seconds > MOST_EXACT {
        return None;
    }
    let (sign, seconds) = (if days < 0.0 && seconds > 0.0 { "-" } else { "" }, seconds as u64);
    Some(format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60))
}

/// A whole number with zeros before it.
fn padded(value: f64, digits: u8) -> Option<String> {
    let is_whole = (0.0..=MOST_EXACT).contains(&value) && value.fract().abs() < f64::MIN_POSITIVE;
    is_whole.then(|| format!("{value:0width$.0}", width = usize::from(digits)))
}

/// Days since the end of 1899, and the part of a day, as ISO 8601.
fn moment(value: f64, from_1904: bool, date: bool, time: bool) -> Option<String> {
    // The year 9999 is the end of what a spreadsheet shows as a date.
    if !(0.0..2_958_466.0).contains(&value) {
        return None;
    }
    let seconds_of_all = (value * 86_400.0).round() as i64;
    let (mut days, seconds) = (seconds_of_all.div_euclid(86_400), seconds_of_all.rem_euclid(86_400));
    let clock = {
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    };
    if !date {
        return Some(clock);
    }
    if from_1904 {
        days += 1462;
    }
    // Excel counts a 29 February 1900 that never was.
    if days < 60 {
        days += 1;
    }
    let (year, month, day) = civil(days - 25_569);
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if time && seconds != 0 { format!("{date}T{clock}") } else { date })
}

/// Days since 1970 as a date of the calendar (Howard Hinnant's algorithm).
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// What a cell's error is called, by its number in binary files.
pub(crate) fn error_name(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        0x2a => "#N/A",
        _ => "#ERROR!",
    }
}

/// A number packed into 32 bits, as binary spreadsheets keep most of theirs.
pub(crate) fn packed_number(packed: u32) -> f64 {
    let value = if packed & 2 == 0 {
        f64::from_bits(u64::from(packed & !3) << 32)
    } else {
        f64::from(packed as i32 >> 2)
    };
    if packed & 1 == 0 { value } else { value / 100.0 }
}

/// The text of a page's header or footer without the codes for its places and looks.
pub(crate) fn header_text(coded: &str) -> String {
    let mut out = String::new();
    let mut characters = coded.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '&' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('&') => out.push('&'),
            Some('"') => while characters.next().is_some_and(|c| c != '"') {},
            Some('L' | 'C' | 'R') if !out.is_empty() => out.push('\t'),
            Some('K') => {
                characters.by_ref().take(6).for_each(drop);
            }
            Some(digit) if digit.is_ascii_digit() => {
                while characters.next_if(char::is_ascii_digit).is_some() {}
            }
            _ => {}
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lose_their_noise_and_dates_are_iso() {
        let cases = [
            (0.1 + 0.2, Shown::Number, "0.3"),
            (1e20, Shown::Number, "1e20"),
            (-12.50, Shown::Number, "-12.5"),
            (123_456_789.0, Shown::Number, "123456789"),
            (4_111_111_111_111_111.0, Shown::Number, "4111111111111111"),
            (1234.0, Shown::Padded(5), "01234"),
            (0.5, Shown::Padded(5), "0.5"),
            (1.104_166_666_7, Shown::Duration, "26:30:00"),
            (-0.5, Shown::Duration, "-12:00:00"),
            (0.256, Shown::Percent, "25.6%"),
            (45_292.0, Shown::Date, "2024-01-01"),
            (45_292.75, Shown::DateTime, "2024-01-01T18:00:00"),
            (0.5, Shown::Time, "12:00:00"),
            (1.0, Shown::Date, "1900-01-01"),
            (59.0, Shown::Date, "1900-02-28"),
            (61.0, Shown::Date, "1900-03-01"),
            (-1.0, Shown::Date, "-1"),
            (1e9, Shown::Date, "1000000000"),
        ];
        for (value, shown, expected) in cases {
            assert_eq!(number(value, shown, false), expected, "{value} {shown:?}");
        }
        assert_eq!(number(43_830.0, Shown::Date, true), "2024-01-01");
        assert_eq!(number(f64::NAN, Shown::Date, false), "#NUM!");
    }

    #[test]
    fn formats_are_told_by_their_code() {
        let cases = [
            ("General", Shown::Number),
            ("0.00", Shown::Number),
            ("#,##0.00\\ \"Mrd\"", Shown::Number),
            ("[Red]0.00", Shown::Number),
            ("0.0%", Shown::Percent),
            ("dd/mm/yyyy", Shown::Date),
            ("[$-407]d. mmmm yyyy", Shown::Date),
            ("mmm-yy", Shown::Date),
            ("hh:mm", Shown::Time),
            ("[h]:mm:ss", Shown::Duration),
            ("[mm]:ss", Shown::Duration),
            ("00000", Shown::Padded(5)),
            ("0", Shown::Number),
            ("yyyy-mm-dd hh:mm", Shown::DateTime),
            ("0;dd", Shown::Number),
        ];
        for (code, expected) in cases {
            assert_eq!(Shown::of_code(code), expected, "{code}");
        }
    }

    #[test]
    fn packed_numbers_are_unpacked() {
        let cases = [(0x3ff0_0000, "1"), ((5 << 2) | 2, "5"), ((1234 << 2) | 3, "12.34")];
        for (packed, expected) in cases {
            assert_eq!(plain(packed_number(packed)), expected);
        }
    }

    #[test]
    fn headers_lose_their_codes() {
        assert_eq!(
            header_text("&L&\"Arial,Bold\"&12Left && more&CPage &P of &N&R&K00FF00Right"),
            "Left & more\tPage  of \tRight"
        );
    }
}
