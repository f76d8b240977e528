//! What tables and data files are called that have no title: by their columns, or by their keys.

use crate::Guess;
use crate::title::has_word;

/// Names that are told; there are tables with thousands.
const MAX_NAMES: usize = 6;

/// More than these are looked at for no name.
const MAX_LINES: usize = 200;

/// The names of the columns, if the first row has some: cells stand apart by tabs.
pub(crate) fn by_columns(text: &str) -> Option<Guess<String>> {
    let row = text.lines().map(str::trim_end).find(|line| !line.trim().is_empty())?;
    let cells: Vec<&str> = row.split('\t').map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let named = cells.iter().filter(|cell| has_word(cell)).count();
    // Rows of numbers are no names of columns.
    if named == 0 || named * 2 < cells.len() {
        return None;
    }
    Some(Guess { value: joined(&cells), confidence: 0.35, method: "columns" })
}

/// The names at the outermost level of a data file, which is shown as `key: value` and indented inside.
pub(crate) fn by_keys(text: &str) -> Option<Guess<String>> {
    let mut keys: Vec<&str> = Vec::new();
    for line in text.lines().take(MAX_LINES) {
        if line.starts_with(char::is_whitespace) {
            continue;
        }
        let Some((key, _)) = line.split_once(':') else { continue };
        let key = key.trim_start_matches("- ").trim();
        if has_word(key) && key.len() <= 60 && !keys.contains(&key) {
            keys.push(key);
        }
        if keys.len() > MAX_NAMES {
            break;
        }
    }
    (!keys.is_empty()).then(|| Guess { value: joined(&keys), confidence: 0.3, method: "keys" })
}

/// The first of some names.
pub(crate) fn joined(names: &[&str]) -> String {
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MAX_NAMES)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_called_by_its_columns() {
        let told = |text| by_columns(text).map(|guess| guess.value);
        assert_eq!(told("Industry\nSales\nOther\n").as_deref(), Some("Industry"));
        assert_eq!(
            told("Index\tCustomer Id\tFirst Name\tLast Name\tCompany\tCity\tCountry\n1\tx\n").as_deref(),
            Some("Index, Customer Id, First Name, Last Name, Company, City, …")
        );
        assert_eq!(told("1\t2\t3\n4\t5\t6\n"), None);
        assert_eq!(told(""), None);
    }

    #[test]
    fn data_file_is_called_by_its_outermost_keys() {
        let told = |text| by_keys(text).map(|guess| guess.value);
        assert_eq!(
            told("order:\n  total: 3\ncustomer: x\norder: again\n").as_deref(),
            Some("order, customer")
        );
        assert_eq!(told("17\n18\n"), None);
    }
}
