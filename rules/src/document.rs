//! A rules document as JSON with what people add to it: comments, trailing commas, line breaks inside texts.
//!
//! Why our own reader: every value keeps its place, every offset inside a decoded text can be led back to the document,
//! and reading goes on behind a mistake, so that all mistakes are reported at once. No JSON crate does these together.
//! Source of the extensions: rules reference 1.1.

use crate::diagnostic::{Problems, Rejected};
use crate::limits::{DOCUMENT_BYTES_MAX, DOCUMENT_NESTING_MAX};
use crate::problem::Problem;
use crate::source_text::{SourceText, excerpt};
use crate::span::{Lines, Span};
use std::collections::HashSet;

/// A value and where it stands.
#[derive(Debug)]
pub struct Value {
    /// What it is.
    pub kind: Kind,
    /// Where it stands, its brackets or quotes included.
    pub span: Span,
}

/// What a value is.
#[derive(Debug)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number of JSON; no rule has a use for its value, which stands at its span.
    Number,
    /// A text.
    Text(SourceText),
    /// A list.
    List(Vec<Value>),
    /// An object; no two members have the same key.
    Object(Vec<Member>),
    /// What stands here is already reported; only where something is.
    Broken,
}

/// A member of an object.
#[derive(Debug)]
pub struct Member {
    /// Its name.
    pub key: SourceText,
    /// What it is.
    pub value: Value,
}

/// Reads a document that is written as rules are, but means something else.
///
/// # Errors
/// [`Rejected`] has everything that keeps it from being one.
pub fn parse(source: &str) -> Result<Value, Rejected> {
    let mut problems = Problems::default();
    if DOCUMENT_BYTES_MAX < source.len() {
        problems.add(Span::default(), Problem::DocumentTooLong { bytes: source.len() });
        return Err(problems.into_rejected("", &Lines::of("")));
    }
    let value = read(source, &mut problems);
    if problems.is_empty() { Ok(value) } else { Err(problems.into_rejected(source, &Lines::of(source))) }
}

/// Reads a whole document. What is wrong goes to `problems`; what could be read comes back.
pub(crate) fn read(source: &str, problems: &mut Problems) -> Value {
    let at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { source, at, depth: 0, stopped: false, problems };
    let value = reader.value();
    reader.skip_blanks();
    // A document that is no object is reported as that, whatever follows.
    if matches!(value.kind, Kind::Object(_)) && !reader.stopped && reader.at < source.len() {
        reader.report_unexpected("the end of the document");
    }
    value
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    depth: usize,
    /// Something is wrong that nothing can be read behind.
    stopped: bool,
    problems: &'a mut Problems,
}

/// How far the reading of an object or list is.
struct Items {
    open: Span,
    close: char,
    begun: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, ch: char) -> bool {
        let found = self.peek() == Some(ch);
        if found {
            self.at += ch.len_utf8();
        }
        found
    }

    fn since(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    fn value(&mut self) -> Value {
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::list),
            Some('"') => {
                let known = self.problems.count();
                let text = self.text('"');
                // What a text with a mistake would have said is a guess.
                if self.problems.count() == known { Kind::Text(text) } else { Kind::Broken }
            }
            Some('\'') => {
                self.text('\'');
                self.problems.add(self.since(start), Problem::SingleQuotes);
                Kind::Broken
            }
            Some('-' | '0'..='9') => self.number(),
            Some(ch) if ch.is_alphanumeric() || ch == '_' || ch == '$' => self.word(),
            Some(_) | None => {
                self.report_unexpected("a value");
                Kind::Broken
            }
        };
        Value { kind, span: self.since(start) }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Kind) -> Kind {
        if self.depth == DOCUMENT_NESTING_MAX {
            self.problems.add(Span::new(self.at, self.at + 1), Problem::DocumentTooNested);
            self.stop();
            return Kind::Broken;
        }
        self.depth += 1;
        let kind = read(self);
        self.depth -= 1;
        kind
    }

    fn object(&mut self) -> Kind {
        let mut members: Vec<Member> = Vec::new();
        let mut names: HashSet<String> = HashSet::new();
        let mut items = Items { open: self.open(), close: '}', begun: false };
        while self.has_next(&mut items) {
            match self.member() {
                None => self.skip_to_boundary(),
                Some(member) if names.insert(member.key.as_str().into()) => members.push(member),
                Some(Member { key, .. }) => {
                    let name = key.as_str().into();
                    self.problems.add(key.span(), Problem::DuplicateMember { name });
                }
            }
        }
        Kind::Object(members)
    }

    fn member(&mut self) -> Option<Member> {
        let start = self.at;
        let key = match self.peek() {
            Some('"') => self.text('"'),
            Some('\'') => {
                let key = self.text('\'');
                self.problems.add(self.since(start), Problem::SingleQuotes);
                key
            }
            Some(ch) if is_word(ch) => {
                let word = self.take_word();
                let span = self.since(start);
                self.problems.add(span, Problem::BareKey { name: word.clone() });
                SourceText::verbatim(&word, span)
            }
            Some(_) | None => {
                self.report_unexpected("a key in double quotes or `}`");
                return None;
            }
        };
        self.skip_blanks();
        if !self.eat(':') {
            self.report_unexpected("`:`");
            return None;
        }
        let value = self.value();
        if matches!(value.kind, Kind::Broken) {
            self.skip_to_boundary();
        }
        Some(Member { key, value })
    }

    fn list(&mut self) -> Kind {
        let mut values = Vec::new();
        let mut items = Items { open: self.open(), close: ']', begun: false };
        while self.has_next(&mut items) {
            let value = self.value();
            if matches!(value.kind, Kind::Broken) {
                self.skip_to_boundary();
            }
            values.push(value);
        }
        Kind::List(values)
    }

    fn open(&mut self) -> Span {
        self.at += 1;
        Span::new(self.at - 1, self.at)
    }

    /// Goes to the next member or element, if there is one before the end of its object or list.
    fn has_next(&mut self, items: &mut Items) -> bool {
        if self.at_end_of(items) {
            return false;
        }
        if !items.begun {
            items.begun = true;
            return true;
        }
        if self.peek() != Some(',') {
            self.report_unexpected(if items.close == '}' { "`,` or `}`" } else { "`,` or `]`" });
            self.skip_to_boundary();
        }
        let comma = self.at;
        let mut commas = 0;
        while self.eat(',') {
            commas += 1;
            self.skip_blanks();
        }
        if 1 < commas {
            self.problems.add(Span::new(comma, comma + 1), Problem::DoubleComma);
        }
        // Behind a trailing comma the end is as good as another member.
        !self.at_end_of(items)
    }

    fn at_end_of(&mut self, items: &Items) -> bool {
        self.skip_blanks();
        match self.peek() {
            Some(ch) if ch == items.close => self.at += 1,
            Some('}' | ']') => {
                self.report_unexpected(if items.close == '}' { "`,` or `}`" } else { "`,` or `]`" });
                self.stop();
            }
            Some(_) => return false,
            None if self.stopped => {}
            None => {
                self.problems.add(items.open, Problem::Unclosed { close: items.close });
                self.stop();
            }
        }
        true
    }

    fn number(&mut self) -> Kind {
        let start = self.at;
        let len = self
            .rest()
            .bytes()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.'))
            .count();
        self.at += len;
        if !is_json_number(&self.source.as_bytes()[start..self.at]) {
            let found = format!("`{}`", excerpt(&self.source[start..self.at]));
            self.problems.add(self.since(start), Problem::Syntax { expected: "a number", found });
            return Kind::Broken;
        }
        Kind::Number
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        match self.take_word().as_str() {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "null" => Kind::Null,
            word => {
                let found = format!("`{}`", excerpt(word));
                self.problems.add(self.since(start), Problem::Syntax { expected: "a value", found });
                Kind::Broken
            }
        }
    }

    fn take_word(&mut self) -> String {
        let word: String = self.rest().chars().take_while(|&ch| is_word(ch)).collect();
        self.at += word.len();
        word
    }

    fn text(&mut self, quote: char) -> SourceText {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut anchors = vec![(0, Span::new(self.at, self.at).start)];
        loop {
            let from = self.at;
            match self.peek() {
                None => {
                    self.problems.add(Span::new(start, start + 1), Problem::UnclosedText);
                    self.stop();
                    break;
                }
                Some(ch) if ch == quote => {
                    self.at += 1;
                    break;
                }
                Some('\\') => {
                    text.extend(self.escape());
                    anchors.push((Span::new(0, text.len()).end, Span::new(0, self.at).end));
                }
                Some(ch) => {
                    self.at += ch.len_utf8();
                    if ch.is_ascii_control() && !matches!(ch, '\n' | '\r' | '\t') {
                        self.problems
                            .add(self.since(from), Problem::ControlCharacter { code: u32::from(ch) });
                    }
                    text.push(ch);
                }
            }
        }
        SourceText::new(text, self.since(start), anchors)
    }

    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        self.at += 1;
        let ch = self.peek()?;
        self.at += ch.len_utf8();
        match ch {
            '"' | '\\' | '/' => Some(ch),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'u' => self.unicode_escape(start),
            other => {
                self.problems.add(self.since(start), Problem::InvalidEscape { ch: other });
                None
            }
        }
    }

    fn unicode_escape(&mut self, start: usize) -> Option<char> {
        let Some(unit) = self.hex4() else {
            self.problems.add(self.since(start), Problem::InvalidEscape { ch: 'u' });
            return None;
        };
        let pair = match unit {
            0xD800..=0xDBFF if self.rest().starts_with("\\u") => {
                let before = self.at;
                self.at += 2;
                let low = self.hex4().filter(|low| (0xDC00..=0xDFFF).contains(low));
                if low.is_none() {
                    self.at = before;
                }
                low.map(|low| 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            }
            _ => Some(unit),
        };
        let ch = pair.and_then(char::from_u32);
        if ch.is_none() {
            self.problems.add(self.since(start), Problem::LoneSurrogate);
        }
        ch
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let unit = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(unit)
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(len) => self.at += len + 4,
                    None => {
                        self.problems.add(Span::new(self.at, self.at + 2), Problem::UnclosedComment);
                        self.stop();
                    }
                }
            } else {
                return;
            }
        }
    }

    /// Behind something broken: up to the comma or bracket at which the enclosing object or list can go on.
    fn skip_to_boundary(&mut self) {
        let mut open = 0_usize;
        while !self.stopped {
            self.skip_blanks();
            match self.peek() {
                None => return,
                Some(',' | '}' | ']') if open == 0 => return,
                Some('}' | ']') => {
                    open -= 1;
                    self.at += 1;
                }
                Some('{' | '[') => {
                    open += 1;
                    self.at += 1;
                }
                Some('"') => {
                    self.text('"');
                }
                Some(ch) => self.at += ch.len_utf8(),
            }
        }
    }

    fn report_unexpected(&mut self, expected: &'static str) {
        if self.stopped {
            return;
        }
        let (found, len) = match self.peek() {
            None => ("the end of the document".into(), 0),
            Some(ch) if is_word(ch) => {
                let word: String = self.rest().chars().take_while(|&ch| is_word(ch)).collect();
                (format!("`{}`", excerpt(&word)), word.len())
            }
            Some(ch) => (format!("`{}`", ch.escape_debug()), ch.len_utf8()),
        };
        self.problems.add(Span::new(self.at, self.at + len), Problem::Syntax { expected, found });
    }

    const fn stop(&mut self) {
        self.stopped = true;
        self.at = self.source.len();
    }
}

fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || matches!(ch, '_' | '$')
}

fn is_json_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || (whole > 1 && unsigned[0] == b'0') {
        return false;
    }
    let mut rest = &unsigned[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = &fraction[len..];
    }
    match rest {
        [] => true,
        [b'e' | b'E', exponent @ ..] => {
            let exponent =
                exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        _ => false,
    }
}
