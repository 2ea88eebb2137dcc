//! Reads values and updates from a text that comes in pieces, as it comes.
//!
//! Why: a body of 200 MB would stand in memory as text until its last byte is there, beside the tree that is made of it.
//! Here only what is not complete waits.
//!
//! How: the text is cut between the members of its objects and arrays, where a scanner that knows strings and brackets
//! finds commas; whole members are read by the one reader that there is, as an object of their own, and join those that
//! were read before. Only an object that is longer than a piece is opened, and its members join it one after the other. So the
//! scanner decides nothing: what is wrong is found by the reader, in the words that it always has.

use super::error::{Problem, ReadError};
use super::expected::AN_ARRAY;
use super::members::{Batch, Frame, Head, Kind, Members, Own, Progress, Standing, State};
use super::name::{Name, NameSeed};
use super::object::{Found, Open};
use super::place::Place;
use super::read::{ReadOptions, Reader};
use super::repair::repair_surrogates;
use super::scan::Scan;
use super::update::{TargetSeed, UpdateParts};
use crate::draft::Draft;
use crate::limits::{DEPTH_MAX, TEXT_BYTES_MAX};
use crate::path::{Path, RelativePath};
use crate::scalar::TextTooLong;
use crate::write::{Part, Update};
use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny};
use std::fmt;

/// What is longer is not waited for to be complete, in bytes.
const MEMBER_BYTES: usize = 64 * 1024;
/// Longest text that waits in any case: that of the longest string, with every character escaped.
const WAITING_BYTES_MAX: usize = 6 * TEXT_BYTES_MAX + MEMBER_BYTES;
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads what [`super::read_value`] reads, in pieces.
#[derive(Debug)]
pub struct ValuePieces(Pieces);

impl ValuePieces {
    /// Nothing is read yet.
    pub fn new(options: ReadOptions) -> Self {
        Self(Pieces::new(options, Root::Value))
    }

    /// An object or array that is longer than so many bytes is read before it is whole: 64 KB if nothing is said.
    #[must_use]
    pub fn waiting_for(mut self, member_bytes: usize) -> Self {
        self.0.member_bytes = member_bytes.max(1);
        self
    }

    /// Reads the next piece of the text, of any length. O(length).
    ///
    /// # Errors
    /// [`ReadError`] says what is wrong and where; nothing more can be read then.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), ReadError> {
        self.0.feed(piece)
    }

    /// From now on there may be so many nodes, if there could not be more before.
    pub fn allow_nodes(&mut self, nodes_max: usize) {
        self.0.reader.allow_nodes(nodes_max);
    }

    /// How many nodes were read by now.
    pub const fn nodes_read(&self) -> usize {
        self.0.reader.nodes_read()
    }

    /// There is no more: the value, or nothing where it holds nothing.
    ///
    /// # Errors
    /// [`ReadError`], also if the text ends in the middle.
    pub fn end(self) -> Result<Option<Draft>, ReadError> {
        match self.0.end()? {
            Done::Value(found) => Ok(found.into()),
            Done::Update(_) => unreachable!("a value was to be read"),
        }
    }
}

/// Reads what [`super::read_update`] reads, in pieces.
#[derive(Debug)]
pub struct UpdatePieces {
    pieces: Pieces,
    at: Path,
}

impl UpdatePieces {
    /// Nothing is read yet of an update of places at or below `at`.
    pub fn new(at: Path, options: ReadOptions) -> Self {
        let depth_max = options.depth_max.min(DEPTH_MAX.saturating_sub(at.keys().len()));
        Self { pieces: Pieces::new(ReadOptions { depth_max, ..options }, Root::Update), at }
    }

    /// As [`ValuePieces::waiting_for`].
    #[must_use]
    pub fn waiting_for(mut self, member_bytes: usize) -> Self {
        self.pieces.member_bytes = member_bytes.max(1);
        self
    }

    /// As [`ValuePieces::feed`].
    ///
    /// # Errors
    /// [`ReadError`] says what is wrong and where; nothing more can be read then.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), ReadError> {
        self.pieces.feed(piece)
    }

    /// As [`ValuePieces::allow_nodes`].
    pub fn allow_nodes(&mut self, nodes_max: usize) {
        self.pieces.reader.allow_nodes(nodes_max);
    }

    /// As [`ValuePieces::nodes_read`].
    pub const fn nodes_read(&self) -> usize {
        self.pieces.reader.nodes_read()
    }

    /// There is no more: the update.
    ///
    /// # Errors
    /// [`ReadError`], also if the text ends in the middle.
    pub fn end(self) -> Result<Update, ReadError> {
        let parts = match self.pieces.end()? {
            Done::Update(parts) => parts,
            Done::Value(_) => unreachable!("an update was to be read"),
        };
        let at = RelativePath::here();
        parts.at(&self.at).map_err(|error| ReadError { problem: error.into(), at, place: None })
    }
}

/// What is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Value,
    Update,
}

/// What was read.
pub(super) enum Done {
    Value(Found),
    Update(UpdateParts),
}

/// A text that comes in pieces.
struct Pieces {
    root: Root,
    member_bytes: usize,
    reader: Reader,
    /// What is not read yet, behind a byte for a bracket.
    text: Vec<u8>,
    /// Where that begins in the whole text.
    place: Place,
    scan: Scan,
    /// What is open, the innermost last.
    frames: Vec<Frame>,
    done: Option<Done>,
    /// Whether a mark of UTF-8 cannot come any more.
    is_begun: bool,
}

/// Where in [`Pieces::text`] the text begins.
const FIRST: usize = 1;

type Json<'t> = serde_json::Deserializer<serde_json::de::StrRead<'t>>;

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Pieces {
    fn new(options: ReadOptions, root: Root) -> Self {
        Self {
            root,
            member_bytes: MEMBER_BYTES,
            reader: Reader::new(options),
            text: vec![0],
            place: Place { line: 1, column: 1 },
            scan: Scan::at(FIRST),
            frames: Vec::new(),
            done: None,
            is_begun: false,
        }
    }

    /// Reads the next piece of the text, of any length. O(length).
    fn feed(&mut self, piece: &[u8]) -> Result<(), ReadError> {
        piece.chunks(self.member_bytes).try_for_each(|piece| {
            self.text.extend_from_slice(piece);
            if !self.is_begun && self.text.len() < FIRST + MARK.len() {
                return Ok(());
            }
            self.proceed()
        })
    }

    /// Reads what can be read.
    fn proceed(&mut self) -> Result<(), ReadError> {
        self.skip_mark();
        while self.is_ready()? {
            match self.scan.look(&self.text) {
                Some(closing) => self.close(closing)?,
                None if self.text.len() < FIRST + self.member_bytes => return Ok(()),
                None => match (self.scan.comma, self.scan.opened) {
                    (Some(comma), _) => self.read_members(comma)?,
                    (None, Some(opened)) if self.open(opened)? => {}
                    (None, Some(_) | None) => return self.check_waiting(),
                },
            }
        }
        Ok(())
    }

    /// It is no character of the text, so that what follows stands where it does without.
    fn skip_mark(&mut self) {
        if !self.is_begun && self.text[FIRST..].starts_with(MARK) {
            self.text.drain(FIRST..FIRST + MARK.len());
        }
        self.is_begun = true;
    }

    /// Whether there is a frame to go on with, and nothing else to come first: the outermost one may begin here, and behind
    /// a value that was a frame of its own there is a comma or the end.
    fn is_ready(&mut self) -> Result<bool, ReadError> {
        let blank = self.text[FIRST..].iter().take_while(|byte| is_blank(**byte)).count();
        self.consume(FIRST + blank);
        let state = self.frames.last().map(|frame| frame.state);
        if matches!(state, Some(State::Member | State::Comma)) {
            return Ok(true);
        }
        let Some(&next) = self.text.get(FIRST) else { return Ok(false) };
        match (self.frames.last_mut(), next) {
            (Some(frame), b',') => {
                frame.state = State::Comma;
                self.consume(FIRST + 1);
                Ok(true)
            }
            (Some(_), b'}' | b']') => Ok(true),
            (Some(frame), _) => {
                let message = format!("expected `,` or `{}`", char::from(frame.own.closing()));
                Err(self.wrong(Problem::Syntax { message }, FIRST))
            }
            (None, _) => self.begin(next),
        }
    }

    /// Whether the outermost frame begins here.
    fn begin(&mut self, next: u8) -> Result<bool, ReadError> {
        if self.done.is_some() {
            return Err(self.wrong(Problem::Syntax { message: "trailing characters".into() }, FIRST));
        }
        let open = || Open::new(&self.reader, self.reader.depth_max());
        let own = match (next, self.root) {
            (b'{', Root::Value) => Own::Object(open()),
            (b'[', Root::Value) => Own::Array(open(), 0),
            (b'{', Root::Update) => Own::Update(Vec::new()),
            (b'[', Root::Update) => {
                return Err(self.wrong(Problem::NotObject { found: AN_ARRAY }, FIRST));
            }
            // Read when all of it is there.
            (_, Root::Value | Root::Update) => return self.check_waiting().map(|()| false),
        };
        self.consume(FIRST + 1);
        self.frames.push(Frame { name: Standing::Outermost, own, state: State::Member });
        Ok(true)
    }

    /// Reads the members of the innermost frame that are whole.
    fn read_members(&mut self, comma: usize) -> Result<(), ReadError> {
        if self.is_blank_to(comma) {
            let message = "expected a value before the comma".into();
            return Err(self.wrong(Problem::Syntax { message }, comma));
        }
        let closing = self.innermost().own.closing();
        match self.read_batch(comma, closing, Batch::Some)? {
            Progress::Open => self.innermost().state = State::Comma,
            Progress::Done(_) => unreachable!("it was not to end"),
        }
        self.consume(comma + 1);
        Ok(())
    }

    /// Reads the rest of the innermost frame, and puts it into the one around it.
    fn close(&mut self, at: usize) -> Result<(), ReadError> {
        if self.innermost().state == State::Comma && self.is_blank_to(at) {
            return Err(self.wrong(Problem::Syntax { message: "trailing comma".into() }, at));
        }
        let Progress::Done(done) = self.read_batch(at, self.text[at], Batch::Last)? else {
            unreachable!("it was to end")
        };
        self.consume(at + 1);
        self.scan = Scan::at(FIRST);
        let closed = self.frames.pop().expect("it was read");
        match (done, self.frames.last_mut()) {
            (done, None) => self.done = Some(done),
            (Done::Value(found), Some(around)) => around.join(&mut self.reader, closed.name, found),
            (Done::Update(_), Some(_)) => unreachable!("an update is the outermost"),
        }
        Ok(())
    }

    /// Opens the object or array with which the value of the next member begins, unless that has a meaning as a whole.
    fn open(&mut self, opened: usize) -> Result<bool, ReadError> {
        let begun = match self.innermost().own.kind() {
            Kind::Array if self.is_blank_to(opened) => None,
            // Something stands before it, which cannot be right.
            Kind::Array => {
                self.read_head(opened, |_, json| IgnoredAny::deserialize(json))?;
                let message = "expected `,` or `]`".into();
                return Err(self.wrong(Problem::Syntax { message }, opened));
            }
            Kind::Object => {
                match self.read_head(opened, |reader, json| Head(NameSeed(reader)).deserialize(json))? {
                    Name::Child(key) => Some(Standing::Child(key)),
                    Name::Value | Name::Priority | Name::ServerValue => return Ok(false),
                }
            }
            Kind::Update => {
                let target =
                    self.read_head(opened, |reader, json| Head(TargetSeed(reader)).deserialize(json))?;
                match target.part {
                    Part::Value => Some(Standing::Part(target.path)),
                    Part::Priority => return Ok(false),
                }
            }
        };
        let frame = self.frames.last_mut().expect("one is open as long as something is read");
        let (name, levels) = match frame.begin_member(&mut self.reader, begun) {
            Ok(begun) => begun,
            Err(error) => return Err(self.fail_at(&error, opened)),
        };
        let open = Open::new(&self.reader, levels);
        let own = if self.text[opened] == b'{' { Own::Object(open) } else { Own::Array(open, 0) };
        self.frames.push(Frame { name, own, state: State::Member });
        self.consume(opened + 1);
        self.scan = Scan::at(FIRST);
        Ok(true)
    }

    fn innermost(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("one is open as long as something is read")
    }

    fn is_blank_to(&self, to: usize) -> bool {
        self.text[FIRST..to].iter().all(|&byte| is_blank(byte))
    }

    /// Reads the text up to there as members of the innermost frame.
    fn read_batch(&mut self, to: usize, closing: u8, batch: Batch) -> Result<Progress, ReadError> {
        let bracket = self.innermost().own.bracket();
        (self.text[0], self.text[to]) = (bracket, closing);
        let text = std::mem::take(&mut self.text);
        let read = self.read(&text[..=to], FIRST, |reader, frames, json| {
            let own = &mut frames.last_mut().expect("one is open").own;
            Members { reader, own, batch }.deserialize(json)
        });
        self.text = text;
        read
    }

    /// Reads what stands before a value that begins there.
    fn read_head<T>(
        &mut self,
        opened: usize,
        read: impl FnOnce(&mut Reader, &mut Json<'_>) -> serde_json::Result<T>,
    ) -> Result<T, ReadError> {
        let own = &self.innermost().own;
        let (bracket, closing) = (own.bracket(), own.closing());
        let text = [&[bracket], &self.text[FIRST..opened], b"null", &[closing]].concat();
        self.read(&text, FIRST, |reader, _, json| read(reader, json))
    }

    /// Reads a text that is not the whole one, the first `added` bytes of which do not belong to it.
    fn read<T>(
        &mut self,
        text: &[u8],
        added: usize,
        read: impl FnOnce(&mut Reader, &mut [Frame], &mut Json<'_>) -> serde_json::Result<T>,
    ) -> Result<T, ReadError> {
        let text = match std::str::from_utf8(text) {
            Ok(text) => repair_surrogates(text),
            Err(error) => {
                let place = self.whole_place(Place::of_offset(text, error.valid_up_to()), added);
                let problem = Problem::Syntax { message: "the text is not UTF-8".into() };
                return Err(ReadError { place: Some(place), ..self.wrong(problem, FIRST) });
            }
        };
        let mut json = serde_json::Deserializer::from_str(&text);
        let value = read(&mut self.reader, &mut self.frames, &mut json);
        let value = value.and_then(|value| json.end().map(|()| value));
        value.map_err(|error| {
            let error = self.fail(&error, &text);
            let place = error.place.map(|place| self.whole_place(place, added));
            ReadError { place, ..error }
        })
    }

    /// Where in the whole text a place of what is not read yet is.
    fn whole_place(&self, place: Place, added: usize) -> Place {
        if 1 < place.line {
            return Place { line: self.place.line + place.line - 1, ..place };
        }
        let column = self.place.column + place.column.saturating_sub(1 + added);
        Place { line: self.place.line, column }
    }

    fn wrong(&mut self, problem: Problem, at: usize) -> ReadError {
        let error: serde_json::Error = self.reader.refuse(problem);
        self.fail_at(&error, at)
    }

    /// The error that the reader has noted, which is about this offset.
    fn fail_at(&mut self, error: &serde_json::Error, at: usize) -> ReadError {
        let place = self.whole_place(Place::of_offset(&self.text, at.min(self.text.len())), FIRST);
        ReadError { place: Some(place), ..self.fail(error, "") }
    }

    fn fail(&mut self, error: &serde_json::Error, text: &str) -> ReadError {
        for frame in self.frames.iter().rev() {
            frame.name.leave(&mut self.reader);
        }
        let nothing = Reader::new(ReadOptions::default());
        std::mem::replace(&mut self.reader, nothing).error(error, text)
    }

    /// What stood before `to` is read.
    fn consume(&mut self, to: usize) {
        let passed = Place::of_offset(&self.text[FIRST..], to - FIRST);
        self.place = self.whole_place(passed, 0);
        self.text.drain(FIRST..to);
        self.scan.shift(to, FIRST);
    }

    /// Refuses what can never be right, however it goes on.
    fn check_waiting(&mut self) -> Result<(), ReadError> {
        let bytes = self.text.len() - FIRST;
        if bytes <= WAITING_BYTES_MAX {
            return Ok(());
        }
        Err(self.wrong(TextTooLong { bytes }.into(), FIRST))
    }

    fn end(mut self) -> Result<Done, ReadError> {
        self.proceed()?;
        if let Some(done) = self.done.take() {
            return Ok(done);
        }
        let mut text = std::mem::take(&mut self.text);
        if self.frames.is_empty() {
            let root = self.root;
            return self.read(&text[FIRST..], 0, |reader, _, json| match root {
                Root::Value => reader.value().deserialize(json).map(|value| Done::Value(value.into())),
                Root::Update => reader.update().deserialize(json).map(Done::Update),
            });
        }
        // It ends in the middle, which the reader says.
        text[0] = self.innermost().own.bracket();
        self.read(&text, FIRST, |reader, frames, json| {
            let own = &mut frames.last_mut().expect("one is open").own;
            Members { reader, own, batch: Batch::Some }.deserialize(json)
        })?;
        Err(self.wrong(Problem::Syntax { message: "the text ends in the middle".into() }, FIRST))
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
