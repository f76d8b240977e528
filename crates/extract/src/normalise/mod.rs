//! What is written in many ways, in one: amounts, dates, numbers of accounts and taxpayers, currencies.

pub mod amount;
pub mod codes;
pub mod date;

pub use amount::Amount;
pub use date::{Date, Order};

use crate::schema::Normalise;

/// A text in the notation of records; nothing if it cannot be read as what it should be.
pub fn notation(kind: Normalise, text: &str, order: Order) -> Option<String> {
    match kind {
        Normalise::Money => Amount::parse(text).map(Amount::money),
        Normalise::Number => Amount::parse(text).map(Amount::plain),
        Normalise::Date => Date::parse(text, order).map(Date::iso),
        Normalise::Country => codes::country(text).map(str::to_owned),
        Normalise::Iban => codes::iban(text),
        Normalise::Vat => codes::tax_id(text),
        Normalise::Currency => codes::currency(text).map(str::to_owned),
    }
}
