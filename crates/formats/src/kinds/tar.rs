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
    use crate::shared::tar::BLOCK;
    use crate::tests_support::{EVERYTHING, fixture, members, read_bytes, try_read};

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
    fn archive_cut_inside_a_header_is_damaged_and_one_without_its_end_mark_is_not() {
        let whole = fixture("tar/ustar.tar");
        let second = whole.windows(5).position(|w| w == b"empty").unwrap();
        for beyond in [1, 300, 511] {
            let found = read_bytes("a.tar", &whole[..second + beyond]);
            assert_eq!(members(&found).len(), 1);
            assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
            let message = &found.warnings()[0].message;
            assert!(message.contains(&format!("ends inside a header at byte {second}")), "{message}");
        }
        let nothing_before = try_read("a.tar", &whole[..300], EVERYTHING, &Limits::default().for_reader()).1;
        assert_eq!(nothing_before.unwrap_err().kind(), ErrorKind::Corrupt);
        // Some programs write no end mark, and some copies lose a part of it.
        let end = whole.iter().rposition(|b| *b != 0).unwrap() / BLOCK * BLOCK + BLOCK;
        for length in [second, end, end + 100, end + BLOCK + 100] {
            let found = read_bytes("a.tar", &whole[..length]);
            assert!(found.warnings().is_empty(), "{length}: {:?}", found.warnings());
        }
    }

    #[test]
    fn name_of_absurd_length_costs_no_member() {
        let header = |name: &[u8], kind: u8, length: usize| {
            let mut block = [0; BLOCK];
            block[..name.len()].copy_from_slice(name);
            block[124..135].copy_from_slice(format!("{length:011o}").as_bytes());
            block[148..156].fill(b' ');
            block[156] = kind;
            let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
            block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
            block
        };
        let long = format!("{}.txt", "n".repeat(70_000));
        let mut bytes = header(b"././@LongLink", b'L', long.len()).to_vec();
        bytes.extend(long.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes.extend(header(b"cut", b'0', 0));
        bytes.extend(header(b"next", b'0', 0));
        bytes.extend([0; 2 * BLOCK]);
        let found = read_bytes("a.tar", &bytes);
        let parts = members(&found);
        assert!(parts[0].0.len() <= 4096 && parts[0].0.ends_with("n.txt"), "{}", parts[0].0.len());
        assert_eq!(parts[1], ("next".to_owned(), Ok(Vec::new())));
        assert_eq!(found.warnings()[0].kind, ErrorKind::LimitExceeded);
    }

    #[test]
    fn holes_are_filled_in_every_way_of_writing_them_down() {
        let header = |name: &str, kind: u8, length: usize, holes: &[&str]| {
            let mut block = [0; BLOCK];
            block[..name.len()].copy_from_slice(name.as_bytes());
            block[124..135].copy_from_slice(format!("{length:011o}").as_bytes());
            block[148..156].fill(b' ');
            block[156] = kind;
            for (at, number) in holes.iter().enumerate() {
                // The last one is the length with holes, which stands apart.
                let at = if at + 1 == holes.len() { 483 } else { 386 + 12 * at };
                block[at..at + number.len()].copy_from_slice(number.as_bytes());
            }
            let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
            block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
            block.to_vec()
        };
        let content = |bytes: &[u8]| {
            let mut out = bytes.to_vec();
            out.resize(out.len().next_multiple_of(BLOCK), 0);
            out
        };
        let pax = |fields: &[&str]| {
            let lines = fields.iter().map(|field| format!("{} {field}\n", field.len() + 4));
            let records = lines.collect::<Vec<_>>().concat();
            [header("x", b'x', records.len(), &[]), content(records.as_bytes())].concat()
        };
        let old = ["00000000003", "00000000002", "00000000006", "00000000001", "00000000010"];
        let archives = [
            [header("a", b'S', 3, &old), content(b"abc")].concat(),
            [
                pax(&["GNU.sparse.size=8", "GNU.sparse.map=3,2,6,1"]),
                header("a", b'0', 3, &[]),
                content(b"abc"),
            ]
            .concat(),
            [
                pax(&[
                    "GNU.sparse.size=8",
                    "GNU.sparse.offset=3",
                    "GNU.sparse.numbytes=2",
                    "GNU.sparse.offset=6",
                    "GNU.sparse.numbytes=1",
                ]),
                header("a", b'0', 3, &[]),
                content(b"abc"),
            ]
            .concat(),
            [
                pax(&["GNU.sparse.major=1", "GNU.sparse.realsize=8"]),
                header("a", b'0', BLOCK + 3, &[]),
                content(b"2\n3\n2\n6\n1\n"),
                content(b"abc"),
            ]
            .concat(),
        ];
        for archive in archives {
            let after = [archive, header("b", b'0', 1, &[]), content(b"z"), vec![0; 2 * BLOCK]].concat();
            assert_eq!(listed(&after), ["a: \0\0\0ab\0c\0", "b: z"]);
        }
        let lying = ["00000000003", "00000000009", "", "", "00000000010"];
        let lying = [header("a", b'S', 3, &lying), content(b"abc"), header("b", b'0', 0, &[])].concat();
        assert_eq!(listed(&lying), ["a: corrupt", "b: "]);
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
