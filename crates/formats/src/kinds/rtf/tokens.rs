//! Bytes to groups, control words and characters.

use std::io::{BufReader, Read};

use docmill_core::{Error, Result};

/// The longest control word that exists has half as many letters.
const MAX_WORD_BYTES: usize = 64;

/// What comes next.
pub(super) enum Token {
    Open,
    Close,
    /// A control word, which is in [`Tokens::word`], with its number.
    Word(Option<i32>),
    /// A control symbol: `\~`, `\*`.
    Symbol(u8),
    /// A character by its code: `\'e4`.
    Code(u8),
    /// A character as it stands.
    Byte(u8),
    End,
}

/// Reads tokens.
pub(super) struct Tokens<R> {
    from: std::io::Bytes<BufReader<R>>,
    again: Option<u8>,
    pub(super) word: String,
}

impl<R: Read> Tokens<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from: BufReader::with_capacity(64 << 10, from).bytes(), again: None, word: String::new() }
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        if let Some(byte) = self.again.take() {
            return Ok(Some(byte));
        }
        self.from.next().transpose().map_err(|e| Error::unreadable("cannot read the document").with_source(e))
    }

    pub(super) fn next(&mut self) -> Result<Token> {
        loop {
            let Some(byte) = self.byte()? else { return Ok(Token::End) };
            return Ok(match byte {
                b'{' => Token::Open,
                b'}' => Token::Close,
                b'\\' => return self.control(),
                b'\r' | b'\n' | 0 => continue,
                other => Token::Byte(other),
            });
        }
    }

    fn control(&mut self) -> Result<Token> {
        let Some(first) = self.byte()? else { return Ok(Token::End) };
        if first == b'\'' {
            let (Some(high), Some(low)) = (self.byte()?, self.byte()?) else { return Ok(Token::End) };
            return Ok(match (hex(high), hex(low)) {
                (Some(high), Some(low)) => Token::Code(high << 4 | low),
                _ => Token::Byte(b'?'),
            });
        }
        if !first.is_ascii_alphabetic() {
            return Ok(Token::Symbol(first));
        }
        self.word.clear();
        self.word.push(char::from(first));
        let mut next = self.byte()?;
        while let Some(letter) = next.filter(u8::is_ascii_alphabetic) {
            if self.word.len() < MAX_WORD_BYTES {
                self.word.push(char::from(letter));
            }
            next = self.byte()?;
        }
        let negative = next == Some(b'-');
        if negative {
            next = self.byte()?;
        }
        let mut number = None::<i32>;
        while let Some(digit) = next.filter(u8::is_ascii_digit) {
            let value = number.unwrap_or(0).saturating_mul(10).saturating_add(i32::from(digit - b'0'));
            number = Some(value);
            next = self.byte()?;
        }
        // One space belongs to the word.
        if next != Some(b' ') {
            self.again = next;
        }
        Ok(Token::Word(number.map(|n| if negative { -n } else { n })))
    }

    /// Passes over raw bytes.
    pub(super) fn skip(&mut self, count: u64) -> Result<()> {
        for _ in 0..count {
            if self.byte()?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// The value of a hexadecimal digit.
pub(super) fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}
