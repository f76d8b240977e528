//! Chance that can be repeated: SplitMix64, written out here so that no new version of a crate changes what a seed
//! gives.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A sequence of numbers that is decided by its seed.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    /// The chances of one document of one order.
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        let mut chance = Self { state: seed ^ 0x646F_636D_696C_6C21 };
        chance.state = chance.next() ^ number.wrapping_mul(STEP);
        // One more, so that neighbours have nothing in common.
        chance.state = chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both among them.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        debug_assert!(low <= high, "{low} to {high}");
        let span = u64::try_from(high - low).unwrap_or(0).saturating_add(1);
        // The high half of the product: every number is as likely as the next, but for one part in 2^40.
        let part = (u128::from(self.next()) * u128::from(span)) >> 64;
        low + part as i64
    }

    /// A number from 0 up to, but without, 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between two others.
    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.fraction()
    }

    /// True in this part of the cases.
    pub(crate) fn hits(&mut self, part: f64) -> bool {
        self.fraction() < part
    }

    /// One of them.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.between(0, from.len() as i64 - 1) as usize]
    }

    /// One of them, each as often as its weight says.
    pub(crate) fn weighted<'a, T>(&mut self, from: &'a [(T, u64)]) -> &'a T {
        let all: u64 = from.iter().map(|(_, weight)| weight).sum();
        let mut left = self.between(0, all as i64 - 1) as u64;
        for (item, weight) in from {
            if left < *weight {
                return item;
            }
            left -= weight;
        }
        &from[0].0
    }

    /// So many of them, none twice.
    pub(crate) fn several<'a, T>(&mut self, from: &'a [T], count: usize) -> Vec<&'a T> {
        let mut all: Vec<&T> = from.iter().collect();
        let mut out = Vec::new();
        while out.len() < count && !all.is_empty() {
            let at = self.between(0, all.len() as i64 - 1) as usize;
            out.push(all.swap_remove(at));
        }
        out
    }

    /// Decimal digits, the first of them no zero.
    pub(crate) fn digits(&mut self, count: usize) -> String {
        (0..count).map(|at| char::from(b'0' + self.between(i64::from(at == 0), 9) as u8)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_seed_and_the_number() {
        let first = |seed, number| Chance::of(seed, number).next();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(2, 1));
        assert_ne!(first(1, 2), first(1, 3));
    }

    #[test]
    fn between_reaches_both_ends_and_nothing_else() {
        let mut chance = Chance::of(7, 0);
        let mut seen = [false; 4];
        for _ in 0..200 {
            seen[usize::try_from(chance.between(3, 6) - 3).unwrap()] = true;
        }
        assert_eq!(seen, [true; 4]);
    }
}
