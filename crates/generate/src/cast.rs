//! Everybody and everything that documents speak of: vendors, shops, goods, names and phrases, out of plain files.

use std::collections::BTreeMap;

use docmill_core::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::language::{Language, Words};
use crate::paper::{Colour, Family};

/// Where a company is, and with that how it writes numbers and pays taxes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Country {
    De,
    Fr,
    Gb,
    Us,
    Ch,
    At,
}

impl Country {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::De => "DE",
            Self::Fr => "FR",
            Self::Gb => "GB",
            Self::Us => "US",
            Self::Ch => "CH",
            Self::At => "AT",
        }
    }

    pub(crate) fn language(self) -> Language {
        match self {
            Self::De | Self::Ch | Self::At => Language::De,
            Self::Fr => Language::Fr,
            Self::Gb | Self::Us => Language::En,
        }
    }

    pub(crate) fn currency(self) -> &'static str {
        match self {
            Self::De | Self::Fr | Self::At => "EUR",
            Self::Gb => "GBP",
            Self::Us => "USD",
            Self::Ch => "CHF",
        }
    }

    /// Rates of tax in hundredths of a per cent: the common one, and the one of food.
    pub(crate) fn rates(self) -> (i64, i64) {
        match self {
            Self::De => (1900, 700),
            Self::Fr => (2000, 550),
            Self::Gb => (2000, 0),
            Self::Us => (625, 625),
            Self::Ch => (810, 260),
            Self::At => (2000, 1000),
        }
    }

    /// Whether prices in shops are without the tax.
    pub(crate) fn adds_tax(self) -> bool {
        self == Self::Us
    }
}

/// How a bill is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    Band,
    Classic,
    Ledger,
    Sidebar,
    Slim,
}

impl Layout {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Band => "band",
            Self::Classic => "classic",
            Self::Ledger => "ledger",
            Self::Sidebar => "sidebar",
            Self::Slim => "slim",
        }
    }
}

/// The sign of a company.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    Bars,
    Diamond,
    Leaf,
    Ring,
}

/// A company that writes bills and letters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vendor {
    pub(crate) name: String,
    pub(crate) country: Country,
    pub(crate) street: String,
    pub(crate) city: String,
    pub(crate) phone: String,
    pub(crate) domain: String,
    pub(crate) tagline: String,
    pub(crate) trade: String,
    pub(crate) layout: Layout,
    pub(crate) face: Family,
    pub(crate) colour: Colour,
    pub(crate) mark: Mark,
    pub(crate) number: String,
}

/// How a receipt is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TillLayout {
    Till,
    Plain,
}

/// A shop with a till.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shop {
    pub(crate) name: String,
    pub(crate) country: Country,
    pub(crate) street: String,
    pub(crate) city: String,
    pub(crate) phone: String,
    pub(crate) trade: String,
    pub(crate) layout: TillLayout,
}

/// What somebody sells.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trade {
    name: String,
    language: Language,
    /// Counted in quarters of an hour.
    #[serde(default)]
    pub(crate) hours: bool,
    /// Description, and the price from and to.
    pub(crate) goods: Vec<(String, i64, i64)>,
}

/// Names of people, companies and places of a language; forms and cities by country.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Names {
    pub(crate) first: Vec<String>,
    pub(crate) last: Vec<String>,
    pub(crate) company: Vec<String>,
    pub(crate) street: Vec<String>,
    #[serde(flatten)]
    by_country: BTreeMap<String, Vec<String>>,
}

impl Names {
    pub(crate) fn forms(&self, country: Country) -> &[String] {
        self.of("form", country)
    }

    pub(crate) fn cities(&self, country: Country) -> &[String] {
        self.of("city", country)
    }

    fn of(&self, what: &str, country: Country) -> &[String] {
        let key = format!("{what}_{}", country.code().to_lowercase());
        self.by_country.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// A contract in one language.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContractWords {
    pub(crate) title: String,
    pub(crate) opening: String,
    pub(crate) party: String,
    pub(crate) and: String,
    pub(crate) together: String,
    pub(crate) signed: String,
    pub(crate) place: String,
    pub(crate) signature: String,
    /// In words, and as truth has it.
    pub(crate) terms: Vec<(String, String)>,
    pub(crate) jurisdictions: Vec<String>,
    /// Heading and text.
    pub(crate) clauses: Vec<(String, String)>,
    pub(crate) purposes: Vec<String>,
}

/// Letters in one language.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LetterWords {
    pub(crate) salutation: String,
    pub(crate) closing: String,
    pub(crate) letters: Vec<LetterText>,
}

/// One letter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LetterText {
    pub(crate) subject: String,
    pub(crate) body: Vec<String>,
}

/// A mail that brings a bill.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MailWords {
    pub(crate) subject: String,
    pub(crate) body: Vec<String>,
}

/// What happens on accounts: words, and the amount from and to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transactions {
    pub(crate) items: Vec<(String, i64, i64)>,
}

/// The same for each language.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Each<T> {
    en: T,
    de: T,
    fr: T,
}

impl<T> Each<T> {
    pub(crate) fn of(&self, language: Language) -> &T {
        match language {
            Language::En => &self.en,
            Language::De => &self.de,
            Language::Fr => &self.fr,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Companies {
    vendor: Vec<Vendor>,
    shop: Vec<Shop>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trades {
    trade: Vec<Trade>,
}

/// All of it.
pub(crate) struct Cast {
    pub(crate) vendors: Vec<Vendor>,
    pub(crate) shops: Vec<Shop>,
    trades: Vec<Trade>,
    pub(crate) names: Each<Names>,
    pub(crate) words: Each<Words>,
    pub(crate) contracts: Each<ContractWords>,
    pub(crate) letters: Each<LetterWords>,
    pub(crate) mails: Each<MailWords>,
    pub(crate) transactions: Each<Transactions>,
}

/// The three files of a folder.
macro_rules! each {
    ($folder:literal) => {
        Each {
            en: read(concat!($folder, "/en"), include_str!(concat!("../data/", $folder, "/en.toml")))?,
            de: read(concat!($folder, "/de"), include_str!(concat!("../data/", $folder, "/de.toml")))?,
            fr: read(concat!($folder, "/fr"), include_str!(concat!("../data/", $folder, "/fr.toml")))?,
        }
    };
}

impl Cast {
    /// Reads the files that are built in.
    pub(crate) fn load() -> Result<Self> {
        let companies: Companies = read("vendors", include_str!("../data/vendors.toml"))?;
        let trades: Trades = read("trades", include_str!("../data/trades.toml"))?;
        Ok(Self {
            vendors: companies.vendor,
            shops: companies.shop,
            trades: trades.trade,
            names: each!("people"),
            words: each!("words"),
            contracts: each!("contracts"),
            letters: each!("letters"),
            mails: read("mails", include_str!("../data/mails.toml"))?,
            transactions: read("transactions", include_str!("../data/transactions.toml"))?,
        })
    }

    /// What a company of that trade sells, in its language.
    pub(crate) fn trade(&self, name: &str, language: Language) -> Result<&Trade> {
        self.trades
            .iter()
            .find(|trade| trade.name == name && trade.language == language)
            .ok_or_else(|| Error::bug(format!("the trade `{name}` has no goods in {language:?}")))
    }
}

/// Reads a file that is built in.
pub(crate) fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    toml::from_str(text)
        .map_err(|e| Error::bug(format!("the built-in file `{name}.toml` cannot be read")).with_source(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_and_shop_has_goods_and_every_country_has_names() {
        let cast = Cast::load().unwrap();
        for vendor in &cast.vendors {
            assert!(cast.trade(&vendor.trade, vendor.country.language()).is_ok(), "{}", vendor.name);
        }
        for shop in &cast.shops {
            assert!(cast.trade(&shop.trade, shop.country.language()).is_ok(), "{}", shop.name);
        }
        for country in [Country::De, Country::Fr, Country::Gb, Country::Us, Country::Ch, Country::At] {
            let names = cast.names.of(country.language());
            assert!(!names.forms(country).is_empty() && !names.cities(country).is_empty(), "{country:?}");
        }
    }
}
