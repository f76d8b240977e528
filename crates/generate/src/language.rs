//! Words and dates of a language.

use docmill_core::{Error, Result};
use jiff::civil::Date;
use serde::Deserialize;

use crate::cast::Country;

/// In which documents are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Language {
    En,
    De,
    Fr,
}

impl Language {
    /// By ISO 639-3, as docmill says what language it has found.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::En => "eng",
            Self::De => "deu",
            Self::Fr => "fra",
        }
    }
}

/// What stands on forms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) months: Vec<String>,
    pub(crate) invoice: String,
    pub(crate) invoice_number: String,
    pub(crate) invoice_date: String,
    pub(crate) due_date: String,
    pub(crate) order_number: String,
    pub(crate) customer_number: String,
    pub(crate) bill_to: String,
    pub(crate) description: String,
    pub(crate) quantity: String,
    pub(crate) hours: String,
    pub(crate) unit_price: String,
    pub(crate) tax_rate: String,
    pub(crate) amount: String,
    pub(crate) position: String,
    pub(crate) net_total: String,
    pub(crate) tax: String,
    pub(crate) sales_tax: String,
    pub(crate) total: String,
    pub(crate) carried: String,
    pub(crate) bank: String,
    pub(crate) tax_id: String,
    pub(crate) ein: String,
    pub(crate) customer_tax_id: String,
    pub(crate) pay: String,
    pub(crate) thanks: String,
    pub(crate) greeting: String,
    pub(crate) intro: String,
    pub(crate) page: String,
    pub(crate) phone: String,
    pub(crate) receipt: String,
    pub(crate) till: String,
    pub(crate) sum: String,
    pub(crate) included_tax: String,
    pub(crate) card: String,
    pub(crate) given: String,
    pub(crate) change: String,
    pub(crate) receipt_thanks: String,
    pub(crate) statement: String,
    pub(crate) holder: String,
    pub(crate) period: String,
    pub(crate) opening: String,
    pub(crate) closing: String,
    pub(crate) date: String,
    pub(crate) text: String,
    pub(crate) balance: String,
    pub(crate) statement_note: String,
    pub(crate) subject: String,
}

impl Words {
    pub(crate) fn month(&self, date: Date) -> &str {
        self.months.get(date.month() as usize - 1).map_or("", String::as_str)
    }

    /// In words, as letters and contracts have it.
    pub(crate) fn long_date(&self, date: Date, country: Country) -> String {
        let (day, month, year) = (date.day(), self.month(date), date.year());
        match country {
            Country::Us => format!("{month} {day}, {year}"),
            Country::De | Country::Ch | Country::At => format!("{day}. {month} {year}"),
            Country::Fr if day == 1 => format!("1er {month} {year}"),
            Country::Gb | Country::Fr => format!("{day} {month} {year}"),
        }
    }
}

/// In digits, as forms have it.
pub(crate) fn short_date(date: Date, country: Country) -> String {
    let (day, month, year) = (date.day(), date.month(), date.year());
    match country {
        Country::Us => format!("{month:02}/{day:02}/{year}"),
        Country::De | Country::Ch | Country::At => format!("{day:02}.{month:02}.{year}"),
        Country::Gb | Country::Fr => format!("{day:02}/{month:02}/{year}"),
    }
}

/// Fills `{name}` places.
pub(crate) fn fill(pattern: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(pattern.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// So many days later.
pub(crate) fn after(date: Date, days: i64) -> Result<Date> {
    date.checked_add(jiff::Span::new().days(days))
        .map_err(|e| Error::bug("a date lies outside the calendar").with_source(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_in_their_country() {
        let date = jiff::civil::date(2024, 3, 9);
        for (country, written) in [
            (Country::Us, "03/09/2024"),
            (Country::Gb, "09/03/2024"),
            (Country::De, "09.03.2024"),
            (Country::Fr, "09/03/2024"),
        ] {
            assert_eq!(short_date(date, country), written);
        }
    }
}
