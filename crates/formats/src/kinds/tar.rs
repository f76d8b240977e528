//! TAR archives: every file in them, in their order.

use docmill_core::Result;
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::members::Members;
use crate::shared::tar::{self, Stream};
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "application/x-tar";

pub(super) struct Tar;

impl Format for Tar {
    fn name(&self) -> &'static str {
        "tar"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let damaged = head.bytes.get(257..262) == Some(b"ustar");
        (damaged || tar::is_header(head.bytes)).then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        input.go_to(0)?;
        let mut members = Members::new(sink, want);
        unpack(input, &mut members, want)
    }
}

/// Unpacks an archive and says what was wrong with it, also for one that was compressed.
pub(super) fn unpack(stream: &mut dyn Stream, members: &mut Members<'_>, want: Want) -> Result<()> {
    if !members.wanted() {
        return Ok(());
    }
    let ended = tar::unpack(stream, members)?;
    if want.metadata && ended.links > 0 {
        members.sink().meta("links", &ended.links.to_string())?;
    }
    match ended.damage {
        None => Ok(()),
        Some(damage) if members.count() == 0 => Err(damage),
        Some(damage) => {
            let message = format!("{}; {} members came before", damage.message(), members.count());
            members.sink().warn(Problem::new(ErrorKind::Corrupt, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;
    use docmill_core::wire::Found;

    use super::*;
    use crate::tests_support::{fixture, members, read_bytes, try_read};

    fn listed(bytes: &[u8]) -> Vec<String> {
        let shown = |(name, bytes): (String, std::result::Result<Vec<u8>, ErrorKind>)| match bytes {
            Ok(bytes) => format!("{name}: {}", String::from_utf8_lossy(&bytes)),
            Err(kind) => format!("{name}: {kind}"),
        };
        members(&read_bytes("a.tar", bytes)).into_iter().map(shown).collect()
    }

    fn long_name() -> String {
        format!("{}/end.txt", "long".repeat(40))
    }

    #[test]
    fn files_of_every_dialect_are_given_and_links_are_counted() {
        for file in ["tar/gnu.tar", "tar/pax.tar", "tar/ustar.tar", "tar/v7.tar"] {
            let mut expected =
                vec!["a.txt: first".to_owned(), "empty: ".into(), "folder/größe.txt: second".into()];
            if file != "tar/v7.tar" && file != "tar/ustar.tar" {
                expected.push(format!("{}: third", long_name()));
            }
            assert_eq!(listed(&fixture(file)), expected, "{file}");
            assert_eq!(read_bytes("a.tar", &fixture(file)).value("links"), Some("1"), "{file}");
        }
    }

    #[test]
    fn cut_archive_gives_what_came_before_and_names_the_rest() {
        let whole = fixture("tar/ustar.tar");
        let cut = &whole[..whole.iter().rposition(|b| *b == b'd').unwrap()];
        let found = read_bytes("a.tar", cut);
        assert_eq!(listed(cut), ["a.txt: first", "empty: ", "folder/größe.txt: corrupt"]);
        assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
    }

    #[test]
    fn damaged_header_ends_the_reading_with_its_place() {
        let mut bytes = fixture("tar/ustar.tar");
        let second = bytes.windows(5).position(|w| w == b"empty").unwrap();
        bytes[second] = b'E';
        let found = read_bytes("a.tar", &bytes);
        assert_eq!(members(&found).len(), 1);
        assert!(found.warnings()[0].message.contains("no valid header"), "{:?}", found.warnings());
    }

    #[test]
    fn listing_passes_over_content() {
        let want = Want { listing: true, ..Want::KIND };
        let (found, result) =
            try_read("a.tar", &fixture("tar/gnu.tar"), want, &Limits::default().for_reader());
        result.unwrap();
        let sizes: Vec<u64> = found
            .0
            .iter()
            .filter_map(|f| if let Found::ChildListed { bytes, .. } = f { Some(*bytes) } else { None })
            .collect();
        assert_eq!(sizes, [5, 0, 6, 5]);
    }

    #[test]
    fn bomb_fails_its_member_and_stops() {
        let limits = ReadLimits { max_unpacked_bytes: 7, ..Limits::default().for_reader() };
        let (found, result) = try_read("a.tar", &fixture("tar/gnu.tar"), Want::CHILDREN, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::BombSuspected);
        assert_eq!(members(&found).last().unwrap().1, Err(ErrorKind::BombSuspected));
    }
}
