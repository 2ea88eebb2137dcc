//! JSON text of so many bytes and no more.
//!
//! Why not measured afterwards: the text of a whole database would stand in memory only to be found too long.

use serde::Serialize;
use serde_json::ser::Formatter;
use std::io;

/// Text that grows up to a bound.
#[derive(Debug)]
pub struct BoundedText {
    bytes: Vec<u8>,
    bytes_max: usize,
}

/// The text would be longer than it may be. What it has by now is no whole text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text would be longer than it may be")]
pub struct OverBound;

impl BoundedText {
    /// An empty text that can have so many bytes.
    pub const fn up_to(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max }
    }

    /// Whether nothing was appended.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What was appended.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends this.
    ///
    /// # Errors
    /// [`OverBound`]; then nothing was appended.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), OverBound> {
        if self.bytes_max - self.bytes.len() < bytes.len() {
            return Err(OverBound);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends a value as JSON. O(length), at most the bound. Every key must be a text.
    ///
    /// # Errors
    /// [`OverBound`]; then the start of it was appended.
    pub fn append_json(
        &mut self,
        value: &(impl Serialize + ?Sized),
        formatter: impl Formatter,
    ) -> Result<(), OverBound> {
        let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut *self, formatter));
        written.map_err(|error| {
            assert!(error.is_io(), "every key is a text");
            OverBound
        })
    }
}

impl io::Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes).map_err(|OverBound| io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compact;

    #[test]
    fn a_text_ends_at_its_bound() {
        for (bytes_max, value, expected) in [
            (0, "", Err(OverBound)),
            (2, "", Ok(())),
            (4, "ab", Ok(())),
            (3, "ab", Err(OverBound)),
            (3, "\n", Err(OverBound)),
            (4, "\n", Ok(())),
        ] {
            let mut text = BoundedText::up_to(bytes_max);
            assert_eq!(text.append_json(value, Compact), expected, "{bytes_max} {value:?}");
            assert!(text.into_bytes().len() <= bytes_max, "{bytes_max} {value:?}");
        }
        let mut text = BoundedText::up_to(3);
        assert_eq!(
            (text.append(b"ab"), text.append(b"cd"), text.append(b"c")),
            (Ok(()), Err(OverBound), Ok(()))
        );
        assert_eq!(text.into_bytes(), b"abc");
    }
}
