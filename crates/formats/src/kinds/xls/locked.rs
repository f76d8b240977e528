//! Workbooks that are encrypted and open for everybody: Excel encrypts a workbook whose structure is protected, with a
//! password that is the same for all, and never asks for it. With any other password the workbook stays closed.
//!
//! Only the first of three ways is opened (MS-OFFCRYPTO 2.3.6), the usual one of Excel 97 to 2003.

use docmill_core::{Error, Result};
use md5::{Digest, Md5};

use super::records::{Records, id};

/// The password that Excel tries by itself.
const OF_EVERYBODY: &str = "VelvetSweatshop";

/// The key changes so often.
const BLOCK_BYTES: usize = 1024;

/// The records before a workbook's password, if it has one: its beginning, and the reservation for writing.
const RECORDS_BEFORE: usize = 3;

/// The stream to read: as it is, or decrypted if it opens for everybody.
pub(super) fn opened(bytes: Vec<u8>) -> Result<Vec<u8>> {
    let mut records = Records::new(&bytes);
    for _ in 0..=RECORDS_BEFORE {
        let Some(record) = records.next() else { break };
        if record.id == id::FILE_PASS {
            let refused = || Error::encrypted("the workbook is encrypted; a password is needed");
            let key = Key::of(record.body(), OF_EVERYBODY).ok_or_else(refused)?;
            return Ok(key.decrypt(&bytes));
        }
    }
    Ok(bytes)
}

/// What keys of blocks are made from.
struct Key([u8; 5]);

impl Key {
    /// The key of a password; `None` if it is not the right one, or the workbook is locked in another way.
    fn of(lock: &[u8], password: &str) -> Option<Self> {
        const RC4_OF_40_BITS: &[u8] = &[1, 0, 1, 0, 1, 0];
        let rest = lock.strip_prefix(RC4_OF_40_BITS)?;
        let (salt, verifier, hash) = (rest.get(..16)?, rest.get(16..32)?, rest.get(32..48)?);
        let password: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let short = first_five(&Md5::digest(&password));
        let mut hasher = Md5::new();
        for _ in 0..16 {
            hasher.update(short);
            hasher.update(salt);
        }
        let key = Self(first_five(&hasher.finalize()));
        let mut stream = key.block(0);
        let verifier: Vec<u8> = verifier.iter().map(|byte| byte ^ stream.next_byte()).collect();
        let hash: Vec<u8> = hash.iter().map(|byte| byte ^ stream.next_byte()).collect();
        (Md5::digest(&verifier).as_slice() == hash).then_some(key)
    }

    fn block(&self, number: u32) -> Rc4 {
        let mut hasher = Md5::new();
        hasher.update(self.0);
        hasher.update(number.to_le_bytes());
        Rc4::new(&hasher.finalize())
    }

    /// Heads of records are not encrypted, nor are some records that are read before the password is known.
    fn decrypt(&self, bytes: &[u8]) -> Vec<u8> {
        const PLAIN: &[u16] = &[id::BEGIN, id::FILE_PASS, 0x00e1, 0x0138, 0x0194, 0x0195, 0x0196];
        // Where a sheet lies is plain, too; its name is not.
        const PLACE_BYTES: usize = 4;
        let mut all = bytes.to_vec();
        for (number, block) in all.chunks_mut(BLOCK_BYTES).enumerate() {
            let mut stream = self.block(number as u32);
            for byte in block {
                *byte ^= stream.next_byte();
            }
        }
        let mut out = bytes.to_vec();
        let mut at = 0;
        while let Some(&[id_low, id_high, length_low, length_high]) = bytes.get(at..at + 4) {
            let id = u16::from_le_bytes([id_low, id_high]);
            let end = at + 4 + usize::from(u16::from_le_bytes([length_low, length_high]));
            let start = at + 4 + if id == id::SHEET { PLACE_BYTES } else { 0 };
            if id == id::FILE_PASS {
                out[at..at + 2].copy_from_slice(&id::NOTHING.to_le_bytes());
            } else if !PLAIN.contains(&id)
                && let Some(decrypted) = all.get(start..end.min(bytes.len()))
            {
                out[start..start + decrypted.len()].copy_from_slice(decrypted);
            }
            at = end;
        }
        out
    }
}

fn first_five(bytes: &[u8]) -> [u8; 5] {
    std::array::from_fn(|index| bytes[index])
}

/// The cipher, too weak and too old for a dependency.
struct Rc4 {
    state: [u8; 256],
    first: u8,
    second: u8,
}

impl Rc4 {
    fn new(key: &[u8]) -> Self {
        let mut state: [u8; 256] = std::array::from_fn(|index| index as u8);
        let mut other = 0_u8;
        for index in 0..256 {
            other = other.wrapping_add(state[index]).wrapping_add(key[index % key.len()]);
            state.swap(index, usize::from(other));
        }
        Self { state, first: 0, second: 0 }
    }

    fn next_byte(&mut self) -> u8 {
        self.first = self.first.wrapping_add(1);
        self.second = self.second.wrapping_add(self.state[usize::from(self.first)]);
        self.state.swap(usize::from(self.first), usize::from(self.second));
        let sum = self.state[usize::from(self.first)].wrapping_add(self.state[usize::from(self.second)]);
        self.state[usize::from(sum)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cipher_gives_the_bytes_that_are_known_of_it() {
        let mut stream = Rc4::new(b"Key");
        let cipher: Vec<u8> = b"Plaintext".iter().map(|byte| byte ^ stream.next_byte()).collect();
        assert_eq!(cipher, [0xbb, 0xf3, 0x16, 0xe8, 0xd9, 0x40, 0xaf, 0x0a, 0xd3]);
    }
}
