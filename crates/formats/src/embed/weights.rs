//! What the model has learnt, read out of its file one tensor at a time: no more of the file is in memory at once than
//! the largest of them.
//!
//! The format (safetensors) is a length, a table in JSON that says where each tensor lies, and their numbers.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use docmill_core::{Error, Result};
use serde::Deserialize;

/// The table of this model has ten thousand bytes.
const MAX_TABLE_BYTES: u64 = 1 << 20;

/// No tensor of this model is larger than that with its words, 47 MB.
const MAX_TENSOR_BYTES: u64 = 64 << 20;

/// The tensors of a file.
pub(super) struct Weights {
    file: File,
    table: HashMap<String, Entry>,
    /// Where the numbers begin.
    base: u64,
}

/// One line of the table. The one that is no tensor has none of this.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    dtype: String,
    #[serde(default)]
    shape: Vec<u64>,
    #[serde(default)]
    data_offsets: [u64; 2],
}

impl Weights {
    /// Reads the table.
    pub(super) fn open(file: File) -> Result<Self> {
        let mut length = [0; 8];
        file.read_exact_at(&mut length, 0).map_err(|e| broken("has no table").with_source(e))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_TABLE_BYTES {
            return Err(broken("has a table that is too long"));
        }
        let mut table = vec![0; length as usize];
        file.read_exact_at(&mut table, 8).map_err(|e| broken("ends in its table").with_source(e))?;
        let table =
            serde_json::from_slice(&table).map_err(|e| broken("has a broken table").with_source(e))?;
        Ok(Self { file, table, base: 8 + length })
    }

    /// The numbers of one tensor, which must have this shape.
    pub(super) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let entry = self.table.get(name).ok_or_else(|| broken(&format!("has no `{name}`")))?;
        let expected = shape.iter().map(|n| *n as u64);
        let numbers: u64 = expected.clone().product();
        let [from, to] = entry.data_offsets;
        let as_expected = entry.dtype == "F32"
            && entry.shape.iter().copied().eq(expected)
            && to.checked_sub(from) == Some(4 * numbers)
            && 4 * numbers <= MAX_TENSOR_BYTES;
        if !as_expected {
            return Err(broken(&format!("has another `{name}` than {shape:?}")));
        }
        let mut tensor = Vec::with_capacity(numbers as usize);
        let mut piece = vec![0; 64 << 10];
        let mut at = from;
        while at < to {
            let bytes = (to - at).min(piece.len() as u64) as usize;
            let Some(piece) = piece.get_mut(..bytes) else { break };
            let place = self.base.saturating_add(at);
            let missing = |e| broken(&format!("ends in `{name}`")).with_source(e);
            self.file.read_exact_at(piece, place).map_err(missing)?;
            let (numbers, _) = piece.as_chunks::<4>();
            tensor.extend(numbers.iter().map(|number| f32::from_le_bytes(*number)));
            at += bytes as u64;
        }
        Ok(tensor)
    }
}

fn broken(how: &str) -> Error {
    Error::missing_dependency(format!("the model's file {how}")).with_hint("`docmill models pull` fetches it")
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    /// A file with these tensors.
    pub(in crate::embed) fn file_of(tensors: &[(&str, &[usize], &[f32])]) -> File {
        let mut table = serde_json::Map::new();
        table.insert("__metadata__".into(), serde_json::json!({"format": "pt"}));
        let mut data: Vec<u8> = Vec::new();
        for (name, shape, numbers) in tensors {
            let from = data.len();
            data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            let entry =
                serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [from, data.len()]});
            table.insert((*name).into(), entry);
        }
        let table = serde_json::to_vec(&table).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&(table.len() as u64).to_le_bytes()).unwrap();
        file.write_all(&table).unwrap();
        file.write_all(&data).unwrap();
        file
    }

    #[test]
    fn tensors_are_read_by_name_and_shape() {
        let weights =
            Weights::open(file_of(&[("a", &[2], &[1.0, 2.0]), ("b", &[1, 3], &[3.0, 4.0, 5.0])])).unwrap();
        assert_eq!(weights.tensor("b", &[1, 3]).unwrap(), [3.0, 4.0, 5.0]);
        assert_eq!(weights.tensor("a", &[2]).unwrap(), [1.0, 2.0]);
        assert!(weights.tensor("a", &[1, 2]).unwrap_err().message().contains("another `a`"));
        assert!(weights.tensor("c", &[2]).unwrap_err().message().contains("no `c`"));
    }

    #[test]
    fn files_that_end_early_or_lie_are_refused() {
        let cut = file_of(&[("a", &[100], &[1.0; 100])]);
        cut.set_len(cut.metadata().unwrap().len() - 1).unwrap();
        let error = Weights::open(cut).unwrap().tensor("a", &[100]).unwrap_err();
        assert!(error.message().contains("ends in `a`"), "{error}");
        let mut lying = tempfile::tempfile().unwrap();
        lying.write_all(&u64::MAX.to_le_bytes()).unwrap();
        assert!(Weights::open(lying).err().unwrap().message().contains("too long"));
        assert!(Weights::open(tempfile::tempfile().unwrap()).is_err());
    }
}
