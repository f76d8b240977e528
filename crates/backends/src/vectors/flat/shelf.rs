//! The vectors of one tenant in memory, and the scan over them.
//!
//! Few vectors are all compared. Of many, the signs are compared first, which is eight times less to read; what differs
//! in too many of them is left out. How many are looked at closely is set so that of the ten best at least 97 in 100 are
//! found among 20,000 made-up vectors in clusters, as the test below has them; on many real ones it is not measured yet.

use std::collections::HashMap;

use docmill_core::id::DocumentId;
use docmill_core::ports::embedder::DIMENSIONS;

use super::vector::{Bytes, Signs, apart, bytes, product, signs};

/// Up to so many vectors all are compared.
const ALL: usize = 8_192;

/// Of more, so many are looked at closely, and so many for each hit that is wanted.
const CLOSE: usize = 2_000;
const CLOSE_FOR_EACH: usize = 40;

/// A passage that was found, by its row in the file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Near {
    pub(super) document_id: DocumentId,
    pub(super) row: i64,
    pub(super) score: f32,
}

/// Vectors, place by place. The three lists are equally long.
#[derive(Default)]
pub(super) struct Shelf {
    signs: Vec<Signs>,
    bytes: Vec<Bytes>,
    /// Whose vector it is and its row; `None` where one was taken out.
    owners: Vec<Option<(DocumentId, i64)>>,
    places: HashMap<DocumentId, Vec<usize>>,
    free: Vec<usize>,
}

impl Shelf {
    pub(super) fn len(&self) -> usize {
        self.owners.len() - self.free.len()
    }

    pub(super) fn put(&mut self, document: DocumentId, row: i64, vector: &[f32; DIMENSIONS]) {
        let (signs, bytes) = (signs(vector), bytes(vector));
        let place = if let Some(place) = self.free.pop() {
            (self.signs[place], self.bytes[place]) = (signs, bytes);
            self.owners[place] = Some((document, row));
            place
        } else {
            self.signs.push(signs);
            self.bytes.push(bytes);
            self.owners.push(Some((document, row)));
            self.owners.len() - 1
        };
        self.places.entry(document).or_default().push(place);
    }

    pub(super) fn remove(&mut self, document: DocumentId) {
        for place in self.places.remove(&document).unwrap_or_default() {
            self.owners[place] = None;
            self.free.push(place);
        }
    }

    /// The passage of each document that is nearest, for the nearest documents among those that `fits`.
    pub(super) fn nearest(
        &self,
        vector: &[f32; DIMENSIONS],
        limit: usize,
        fits: impl Fn(DocumentId) -> bool,
    ) -> Vec<Near> {
        let wanted = bytes(vector);
        let mut best: HashMap<DocumentId, Near> = HashMap::new();
        for place in self.close(vector, limit, &fits) {
            let Some((document_id, row)) = self.owners[place] else { continue };
            let near = Near { document_id, row, score: product(&wanted, &self.bytes[place]) };
            let known = best.entry(document_id).or_insert(near);
            if near.score > known.score {
                *known = near;
            }
        }
        let mut all: Vec<Near> = best.into_values().collect();
        all.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.document_id.cmp(&b.document_id)));
        all.truncate(limit);
        all
    }

    /// The places that are worth a close look.
    fn close(
        &self,
        vector: &[f32; DIMENSIONS],
        limit: usize,
        fits: &impl Fn(DocumentId) -> bool,
    ) -> Vec<usize> {
        let taken = |place: &usize| self.owners[*place].is_some_and(|(document, _)| fits(document));
        if self.owners.len() <= ALL {
            return (0..self.owners.len()).filter(taken).collect();
        }
        let wanted = signs(vector);
        let apart: Vec<u16> = self.signs.iter().map(|signs| apart(&wanted, signs) as u16).collect();
        let mut having = [0_usize; DIMENSIONS + 1];
        for place in (0..apart.len()).filter(taken) {
            having[usize::from(apart[place])] += 1;
        }
        let enough = CLOSE.max(limit.saturating_mul(CLOSE_FOR_EACH));
        let mut sum = 0;
        let most = having.iter().position(|count| {
            sum += count;
            sum >= enough
        });
        let most = most.unwrap_or(DIMENSIONS) as u16;
        (0..apart.len()).filter(|place| apart[*place] <= most).filter(taken).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn id(n: usize) -> DocumentId {
        DocumentId(Uuid::from_u128(n as u128))
    }

    /// Vectors in clusters, as those of texts are; the same ones in every run.
    fn vector(n: usize) -> [f32; DIMENSIONS] {
        let mut state = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let cluster = n % 300;
        let mut numbers: [f32; DIMENSIONS] = std::array::from_fn(|_| random());
        let mut seed = (cluster as u64 + 77).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for x in &mut numbers {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            *x += (seed >> 40) as f32 / (1 << 24) as f32 - 0.5;
        }
        let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
        numbers.map(|x| x / length)
    }

    #[test]
    fn scan_of_many_finds_what_comparing_all_finds() {
        let mut shelf = Shelf::default();
        for n in 0..20_000 {
            shelf.put(id(n), n as i64, &vector(n));
        }
        let (mut found, mut asked) = (0, 0);
        for question in 0..20 {
            let wanted = vector(1_000_000 + question);
            let mut exact: Vec<(f32, usize)> =
                (0..20_000).map(|n| (super::super::vector::exact_product(&wanted, &vector(n)), n)).collect();
            exact.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            // Twice as many are kept for the exact look that follows.
            let near = shelf.nearest(&wanted, 20, |_| true);
            found +=
                exact[..10].iter().filter(|(_, n)| near.iter().any(|hit| hit.document_id == id(*n))).count();
            asked += 10;
        }
        assert!(found * 100 >= asked * 97, "{found} of {asked}");
    }

    #[test]
    fn removed_vectors_are_not_found_and_their_places_are_used_again() {
        let mut shelf = Shelf::default();
        for n in 0..10 {
            shelf.put(id(n), n as i64, &vector(n));
        }
        shelf.remove(id(3));
        assert_eq!(shelf.len(), 9);
        assert!(shelf.nearest(&vector(3), 10, |_| true).iter().all(|hit| hit.document_id != id(3)));
        shelf.put(id(3), 33, &vector(3));
        assert_eq!((shelf.len(), shelf.owners.len()), (10, 10));
        assert_eq!(shelf.nearest(&vector(3), 1, |_| true)[0].row, 33);
        assert!(shelf.nearest(&vector(3), 10, |document| document == id(4)).len() == 1);
    }
}
