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
    "Scotland",
    "Ireland",
    "Canada",
    "Ontario",
    "British Columbia",
    "Alberta",
    "Manitoba",
    "Nova Scotia",
    "Quebec",
    "Australia",
    "New South Wales",
    "Austria",
    "Belgium",
    "Bermuda",
    "Brazil",
    "British Virgin Islands",
    "Cayman Islands",
    "China",
    "Denmark",
    "Finland",
    "France",
    "Germany",
    "Hong Kong",
    "India",
    "Israel",
    "Italy",
    "Japan",
    "Korea",
    "Luxembourg",
    "Marshall Islands",
    "Mexico",
    "Netherlands",
    "Norway",
    "Singapore",
    "Spain",
    "Sweden",
    "Switzerland",
    "Taiwan",
];

/// Phrases after which the name stands; the surer first.
const PHRASES: &[&str] = &[
    "governed",
    "governing law",
    "applicable law",
    "choice of law",
    "construed",
    "interpreted",
    "pursuant to the laws",
    "accordance with the laws",
];

/// Where nothing is said to be governed, a company is perhaps organised under these.
const ANY: &str = "laws of";

pub(super) fn jurisdiction(text: &Text) -> Option<Hit> {
    let governing = PHRASES.iter().find_map(|phrase| {
        text.after(phrase).find_map(|at| {
            // `law` of the phrase itself counts.
            let back = if phrase.contains("law") { "laws".len() } else { 0 };
            named(text, at - back, REACH, 0.9)
        })
    });
    governing.or_else(|| text.after(ANY).find_map(|at| named(text, at - ANY.len(), 60, 0.4)))
}

/// The first place here that a law is of: behind the word, or right before it as in "Ohio law".
fn named(text: &Text, at: usize, reach: usize, confidence: f32) -> Option<Hit> {
    let ahead = text.ahead(at, reach).to_ascii_lowercase();
    let law = ahead.find("law");
    let is_whole = |found: usize, length: usize| {
        let outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        outside(ahead[..found].chars().next_back()) && outside(ahead[found + length..].chars().next())
    };
    let places = PLACES.iter().flat_map(|place| {
        let name = place.to_ascii_lowercase();
        let found: Vec<usize> = ahead.match_indices(&name).map(|(found, _)| found).collect();
        found.into_iter().map(move |found| (found, *place))
    });
    let fits = |(found, place): &(usize, &str)| {
        let rest = ahead[found + place.len()..].trim_start_matches(['\'', '’', 's']);
        is_whole(*found, place.len()) && (law.is_some_and(|law| law < *found) || rest.starts_with(" law"))
    };
    let (found, place) =
        places.filter(fits).min_by_key(|(found, place)| (*found, std::cmp::Reverse(place.len())))?;
    let start = at + found;
    let (value, method) = (place.to_owned(), "governing law");
    Some(Hit { value, start, end: start + place.len(), confidence, method })
}
