//! Which letters follow each other in languages of the Latin script.
//!
//! Counted in the word lists of 24 languages (from Catalan to Vietnamese) and in English posts, accents left out:
//! a pair is in the table if it makes up 3 in 1,000 pairs of at least one of them. Of 60 pairs from one of the lists
//! or posts, at most 22 % are not in the table; of pairs whose letters were moved along the alphabet or swapped at
//! random, 60 % and 55 % (median), and less than 27 % in one case of a hundred.

/// For each letter those that may follow.
const FOLLOWERS: [&str; 26] = [
    "abcdefghijklmnoprstuvwyz",
    "abeiloruy",
    "acehikostuyz",
    "aeikostuz",
    "abcdeghijklmnoprstuvwyz",
    "aeioru",
    "aeghikorsuy",
    "aeilortu",
    "abcdegjklmnoprstuvwxyz",
    "aeiosu",
    "adehijklorstuy",
    "adehijlmostuy",
    "abeimopsuwy",
    "acdeghijklmnostuy",
    "abcdefgijklmnoprstuvwz",
    "aehilopru",
    "u",
    "abdeiklmnorstuyz",
    "acehijklmopstuz",
    "aehilorstuyz",
    "acdefgijklmnorstyz",
    "aeioy",
    "aehiy",
    "aou",
    "aceimosw",
    "aeilnotuyz",
];

/// Whether `second` follows `first` in some language; both are lower-case letters from a to z.
pub(super) fn is_usual(first: u8, second: u8) -> bool {
    let row = usize::from(first.wrapping_sub(b'a'));
    FOLLOWERS.get(row).is_some_and(|followers| followers.as_bytes().contains(&second))
}

/// The letter from a to z that a letter of the Latin script is a form of.
pub(super) fn plain(c: char) -> Option<u8> {
    /// Forms of letters from À to ſ, in the order of their numbers.
    const FORMS: &[u8; 192] = b"aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo*ouuuuyty\
        aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll\
        lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
    let form = match c {
        'a'..='z' | 'A'..='Z' => (c as u8).to_ascii_lowercase(),
        '\u{c0}'..='\u{17f}' => FORMS[c as usize - 0xc0],
        '\u{1ea0}'..='\u{1eb7}' => b'a',
        '\u{1eb8}'..='\u{1ec7}' => b'e',
        '\u{1ec8}'..='\u{1ecb}' => b'i',
        '\u{1ecc}'..='\u{1ee3}' | 'Ơ' | 'ơ' => b'o',
        '\u{1ee4}'..='\u{1ef1}' | 'Ư' | 'ư' => b'u',
        'Ș' | 'ș' => b's',
        'Ț' | 'ț' => b't',
        _ => return None,
    };
    (form != b'*').then_some(form)
}

#[cfg(test)]
mod tests {
    use super::{is_usual, plain};

    #[test]
    fn letters_are_known_in_all_their_forms() {
        let forms: String =
            "ÀæçÿĀčđĦłŃŒśŢůŷžſẢỆỰș×".chars().map(|c| plain(c).map_or('-', char::from)).collect();
        assert_eq!(forms, "aacyacdhlnostuyzsaeus-");
    }

    #[test]
    fn pairs_of_languages_are_usual_and_others_are_not() {
        assert!(
            ["th", "sz", "ij", "er", "ng", "ch"].iter().all(|p| is_usual(p.as_bytes()[0], p.as_bytes()[1]))
        );
        assert!(["qx", "vq", "jx", "wx"].iter().all(|p| !is_usual(p.as_bytes()[0], p.as_bytes()[1])));
    }
}
