//! The order in which the text of a schema names its fields, which maps of JSON forget.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::{FieldRule, Shape};

/// The names of properties in the order of a text, and of those inside them.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Order {
    properties: Names,
    items: Option<Box<Self>>,
}

#[derive(Default)]
struct Names(Vec<(String, Order)>);

impl Order {
    pub(super) fn sort(&self, fields: &mut [FieldRule]) {
        let place = |name: &str| self.properties.0.iter().position(|(known, _)| known == name);
        fields.sort_by_key(|field| place(&field.name));
        for field in fields {
            let inside = place(&field.name).and_then(|at| self.properties.0.get(at)?.1.items.as_deref());
            if let (Shape::Rows(rows), Some(order)) = (&mut field.shape, inside) {
                order.sort(rows);
            }
        }
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("properties")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    names.push(entry);
                }
                Ok(Names(names))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
