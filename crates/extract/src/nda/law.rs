//! By whose law: "governed by the laws of the State of New York".

use super::Hit;
use super::text::Text;

/// How far the name of the law may be from the word that it governs.
const REACH: usize = 260;

const PLACES: &[&str] = &[
    "Alabama",
    "Alaska",
    "Arizona",
    "Arkansas",
    "California",
    "Colorado",
    "Connecticut",
    "Delaware",
    "Florida",
    "Georgia",
    "Hawaii",
    "Idaho",
    "Illinois",
    "Indiana",
    "Iowa",
    "Kansas",
    "Kentucky",
    "Louisiana",
    "Maine",
    "Maryland",
    "Massachusetts",
    "Michigan",
    "Minnesota",
    "Mississippi",
    "Missouri",
    "Montana",
    "Nebraska",
    "Nevada",
    "New Hampshire",
    "New Jersey",
    "New Mexico",
    "New York",
    "North Carolina",
    "North Dakota",
    "Ohio",
    "Oklahoma",
    "Oregon",
    "Pennsylvania",
    "Rhode Island",
    "South Carolina",
    "South Dakota",
    "Tennessee",
    "Texas",
    "Utah",
    "Vermont",
    "West Virginia",
    "Virginia",
    "Washington",
    "Wisconsin",
    "Wyoming",
    "District of Columbia",
    "Puerto Rico",
    "England",
    "Ontario",
    "British Columbia",
    "Alberta",
    "Quebec",
    "Israel",
    "Germany",
    "France",
    "Japan",
    "China",
    "Hong Kong",
    "Singapore",
    "Switzerland",
    "Ireland",
    "Bermuda",
    "Netherlands",
    "Sweden",
];

/// Phrases after which the name stands; the surer first.
const PHRASES: &[&str] =
    &["governed", "governing law", "pursuant to the laws", "accordance with the laws", "laws of"];

pub(super) fn jurisdiction(text: &Text) -> Option<Hit> {
    for (rank, phrase) in PHRASES.iter().enumerate() {
        for at in text.after(phrase) {
            let ahead = text.ahead(at, REACH).to_ascii_lowercase();
            // A place is where a law is from only after the word.
            let Some(law) = ahead.find("law").or((rank == 4).then_some(0)) else { continue };
            let first = PLACES
                .iter()
                .filter_map(|place| {
                    let name = place.to_ascii_lowercase();
                    ahead[law..].find(&name).map(|found| (found + law, *place))
                })
                .min_by_key(|(found, place)| (*found, std::cmp::Reverse(place.len())));
            if let Some((found, place)) = first {
                let start = at + found;
                let confidence = if rank < 4 { 0.9 } else { 0.4 };
                return Some(Hit {
                    value: place.to_owned(),
                    start,
                    end: start + place.len(),
                    confidence,
                    method: "governing law",
                });
            }
        }
    }
    None
}
