//! Places in a text that a person wrote.
//!
//! Why byte offsets inside and lines only outside: everything between the document and the report compares and slices;
//! lines and columns are for people and for the wire.

use std::ops::Range;

/// A stretch of a text: from byte `start` up to byte `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let narrow = |offset| u32::try_from(offset).expect("no longer text than a document is read");
        Self { start: narrow(start), end: narrow(end) }
    }

    /// From the start of this one to the end of the other.
    pub(crate) const fn to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }

    /// The bytes, to slice the text with.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place as editors and the service show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// Where the lines of a text begin. Made once per text, O(length).
#[derive(Clone, Debug)]
pub struct Lines {
    /// Offsets in bytes, ascending; the first is 0.
    starts: Vec<u32>,
}

impl Lines {
    /// Finds the lines of a text of at most 4 GiB.
    pub fn of(text: &str) -> Self {
        let breaks = text.bytes().zip(1..).filter(|&(byte, _)| byte == b'\n').map(|(_, next)| next);
        Self { starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// How many there are; at least one.
    pub const fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line and column of a byte of the text that this was made of. O(log lines + line length).
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset);
        let before = text.get(self.starts[line - 1] as usize..offset as usize).unwrap_or_default();
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: narrow(line), column: narrow(before.chars().count() + 1) }
    }

    /// The text of a line, counted from 1, without its break; empty beyond the last.
    pub fn text<'a>(&self, text: &'a str, line: u32) -> &'a str {
        let line = line as usize;
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index));
        let Some(&start) = start else { return "" };
        let end = self.starts.get(line).map_or(text.len(), |&next| next as usize);
        text.get(start as usize..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "ab\nü€c\n\nd";
        let lines = Lines::of(text);
        for (needle, line, column) in [("a", 1, 1), ("b", 1, 2), ("ü", 2, 1), ("c", 2, 3), ("d", 4, 1)] {
            let offset = u32::try_from(text.find(needle).unwrap()).unwrap();
            assert_eq!(lines.position(text, offset), Position { line, column }, "{needle}");
        }
        assert_eq!((lines.text(text, 2), lines.text(text, 3), lines.text(text, 9)), ("ü€c", "", ""));
    }
}
