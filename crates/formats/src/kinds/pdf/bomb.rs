//! Content streams that expand beyond reason, noticed before the interpreter unpacks them whole.
//!
//! Holds for the streams a page draws from, which is where such files put their bombs. Fonts, images and
//! forms are left to the child's memory limit.

use std::io::{self, Read};

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};
use flate2::read::ZlibDecoder;
use hayro_syntax::Filter;
use hayro_syntax::object::{Array, Stream};
use hayro_syntax::page::Page;

use super::lists;

/// Deflate makes at most so many bytes of one.
const MOST_PER_BYTE: u64 = 1032;

/// Refuses a page whose content unpacks to more than the limits on expansion allow.
pub(super) fn check(page: &Page<'_>, limits: &ReadLimits) -> Result<()> {
    let mut total = 0;
    if let Some(stream) = page.raw().get::<Stream<'_>>(b"Contents") {
        return check_stream(&stream, limits, &mut total);
    }
    let Some(streams) = page.raw().get::<Array<'_>>(b"Contents") else { return Ok(()) };
    lists::streams(&streams).try_for_each(|stream| check_stream(&stream, limits, &mut total))
}

fn check_stream(stream: &Stream<'_>, limits: &ReadLimits, total: &mut u64) -> Result<()> {
    let packed = stream.raw_data();
    let packed_bytes = packed.len() as u64;
    let layers = stream.filters().iter().take_while(|filter| matches!(filter, Filter::FlateDecode)).count();
    let allowed = limits.ratio_from_bytes.max(packed_bytes.saturating_mul(limits.max_ratio));
    let most = packed_bytes.saturating_mul(MOST_PER_BYTE.saturating_pow(layers as u32));
    // Unpacking twice is dear; nearly every stream is too short to become large.
    let left = allowed.saturating_sub(*total);
    *total += if most <= left { most } else { unpacked_bytes(&packed, layers, left) };
    if *total <= allowed {
        return Ok(());
    }
    Err(Error::bomb_suspected(format!(
        "content of {packed_bytes} bytes expands to more than {allowed} bytes, past the ratio of {}:1",
        limits.max_ratio
    ))
    .with_hint("raise `limits.max_ratio`"))
}

/// How many bytes come out of so many layers of deflate, counted to one more than `limit`. Damaged data ends
/// the count: the interpreter gets no further either.
fn unpacked_bytes(packed: &[u8], layers: usize, limit: u64) -> u64 {
    let mut reader: Box<dyn Read + '_> = Box::new(packed);
    for _ in 0..layers {
        reader = Box::new(ZlibDecoder::new(reader));
    }
    let mut counted = Counter(0);
    match io::copy(&mut reader.take(limit.saturating_add(1)), &mut counted) {
        Ok(_) | Err(_) => counted.0,
    }
}

struct Counter(u64);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
