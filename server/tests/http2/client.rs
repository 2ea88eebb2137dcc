//! One end of HTTP/2 made by hand, so that it can do what no library would.

use crate::server::Server;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEAD_BYTES: usize = 9;
/// Longest payload that a server takes without saying so.
pub(crate) const PAYLOAD_BYTES: usize = 16_384;
/// What may be sent of bodies before a server has said anything.
const WINDOW_BYTES: u32 = 65_535;
/// The setting that says what may be sent of each.
const INITIAL_WINDOW_SIZE: u16 = 4;
const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// Something that was sent at once.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// The reason why a stream or the connection ends.
    pub(crate) fn code(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }

    pub(crate) fn ends(&self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }
}

/// An answer to its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// A connection.
pub(crate) struct Client {
    stream: StreamOwned<ClientConnection, TcpStream>,
    next: u32,
    /// What came while something else was waited for.
    put_by: VecDeque<Frame>,
    /// Whether it makes room for what it has read.
    reads_on: bool,
    /// What of bodies it may send: of all, of a stream that begins, and of the one whose body is being sent.
    room: u32,
    room_of_each: u32,
    room_of_one: (u32, u32),
}

/// TLS with that server, by which nothing has been said yet.
pub(crate) fn encrypted(server: &Server, protocols: &[&str]) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(server.certificate.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

/// What is left to say, once the connection has ended: true. Panics if nothing comes for long.
pub(crate) fn is_closed(stream: &mut impl Read) -> bool {
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => {
            assert_ne!(error.kind(), io::ErrorKind::WouldBlock, "the connection goes on");
            true
        }
    }
}

impl Client {
    /// Connects, and takes the windows that there are.
    pub(crate) fn connect(server: &Server) -> Self {
        Self::with_window(server, None)
    }

    /// As [`Client::connect`], with this window for each answer.
    pub(crate) fn with_window(server: &Server, window: Option<u32>) -> Self {
        let stream = encrypted(server, &["h2"]);
        let mut client = Self {
            stream,
            next: 1,
            put_by: VecDeque::new(),
            reads_on: window.is_none(),
            room: WINDOW_BYTES,
            room_of_each: WINDOW_BYTES,
            room_of_one: (0, 0),
        };
        client.stream.write_all(PREFACE).unwrap();
        let settings = window.map_or(Vec::new(), |bytes| [&[0, 4][..], &bytes.to_be_bytes()].concat());
        client.send(SETTINGS, 0, 0, &settings);
        client
    }

    pub(crate) fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.try_send(kind, flags, stream, payload).unwrap();
    }

    pub(crate) fn try_send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let [_, length @ ..] = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let frame = [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat();
        self.stream.write_all(&frame)?;
        self.stream.flush()
    }

    /// The number of a stream that has not begun.
    pub(crate) fn next_stream(&mut self) -> u32 {
        self.next += 2;
        self.next - 2
    }

    /// Asks for something, with headers besides, and leaves it open for a body or not. Its stream.
    pub(crate) fn begin(&mut self, start: &str, headers: &[(&str, &str)], has_body: bool) -> u32 {
        self.try_begin(start, headers, has_body).unwrap()
    }

    pub(crate) fn try_begin(
        &mut self,
        start: &str,
        headers: &[(&str, &str)],
        has_body: bool,
    ) -> io::Result<u32> {
        let stream = self.next_stream();
        let end = if has_body { 0 } else { END_STREAM };
        self.try_send(HEADERS, END_HEADERS | end, stream, &head(start, headers))?;
        Ok(stream)
    }

    /// Asks for something, and gives the answer.
    pub(crate) fn ask(&mut self, start: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let stream = self.begin(start, headers, !body.is_empty());
        if !body.is_empty() {
            self.send_body(stream, body);
        }
        self.answer(stream).expect("it is answered")
    }

    /// Sends a body to its end, as there is room for it.
    pub(crate) fn send_body(&mut self, stream: u32, body: &[u8]) {
        // The server says first how much there is.
        self.settle().unwrap();
        self.room_of_one = (stream, self.room_of_each);
        let pieces: Vec<&[u8]> = body.chunks(PAYLOAD_BYTES).collect();
        for (number, piece) in pieces.iter().enumerate() {
            let bytes = u32::try_from(piece.len()).unwrap();
            while self.room.min(self.room_of_one.1) < bytes {
                let frame = self.any_frame().expect("the connection goes on");
                let frame = self.for_others(frame).unwrap();
                self.put_by.extend(frame);
            }
            self.room -= bytes;
            self.room_of_one.1 -= bytes;
            self.send(DATA, u8::from(number + 1 == pieces.len()), stream, piece);
        }
    }

    /// The answer on a stream; the code of its end, if there is none.
    pub(crate) fn answer(&mut self, stream: u32) -> Result<Answer, u32> {
        let mut answer = Answer::default();
        loop {
            let frame = self.frame_of(stream);
            match frame.kind {
                HEADERS => answer.status = status(&frame.payload),
                DATA => answer.body += std::str::from_utf8(&frame.payload).unwrap(),
                RST_STREAM => return Err(frame.code()),
                kind => panic!("a frame of kind {kind}"),
            }
            if frame.ends() {
                return Ok(answer);
            }
        }
    }

    /// What comes on an event stream, up to and with this text.
    pub(crate) fn told_until(&mut self, stream: u32, end: &str) -> String {
        let mut told = String::new();
        while !told.contains(end) {
            let frame = self.frame_of(stream);
            assert!(matches!(frame.kind, HEADERS | DATA), "{told} {frame:?}");
            assert!(!frame.ends() || frame.payload.windows(end.len()).any(|found| found == end.as_bytes()));
            if frame.kind == DATA {
                told += std::str::from_utf8(&frame.payload).unwrap();
            }
        }
        told
    }

    /// The next frame of a stream.
    pub(crate) fn frame_of(&mut self, stream: u32) -> Frame {
        if let Some(at) = self.put_by.iter().position(|frame| frame.stream == stream) {
            return self.put_by.remove(at).unwrap();
        }
        loop {
            let frame = self.frame().expect("the connection goes on");
            if frame.stream == stream {
                return frame;
            }
            self.put_by.push_back(frame);
        }
    }

    /// The next frame that is not about the connection itself, or is its end; nothing, if it is closed.
    pub(crate) fn frame(&mut self) -> Option<Frame> {
        loop {
            let frame = self.any_frame()?;
            if let Some(frame) = self.for_others(frame).ok()? {
                return Some(frame);
            }
        }
    }

    /// Answers what is about the connection itself.
    fn for_others(&mut self, frame: Frame) -> io::Result<Option<Frame>> {
        match (frame.kind, frame.flags & ACK) {
            (SETTINGS, 0) => self.try_send(SETTINGS, ACK, 0, &[])?,
            (PING, 0) => self.try_send(PING, ACK, 0, &frame.payload)?,
            (SETTINGS | PING | WINDOW_UPDATE, _) => {}
            _ => return Ok(Some(frame)),
        }
        Ok(None)
    }

    /// Everything that the server has been sent so far, it has looked at.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        self.try_send(PING, 0, 0, b"settled?")?;
        loop {
            match self.any_frame() {
                Some(frame) if frame.kind == PING && frame.flags & ACK != 0 => return Ok(()),
                Some(frame) => {
                    let frame = self.for_others(frame)?;
                    self.put_by.extend(frame);
                }
                None => return Err(io::ErrorKind::ConnectionReset.into()),
            }
        }
    }

    /// The code with which the server ends the connection; nothing, if it is only closed.
    pub(crate) fn end(&mut self) -> Option<u32> {
        let mut code = self.put_by.iter().find(|frame| frame.kind == GOAWAY).map(Frame::code);
        while let Some(frame) = self.frame() {
            if frame.kind == GOAWAY {
                code = Some(frame.code());
            }
        }
        code
    }

    /// Reads to the end of the connection, and answers nothing.
    pub(crate) fn is_closed(&mut self) -> bool {
        is_closed(&mut self.stream)
    }

    fn any_frame(&mut self) -> Option<Frame> {
        let mut head = [0; HEAD_BYTES];
        self.read(&mut head)?;
        let [l0, l1, l2, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, l0, l1, l2]) as usize];
        self.read(&mut payload)?;
        let stream = u32::from_be_bytes(stream);
        match (kind, payload.first_chunk().copied().map(u32::from_be_bytes)) {
            (WINDOW_UPDATE, Some(more)) if stream == 0 => self.room += more,
            (WINDOW_UPDATE, Some(more)) if stream == self.room_of_one.0 => self.room_of_one.1 += more,
            (SETTINGS, _) => {
                let window =
                    payload.chunks(6).find(|setting| setting[..2] == INITIAL_WINDOW_SIZE.to_be_bytes());
                if let Some(bytes) = window.and_then(|setting| setting.last_chunk().copied()) {
                    self.room_of_each = u32::from_be_bytes(bytes);
                }
            }
            _ => {}
        }
        if self.reads_on && kind == DATA && !payload.is_empty() {
            let more = u32::try_from(payload.len()).unwrap().to_be_bytes();
            // It may have ended meanwhile.
            self.try_send(WINDOW_UPDATE, 0, 0, &more).ok()?;
            if flags & END_STREAM == 0 {
                self.try_send(WINDOW_UPDATE, 0, stream, &more).ok()?;
            }
        }
        Some(Frame { kind, flags, stream, payload })
    }

    fn read(&mut self, into: &mut [u8]) -> Option<()> {
        match self.stream.read_exact(into) {
            Ok(()) => Some(()),
            Err(error) => {
                assert_ne!(error.kind(), io::ErrorKind::WouldBlock, "the server says nothing");
                None
            }
        }
    }
}

/// The head of a request, without compression: `GET /a.json`, and headers besides, of which `:authority` may be one.
pub(crate) fn head(start: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let (method, path) = start.split_once(' ').unwrap();
    let own = [(":method", method), (":scheme", "https"), (":path", path)];
    let authority = [(":authority", "localhost")];
    let has_own = headers.iter().any(|(name, _)| *name == ":authority");
    let authority = if has_own { &[][..] } else { &authority };
    own.iter().chain(authority).chain(headers).flat_map(|(name, value)| field(name, value)).collect()
}

/// A literal header that nobody is to remember (RFC 7541, 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0][..], &text(name), &text(value)].concat()
}

fn text(text: &str) -> Vec<u8> {
    let mut all = Vec::new();
    match u8::try_from(text.len()) {
        Ok(length @ ..=126) => all.push(length),
        Ok(_) | Err(_) => {
            all.push(127);
            let mut left = text.len() - 127;
            while 128 <= left {
                all.push(u8::try_from(left % 128).unwrap() | 128);
                left /= 128;
            }
            all.push(u8::try_from(left).unwrap());
        }
    }
    all.extend_from_slice(text.as_bytes());
    all
}

/// What a head says first: one of the table (RFC 7541, appendix A), or three digits as they are or in Huffman's code.
fn status(head: &[u8]) -> u16 {
    // The size of the table may stand before it.
    let at = head.iter().position(|byte| byte & 0xe0 != 0x20).unwrap();
    match head[at] {
        0x88 => 200,
        0x89 => 204,
        0x8a => 206,
        0x8b => 304,
        0x8c => 400,
        0x8d => 404,
        0x8e => 500,
        _ => match &head[at + 1..] {
            [3, digits @ ..] => std::str::from_utf8(&digits[..3]).unwrap().parse().unwrap(),
            [length, code @ ..] => digits(&code[..usize::from(length & 127)]),
            [] => panic!("a head ends"),
        },
    }
}

/// Digits in Huffman's code: 0, 1 and 2 have five bits, the others six (RFC 7541, appendix B).
fn digits(code: &[u8]) -> u16 {
    let bits: Vec<u16> =
        code.iter().flat_map(|byte| (0..8).rev().map(move |at| u16::from(byte >> at & 1))).collect();
    let (mut at, mut number) = (0, 0);
    for _ in 0..3 {
        let of = |count: usize| bits[at..at + count].iter().fold(0, |all, bit| all << 1 | bit);
        let (digit, count) = match of(5) {
            few @ 0..=2 => (few, 5),
            _ => (of(6) - 0x19 + 3, 6),
        };
        number = number * 10 + digit;
        at += count;
    }
    number
}
