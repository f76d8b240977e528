//! No reader panics, whatever the bytes: random ones, and valid files with damage.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary")]

use std::path::Path;

use docmill_core::limits::Limits;
use docmill_core::ocr::OcrMode;
use docmill_core::wire::Want;
use docmill_formats::input::Input;
use docmill_formats::kinds;
use docmill_formats::sink::Collected;
use proptest::prelude::*;

const EVERYTHING: Want = Want { children: true, ocr: OcrMode::Auto, ..Want::TEXT };

/// Every fixture but those of the probe, which misbehaves on purpose.
fn fixtures() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    kinds::ALL
        .iter()
        .filter(|format| format.name() != "probe")
        .flat_map(|format| walkdir::WalkDir::new(folder.join(format.name())).sort_by_file_name())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let file = std::fs::File::open(entry.path()).unwrap();
            docmill_core::limits::read_capped(file, 1 << 20, "fixture").unwrap()
        })
        .collect()
}

/// Gives the bytes to every reader, whether or not it would claim them.
fn read_with_all(bytes: &[u8]) {
    let limits = Limits::default().for_reader();
    for format in kinds::ALL.iter().filter(|format| format.name() != "probe") {
        let mut found = Collected::default();
        let result = format.parse(&mut Input::from_bytes(bytes.to_vec()), EVERYTHING, &limits, &mut found);
        // Any result will do: getting one is the point.
        drop(result);
        assert!(
            !found.warnings().iter().any(|w| w.kind == docmill_core::ErrorKind::Bug),
            "{}: {:?}",
            format.name(),
            found.warnings()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn readers_never_panic_on_random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        read_with_all(&bytes);
    }

    #[test]
    fn readers_never_panic_on_damaged_fixtures(
        which in any::<proptest::sample::Index>(),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<proptest::sample::Index>(),
    ) {
        let fixtures = fixtures();
        let mut bytes = which.get(&fixtures).clone();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        read_with_all(&bytes);
        bytes.truncate(cut.index(bytes.len()) + 1);
        read_with_all(&bytes);
    }
}
