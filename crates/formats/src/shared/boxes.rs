//! The box that HEIF pictures lie in (ISO 23008-12): which item is the picture, where its bytes are, what it is made
//! of and how it is to be turned.
//!
//! Every number comes from the file: nothing is taken from a place that the file does not have, and lists end where
//! their box ends.
#![expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "a box is named by a byte string, which is a reference"
)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use docmill_core::{Error, Result};

/// Parts of one item, and items of one picture; a photograph has some hundreds.
const MAX_PARTS: usize = 4_096;

/// What stands in the `meta` box of a file.
pub(crate) struct Container<'a> {
    file: &'a [u8],
    /// Bytes of items that lie in the box itself.
    inside: &'a [u8],
    primary: u32,
    items: BTreeMap<u32, Item>,
    properties: Vec<Property>,
    /// What, from which item, to which.
    references: Vec<([u8; 4], u32, u32)>,
}

#[derive(Default)]
struct Item {
    kind: [u8; 4],
    /// Where its bytes are: offset and length.
    parts: Vec<(u64, u64)>,
    lies_inside: bool,
    /// Numbers of properties, in the order in which they apply.
    properties: Vec<usize>,
}

enum Property {
    /// Width and height before it is turned.
    Size(u32, u32),
    Turn(Turn),
    /// What an auxiliary picture is for.
    Purpose(Vec<u8>),
    Other,
}

/// What is done to a picture before it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// By so many degrees clockwise.
    Clockwise(u32),
    /// Top and bottom change places.
    UpsideDown,
    /// Left and right change places.
    SideToSide,
}

/// A picture that is put together from tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Grid {
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl<'a> Container<'a> {
    /// Reads the boxes of a file; its pictures are not looked at.
    pub(crate) fn read(file: &'a [u8]) -> Result<Self> {
        let meta = find(file, b"meta").and_then(|body| body.get(4..)).ok_or_else(|| broken("`meta`"))?;
        let mut primary = find(meta, b"pitm").map(Cursor::full).ok_or_else(|| broken("`pitm`"))?;
        let mut container = Self {
            file,
            inside: find(meta, b"idat").unwrap_or_default(),
            primary: primary.id().ok_or_else(|| broken("`pitm`"))?,
            items: BTreeMap::new(),
            properties: Vec::new(),
            references: Vec::new(),
        };
        container.kinds(meta).ok_or_else(|| broken("`iinf`"))?;
        container.places(meta).ok_or_else(|| broken("`iloc`"))?;
        container.links(meta).ok_or_else(|| broken("`iref`"))?;
        container.qualities(meta).ok_or_else(|| broken("`iprp`"))?;
        Ok(container)
    }

    /// The picture that is to be shown.
    pub(crate) fn primary(&self) -> u32 {
        self.primary
    }

    /// `av01`, `grid`, `Exif`.
    pub(crate) fn kind(&self, item: u32) -> Option<[u8; 4]> {
        self.items.get(&item).map(|item| item.kind)
    }

    /// The bytes of an item, put together.
    pub(crate) fn bytes(&self, item: u32) -> Result<Cow<'a, [u8]>> {
        let missing = || Error::corrupt(format!("item {item} of the picture lies outside the file"));
        let found = self.items.get(&item).ok_or_else(missing)?;
        let from = if found.lies_inside { self.inside } else { self.file };
        let part = |(offset, length): &(u64, u64)| {
            let begin = usize::try_from(*offset).ok()?;
            // A length of nothing means the rest.
            let end =
                if *length == 0 { from.len() } else { begin.checked_add(usize::try_from(*length).ok()?)? };
            from.get(begin..end)
        };
        let mut parts = Vec::with_capacity(found.parts.len());
        let mut total = 0;
        for place in &found.parts {
            let bytes = part(place).ok_or_else(missing)?;
            total += bytes.len();
            // Parts may overlap; a picture that is longer than its file is a trick.
            if total > self.file.len() {
                return Err(missing());
            }
            parts.push(bytes);
        }
        match parts.as_slice() {
            [] => Err(missing()),
            [one] => Ok(Cow::Borrowed(*one)),
            many => Ok(Cow::Owned(many.concat())),
        }
    }

    /// Width and height as the box says, before turning.
    pub(crate) fn size(&self, item: u32) -> Option<(u32, u32)> {
        self.of(item)
            .find_map(|p| if let Property::Size(width, height) = p { Some((*width, *height)) } else { None })
    }

    /// What is to be done to it, in order.
    pub(crate) fn turns(&self, item: u32) -> Vec<Turn> {
        self.of(item).filter_map(|p| if let Property::Turn(turn) = p { Some(*turn) } else { None }).collect()
    }

    /// The tiles of a grid, row by row, if the item is one.
    pub(crate) fn grid(&self, item: u32) -> Result<Option<(Grid, Vec<u32>)>> {
        if self.kind(item) != Some(*b"grid") {
            return Ok(None);
        }
        let bytes = self.bytes(item)?;
        let grid = Grid::read(&bytes).ok_or_else(|| broken("`grid`"))?;
        let tiles: Vec<u32> = self.targets(b"dimg", item).collect();
        if tiles.len() as u64 != u64::from(grid.rows) * u64::from(grid.columns) {
            return Err(Error::corrupt(format!(
                "picture of {} × {} tiles has {}",
                grid.columns,
                grid.rows,
                tiles.len()
            )));
        }
        Ok(Some((grid, tiles)))
    }

    /// The picture that says how much of an item is to be seen.
    pub(crate) fn transparency(&self, item: u32) -> Option<u32> {
        let of_item = self.references.iter().filter(|(what, _, to)| what == b"auxl" && *to == item);
        let is_alpha = |p: &Property| matches!(p, Property::Purpose(name) if name.ends_with(b":alpha"));
        of_item.map(|(_, from, _)| *from).find(|from| self.of(*from).any(is_alpha))
    }

    /// The remarks of the camera, in the form of TIFF.
    pub(crate) fn exif(&self) -> Option<Vec<u8>> {
        let item = self.items.iter().find(|(_, item)| item.kind == *b"Exif").map(|(id, _)| *id)?;
        let bytes = self.bytes(item).ok()?;
        let skip = u32::from_be_bytes(*bytes.first_chunk::<4>()?) as usize;
        bytes.get(4..)?.get(skip..).map(<[u8]>::to_vec)
    }

    fn of(&self, item: u32) -> impl Iterator<Item = &Property> {
        let numbers = self.items.get(&item).map(|item| item.properties.as_slice()).unwrap_or_default();
        numbers.iter().filter_map(|number| self.properties.get(*number))
    }

    fn targets(&self, what: &'static [u8; 4], item: u32) -> impl Iterator<Item = u32> {
        self.references.iter().filter(move |(w, from, _)| w == what && *from == item).map(|(_, _, to)| *to)
    }

    /// `iinf`: what items are.
    fn kinds(&mut self, meta: &[u8]) -> Option<()> {
        let body = find(meta, b"iinf")?;
        let counts = if *body.first()? == 0 { 2 } else { 4 };
        for (name, entry) in boxes(body.get(4 + counts..)?).take(MAX_PARTS) {
            let mut entry = Cursor::full(entry);
            // Older versions name no kind.
            if name != *b"infe" || entry.version < 2 {
                continue;
            }
            let id = if entry.version == 2 { entry.number(2)? } else { entry.number(4)? } as u32;
            entry.number(2)?;
            let kind = *entry.rest.first_chunk::<4>()?;
            self.items.insert(id, Item { kind, ..Item::default() });
        }
        Some(())
    }

    /// `iloc`: where items are.
    fn places(&mut self, meta: &[u8]) -> Option<()> {
        let mut body = Cursor::full(find(meta, b"iloc")?);
        let sizes = body.number(2)? as usize;
        let (offset, length, base, index) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, sizes & 15);
        let wide = body.version >= 2;
        let count = if wide { body.number(4)? } else { body.number(2)? };
        for _ in 0..count.min(MAX_PARTS as u64) {
            let id = if wide { body.number(4)? } else { body.number(2)? } as u32;
            let method = if body.version >= 1 { body.number(2)? & 15 } else { 0 };
            body.number(2)?;
            let begin = body.number(base)?;
            let parts = body.number(2)?;
            let mut places = Vec::new();
            for _ in 0..parts.min(MAX_PARTS as u64) {
                if body.version >= 1 {
                    body.number(index)?;
                }
                let at = body.number(offset)?;
                places.push((begin.checked_add(at)?, body.number(length)?));
            }
            // Method 2 points into another item: nobody writes that for pictures.
            if let Some(item) = self.items.get_mut(&id).filter(|_| method < 2) {
                (item.parts, item.lies_inside) = (places, method == 1);
            }
        }
        Some(())
    }

    /// `iref`: which item belongs to which. Many files have none.
    fn links(&mut self, meta: &[u8]) -> Option<()> {
        let Some(body) = find(meta, b"iref") else { return Some(()) };
        let version = *body.first()?;
        for (what, entry) in boxes(body.get(4..)?) {
            let mut entry = Cursor { version, rest: entry };
            let from = entry.id()?;
            for _ in 0..entry.number(2)? {
                let to = entry.id()?;
                if self.references.len() < MAX_PARTS {
                    self.references.push((what, from, to));
                }
            }
        }
        Some(())
    }

    /// `iprp`: properties, and which items have them.
    fn qualities(&mut self, meta: &[u8]) -> Option<()> {
        let body = find(meta, b"iprp")?;
        self.properties =
            boxes(find(body, b"ipco")?).take(MAX_PARTS).map(|(n, b)| Property::read(n, b)).collect();
        for (_, entry) in boxes(body).filter(|(name, _)| name == b"ipma") {
            let wide = *entry.get(3)? & 1 == 1;
            let mut entry = Cursor::full(entry);
            let count = entry.number(4)?;
            for _ in 0..count.min(MAX_PARTS as u64) {
                let id = if entry.version == 0 { entry.number(2)? } else { entry.number(4)? } as u32;
                for _ in 0..entry.number(1)? {
                    // The highest bit says that it must not be passed over.
                    let number = if wide { entry.number(2)? & 0x7fff } else { entry.number(1)? & 0x7f };
                    if let (Some(item), Some(number)) = (self.items.get_mut(&id), number.checked_sub(1)) {
                        item.properties.push(number as usize);
                    }
                }
            }
        }
        Some(())
    }
}

impl Property {
    fn read(name: [u8; 4], body: &[u8]) -> Self {
        let known = match &name {
            b"ispe" => Self::size(body),
            b"irot" => {
                body.first().map(|turns| Self::Turn(Turn::Clockwise((4 - u32::from(turns & 3)) % 4 * 90)))
            }
            b"imir" => body
                .first()
                .map(|axis| Self::Turn(if axis & 1 == 0 { Turn::UpsideDown } else { Turn::SideToSide })),
            b"auxC" => body
                .get(4..)
                .map(|text| Self::Purpose(text.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())),
            _ => None,
        };
        known.unwrap_or(Self::Other)
    }

    fn size(body: &[u8]) -> Option<Self> {
        let mut body = Cursor::full(body);
        Some(Self::Size(body.number(4)? as u32, body.number(4)? as u32))
    }
}

impl Grid {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Cursor { version: 0, rest: bytes };
        let flags = bytes.number(2)?;
        let side = if flags & 1 == 1 { 4 } else { 2 };
        Some(Self {
            rows: bytes.number(1)? as u32 + 1,
            columns: bytes.number(1)? as u32 + 1,
            width: bytes.number(side)? as u32,
            height: bytes.number(side)? as u32,
        })
    }
}

/// What is left of a box, and its version where it has one.
struct Cursor<'a> {
    version: u8,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// A box that begins with a version and flags.
    fn full(body: &'a [u8]) -> Self {
        Self { version: body.first().copied().unwrap_or(0), rest: body.get(4..).unwrap_or_default() }
    }

    /// The next number of so many bytes; one of no bytes is nothing.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let (number, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        number.iter().try_fold(0_u64, |sum, byte| Some(sum.checked_mul(256)? + u64::from(*byte)))
    }

    /// The number of an item, whose length depends on the version.
    fn id(&mut self) -> Option<u32> {
        let bytes = if self.version == 0 { 2 } else { 4 };
        self.number(bytes).map(|id| id as u32)
    }
}

/// Boxes one after the other, as far as they are whole.
fn boxes(bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let name = *rest.get(4..)?.first_chunk::<4>()?;
        let (head, length) = match u32::from_be_bytes(*rest.first_chunk::<4>()?) {
            0 => (8, rest.len()),
            1 => (16, usize::try_from(u64::from_be_bytes(*rest.get(8..)?.first_chunk::<8>()?)).ok()?),
            length => (8, length as usize),
        };
        let body = rest.get(head..length)?;
        rest = rest.get(length..)?;
        Some((name, body))
    })
}

fn find<'a>(bytes: &'a [u8], name: &[u8; 4]) -> Option<&'a [u8]> {
    boxes(bytes).find(|(n, _)| n == name).map(|(_, body)| body)
}

fn broken(what: &str) -> Error {
    Error::corrupt(format!("box {what} of the picture is missing or damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
        [&(body.len() as u32 + 8).to_be_bytes()[..], name, body].concat()
    }

    /// A file with one item of 4 bytes at offset 8, which is turned and mirrored.
    fn file(parts: &[u8]) -> Vec<u8> {
        let entry = packed(b"infe", b"\x02\0\0\0\0\x01\0\0av01\0");
        let items = packed(b"iinf", &[&b"\0\0\0\0\0\x01"[..], &entry].concat());
        let places = packed(b"iloc", &[&b"\0\0\0\0\x44\0\0\x01\0\x01\0\0"[..], parts].concat());
        let size = packed(b"ispe", b"\0\0\0\0\0\0\0\x20\0\0\0\x10");
        let held = packed(b"ipco", &[size, packed(b"irot", b"\x01"), packed(b"imir", b"\x01")].concat());
        let owned = packed(b"ipma", b"\0\0\0\0\0\0\0\x01\0\x01\x03\x01\x82\x83");
        let all = [
            b"\0\0\0\0".to_vec(),
            packed(b"pitm", b"\0\0\0\0\0\x01"),
            items,
            places,
            packed(b"iprp", &[held, owned].concat()),
        ];
        [packed(b"mdat", b"data"), packed(b"meta", &all.concat())].concat()
    }

    #[test]
    fn item_is_found_with_its_size_and_turns() {
        let file = file(b"\0\x01\0\0\0\x08\0\0\0\x04");
        let container = Container::read(&file).unwrap();
        let item = container.primary();
        assert_eq!((container.kind(item), container.size(item)), (Some(*b"av01"), Some((32, 16))));
        assert_eq!(&*container.bytes(item).unwrap(), b"data");
        assert_eq!(container.turns(item), [Turn::Clockwise(270), Turn::SideToSide]);
        assert_eq!((container.transparency(item), container.exif()), (None, None));
    }

    #[test]
    fn item_outside_the_file_or_longer_than_it_is_damaged() {
        let far = file(b"\0\x01\xff\0\0\0\0\0\0\x04");
        assert!(Container::read(&far).unwrap().bytes(1).is_err());
        let again: Vec<u8> = [&b"\0\xff"[..], &b"\0\0\0\x08\0\0\0\x10".repeat(255)].concat();
        assert!(Container::read(&file(&again)).unwrap().bytes(1).is_err());
    }

    #[test]
    fn cut_off_anywhere_it_is_an_error_and_no_panic() {
        let whole = file(b"\0\x01\0\0\0\x08\0\0\0\x04");
        for length in 0..whole.len() {
            assert!(Container::read(&whole[..length]).is_err(), "{length}");
        }
    }
}
