//! Pages as a PDF file: with text that can be selected, or as pictures alone.

use docmill_core::Result;
use jiff::civil::Date;
use pdf_writer::types::{FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};

use super::Size;
use super::font::{FIRST, Face, Fonts, characters, pack};
use super::page::{Page, font_name};

const PRODUCER: &str = concat!("docmill ", env!("CARGO_PKG_VERSION"), " (test document)");

/// A picture of a page.
pub(crate) struct Picture {
    /// Of the paper, in points.
    pub(crate) size: Size,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) coloured: bool,
    pub(crate) jpeg: Vec<u8>,
}

/// Numbers of objects, in order.
struct Numbers(i32);

impl Numbers {
    fn next(&mut self) -> Ref {
        self.0 += 1;
        Ref::new(self.0)
    }
}

/// With text, fonts and drawings.
pub(crate) fn write(fonts: &Fonts, pages: &[Page<'_>], title: &str, date: Date) -> Result<Vec<u8>> {
    let mut numbers = Numbers(0);
    let (mut pdf, tree) = begin(&mut numbers, title, date);
    let used: Vec<(Face, Ref)> = Face::ALL
        .into_iter()
        .filter(|face| pages.iter().any(|page| page.faces().contains(face)))
        .map(|face| (face, numbers.next()))
        .collect();
    let mut kids = Vec::new();
    for page in pages {
        let (id, drawing) = (numbers.next(), numbers.next());
        kids.push(id);
        let mut node = pdf.page(id);
        node.media_box(Rect::new(0.0, 0.0, page.size.0, page.size.1)).parent(tree).contents(drawing);
        let mut resources = node.resources();
        let mut named = resources.fonts();
        for (face, font) in used.iter().filter(|(face, _)| page.faces().contains(face)) {
            named.pair(Name(font_name(*face).as_bytes()), *font);
        }
        named.finish();
        resources.finish();
        node.finish();
        pdf.stream(drawing, &pack(page.drawing())?).filter(Filter::FlateDecode);
    }
    for (face, id) in &used {
        embed(&mut pdf, &mut numbers, fonts, *face, *id)?;
    }
    pdf.pages(tree).count(kids.len() as i32).kids(kids);
    Ok(pdf.finish())
}

/// With nothing but pictures, as scanners make it.
pub(crate) fn write_pictures(pictures: &[Picture], title: &str, date: Date) -> Vec<u8> {
    let mut numbers = Numbers(0);
    let (mut pdf, tree) = begin(&mut numbers, title, date);
    let mut kids = Vec::new();
    for picture in pictures {
        let (id, drawing, image) = (numbers.next(), numbers.next(), numbers.next());
        kids.push(id);
        let (width, height) = picture.size;
        let mut node = pdf.page(id);
        node.media_box(Rect::new(0.0, 0.0, width, height)).parent(tree).contents(drawing);
        node.resources().x_objects().pair(Name(b"I"), image);
        node.finish();
        let mut content = Content::new();
        content.transform([width, 0.0, 0.0, height, 0.0, 0.0]).x_object(Name(b"I"));
        pdf.stream(drawing, &content.finish());
        let mut object = pdf.image_xobject(image, &picture.jpeg);
        object.filter(Filter::DctDecode);
        object.width(picture.width as i32).height(picture.height as i32);
        if picture.coloured {
            object.color_space().device_rgb();
        } else {
            object.color_space().device_gray();
        }
        object.bits_per_component(8);
        object.finish();
    }
    pdf.pages(tree).count(kids.len() as i32).kids(kids);
    pdf.finish()
}

fn begin(numbers: &mut Numbers, title: &str, date: Date) -> (Pdf, Ref) {
    let mut pdf = Pdf::new();
    pdf.set_version(1, 7);
    let (catalog, tree, info) = (numbers.next(), numbers.next(), numbers.next());
    pdf.catalog(catalog).pages(tree);
    let made = pdf_writer::Date::new(date.year().unsigned_abs())
        .month(date.month().unsigned_abs())
        .day(date.day().unsigned_abs());
    pdf.document_info(info).title(TextStr(title)).producer(TextStr(PRODUCER)).creation_date(made);
    (pdf, tree)
}

fn embed(pdf: &mut Pdf, numbers: &mut Numbers, fonts: &Fonts, face: Face, id: Ref) -> Result<()> {
    let font = fonts.get(face);
    let (descriptor, program, unicode) = (numbers.next(), numbers.next(), numbers.next());
    let name = Name(font.name.as_bytes());
    let mut node = pdf.type1_font(id);
    node.base_font(name)
        .first_char(FIRST)
        .last_char(0xFF)
        .widths(font.widths.iter().map(|width| f32::from(*width)))
        .font_descriptor(descriptor)
        .to_unicode(unicode);
    node.encoding_predefined(Name(b"WinAnsiEncoding"));
    node.finish();
    let mut flags = FontFlags::NON_SYMBOLIC;
    flags.set(FontFlags::SERIF, font.serif);
    flags.set(FontFlags::ITALIC, font.italic);
    flags.set(FontFlags::FIXED_PITCH, font.fixed);
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(flags)
        .bbox(Rect::new(-170.0, -225.0, 1120.0, 930.0))
        .italic_angle(if font.italic { -12.0 } else { 0.0 })
        .ascent(750.0)
        .descent(-220.0)
        .cap_height(700.0)
        .stem_v(if font.bold { 140.0 } else { 85.0 })
        .font_file3(program);
    let mut stream = pdf.stream(program, &font.packed);
    stream.pair(Name(b"Subtype"), Name(b"Type1C"));
    stream.filter(Filter::FlateDecode);
    stream.finish();
    let system = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"UCS"), supplement: 0 };
    let mut cmap = UnicodeCmap::new(Name(b"WinAnsi"), system);
    for (code, character) in characters() {
        cmap.pair(code, character);
    }
    pdf.cmap(unicode, &pack(&cmap.finish())?).filter(Filter::FlateDecode);
    Ok(())
}
