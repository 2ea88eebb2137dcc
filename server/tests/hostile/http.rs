//! One end of HTTP/1.1 made by hand, so that it can stop wherever no library would.

use crate::peer::PATIENCE;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

/// A connection that is kept open.
pub(crate) struct Http {
    stream: TcpStream,
    address: String,
}

impl Http {
    pub(crate) fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, address: address.into() }
    }

    /// Sends the head of a request: `GET /a.json`, and headers with their line ends.
    pub(crate) fn send(&mut self, start: &str, headers: &str) {
        let head = format!("{start} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", self.address);
        self.send_bytes(head.as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Whether these could be sent.
    pub(crate) fn try_send_bytes(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends a request, and gives its answer.
    pub(crate) fn ask(&mut self, start: &str, body: &str) -> (u16, String) {
        self.send(start, &format!("Content-Length: {}\r\n", body.len()));
        self.send_bytes(body.as_bytes());
        self.answer().expect("the connection goes on")
    }

    /// Status and body of the next answer, which says how long it is; nothing, if the connection is closed before.
    pub(crate) fn answer(&mut self) -> Option<(u16, String)> {
        self.answer_with_head().map(|(status, _, body)| (status, body))
    }

    /// As [`Http::answer`], with the head in small letters.
    pub(crate) fn answer_with_head(&mut self) -> Option<(u16, String, String)> {
        let head = self.read_until("\r\n\r\n")?.to_ascii_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        Some((status, head, String::from_utf8(body).unwrap()))
    }

    /// The next so many bytes.
    pub(crate) fn take(&mut self, bytes: usize) -> String {
        let mut taken = vec![0; bytes];
        self.stream.read_exact(&mut taken).unwrap();
        String::from_utf8(taken).unwrap()
    }

    /// The next byte; nothing, if the connection is closed.
    pub(crate) fn read_byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        (self.stream.read(&mut byte).unwrap() != 0).then_some(byte[0])
    }

    /// Takes whatever comes up to this text, in large pieces; what stands behind it in the last one is gone, too. Nothing,
    /// if the connection is closed before.
    pub(crate) fn take_past(&mut self, text: &str) -> Option<()> {
        let mut piece = vec![0; 64 * 1024];
        let mut seen = Vec::new();
        while !seen.windows(text.len()).any(|found| found == text.as_bytes()) {
            seen.drain(..seen.len().saturating_sub(text.len()));
            match self.stream.read(&mut piece).unwrap() {
                0 => return None,
                read => seen.extend_from_slice(&piece[..read]),
            }
        }
        Some(())
    }

    /// Whether something has come, were it the end.
    pub(crate) fn is_answered(&self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let found = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).unwrap();
        !matches!(found, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// What comes up to this text and with it; nothing, if the connection is closed before.
    pub(crate) fn read_until(&mut self, end: &str) -> Option<String> {
        let mut read = Vec::new();
        while !read.ends_with(end.as_bytes()) {
            let mut byte = [0];
            match self.stream.read(&mut byte) {
                Ok(0) => return None,
                Ok(_) => read.push(byte[0]),
                Err(error) => {
                    let is_closed =
                        matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe);
                    assert!(is_closed, "{error}");
                    return None;
                }
            }
        }
        Some(String::from_utf8(read).unwrap())
    }
}
