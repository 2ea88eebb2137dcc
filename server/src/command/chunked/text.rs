//! A JSON text that is read once, from its beginning to its end, token by token.
//!
//! Why another reader beside that of the tree: it says at which byte it is, and gives the text of a value instead of its
//! nodes, so that what it holds does not grow with the file.

use super::fault::Fault;
use hearth_tree::{KeyError, Problem, TEXT_BYTES_MAX, TextTooLong, repair_surrogates};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::io::{self, Read};

const PIECE_BYTES: usize = 256 * 1024;
/// Longest string as it is spelled: every character of it escaped, and the quotes.
const STRING_BYTES_MAX: usize = 6 * TEXT_BYTES_MAX + 2;
/// Longest number or word. A double needs 24; some programs write hundreds of digits.
const WORD_BYTES_MAX: usize = 4 * 1024;
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What is read, and how far.
pub(super) struct Text<R> {
    from: R,
    piece: Vec<u8>,
    /// Of the piece: what is read next, and where it ends.
    at: usize,
    end: usize,
    /// Of the text: where the piece begins.
    base: u64,
    /// Over what is before the piece, and over that up to `summed` in it.
    sum: crc32fast::Hasher,
    summed: usize,
}

impl<R: Read> Text<R> {
    pub(super) fn new(from: R) -> Result<Self, Fault> {
        let piece = vec![0; PIECE_BYTES];
        let mut own = Self { from, piece, at: 0, end: 0, base: 0, sum: crc32fast::Hasher::new(), summed: 0 };
        // A mark of the order of bytes says nothing here.
        while own.end < MARK.len() && own.fill()? {}
        if own.piece[..own.end].starts_with(MARK) {
            own.at = MARK.len();
        }
        Ok(own)
    }

    /// How many bytes of the text were read.
    pub(super) const fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    /// A checksum over what was read.
    pub(super) fn sum(&mut self) -> u32 {
        self.sum.update(&self.piece[self.summed..self.at]);
        self.summed = self.at;
        self.sum.clone().finalize()
    }

    /// Adds to a piece that has room.
    fn fill(&mut self) -> Result<bool, Fault> {
        loop {
            match self.from.read(&mut self.piece[self.end..]) {
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(0 < bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Read(error)),
            }
        }
    }

    /// Whether there is a byte.
    fn more(&mut self) -> Result<bool, Fault> {
        if self.at < self.end {
            return Ok(true);
        }
        self.sum.update(&self.piece[self.summed..self.end]);
        self.base += self.end as u64;
        (self.at, self.end, self.summed) = (0, 0, 0);
        self.fill()
    }

    pub(super) fn peek(&mut self) -> Result<Option<u8>, Fault> {
        Ok(if self.more()? { Some(self.piece[self.at]) } else { None })
    }

    pub(super) const fn pass(&mut self) {
        self.at += 1;
    }

    /// The next byte that is no space, not passed.
    pub(super) fn token(&mut self) -> Result<Option<u8>, Fault> {
        while let Some(byte) = self.peek()? {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Ok(Some(byte));
            }
            self.pass();
        }
        Ok(None)
    }

    /// Appends a string as it is spelled. The next byte is its quote.
    pub(super) fn string(&mut self, into: &mut Vec<u8>, is_key: bool) -> Result<(), Fault> {
        let begin = into.len();
        into.push(b'"');
        self.pass();
        let mut escapes = false;
        loop {
            if !self.more()? {
                return Err(syntax("a string has no end"));
            }
            let rest = &self.piece[self.at..self.end];
            let plain = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | ..0x20));
            let plain = plain.unwrap_or(rest.len());
            into.extend_from_slice(&rest[..plain]);
            self.at += plain;
            let bytes = into.len() - begin;
            if STRING_BYTES_MAX < bytes {
                return Err(too_long(&into[begin..], is_key));
            }
            if self.at == self.end {
                continue;
            }
            match self.piece[self.at] {
                b'"' => break,
                b'\\' => {
                    escapes = true;
                    into.push(b'\\');
                    self.pass();
                    let escaped = self.peek()?.ok_or_else(|| syntax("a string has no end"))?;
                    into.push(escaped);
                    self.pass();
                }
                _ => return Err(syntax("a control character stands in a string as it is")),
            }
        }
        into.push(b'"');
        self.pass();
        let own = &into[begin..];
        if escapes || is_key || TEXT_BYTES_MAX < own.len() - 2 {
            let bytes = unescaped(own)?.len();
            if !is_key && TEXT_BYTES_MAX < bytes {
                return Err(Fault::Problem(TextTooLong { bytes }.into()));
            }
        } else if std::str::from_utf8(own).is_err() {
            return Err(syntax("a string is not UTF-8"));
        }
        Ok(())
    }

    /// Appends a number, or `true`, `false` or `null`.
    pub(super) fn word(&mut self, into: &mut Vec<u8>) -> Result<(), Fault> {
        let begin = into.len();
        while let Some(byte) = self.peek()? {
            if !matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.') {
                break;
            }
            into.push(byte);
            self.pass();
            if WORD_BYTES_MAX < into.len() - begin {
                return Err(syntax("a number or word is too long"));
            }
        }
        match serde_json::from_slice::<IgnoredAny>(&into[begin..]) {
            Ok(_) => Ok(()),
            Err(_) => Err(syntax("expected a value")),
        }
    }
}

pub(super) fn syntax(message: &str) -> Fault {
    Fault::Problem(Problem::Syntax { message: message.into() })
}

fn too_long(spelled: &[u8], is_key: bool) -> Fault {
    let bytes = spelled.len();
    let start = String::from_utf8_lossy(&spelled[1..spelled.len().min(25)]).into_owned();
    Fault::Problem(if is_key {
        KeyError::TooLong { bytes, start }.into()
    } else {
        TextTooLong { bytes }.into()
    })
}

/// What a string says, as the server reads it.
pub(super) fn unescaped(spelled: &[u8]) -> Result<Cow<'_, str>, Fault> {
    let text = std::str::from_utf8(spelled).map_err(|_| syntax("a string is not UTF-8"))?;
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(&text[1..text.len() - 1]));
    }
    let read: Result<String, _> = serde_json::from_str(&repair_surrogates(text));
    read.map(Cow::Owned).map_err(|_| syntax("a string has an escape that there is not"))
}
