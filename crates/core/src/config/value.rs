//! Sizes, durations and addresses as people write them: `512MiB`, `30s`, `127.0.0.1:8420`.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::limits::{GIB, KIB, MIB, TIB};

/// Units of size, the larger first within a family, so that the shortest exact form is found first.
const SIZES: &[(&str, u64)] = &[
    ("TiB", TIB),
    ("GiB", GIB),
    ("MiB", MIB),
    ("KiB", KIB),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// Units of time in milliseconds, the larger first.
const TIMES: &[(&str, u64)] = &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads `512MiB`, `1.5GiB`, `20 MB` or a plain number of bytes.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let factor = if unit.is_empty() {
        1
    } else {
        SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, factor)| *factor).ok_or_else(
            || format!("`{text}` is not a size; write a number and B, kB, MB, GB, KiB, MiB, GiB or TiB"),
        )?
    };
    scale(number, factor).ok_or_else(|| format!("`{text}` is not a size; write for instance `512MiB`"))
}

/// Reads `30s`, `1.5h`, `500ms`; a number without a unit is refused, because nobody can tell what it means.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    if unit.is_empty() && scale(number, 1).is_some() {
        return Err(format!("`{text}` has no unit; write for instance `{number}s`"));
    }
    TIMES
        .iter()
        .find(|(name, _)| *name == unit)
        .and_then(|(_, factor)| scale(number, *factor))
        .map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is not a duration; write a number and ms, s, m, h or d"))
}

/// Reads `127.0.0.1:9464`, and `localhost:9464` or `9464` for that port of this machine alone. No other name is looked up.
pub fn parse_address(text: &str) -> Option<SocketAddr> {
    let text = text.trim();
    let port = match text.split_once(':') {
        Some((name, port)) if name.eq_ignore_ascii_case("localhost") => port,
        _ => text,
    };
    let port = port.parse::<u16>().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|| text.parse().ok())
}

/// The shortest exact form of a size.
pub fn bytes_text(bytes: u64) -> String {
    let (unit, factor) = SIZES
        .iter()
        .filter(|(name, _)| name.contains('i'))
        .find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor))
        .unwrap_or(&("B", 1));
    format!("{}{unit}", bytes / factor)
}

/// The shortest exact form of a duration.
pub fn duration_text(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let (unit, factor) = TIMES
        .iter()
        .find(|(_, factor)| millis > 0 && millis.is_multiple_of(*factor))
        .unwrap_or(&("s", 1_000));
    format!("{}{unit}", millis / factor)
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// `number × factor`, exact for whole numbers; fractions are cut to whole units.
fn scale(number: &str, factor: u64) -> Option<u64> {
    let number = number.replace('_', "");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let scaled = number.parse::<f64>().ok()? * factor as f64;
    (scaled.is_finite() && (0.0..9.0e18).contains(&scaled)).then_some(scaled as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_both_families() {
        assert_eq!(parse_bytes("512MiB"), Ok(512 * MIB));
        assert_eq!(parse_bytes("1.5 GiB"), Ok(GIB + GIB / 2));
        assert_eq!(parse_bytes("20mb"), Ok(20_000_000));
        assert_eq!(parse_bytes("1_000"), Ok(1_000));
        for wrong in ["", "MiB", "-1", "1 parsec", "99999999999TiB", "1e3"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn duration_without_a_unit_is_refused_with_an_example() {
        assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_mins(90)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(parse_duration("30").unwrap_err().contains("`30s`"));
        assert!(parse_duration("soon").is_err());
    }

    #[test]
    fn port_alone_is_one_of_this_machine() {
        assert_eq!(parse_address("9464").map(|a| a.to_string()).as_deref(), Some("127.0.0.1:9464"));
        assert_eq!(parse_address("localhost:0").map(|a| a.to_string()).as_deref(), Some("127.0.0.1:0"));
        assert_eq!(parse_address("0.0.0.0:9464").map(|a| a.to_string()).as_deref(), Some("0.0.0.0:9464"));
        for wrong in ["", "localhost", "localhost:", "remotehost:1", "127.0.0.1", "99999", ":9464"] {
            assert_eq!(parse_address(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for bytes in [0, 1, 1023, KIB, 3 * MIB, GIB + 1, 4 * TIB] {
            assert_eq!(parse_bytes(&bytes_text(bytes)), Ok(bytes));
        }
        for millis in [0, 1, 999, 1_000, 90_000, 3_600_000, 86_400_000 * 30] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse_duration(&duration_text(duration)), Ok(duration));
        }
    }
}
