//! What a bill says: who owes whom how much for what, with sums that are right.

use docmill_core::Result;
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::cast::{Cast, Vendor};
use crate::chance::Chance;
use crate::content::Facts;
use crate::iban::{self, Account, grouped};
use crate::kinds::some_day;
use crate::language::{Words, after, fill, short_date};
use crate::money::{decimal, part, plain, short, short_shown, shown};
use crate::people::{self, Party};
use crate::tax_id;

/// A line of a bill.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) description: String,
    /// In hundredths.
    pub(crate) quantity: i64,
    pub(crate) price: i64,
    pub(crate) net: i64,
    /// In hundredths of a per cent.
    pub(crate) rate: i64,
}

/// A bill.
#[derive(Clone, Debug)]
pub(crate) struct Bill<'c> {
    pub(crate) vendor: &'c Vendor,
    pub(crate) words: &'c Words,
    pub(crate) number: String,
    pub(crate) date: Date,
    pub(crate) due: Date,
    pub(crate) days: i64,
    pub(crate) order: String,
    pub(crate) customer: String,
    pub(crate) buyer: Party,
    pub(crate) buyer_tax_id: Option<String>,
    pub(crate) tax_id: String,
    pub(crate) account: Account,
    pub(crate) hours: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) net: i64,
    /// Each rate with the tax at that rate.
    pub(crate) taxes: Vec<(i64, i64)>,
    pub(crate) total: i64,
}

impl<'c> Bill<'c> {
    pub(crate) fn make(cast: &'c Cast, chance: &mut Chance) -> Result<Self> {
        let at = chance.between(0, cast.vendors.len() as i64 - 1);
        let vendor = &cast.vendors[at as usize];
        let country = vendor.country;
        let trade = cast.trade(&vendor.trade, country.language())?;
        let date = some_day(chance);
        let days = *chance.pick(&[10, 14, 14, 30, 30, 45]);
        // One bill in eight is long enough for a second page.
        let count = if chance.hits(0.125) { chance.between(22, 40) } else { chance.between(1, 9) };
        let (common, food) = country.rates();
        let items: Vec<Item> = (0..count)
            .map(|_| {
                let (description, low, high) = chance.pick(&trade.goods);
                let quantity =
                    if trade.hours { chance.between(2, 64) * 25 } else { chance.between(1, 24) * 100 };
                let price = chance.between(*low, *high);
                let rate = if vendor.trade == "catering" && chance.hits(0.5) { food } else { common };
                let net = (quantity * price + 50) / 100;
                Item { description: description.clone(), quantity, price, net, rate }
            })
            .collect();
        let net = items.iter().map(|item| item.net).sum();
        let mut rates: Vec<i64> = items.iter().map(|item| item.rate).collect();
        rates.sort_unstable_by(|a, b| b.cmp(a));
        rates.dedup();
        let taxes: Vec<(i64, i64)> = rates
            .into_iter()
            .map(|rate| {
                let basis = items.iter().filter(|item| item.rate == rate).map(|item| item.net).sum();
                (rate, part(basis, rate))
            })
            .collect();
        let total = net + taxes.iter().map(|(_, tax)| tax).sum::<i64>();
        let serial = chance.between(100, 9800);
        let buyer = people::company(cast, chance, country);
        let taxed_by_number = country != crate::cast::Country::Us && chance.hits(0.5);
        let buyer_number = chance.between(1, 1 << 40) as u64;
        Ok(Self {
            number: number(&vendor.number, date, serial),
            date,
            due: after(date, days)?,
            days,
            order: super::super::reference(chance),
            customer: chance.digits(5),
            buyer_tax_id: taxed_by_number.then(|| tax_id::make(country, buyer_number)),
            buyer,
            tax_id: tax_id::make(country, at as u64),
            account: iban::account(country, at as u64),
            hours: trade.hours,
            words: cast.words.of(country.language()),
            vendor,
            items,
            net,
            taxes,
            total,
        })
    }

    pub(crate) fn money(&self, cents: i64) -> String {
        shown(cents, self.vendor.country)
    }

    pub(crate) fn plain(&self, cents: i64) -> String {
        plain(cents, self.vendor.country)
    }

    pub(crate) fn quantity(&self, item: &Item) -> String {
        short_shown(item.quantity, self.vendor.country)
    }

    pub(crate) fn rate(&self, rate: i64) -> String {
        let rate = short_shown(rate, self.vendor.country);
        match self.vendor.country {
            crate::cast::Country::Gb | crate::cast::Country::Us => format!("{rate}%"),
            _ => format!("{rate} %"),
        }
    }

    pub(crate) fn day(&self, date: Date) -> String {
        short_date(date, self.vendor.country)
    }

    /// What the tax is called.
    pub(crate) fn tax_word(&self) -> &str {
        if self.vendor.country.adds_tax() { &self.words.sales_tax } else { &self.words.tax }
    }

    /// What the column of rates is called.
    pub(crate) fn tax_word_short(&self) -> &str {
        if self.vendor.country.adds_tax() { "Tax" } else { &self.words.tax_rate }
    }

    /// What the vendor's number is called.
    pub(crate) fn tax_id_word(&self) -> &str {
        if self.vendor.country.adds_tax() { &self.words.ein } else { &self.words.tax_id }
    }

    pub(crate) fn payment(&self) -> String {
        fill(&self.words.pay, &[("days", &self.days.to_string())])
    }

    /// Label and value of everything that stands in the head of a bill.
    pub(crate) fn head(&self) -> Vec<(&str, String)> {
        let words = self.words;
        vec![
            (&words.invoice_number, self.number.clone()),
            (&words.invoice_date, self.day(self.date)),
            (&words.due_date, self.day(self.due)),
            (&words.order_number, self.order.clone()),
            (&words.customer_number, self.customer.clone()),
        ]
    }

    /// Label and value of how to pay.
    pub(crate) fn bank(&self) -> Vec<(&str, String)> {
        let mut lines = vec![(self.words.bank.as_str(), self.account.bank.clone())];
        if !self.account.iban.is_empty() {
            lines.push(("IBAN", grouped(&self.account.iban)));
        }
        lines.push(("BIC", self.account.bic.clone()));
        lines
    }

    /// Where the buyer is, as an envelope has it.
    pub(crate) fn addressed(&self) -> Vec<String> {
        vec![
            self.buyer.name.clone(),
            self.buyer.contact.clone(),
            self.buyer.street.clone(),
            self.buyer.city.clone(),
        ]
    }

    pub(crate) fn facts(&self) -> Facts {
        let vendor = self.vendor;
        let mut facts = Facts::default();
        facts.say("invoice_number", self.number.as_str());
        facts.say_as("invoice_date", self.date.to_string(), self.day(self.date));
        facts.say_as("due_date", self.due.to_string(), self.day(self.due));
        facts.say("seller_name", vendor.name.as_str());
        facts.say_as(
            "seller_address",
            format!("{}, {}", vendor.street, vendor.city),
            json!([vendor.street, vendor.city]),
        );
        facts.say("seller_tax_id", self.tax_id.as_str());
        facts.say("buyer_name", self.buyer.name.as_str());
        facts.say_as("buyer_address", self.buyer.address(), json!([self.buyer.street, self.buyer.city]));
        if let Some(id) = &self.buyer_tax_id {
            facts.say("buyer_tax_id", id.as_str());
        }
        facts.say("order_number", self.order.as_str());
        if !self.account.iban.is_empty() {
            facts.say_as("iban", self.account.iban.as_str(), grouped(&self.account.iban));
        }
        facts.say("bic", self.account.bic.as_str());
        facts.imply("currency", vendor.country.currency());
        facts.say_as("tax_basis_total", decimal(self.net), self.plain(self.net));
        facts.imply("tax_total", decimal(self.total - self.net));
        facts.shown.insert(
            "tax_total".into(),
            self.taxes.iter().map(|(_, tax)| Value::from(self.plain(*tax))).collect(),
        );
        facts.say_as("total_amount", decimal(self.total), self.plain(self.total));
        let items: Vec<Value> = self
            .items
            .iter()
            .map(|item| {
                json!({
                    "description": item.description,
                    "quantity": short(item.quantity),
                    "unit_price": decimal(item.price),
                    "net_amount": decimal(item.net),
                    "tax_rate": short(item.rate),
                })
            })
            .collect();
        let seen: Vec<Value> = self
            .items
            .iter()
            .map(|item| {
                json!({
                    "description": item.description,
                    "quantity": self.quantity(item),
                    "unit_price": self.plain(item.price),
                    "net_amount": self.plain(item.net),
                    "tax_rate": self.rate(item.rate),
                })
            })
            .collect();
        facts.say_as("items", items, seen);
        facts
    }
}

/// A number as the vendor counts.
fn number(pattern: &str, date: Date, serial: i64) -> String {
    let year = date.year().to_string();
    let digits = |count: usize, value: i64| format!("{value:0count$}");
    fill(
        pattern,
        &[
            ("year", &year),
            ("yy", &year[2..]),
            ("n3", &digits(3, serial % 1000)),
            ("n4", &digits(4, serial)),
            ("n5", &digits(5, serial * 7 % 100_000)),
            ("n6", &digits(6, serial * 97 % 1_000_000)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_hold_and_dates_are_in_order() {
        let cast = Cast::load().unwrap();
        for number in 0..400 {
            let bill = Bill::make(&cast, &mut Chance::of(3, number)).unwrap();
            let net: i64 = bill.items.iter().map(|item| item.net).sum();
            assert_eq!(net, bill.net);
            assert_eq!(bill.total, net + bill.taxes.iter().map(|(_, tax)| tax).sum::<i64>());
            for item in &bill.items {
                assert!((item.net * 100 - item.quantity * item.price).abs() <= 50, "{item:?}");
            }
            assert!(bill.date < bill.due);
            assert!(bill.account.iban.is_empty() || iban::is_valid(&bill.account.iban));
        }
    }

    #[test]
    fn vendor_counts_in_its_own_way() {
        let day = jiff::civil::date(2024, 2, 3);
        assert_eq!(number("INV-{year}-{n5}", day, 12), "INV-2024-00084");
        assert_eq!(number("PH{n4}/{yy}", day, 12), "PH0012/24");
    }
}
