//! The regular expressions of rules: our own grammar, handed on to an engine that takes linear time.
//!
//! Why not the engine's own grammar: it knows more than the language does (classes by name, flags, lazy repeats), and
//! its `\d`, `\w` and case folding are Unicode where the service's are ASCII. Every pattern is therefore rebuilt from
//! literal characters, explicit sets, groups and greedy repeats only. Source: rules reference 2.2.

use crate::limits::{
    PATTERN_BYTES_MAX, PATTERN_CACHE_BYTES_MAX, PATTERN_NESTING_MAX, PATTERN_REPEAT_MAX, REPEATS_MAX,
};
use crate::problem::PatternMistake;
use regex::{Regex, RegexBuilder};
use std::fmt::Write;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// How many character sets it has, those in repeats as often as they may repeat: its size once compiled.
    weight: u64,
}

impl Pattern {
    /// Compiles what stands between the slashes. On a mistake comes its offset in bytes with it.
    pub(crate) fn compile(text: &str, ignore_case: bool) -> Result<Self, (usize, PatternMistake)> {
        let mut builder =
            Builder { text, at: 0, ignore_case, built: String::new(), weight: 0, groups: Vec::new() };
        builder.build()?;
        let regex = RegexBuilder::new(&builder.built)
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(PATTERN_CACHE_BYTES_MAX)
            .build();
        let regex = regex.map_err(|_| (0, PatternMistake::TooLarge))?;
        Ok(Self { regex, weight: builder.weight })
    }

    pub(crate) const fn weight(&self) -> u64 {
        self.weight
    }

    /// Whether it occurs in the text. O(text).
    pub(crate) fn occurs_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

type Built<T> = Result<T, (usize, PatternMistake)>;

struct Builder<'a> {
    text: &'a str,
    at: usize,
    ignore_case: bool,
    built: String,
    weight: u64,
    /// Offset in the pattern of each open group, and what it began as.
    groups: Vec<(usize, Piece)>,
}

/// What a repeat would take.
#[derive(Clone, Copy)]
struct Piece {
    /// Offset in what is built.
    start: usize,
    /// The weight of what is before it.
    weight_before: u64,
    repeats: usize,
}

impl Builder<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let ch = self.peek()?;
        self.at += ch.len_utf8();
        Some(ch)
    }

    fn eat(&mut self, ch: char) -> bool {
        let found = self.peek() == Some(ch);
        if found {
            self.at += ch.len_utf8();
        }
        found
    }

    fn build(&mut self) -> Built<()> {
        // None at the start of an alternative.
        let mut piece: Option<Piece> = None;
        // Anchors fill an alternative too: `^$` matches the empty text.
        let mut filled = false;
        if self.eat('^') {
            self.built.push_str(r"\A");
            filled = true;
        }
        loop {
            let from = self.at;
            let begun = Piece { start: self.built.len(), weight_before: self.weight, repeats: 0 };
            match self.take() {
                None => break,
                Some('|') => {
                    if !filled || self.peek().is_none() {
                        return Err((from, PatternMistake::EmptyAlternative));
                    }
                    self.built.push('|');
                    (piece, filled) = (None, false);
                    continue;
                }
                Some('(') => {
                    self.open_group(from, begun)?;
                    (piece, filled) = (None, false);
                    continue;
                }
                Some(')') => {
                    let (_, group) = self.groups.pop().ok_or((from, PatternMistake::UnopenedGroup))?;
                    if !filled {
                        return Err((from, PatternMistake::EmptyAlternative));
                    }
                    self.built.push(')');
                    (piece, filled) = (Some(group), true);
                    continue;
                }
                Some(repeat @ ('*' | '+' | '?' | '{')) => {
                    let nothing = (from, PatternMistake::NothingToRepeat(repeat));
                    piece = Some(self.repeat(repeat, from, piece.ok_or(nothing)?)?);
                    continue;
                }
                Some('^') => return Err((from, PatternMistake::StartAnchor)),
                Some('$') if self.peek().is_some() => return Err((from, PatternMistake::EndAnchor)),
                Some('$') => {
                    self.built.push_str(r"\z");
                    filled = true;
                    continue;
                }
                Some('.') => self.push_set(&CharSet::default().complement()),
                Some('[') => self.set(from)?,
                Some('\\') => {
                    let set = self.escaped(from)?;
                    self.push_set(&set);
                }
                Some(ch) => self.push_set(&CharSet::of(ch)),
            }
            (piece, filled) = (Some(begun), true);
        }
        match self.groups.last() {
            Some(&(open, _)) => Err((open, PatternMistake::UnclosedGroup)),
            None if !filled => Err((0, PatternMistake::EmptyAlternative)),
            None => Ok(()),
        }
    }

    fn open_group(&mut self, from: usize, begun: Piece) -> Built<()> {
        if self.peek() == Some('?') {
            return Err((from, PatternMistake::SpecialGroup));
        }
        if self.groups.len() == PATTERN_NESTING_MAX {
            return Err((from, PatternMistake::TooNested));
        }
        self.groups.push((from, begun));
        self.built.push_str("(?:");
        Ok(())
    }

    /// Repeats a piece. A repeat of a repeat is one of the whole, never a lazy one.
    fn repeat(&mut self, sign: char, from: usize, piece: Piece) -> Built<Piece> {
        if piece.repeats == REPEATS_MAX {
            return Err((from, PatternMistake::TooManyRepeats));
        }
        let (counts, most) = if sign == '{' { self.counts(from)? } else { (sign.to_string(), 1) };
        self.built.insert_str(piece.start, "(?:");
        self.built.push(')');
        self.built.push_str(&counts);
        let own = self.weight - piece.weight_before;
        self.weight = piece.weight_before.saturating_add(own.saturating_mul(most.max(1).into()));
        Ok(Piece { repeats: piece.repeats + 1, ..piece })
    }

    /// Behind `{`: a count, a least count, or both bounds; with the highest count in it.
    fn counts(&mut self, from: usize) -> Built<(String, u32)> {
        let least = self.count(from)?.ok_or((from, PatternMistake::Braces))?;
        let counts = if self.eat(',') {
            match self.count(from)? {
                None => (format!("{{{least},}}"), least),
                Some(most) if most < least => return Err((from, PatternMistake::BracesOrder)),
                Some(most) => (format!("{{{least},{most}}}"), most),
            }
        } else {
            (format!("{{{least}}}"), least)
        };
        if self.eat('}') { Ok(counts) } else { Err((from, PatternMistake::Braces)) }
    }

    fn count(&mut self, from: usize) -> Built<Option<u32>> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += len;
        if len == 0 {
            return Ok(None);
        }
        let count = rest[..len].parse().ok().filter(|&count: &u32| count <= PATTERN_REPEAT_MAX);
        count.map(Some).ok_or((from, PatternMistake::BracesTooLarge))
    }

    /// What a backslash stands for; any character but the classes stands for itself.
    fn escaped(&mut self, from: usize) -> Built<CharSet> {
        let ch = self.take().ok_or((from, PatternMistake::TrailingBackslash))?;
        Ok(CharSet::class(ch).unwrap_or_else(|| CharSet::of(ch)))
    }

    /// Behind `[`.
    fn set(&mut self, from: usize) -> Built<()> {
        let negated = self.eat('^');
        let mut set = CharSet::default();
        let mut is_empty = true;
        loop {
            let at = self.at;
            let Some(ch) = self.take() else { return Err((from, PatternMistake::UnclosedSet)) };
            if ch == ']' {
                break;
            }
            is_empty = false;
            let first = if ch == '\\' { self.escaped(at)? } else { CharSet::of(ch) };
            let rest = &self.text[self.at..];
            // A hyphen before the closing bracket is a hyphen.
            if !rest.starts_with('-') || rest.starts_with("-]") || rest == "-" {
                set.add(&first);
                continue;
            }
            self.at += 1;
            let end = self.at;
            let last = match self.take() {
                None => return Err((from, PatternMistake::UnclosedSet)),
                Some('\\') => self.escaped(end)?,
                Some(ch) => CharSet::of(ch),
            };
            match (first.single(), last.single()) {
                (Some(first), Some(last)) if first <= last => set.add_range(first, last),
                (Some(first), Some(last)) => return Err((at, PatternMistake::RangeOrder(first, last))),
                _ => return Err((at, PatternMistake::RangeOfClass)),
            }
        }
        if is_empty {
            return Err((from, PatternMistake::EmptySet));
        }
        if self.ignore_case {
            set.fold_case();
        }
        self.push_set(&if negated { set.complement() } else { set });
        Ok(())
    }

    fn push_set(&mut self, set: &CharSet) {
        let mut set = set.clone();
        if self.ignore_case {
            set.fold_case();
        }
        let ranges = set.ranges();
        self.weight = self.weight.saturating_add(1 + ranges.len() as u64);
        // Nothing at all, as in `[^\s\S]`, can only be said as the opposite of everything.
        self.built.push_str(if ranges.is_empty() { r"[^\x{0}-\x{10FFFF}" } else { "[" });
        for (first, last) in ranges {
            write!(self.built, r"\x{{{:X}}}-\x{{{:X}}}", u32::from(first), u32::from(last))
                .expect("a String takes everything");
        }
        self.built.push(']');
    }
}

/// Characters, as ranges.
#[derive(Clone, Debug, Default)]
struct CharSet(Vec<(char, char)>);

impl CharSet {
    fn of(ch: char) -> Self {
        Self(vec![(ch, ch)])
    }

    /// What `\d`, `\w`, `\s` and their opposites stand for.
    fn class(ch: char) -> Option<Self> {
        let set = match ch.to_ascii_lowercase() {
            'd' => Self(vec![('0', '9')]),
            'w' => Self(vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
            // Tab, line feed, vertical tab, form feed, carriage return; blank.
            's' => Self(vec![('\t', '\r'), (' ', ' ')]),
            _ => return None,
        };
        Some(if ch.is_ascii_uppercase() { set.complement() } else { set })
    }

    /// The character, if the set is one.
    fn single(&self) -> Option<char> {
        match self.0.as_slice() {
            &[(first, last)] if first == last => Some(first),
            _ => None,
        }
    }

    fn add(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    fn add_range(&mut self, first: char, last: char) {
        self.0.push((first, last));
    }

    /// Adds the other case of every ASCII letter.
    fn fold_case(&mut self) {
        let other_case = |ch: char| {
            if ch.is_ascii_lowercase() { ch.to_ascii_uppercase() } else { ch.to_ascii_lowercase() }
        };
        for alphabet in [('a', 'z'), ('A', 'Z')] {
            let within = self.0.iter().map(|&(first, last)| (first.max(alphabet.0), last.min(alphabet.1)));
            let folded: Vec<_> = within
                .filter(|(first, last)| first <= last)
                .map(|(first, last)| (other_case(first), other_case(last)))
                .collect();
            self.0.extend(folded);
        }
    }

    /// In order, none touching another.
    fn ranges(&self) -> Vec<(char, char)> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let mut ranges: Vec<(char, char)> = Vec::new();
        for (first, last) in sorted {
            match ranges.last_mut() {
                Some((_, end)) if first <= *end || Some(first) == next_char(*end) => *end = last.max(*end),
                _ => ranges.push((first, last)),
            }
        }
        ranges
    }

    fn complement(&self) -> Self {
        let mut gaps = Vec::new();
        let mut next = Some('\0');
        for (first, last) in self.ranges() {
            if let Some(start) = next
                && start < first
            {
                gaps.push((start, previous_char(first)));
            }
            next = next_char(last);
        }
        gaps.extend(next.map(|start| (start, char::MAX)));
        Self(gaps)
    }
}

fn next_char(ch: char) -> Option<char> {
    (ch..=char::MAX).nth(1)
}

/// Of a character that has one.
fn previous_char(ch: char) -> char {
    ('\0'..ch).next_back().unwrap_or('\0')
}
