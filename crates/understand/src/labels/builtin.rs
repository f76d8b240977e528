//! The label sets that come with docmill. They are files like those of a user, under `data/labels`.

use docmill_core::Result;

use super::LabelSet;

const FILES: [&str; 4] = [
    include_str!("../../data/labels/privacy.toml"),
    include_str!("../../data/labels/privacy_semantic.toml"),
    include_str!("../../data/labels/environmental_impact.toml"),
    include_str!("../../data/labels/industries.toml"),
];

/// All of them, in the order in which results show them.
pub fn builtin() -> Result<Vec<LabelSet>> {
    FILES.iter().map(|text| LabelSet::parse(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Mode;

    #[test]
    fn built_in_sets_can_be_read() {
        let sets = builtin().unwrap();
        let names: Vec<_> = sets.iter().map(|s| (s.name.as_str(), s.mode)).collect();
        assert_eq!(
            names,
            [
                ("privacy", Mode::Rules),
                ("privacy_semantic", Mode::Semantic),
                ("environmental_impact", Mode::Semantic),
                ("industries", Mode::Semantic),
            ]
        );
    }

    #[test]
    fn privacy_levels_are_told_by_their_keywords() {
        let ready = builtin().unwrap().remove(0).prepare(None).unwrap();
        for (text, level) in [
            ("Press release: our new shop opens on Monday. For immediate release.", "public"),
            (
                "CONFIDENTIAL. This agreement contains trade secrets. Do not disclose to third parties.",
                "confidential",
            ),
            (
                "Gehaltsabrechnung März. Sozialversicherungsnummer 12 345678 A 901. Steuer-ID 12345678901.",
                "secret",
            ),
            ("For internal use only. Minutes of the meeting of the project team.", "internal"),
            (
                "Patient: John Doe. Date of birth 1.2.1960. Diagnosis: diabetes. Medical record number 991.",
                "secret",
            ),
        ] {
            let said = ready.label(text, None).unwrap();
            assert_eq!(said.labels, [level], "{text} {said:?}");
        }
    }
}
