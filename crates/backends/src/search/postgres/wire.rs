//! The server's own binary forms of `tsvector` and `tsquery`. Words travel as counted bytes between fixed signs, so the
//! server parses no text of ours, and nothing that stands in a document or a query can become syntax.

use sqlx_core::encode::{Encode, IsNull};
use sqlx_core::error::BoxDynError;
use sqlx_core::types::Type;
use sqlx_postgres::types::Oid;
use sqlx_postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, Postgres};

/// The highest position the server keeps.
pub(super) const MAX_POSITION: u16 = 16_383;

/// The most positions of one lexeme that the server keeps.
pub(super) const MAX_POSITIONS: usize = 255;

/// What all lexemes of a vector may cost together, by [`cost`]. The server's limit is a mebibyte.
pub(super) const MAX_COST: usize = 1_000_000;

/// An upper bound of what a lexeme takes of the server's limit.
pub(super) fn cost(lexeme_bytes: usize, positions: usize) -> usize {
    lexeme_bytes + 4 + 2 * positions
}

/// A `tsvector`.
#[derive(Debug)]
pub(super) struct TsVector(Vec<u8>);

impl TsVector {
    /// From lexemes, each once, with their positions in ascending order.
    pub(super) fn new(mut lexemes: Vec<(String, Vec<u16>)>) -> Self {
        // The server's own order; it need not sort then.
        lexemes.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        debug_assert!(lexemes.windows(2).all(|pair| pair[0].0 != pair[1].0), "a lexeme stands once");
        let bytes: usize =
            lexemes.iter().map(|(lexeme, positions)| lexeme.len() + 3 + 2 * positions.len()).sum();
        let mut out = Vec::with_capacity(4 + bytes);
        out.extend_from_slice(&(lexemes.len() as u32).to_be_bytes());
        for (lexeme, positions) in lexemes {
            out.extend_from_slice(lexeme.as_bytes());
            out.push(0);
            out.extend_from_slice(&(positions.len() as u16).to_be_bytes());
            for position in positions {
                out.extend_from_slice(&position.to_be_bytes());
            }
        }
        Self(out)
    }

    /// How much there is to send.
    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl Type<Postgres> for TsVector {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3614))
    }
}

impl PgHasArrayType for TsVector {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3643))
    }
}

impl Encode<'_, Postgres> for TsVector {
    fn encode_by_ref(&self, buf: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buf.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }
}

/// A `tsquery`.
#[derive(Clone, Debug)]
pub(super) enum TsQuery {
    /// The lexeme is there.
    Lexeme(String),
    /// A lexeme that begins so is there.
    Beginning(String),
    /// This is not met.
    Not(Box<TsQuery>),
    /// All are met.
    All(Vec<TsQuery>),
    /// One is met.
    Any(Vec<TsQuery>),
    /// Each stands directly behind the one before.
    Phrase(Vec<TsQuery>),
}

const VALUE: u8 = 1;
const OPERATOR: u8 = 2;
const NOT: u8 = 1;
const AND: u8 = 2;
const OR: u8 = 3;
const PHRASE: u8 = 4;

impl TsQuery {
    /// How many items the server counts in it.
    fn items(&self) -> usize {
        match self {
            Self::Lexeme(_) | Self::Beginning(_) => 1,
            Self::Not(inner) => 1 + inner.items(),
            Self::All(parts) | Self::Any(parts) | Self::Phrase(parts) => {
                parts.iter().map(Self::items).sum::<usize>() + parts.len().saturating_sub(1)
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Lexeme(lexeme) => write_value(lexeme, false, out),
            Self::Beginning(lexeme) => write_value(lexeme, true, out),
            Self::Not(inner) => {
                out.extend_from_slice(&[OPERATOR, NOT]);
                inner.write(out);
            }
            Self::All(parts) => write_chain(&[OPERATOR, AND], parts, out),
            Self::Any(parts) => write_chain(&[OPERATOR, OR], parts, out),
            Self::Phrase(parts) => write_chain(&[OPERATOR, PHRASE, 0, 1], parts, out),
        }
    }
}

fn write_value(lexeme: &str, prefix: bool, out: &mut Vec<u8>) {
    // No weights are asked for.
    out.extend_from_slice(&[VALUE, 0, u8::from(prefix)]);
    out.extend_from_slice(lexeme.as_bytes());
    out.push(0);
}

/// `a`, then `b` to it, then `c` to both: operators come before their operands, and the right one before the left.
fn write_chain(operator: &[u8], parts: &[TsQuery], out: &mut Vec<u8>) {
    debug_assert!(!parts.is_empty(), "an operator has operands");
    for (place, part) in parts.iter().enumerate().rev() {
        if place > 0 {
            out.extend_from_slice(operator);
        }
        part.write(out);
    }
}

impl Type<Postgres> for TsQuery {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3615))
    }
}

impl PgHasArrayType for TsQuery {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3645))
    }
}

impl Encode<'_, Postgres> for TsQuery {
    fn encode_by_ref(&self, buf: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buf.extend_from_slice(&u32::try_from(self.items())?.to_be_bytes());
        self.write(buf);
        Ok(IsNull::No)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_is_sorted_and_counted() {
        let vector = TsVector::new(vec![("b".into(), vec![2, 258]), ("a".into(), vec![])]);
        assert_eq!(vector.0, b"\0\0\0\x02a\0\0\0b\0\0\x02\0\x02\x01\x02");
    }

    #[test]
    fn query_puts_operators_before_their_operands() {
        let word = |word: &str| TsQuery::Lexeme(word.into());
        let query = TsQuery::All(vec![
            TsQuery::Phrase(vec![word("a"), word("b")]),
            TsQuery::Beginning("c".into()),
            TsQuery::Not(Box::new(word("d"))),
        ]);
        let mut out = Vec::new();
        query.write(&mut out);
        let expected: &[&[u8]] = &[
            &[2, 2],
            &[2, 1],
            b"\x01\0\0d\0",
            &[2, 2],
            b"\x01\0\x01c\0",
            &[2, 4, 0, 1],
            b"\x01\0\0b\0",
            b"\x01\0\0a\0",
        ];
        assert_eq!(out, expected.concat());
        assert_eq!(query.items(), 8);
    }
}
