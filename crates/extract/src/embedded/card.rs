//! Cards of people (vCard 2.1 to 4.0): who wrote a letter.

use docmill_core::extraction::{Evidence, EvidenceSource};

use super::{Found, field, value};

/// Of a card, pictures apart.
const MAX_BYTES: usize = 64 << 10;

/// Name, organisation, e-mail, phone and address of the first card of a text; nothing if it is none.
pub fn card(text: &str) -> Option<Found> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.get(..11)?.eq_ignore_ascii_case("BEGIN:VCARD") {
        return None;
    }
    // A line that begins with a space belongs to the one before.
    let text = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "");
    let mut found = Found::default();
    for line in text.lines() {
        if line.trim().eq_ignore_ascii_case("END:VCARD") {
            break;
        }
        let Some((head, said)) = line.split_once(':') else { continue };
        let name = head.split(';').next().unwrap_or_default();
        let name = name.rsplit_once('.').map_or(name, |(_, name)| name).to_ascii_uppercase();
        let (field_name, said) = match name.as_str() {
            "FN" => ("name", plain(said)),
            "ORG" => ("organisation", joined(said)),
            "EMAIL" => ("email", plain(said)),
            "TEL" => ("phone", plain(said).trim_start_matches("tel:").to_owned()),
            "ADR" => ("address", joined(said)),
            _ => continue,
        };
        let Some(said) = value::line(&said) else { continue };
        if found.data.contains_key(field_name) {
            continue;
        }
        let evidence = Evidence {
            source: EvidenceSource::Embedded,
            span: Some(line.trim_end().to_owned()),
            path: Some(name),
            ..Evidence::default()
        };
        found.data.insert(field_name.to_owned(), said.clone().into());
        found.fields.insert(field_name.to_owned(), field(said, vec![evidence], "vcard"));
    }
    (!found.fields.is_empty()).then_some(found)
}

fn plain(text: &str) -> String {
    text.replace("\\n", ", ").replace("\\N", ", ").replace("\\,", ",").replace("\\;", ";").replace("\\:", ":")
}

/// The parts of a value that are not empty.
fn joined(text: &str) -> String {
    let parts = text.split(';').map(plain);
    parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn card_gives_name_and_address() {
        let text = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\n  Lovelace\r\nitem1.EMAIL;TYPE=work:ada@example.org\r\n\
                    ADR;TYPE=home:;;1 Mill Lane;Ely;;CB7 1AA;UK\r\nEND:VCARD\r\n";
        let found = card(text).unwrap();
        assert_eq!(found.data["name"], "Ada Lovelace");
        assert_eq!(found.data["email"], "ada@example.org");
        assert_eq!(found.data["address"], "1 Mill Lane, Ely, CB7 1AA, UK");
        assert_eq!(card("Dear Ada"), None);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_card_or_none(text in any::<String>()) {
            card(&text);
            card(&format!("BEGIN:VCARD\n{text}"));
        }
    }
}
