//! Numbers and texts as bytes.

use super::DecodeError;

/// After so many NULs in a row a text is broken up.
const NULS_MAX: usize = 32;
/// What breaks it up: no byte of UTF-8.
const BREAK: u8 = 0xFF;

/// 7 bits per byte, the lowest first; the highest bit says that more follow.
pub(crate) fn put_varint(into: &mut Vec<u8>, mut number: u64) {
    while 0x7F < number {
        into.push(low_bits(number) | 0x80);
        number >>= 7;
    }
    into.push(low_bits(number));
}

const fn low_bits(number: u64) -> u8 {
    number.to_le_bytes()[0] & 0x7F
}

/// A length, or how many follow.
pub(crate) fn put_count(into: &mut Vec<u8>, count: usize) {
    put_varint(into, u64::try_from(count).expect("no address space has more than 64 bits"));
}

/// Integers near zero are short, whatever their sign.
pub(crate) fn put_integer(into: &mut Vec<u8>, integer: i64) {
    put_varint(into, (integer.cast_unsigned() << 1) ^ (integer >> 63).cast_unsigned());
}

/// Length and bytes. A text with many NULs in a row has a [`BREAK`] after each 32 of them, which the length counts.
pub(crate) fn put_text(into: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    if !bytes.contains(&0) || !bytes.windows(NULS_MAX).any(|window| window.iter().all(|&byte| byte == 0)) {
        put_count(into, bytes.len());
        into.extend_from_slice(bytes);
        return;
    }
    let mut broken = Vec::with_capacity(bytes.len() + bytes.len() / NULS_MAX);
    let mut nuls = 0;
    for &byte in bytes {
        broken.push(byte);
        nuls = if byte == 0 { nuls + 1 } else { 0 };
        if nuls == NULS_MAX {
            broken.push(BREAK);
            nuls = 0;
        }
    }
    put_count(into, broken.len());
    into.extend_from_slice(&broken);
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    left: &'a [u8],
    /// A file that these bytes refer to.
    beside: Option<&'a [u8]>,
}

impl<'a> Source<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes, beside: None }
    }

    /// Bytes that refer to others.
    pub(crate) const fn beside(self, beside: &'a [u8]) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// A part of what these bytes refer to.
    pub(super) fn elsewhere(&self, at: u64, len: u64, what: &'static str) -> Result<Self, DecodeError> {
        let range = usize::try_from(at).ok().zip(usize::try_from(at.saturating_add(len)).ok());
        let part = self.beside.zip(range).and_then(|(beside, (from, to))| beside.get(from..to));
        part.map(Self::new).ok_or(DecodeError::Short { what })
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Nothing may be left.
    pub(crate) const fn end(&self) -> Result<(), DecodeError> {
        match self.left.len() {
            0 => Ok(()),
            bytes => Err(DecodeError::Left { bytes }),
        }
    }

    pub(crate) fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.left.split_at_checked(len).ok_or(DecodeError::Short { what })?;
        self.left = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        let (&byte, rest) = self.left.split_first().ok_or(DecodeError::Short { what })?;
        self.left = rest;
        Ok(byte)
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.left.split_first_chunk().ok_or(DecodeError::Short { what })?;
        self.left = rest;
        Ok(*taken)
    }

    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let low = u64::from(byte & 0x7F);
            if low.leading_zeros() < shift {
                return Err(DecodeError::Varint);
            }
            number |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(DecodeError::Varint)
    }

    /// A length, or how many follow. Each takes a byte at least, so that what is made room for is bounded by what is
    /// there.
    pub(crate) fn count(&mut self, what: &'static str) -> Result<usize, DecodeError> {
        let count = usize::try_from(self.varint(what)?).map_err(|_| DecodeError::Short { what })?;
        if self.left.len() < count { Err(DecodeError::Short { what }) } else { Ok(count) }
    }

    pub(crate) fn integer(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        let zigzag = self.varint(what)?;
        Ok((zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed()))
    }

    /// Hands a text on, without a copy where it was not broken up.
    pub(crate) fn text<T>(
        &mut self,
        what: &'static str,
        read: impl FnOnce(&str) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let len = self.count(what)?;
        let bytes = self.take(len, what)?;
        if !bytes.contains(&BREAK) {
            return read(str::from_utf8(bytes)?);
        }
        let whole: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != BREAK).collect();
        read(str::from_utf8(&whole)?)
    }
}
