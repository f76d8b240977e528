//! People and companies that are made up for one document.

use crate::cast::{Cast, Country};
use crate::chance::Chance;
use crate::language::Language;

/// Whom a document is written to or about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Party {
    pub(crate) name: String,
    /// The name without its form.
    pub(crate) short: String,
    /// Somebody who works there.
    pub(crate) contact: String,
    pub(crate) street: String,
    pub(crate) city: String,
}

impl Party {
    /// In one line.
    pub(crate) fn address(&self) -> String {
        format!("{}, {}", self.street, self.city)
    }
}

/// A company in `country`.
pub(crate) fn company(cast: &Cast, chance: &mut Chance, country: Country) -> Party {
    let names = cast.names.of(country.language());
    let short = chance.pick(&names.company).clone();
    let name = format!("{short} {}", chance.pick(names.forms(country)));
    let city = chance.pick(names.cities(country)).clone();
    let contact = person(cast, chance, country.language());
    Party { name, short, contact, street: street(cast, chance, country), city }
}

/// First and last name.
pub(crate) fn person(cast: &Cast, chance: &mut Chance, language: Language) -> String {
    let names = cast.names.of(language);
    format!("{} {}", chance.pick(&names.first), chance.pick(&names.last))
}

fn street(cast: &Cast, chance: &mut Chance, country: Country) -> String {
    let street = chance.pick(&cast.names.of(country.language()).street);
    let number = chance.between(1, 140);
    match country {
        Country::De | Country::Ch | Country::At => format!("{street} {number}"),
        Country::Fr => format!("{number}, {street}"),
        Country::Gb | Country::Us => format!("{number} {street}"),
    }
}
