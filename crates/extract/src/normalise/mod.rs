//! What is written in many ways, in one: amounts, dates, numbers of accounts and taxpayers, currencies.

pub mod amount;
pub mod codes;
pub mod date;

pub use amount::Amount;
pub use date::{Date, Order};
