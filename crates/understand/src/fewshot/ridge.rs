//! Ridge regression over nearness: the classifier is a weight for each example and label, found by solving one system of
//! equations exactly.
//!
//! What it would have said of each example without having seen it follows from the same solution. So strength and mix
//! are chosen without a second set of examples, and confidence is fitted to answers about unseen texts. Nothing here is
//! drawn by chance: the same examples give the same classifier.

/// A square matrix, row by row.
pub(super) struct Square {
    pub(super) size: usize,
    pub(super) cells: Vec<f64>,
}

impl Square {
    pub(super) fn zero(size: usize) -> Self {
        Self { size, cells: vec![0.0; size * size] }
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..(row + 1) * self.size]
    }
}

/// A solved system.
pub(super) struct Solution {
    /// For each example, the weight that it has for each label.
    pub(super) weights: Vec<Vec<f64>>,
    /// For each example, the scores of the labels by a classifier that has not seen it.
    pub(super) unseen: Vec<Vec<f64>>,
}

/// Solves `(nearness + strength) · weights = truth`, where the truth of an example is 1 for its label and 0 for others,
/// less the share of the label: what is near to nothing belongs to the most frequent label.
pub(super) fn solve(nearness: &Square, strength: f64, labels: &[usize], count: usize) -> Option<Solution> {
    let size = nearness.size;
    let mut inverse = Square { size, cells: nearness.cells.clone() };
    for i in 0..size {
        inverse.cells[i * size + i] += strength;
    }
    invert(&mut inverse)?;
    let shares = shares(labels, count);
    let truth = |example: usize, label: usize| f64::from(labels[example] == label) - shares[label];
    let mut weights = vec![vec![0.0; count]; size];
    let mut unseen = weights.clone();
    for i in 0..size {
        let row = inverse.row(i);
        for label in 0..count {
            let weight: f64 = row.iter().enumerate().map(|(j, cell)| cell * truth(j, label)).sum();
            weights[i][label] = weight;
            unseen[i][label] = truth(i, label) - weight / row[i] + shares[label];
        }
    }
    Some(Solution { weights, unseen })
}

/// How large a part of the examples has each label.
pub(super) fn shares(labels: &[usize], count: usize) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    for label in labels {
        shares[*label] += 1.0 / labels.len() as f64;
    }
    shares
}

/// Replaces a symmetric positive definite matrix by its inverse (Cholesky); nothing if it is none.
fn invert(matrix: &mut Square) -> Option<()> {
    let n = matrix.size;
    let cells = &mut matrix.cells;
    // The lower triangle becomes the root of the matrix.
    for i in 0..n {
        for j in 0..=i {
            let (upper, lower) = cells.split_at(i * n);
            let row_i = &lower[..j];
            let row_j = if i == j { row_i } else { &upper[j * n..j * n + j] };
            let rest = lower[j] - dot(row_i, row_j);
            cells[i * n + j] = if i == j {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / cells[j * n + j]
            };
        }
    }
    // The inverse of the root, column by column; it is kept transposed in the upper triangle so that rows stay together.
    let mut root = vec![0.0; n * n];
    for j in 0..n {
        root[j * n + j] = 1.0 / cells[j * n + j];
        for i in j + 1..n {
            let sum = dot(&cells[i * n + j..i * n + i], &root[j * n + j..j * n + i]);
            root[j * n + i] = -sum / cells[i * n + i];
        }
    }
    for i in 0..n {
        for j in 0..=i {
            let value = dot(&root[i * n + i..(i + 1) * n], &root[j * n + i..(j + 1) * n]);
            cells[i * n + j] = value;
            cells[j * n + i] = value;
        }
    }
    Some(())
}

/// In eight sums side by side, which the compiler turns into one instruction; the order is fixed, so the result is.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (mut left, mut right) = (a.chunks_exact(8), b.chunks_exact(8));
    for (x, y) in left.by_ref().zip(right.by_ref()) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_one() {
        let n = 9;
        let mut matrix = Square::zero(n);
        for i in 0..n {
            for j in 0..n {
                matrix.cells[i * n + j] = 1.0 / (1.0 + i.abs_diff(j) as f64) + f64::from(i == j);
            }
        }
        let original = matrix.cells.clone();
        invert(&mut matrix).unwrap();
        for i in 0..n {
            for j in 0..n {
                let cell: f64 = (0..n).map(|k| original[i * n + k] * matrix.cells[k * n + j]).sum();
                assert!((cell - f64::from(i == j)).abs() < 1e-9, "{i} {j} {cell}");
            }
        }
    }

    #[test]
    fn what_was_not_seen_is_as_if_it_had_been_left_out() {
        // Four points on a line; leaving the last one out by hand must give what the solution says of it.
        let at = [0.0, 0.1, 1.0, 0.9_f64];
        let near = |i: usize, j: usize| (-(at[i] - at[j]).powi(2)).exp();
        let labels = [0, 0, 1, 1];
        let square = |n: usize| {
            let mut square = Square::zero(n);
            for i in 0..n {
                for j in 0..n {
                    square.cells[i * n + j] = near(i, j);
                }
            }
            square
        };
        let whole = solve(&square(4), 0.5, &labels, 2).unwrap();
        let without = solve(&square(3), 0.5, &labels[..3], 2).unwrap();
        // The shares of the labels differ between the two, so only roughly.
        let by_hand: f64 =
            (0..3).map(|i| without.weights[i][1] * near(3, i)).sum::<f64>() + shares(&labels[..3], 2)[1];
        assert!((whole.unseen[3][1] - by_hand).abs() < 0.1, "{} {by_hand}", whole.unseen[3][1]);
    }

    #[test]
    fn matrix_that_has_no_root_is_refused() {
        let mut matrix = Square { size: 2, cells: vec![0.0, 1.0, 1.0, 0.0] };
        assert!(invert(&mut matrix).is_none());
    }
}
