//! A JSON text, cut into updates of which each can be written by itself.
//!
//! How: the values of a step stand in one buffer, as they are spelled. An object that is complete there is one value, whatever
//! it holds. Of one that is open where the step ends, each member so far is a value of its own, written to its path; so what is
//! written is a part of the same tree, wherever it is cut. A priority is written again with each step that has something
//! below its node: a node exists, and keeps a priority, only with something below it.

use super::fault::{Fault, Faulty};
use super::text::{Text, syntax, unescaped};
use hearth_tree::{DEPTH_MAX, Key, Problem};
use std::io::Read;
use std::mem;
use std::ops::Range;

/// Most leaves of a step. A request may have twice as many.
const LEAVES_MAX: usize = 1_000_000;
/// What a key of a path takes in memory of the server, which bounds how many an update may have.
const KEY_BYTES: usize = 24;
const PRIORITY: &str = ".priority";

pub(super) struct Steps<R> {
    text: Text<R>,
    open: Vec<Open>,
    /// The values of the step, one behind the other.
    values: Vec<u8>,
    /// Of those that are not in an open object any more: path and value.
    closed: Vec<(String, Range<usize>)>,
    /// What paths add to the values, in bytes.
    paths_bytes: usize,
    leaves: usize,
    bytes_max: usize,
    levels_max: usize,
    /// Where a step must end, and none before: in the text.
    until: Option<u64>,
    /// What the value is called that comes next, or that is being read.
    name: Name,
    /// Whether a step has ended.
    is_cut: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    FirstMember,
    Member,
    /// A comma, or the end of what is open.
    Behind,
    /// Nothing but spaces.
    End,
    Over,
}

/// An object or array whose end was not read.
struct Open {
    name: Name,
    is_array: bool,
    /// Where it begins in the values of this step; nowhere, if a step before has something of it.
    begin: Option<usize>,
    members: Vec<(Key, Range<usize>)>,
    /// Of an array: how many there were.
    elements: usize,
    /// One of its children.
    child: Option<Key>,
    priority: Option<Vec<u8>>,
    /// Whether it has a `.value`.
    is_leaf: bool,
    /// What the path of a member takes.
    path_bytes: usize,
}

enum Name {
    Root,
    Child(Key),
    Value,
    Priority,
}

/// What is written at once.
pub(super) enum Step {
    /// All there is.
    Whole(Vec<u8>),
    /// Values, by paths.
    Part { values: Vec<u8>, places: Vec<(String, Range<usize>)> },
}

impl Step {
    /// As the body of a request.
    pub(super) fn body(&self) -> Vec<u8> {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Part { values, places } => {
                let mut body = Vec::with_capacity(values.len() + 64 * places.len());
                body.push(b'{');
                for (index, (path, range)) in places.iter().enumerate() {
                    if 0 < index {
                        body.push(b',');
                    }
                    body.extend_from_slice(serde_json::Value::from(path.as_str()).to_string().as_bytes());
                    body.push(b':');
                    body.extend_from_slice(&values[range.clone()]);
                }
                body.push(b'}');
                body
            }
        }
    }

    /// The last value that is not a priority, and its path.
    pub(super) fn last(&self) -> Option<(&str, &[u8])> {
        match self {
            Self::Whole(text) => Some(("", text)),
            Self::Part { values, places } => {
                let (path, range) = places.iter().rfind(|(path, _)| !path.ends_with(PRIORITY))?;
                Some((path, &values[range.clone()]))
            }
        }
    }
}

impl<R: Read> Steps<R> {
    /// Steps of some `bytes_max`, to a place `depth` levels below the root.
    pub(super) fn new(from: R, bytes_max: usize, depth: usize) -> Result<Self, Faulty> {
        let text = Text::new(from).map_err(|fault| Faulty { fault, byte: 0, at: "/".into() })?;
        Ok(Self {
            text,
            open: Vec::new(),
            values: Vec::new(),
            closed: Vec::new(),
            paths_bytes: 0,
            leaves: 0,
            bytes_max,
            levels_max: DEPTH_MAX.saturating_sub(depth),
            until: None,
            name: Name::Root,
            is_cut: false,
            state: State::Value,
        })
    }

    /// How many bytes of the text were read.
    pub(super) const fn position(&self) -> u64 {
        self.text.position()
    }

    /// A checksum over these.
    pub(super) fn sum(&mut self) -> u32 {
        self.text.sum()
    }

    /// Reads up to there, where a step has ended: what is before it, from the last end of a step on. Nothing if none can end
    /// there.
    pub(super) fn pass_to(&mut self, position: u64) -> Result<Option<Step>, Faulty> {
        self.until = Some(position);
        let mut last = None;
        while self.position() < position {
            let Some(step) = self.next_step()? else { break };
            last = Some(step);
        }
        self.until = None;
        Ok(last.filter(|_| self.position() == position))
    }

    /// Reads the next step; nothing behind the last one.
    pub(super) fn next_step(&mut self) -> Result<Option<Step>, Faulty> {
        let read = self.read();
        read.map_err(|fault| Faulty { fault, byte: self.text.position(), at: self.place() })
    }

    fn read(&mut self) -> Result<Option<Step>, Fault> {
        loop {
            match self.state {
                State::Value => self.value()?,
                State::FirstMember | State::Member => self.member()?,
                State::Behind if self.is_full() => return Ok(Some(self.cut())),
                State::Behind => self.behind()?,
                State::End => return self.end().map(Some),
                State::Over => return Ok(None),
            }
        }
    }

    /// Whether a step ends behind a member.
    fn is_full(&self) -> bool {
        // Values and priorities of leaves belong together.
        let is_leaf = self.open.last().is_some_and(|open| open.is_leaf);
        let is_due = self.until == Some(self.position())
            || self.bytes_max <= self.values.len() + self.paths_bytes
            || LEAVES_MAX <= self.leaves;
        is_due && !is_leaf && !self.values.is_empty()
    }

    fn value(&mut self) -> Result<(), Fault> {
        let begin = self.values.len();
        match self.text.token()? {
            None => return Err(self.too_short()),
            Some(bracket @ (b'{' | b'[')) => return self.open(bracket, begin),
            Some(b'"') => self.text.string(&mut self.values, false)?,
            Some(_) => self.text.word(&mut self.values)?,
        }
        self.leaves += 1;
        self.ended(begin);
        Ok(())
    }

    fn too_short(&self) -> Fault {
        syntax(if self.open.is_empty() { "there is nothing" } else { "it ends in the middle" })
    }

    fn open(&mut self, bracket: u8, begin: usize) -> Result<(), Fault> {
        let found = if bracket == b'[' { "an array" } else { "an object" };
        let above = self.open.last().map_or(0, |open| open.path_bytes);
        let path_bytes = match &self.name {
            Name::Value => return Err(Fault::Problem(Problem::Value { found })),
            Name::Priority => return Err(Fault::Problem(Problem::Priority { found })),
            Name::Root => KEY_BYTES,
            Name::Child(key) => above + key.as_str().len() + KEY_BYTES,
        };
        self.text.pass();
        self.values.push(bracket);
        self.open.push(Open {
            name: mem::replace(&mut self.name, Name::Root),
            is_array: bracket == b'[',
            begin: Some(begin),
            members: Vec::new(),
            elements: 0,
            child: None,
            priority: None,
            is_leaf: false,
            path_bytes,
        });
        self.state = State::FirstMember;
        Ok(())
    }

    fn member(&mut self) -> Result<(), Fault> {
        let token = self.text.token()?.ok_or_else(|| self.too_short())?;
        let is_first = self.state == State::FirstMember;
        let level = self.open.len();
        let Some(open) = self.open.last_mut() else { unreachable!("a member is of something that is open") };
        if is_first && token == open.closing() {
            self.close();
            return Ok(());
        }
        self.state = State::Value;
        if open.is_array {
            self.name = Name::Child(Key::from_position(open.elements));
            open.elements += 1;
        } else if token == b'"' {
            let begin = self.values.len();
            self.text.string(&mut self.values, true)?;
            self.name = open.name_of(&unescaped(&self.values[begin..])?)?;
            if self.text.token()? != Some(b':') {
                return Err(syntax("expected `:` behind a key"));
            }
            self.text.pass();
            self.values.push(b':');
        } else {
            return Err(syntax("expected a key in double quotes"));
        }
        if matches!(self.name, Name::Child(_)) && self.levels_max < level {
            return Err(Fault::Problem(Problem::TooDeep { levels_max: self.levels_max }));
        }
        Ok(())
    }

    fn behind(&mut self) -> Result<(), Fault> {
        let closing = self.open.last().map(Open::closing);
        match self.text.token()? {
            Some(b',') => {
                self.text.pass();
                self.values.push(b',');
                self.state = State::Member;
            }
            Some(byte) if Some(byte) == closing => self.close(),
            Some(_) => return Err(syntax("expected a comma, or the end of an object or array")),
            None => return Err(self.too_short()),
        }
        Ok(())
    }

    /// Passes the end of what is open.
    fn close(&mut self) {
        let path = self.path(self.open.len());
        let Some(open) = self.open.pop() else { unreachable!("what is closed was open") };
        self.text.pass();
        self.values.push(open.closing());
        if let Some(begin) = open.begin {
            self.paths_bytes -= open.members.len() * open.path_bytes;
            self.name = open.name;
            self.ended(begin);
        } else {
            let members = open.members.into_iter();
            self.closed.extend(members.map(|(key, range)| (below(&path, key.as_str()), range)));
            if let Some(priority) = open.priority {
                self.closed.push((below(&path, PRIORITY), append(&mut self.values, &priority)));
            }
            self.state = if self.open.is_empty() { State::End } else { State::Behind };
        }
    }

    /// Keeps the value that begins there.
    fn ended(&mut self, begin: usize) {
        self.state = State::Behind;
        let range = begin..self.values.len();
        let value = &self.values[begin..];
        match (self.open.last_mut(), mem::replace(&mut self.name, Name::Root)) {
            (None, _) => self.state = State::End,
            (Some(open), Name::Priority) => open.priority = (value != b"null").then(|| value.to_vec()),
            (Some(open), Name::Child(key)) => {
                if value != b"null" {
                    open.members.push((key.clone(), range));
                    self.paths_bytes += open.path_bytes;
                }
                open.child = Some(key);
            }
            (Some(_), Name::Value | Name::Root) => {}
        }
    }

    /// Ends a step between two members.
    fn cut(&mut self) -> Step {
        let mut places = mem::take(&mut self.closed);
        let mut priorities = Vec::new();
        for depth in 0..self.open.len() {
            let path = self.path(depth + 1);
            let open = &mut self.open[depth];
            open.begin = None;
            let members = mem::take(&mut open.members).into_iter();
            places.extend(members.map(|(key, range)| (below(&path, key.as_str()), range)));
            if let Some(priority) = &open.priority {
                priorities.push((below(&path, PRIORITY), append(&mut self.values, priority)));
            }
        }
        // The SDKs set priorities behind what they are of.
        places.extend(priorities.into_iter().rev());
        (self.paths_bytes, self.leaves) = (0, 0);
        self.is_cut = true;
        Step::Part { values: mem::take(&mut self.values), places }
    }

    /// Ends the last step.
    fn end(&mut self) -> Result<Step, Fault> {
        if self.text.token()?.is_some() {
            return Err(syntax("something stands behind the end of the data"));
        }
        self.state = State::Over;
        Ok(if self.is_cut { self.cut() } else { Step::Whole(mem::take(&mut self.values)) })
    }

    /// Where so many of what is open are, from the place of the import on.
    fn path(&self, opened: usize) -> String {
        let keys = self.open[..opened].iter().filter_map(|open| open.name.key());
        keys.collect::<Vec<_>>().join("/")
    }

    /// What is being read, for people.
    fn place(&self) -> String {
        let path = self.path(self.open.len());
        format!("/{}", self.name.key().map_or(path.clone(), |key| below(&path, key)))
    }
}

impl Name {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Child(key) => Some(key.as_str()),
            Self::Root | Self::Value | Self::Priority => None,
        }
    }
}

impl Open {
    const fn closing(&self) -> u8 {
        if self.is_array { b']' } else { b'}' }
    }

    /// What a key of it means.
    fn name_of(&mut self, key: &str) -> Result<Name, Fault> {
        let beside = |key: &Key| Fault::Problem(Problem::ValueAndChildren { key: key.clone() });
        match key {
            ".value" => {
                self.is_leaf = true;
                self.child.as_ref().map_or(Ok(Name::Value), |child| Err(beside(child)))
            }
            PRIORITY => Ok(Name::Priority),
            ".sv" => Err(Fault::Problem(Problem::ServerValueRefused)),
            _ if key.starts_with('.') => Err(Fault::Problem(Problem::DottedKey { key: key.into() })),
            _ => {
                let key = Key::parse(key).map_err(|error| Fault::Problem(error.into()))?;
                if self.is_leaf { Err(beside(&key)) } else { Ok(Name::Child(key)) }
            }
        }
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}/{key}") }
}

fn append(values: &mut Vec<u8>, value: &[u8]) -> Range<usize> {
    let begin = values.len();
    values.extend_from_slice(value);
    begin..values.len()
}
