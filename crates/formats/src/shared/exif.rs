//! What a camera writes into a picture: when, where, with what, and which way is up.

use docmill_core::Result;
use exif::{Exif, Field, In, Tag, Value};

use crate::sink::Sink;

/// A picture's own remarks are short; longer ones are something else.
const MAX_BYTES: usize = 4 << 20;

/// Tags that are told, with the names they are told under.
const TOLD: &[(Tag, &str)] = &[
    (Tag::ImageDescription, "description"),
    (Tag::Artist, "author"),
    (Tag::Copyright, "copyright"),
    (Tag::Software, "software"),
    (Tag::Make, "camera_make"),
    (Tag::Model, "camera_model"),
    (Tag::LensModel, "lens"),
    (Tag::DateTimeOriginal, "created"),
    (Tag::DateTime, "modified"),
    (Tag::OffsetTimeOriginal, "time_zone"),
    (Tag::ExposureTime, "exposure_time"),
    (Tag::FNumber, "aperture"),
    (Tag::FocalLength, "focal_length"),
    (Tag::PhotographicSensitivity, "iso"),
];

/// Remarks in the form of TIFF, read.
pub(crate) struct Remarks(Exif);

impl Remarks {
    /// Reads them; nothing if they are damaged, because the picture is what matters.
    pub(crate) fn read(raw: Vec<u8>) -> Option<Self> {
        if raw.len() > MAX_BYTES {
            return None;
        }
        exif::Reader::new().read_raw(raw).ok().map(Self)
    }

    /// Tells what is of use to people.
    pub(crate) fn emit(&self, sink: &mut dyn Sink) -> Result<()> {
        for (tag, name) in TOLD {
            if let Some(field) = self.field(*tag) {
                sink.meta(name, &shown(field))?;
            }
        }
        if let (Some(latitude), Some(longitude)) = (
            self.degrees(Tag::GPSLatitude, Tag::GPSLatitudeRef, b"S"),
            self.degrees(Tag::GPSLongitude, Tag::GPSLongitudeRef, b"W"),
        ) {
            sink.meta("location", &format!("{latitude:.6}, {longitude:.6}"))?;
        }
        Ok(())
    }

    /// The EXIF number from 1 to 8 that says how the pixels lie.
    pub(crate) fn orientation(&self) -> Option<u8> {
        self.field(Tag::Orientation)?.value.get_uint(0).and_then(|n| u8::try_from(n).ok())
    }

    /// Pixels to the inch.
    pub(crate) fn dpi(&self) -> Option<u32> {
        let Value::Rational(values) = &self.field(Tag::XResolution)?.value else { return None };
        let per_unit = values.first()?.to_f64();
        let unit = self.field(Tag::ResolutionUnit).and_then(|field| field.value.get_uint(0));
        let dpi = if unit == Some(3) { per_unit * 2.54 } else { per_unit };
        believable(dpi)
    }

    fn field(&self, tag: Tag) -> Option<&Field> {
        self.0.get_field(tag, In::PRIMARY)
    }

    fn degrees(&self, tag: Tag, side: Tag, negative: &[u8]) -> Option<f64> {
        let Value::Rational(parts) = &self.field(tag)?.value else { return None };
        let [degrees, minutes, seconds] = parts.first_chunk::<3>()?;
        let value = degrees.to_f64() + minutes.to_f64() / 60.0 + seconds.to_f64() / 3600.0;
        let turned = match &self.field(side)?.value {
            Value::Ascii(letters) => letters.first().is_some_and(|l| l.starts_with(negative)),
            _ => false,
        };
        (value.is_finite() && value.abs() <= 180.0).then_some(if turned { -value } else { value })
    }
}

/// A resolution that a scanner or a renderer may have used; 72 and less is what programs write that do not know.
pub(crate) fn believable(dpi: f64) -> Option<u32> {
    (dpi.is_finite() && (75.0..=2400.0).contains(&dpi)).then_some(dpi.round() as u32)
}

fn shown(field: &Field) -> String {
    match &field.value {
        Value::Ascii(parts) => {
            let text: Vec<_> = parts.iter().map(|part| String::from_utf8_lossy(part)).collect();
            text.join(" ").replace('\0', "")
        }
        _ => field.display_value().to_string(),
    }
}
