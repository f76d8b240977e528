//! Test documents that look real, with the truth about each of them.
//!
//! Everything is a function of an order and a number: no clock, no chance but the order's seed, no files, no network,
//! and nothing of docmill's readers, so that what is tested does not make its own test. `kinds` decides what a document
//! says, `paper` draws it, `scan` makes it look as if it had been through a scanner; names, phrases and vendors are
//! plain files under `data`.

mod cast;
mod chance;
mod content;
mod iban;
mod kinds;
mod language;
mod money;
mod paper;
mod people;
mod scan;
mod tax_id;

use std::sync::OnceLock;

use docmill_core::Result;
use docmill_core::generate::{Order, Sample, SampleKind};
use docmill_core::ports::Generator;

use crate::cast::Cast;
use crate::chance::Chance;
use crate::content::Content;
use crate::paper::Fonts;

/// How many of a hundred documents are of which kind, unless an order says so.
const MIX: [(SampleKind, u64); 6] = [
    (SampleKind::Invoice, 35),
    (SampleKind::Receipt, 20),
    (SampleKind::Letter, 15),
    (SampleKind::Contract, 10),
    (SampleKind::Mail, 12),
    (SampleKind::Statement, 8),
];

/// The generator. Its data is unpacked when the first document is made: most processes make none.
#[derive(Default)]
pub struct Press {
    types: OnceLock<Types>,
}

/// Everything that documents are set from.
struct Types {
    cast: Cast,
    fonts: Fonts,
}

impl Press {
    fn types(&self) -> Result<&Types> {
        if let Some(types) = self.types.get() {
            return Ok(types);
        }
        let types = Types { cast: Cast::load()?, fonts: Fonts::load()? };
        Ok(self.types.get_or_init(|| types))
    }
}

impl Generator for Press {
    fn make(&self, order: &Order, number: u32) -> Result<Sample> {
        self.types()?.make(order, number)
    }
}

impl Types {
    fn make(&self, order: &Order, number: u32) -> Result<Sample> {
        // Each document has chances of its own, so it is the same whatever is made before it.
        let mut chance = Chance::of(order.seed, u64::from(number));
        let kind = match order.kinds.as_slice() {
            [] => *chance.weighted(&MIX),
            kinds => *chance.pick(kinds),
        };
        let id = format!("{:06}-{kind}", number + 1);
        if kind == SampleKind::Mail {
            return kinds::mail::make(&self.cast, &self.fonts, &mut chance, &id);
        }
        let content = self.content(kind, &mut chance)?;
        if chance.hits(order.scans) {
            return scan::make(&self.fonts, &mut chance, &id, content);
        }
        content.into_pdf(&self.fonts, &id)
    }

    fn content(&self, kind: SampleKind, chance: &mut Chance) -> Result<Content<'_>> {
        let (cast, fonts) = (&self.cast, &self.fonts);
        match kind {
            SampleKind::Invoice | SampleKind::Mail => kinds::invoice::make(cast, fonts, chance),
            SampleKind::Receipt => kinds::receipt::make(cast, fonts, chance),
            SampleKind::Contract => kinds::contract::make(cast, fonts, chance),
            SampleKind::Letter => kinds::letter::make(cast, fonts, chance),
            SampleKind::Statement => kinds::statement::make(cast, fonts, chance),
        }
    }
}
