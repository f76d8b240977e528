//! A vector in three sizes: as signs, to leave out at a glance what is far away; as bytes, to rank what is left; as
//! fixed-point numbers, which are kept in the file and lose nothing that matters.

use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::{Error, Result};

/// The signs of a vector's numbers.
pub(super) type Signs = [u64; DIMENSIONS / 64];

/// A number of a kept vector is so many of these.
const FIXED: f32 = 32_767.0;

/// A vector as bytes, and what one of their steps is worth.
#[derive(Clone)]
pub(super) struct Bytes {
    pub(super) steps: [i8; DIMENSIONS],
    pub(super) step: f32,
}

/// Checks what a caller gives: as many numbers as there must be, each of them finite.
pub(super) fn checked(vector: &[f32]) -> Result<&[f32; DIMENSIONS]> {
    let Some(vector) = vector.as_array::<DIMENSIONS>() else {
        let count = vector.len();
        return Err(Error::invalid_request(format!("a vector has {count} numbers, not {DIMENSIONS}")));
    };
    if vector.iter().all(|x| x.is_finite()) {
        Ok(vector)
    } else {
        Err(Error::invalid_request("a vector has a number that is not finite"))
    }
}

pub(super) fn signs(vector: &[f32; DIMENSIONS]) -> Signs {
    let mut signs = Signs::default();
    for (at, x) in vector.iter().enumerate() {
        signs[at / 64] |= u64::from(*x > 0.0) << (at % 64);
    }
    signs
}

/// How many signs differ.
#[inline]
pub(super) fn apart(a: &Signs, b: &Signs) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

pub(super) fn bytes(vector: &[f32; DIMENSIONS]) -> Bytes {
    let most = vector.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let step = most / 127.0;
    Bytes { steps: vector.map(|x| (x / step).round() as i8), step }
}

/// What the two vectors multiply to, about.
#[inline]
pub(super) fn product(a: &Bytes, b: &Bytes) -> f32 {
    let sum: i32 = a.steps.iter().zip(&b.steps).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    sum as f32 * a.step * b.step
}

/// As it is kept in the file.
pub(super) fn kept(vector: &[f32; DIMENSIONS]) -> Vec<u8> {
    vector.iter().flat_map(|x| ((x.clamp(-1.0, 1.0) * FIXED).round() as i16).to_le_bytes()).collect()
}

/// From the file; `None` if it is not the size of a vector.
pub(super) fn loaded(kept: &[u8]) -> Option<[f32; DIMENSIONS]> {
    let (pairs, rest) = kept.as_chunks::<2>();
    let numbers: &[[u8; 2]; DIMENSIONS] = pairs.try_into().ok().filter(|_| rest.is_empty())?;
    Some(numbers.map(|pair| f32::from(i16::from_le_bytes(pair)) / FIXED))
}

/// What the two vectors multiply to.
pub(super) fn exact_product(a: &[f32; DIMENSIONS], b: &[f32; DIMENSIONS]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any vector of length 1.
    pub(in super::super) fn any_vector() -> impl Strategy<Value = [f32; DIMENSIONS]> {
        prop::collection::vec(-1.0_f32..1.0, DIMENSIONS).prop_map(|numbers| {
            let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
            std::array::from_fn(|at| numbers[at] / length)
        })
    }

    proptest! {
        #[test]
        fn kept_vector_is_the_same_and_bytes_are_near(a in any_vector(), b in any_vector()) {
            let again = loaded(&kept(&a)).unwrap();
            prop_assert!((exact_product(&again, &a) - exact_product(&a, &a)).abs() < 1e-3);
            let near = product(&bytes(&a), &bytes(&b));
            prop_assert!((near - exact_product(&a, &b)).abs() < 0.02, "{near}");
            prop_assert_eq!(apart(&signs(&a), &signs(&a)), 0);
        }
    }

    #[test]
    fn odd_vectors_are_refused() {
        assert!(checked(&[0.0; 3]).is_err());
        assert!(checked(&[f32::NAN; DIMENSIONS]).is_err());
        assert_eq!(loaded(&[0; DIMENSIONS * 2 - 1]), None);
        // All zeros are no meaning, and harmless.
        assert!(product(&bytes(&[0.0; DIMENSIONS]), &bytes(&[0.0; DIMENSIONS])).abs() < f32::EPSILON);
    }
}
