//! Where in a text something stands.
//!
//! Why the text is looked at again: `serde_json` knows where it stopped, which is behind the key or text that is refused,
//! and a person looks for its beginning. Nothing here runs unless there is an error to report.

use std::borrow::Cow;
use std::fmt;

/// A position in a text, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The byte in the line.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl Place {
    /// The place of the byte at this offset.
    pub(super) fn of_offset(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let newlines = memchr::memchr_iter(b'\n', before).count();
        Self { line: newlines + 1, column: offset - line_start + 1 }
    }

    /// How many bytes stand up to and including this place.
    pub(super) fn end_offset(self, text: &str) -> usize {
        let line_start = match self.line.checked_sub(2) {
            None => 0,
            Some(newline) => memchr::memchr_iter(b'\n', text.as_bytes()).nth(newline).map_or(0, |at| at + 1),
        };
        text.len().min(line_start + self.column)
    }
}

/// Where the last string that ends before `end` begins: its opening quote.
pub(super) fn string_before(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let closing = memchr::memrchr(b'"', &bytes[..end])?;
    // A quote inside a string has an odd number of backslashes before it, and the opening one has none.
    memchr::memrchr_iter(b'"', &bytes[..closing]).find(|&quote| {
        let backslashes = bytes[..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
        backslashes % 2 == 0
    })
}

/// Where `key` begins for the second time in the object that is still open just before `end`.
pub(super) fn repeated_key(text: &str, key: &str, end: usize) -> Option<usize> {
    let start = open_before(text, end.checked_sub(1)?)?;
    let mut depth = 0_usize;
    let mut times = 0_usize;
    for token in tokens(&text[start..]) {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.checked_sub(1)?,
            Token::String { at, end } => {
                let string = &text[start + at..start + end];
                let is_name = depth == 1 && text[start + end..].trim_start().starts_with(':');
                let is_key = || serde_json::from_str::<Cow<'_, str>>(string).is_ok_and(|name| name == key);
                if is_name && is_key() {
                    times += 1;
                    if times == 2 {
                        return Some(start + at);
                    }
                }
            }
        }
    }
    None
}

/// Where the innermost object or array that is open at `offset` begins.
fn open_before(text: &str, offset: usize) -> Option<usize> {
    let mut open = Vec::new();
    for token in tokens(text) {
        match token {
            Token::Open(at) | Token::Close(at) | Token::String { at, .. } if offset <= at => break,
            Token::Open(at) => open.push(at),
            Token::Close(_) => drop(open.pop()),
            Token::String { .. } => {}
        }
    }
    open.pop()
}

enum Token {
    Open(usize),
    Close(usize),
    String { at: usize, end: usize },
}

/// What matters for nesting; the rest is passed over.
fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let bytes = text.as_bytes();
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let at = next;
            next += 1;
            match bytes.get(at)? {
                b'{' | b'[' => return Some(Token::Open(at)),
                b'}' | b']' => return Some(Token::Close(at)),
                b'"' => {
                    next = string_end(bytes, at);
                    return Some(Token::String { at, end: next });
                }
                _ => {}
            }
        }
    })
}

/// Behind the closing quote of the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}
