//! Request targets with a raw `"`, as people type them and as Firebase's own examples for curl have them:
//! `?orderBy="$key"`. The HTTP library refuses these before anybody here sees them, so they are escaped on the way to it.
//!
//! Why only as long as no request has had a body: what a head is and what a body must never be mistaken, or whoever shares
//! a connection behind a proxy could be handed somebody else's bytes. Clients that go on to write escape what they ask for.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection whose requests may have what must be escaped in a query.
pub(super) struct RawTargets<S> {
    stream: S,
    place: Place,
    /// Escaped, and not read yet.
    ready: Vec<u8>,
}

/// Where in a request the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before or in the method.
    Method,
    /// In the target, before a `?`.
    Path,
    Query,
    /// Behind the target.
    Version,
    /// At this byte of a header's line, which may be one of [`TELLING`]: of those whose bit is set.
    Header {
        at: usize,
        candidates: u8,
    },
    /// In a line that is none of those.
    Line,
    /// From here on nobody knows where requests begin, or nobody needs to.
    Beyond,
}

/// Headers behind which something else than a request can follow, in lower case.
const TELLING: [&[u8]; 4] = [b"content-length", b"transfer-encoding", b"upgrade", b"expect"];

impl Place {
    const LINE: Self = Self::Header { at: 0, candidates: (1 << TELLING.len()) - 1 };

    /// The place of the byte that follows.
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Method, b' ') => Self::Path,
            // Before a request, empty lines count for nothing.
            (Self::Method, _) => Self::Method,
            (Self::Path | Self::Query, b' ') => Self::Version,
            (Self::Path, b'?') => Self::Query,
            (Self::Header { at: 0, .. }, b'\n') => Self::Method,
            (Self::Path | Self::Query | Self::Version | Self::Line | Self::Header { .. }, b'\n') => {
                Self::LINE
            }
            (Self::Header { at: 0, .. }, b'\r') => self,
            // A line that goes on with the one before it.
            (Self::Header { at: 0, .. }, b' ' | b'\t') => Self::Beyond,
            (Self::Header { at, candidates }, byte) => {
                Self::in_header(at, candidates, byte.to_ascii_lowercase())
            }
            (Self::Path | Self::Query | Self::Version | Self::Line | Self::Beyond, _) => self,
        }
    }

    fn in_header(at: usize, candidates: u8, byte: u8) -> Self {
        let fits = |&number: &usize| candidates & 1 << number != 0 && TELLING[number].get(at) == Some(&byte);
        let candidates = (0..TELLING.len()).filter(fits).fold(0, |all, number| all | 1 << number);
        let is_whole = |number: usize| candidates & 1 << number != 0 && TELLING[number].len() == at + 1;
        if (0..TELLING.len()).any(is_whole) {
            Self::Beyond
        } else if candidates == 0 {
            Self::Line
        } else {
            Self::Header { at: at + 1, candidates }
        }
    }
}

/// What a byte of a query is escaped as, where the HTTP library does not take it.
const fn escaped(byte: u8) -> Option<&'static [u8]> {
    match byte {
        b'"' => Some(b"%22"),
        b'<' => Some(b"%3C"),
        b'>' => Some(b"%3E"),
        _ => None,
    }
}

impl<S> RawTargets<S> {
    pub(super) const fn new(stream: S) -> Self {
        Self { stream, place: Place::Method, ready: Vec::new() }
    }

    /// What stands for bytes that came; nothing, if they are right as they are.
    fn pass(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut passed: Option<Vec<u8>> = None;
        for (at, &byte) in bytes.iter().enumerate() {
            if self.place == Place::Beyond {
                if let Some(passed) = &mut passed {
                    passed.extend_from_slice(&bytes[at..]);
                }
                break;
            }
            match escaped(byte).filter(|_| self.place == Place::Query) {
                Some(escaped) => {
                    passed.get_or_insert_with(|| bytes[..at].to_vec()).extend_from_slice(escaped);
                }
                None => {
                    if let Some(passed) = &mut passed {
                        passed.push(byte);
                    }
                }
            }
            self.place = self.place.after(byte);
        }
        passed
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RawTargets<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.ready.is_empty() {
            let before = into.filled().len();
            ready!(Pin::new(&mut this.stream).poll_read(context, into))?;
            let Some(passed) = this.pass(&into.filled()[before..]) else { return Poll::Ready(Ok(())) };
            into.set_filled(before);
            this.ready = passed;
        }
        let now = this.ready.len().min(into.remaining());
        into.put_slice(&this.ready[..now]);
        this.ready.drain(..now);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for RawTargets<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    /// What the HTTP library reads of bytes that come in pieces of this length, through a buffer of that one.
    async fn read(sent: &str, piece: usize, buffer: usize) -> String {
        let (mut client, server) = duplex(piece);
        let mut targets = RawTargets::new(server);
        let sent = sent.to_owned();
        let sending = tokio::spawn(async move {
            client.write_all(sent.as_bytes()).await.unwrap();
        });
        let (mut all, mut some) = (Vec::new(), vec![0; buffer]);
        loop {
            match targets.read(&mut some).await.unwrap() {
                0 => break,
                count => all.extend_from_slice(&some[..count]),
            }
        }
        sending.await.unwrap();
        String::from_utf8(all).unwrap()
    }

    #[tokio::test]
    async fn only_queries_of_requests_are_escaped() {
        const GET: &str = "GET /a.json?orderBy=\"$key\"&x=<1> HTTP/1.1\r\n";
        const ESCAPED: &str = "GET /a.json?orderBy=%22$key%22&x=%3C1%3E HTTP/1.1\r\n";
        for (sent, expected) in [
            (format!("{GET}Host: x\r\n\r\n"), format!("{ESCAPED}Host: x\r\n\r\n")),
            // With bare line ends, after empty lines, without headers.
            (format!("\r\n\n{GET}Host: x\n\n{GET}\r\n"), format!("\r\n\n{ESCAPED}Host: x\n\n{ESCAPED}\r\n")),
            // Not in paths, which may have it, nor in headers.
            (
                "GET /\"a\".json HTTP/1.1\r\nif-match: \"3\"\r\nx: ?\"<\r\n\r\n".into(),
                "GET /\"a\".json HTTP/1.1\r\nif-match: \"3\"\r\nx: ?\"<\r\n\r\n".into(),
            ),
            // The next request on the connection, too, as long as nothing can stand between.
            (
                format!("{GET}Cookie: a?\"\r\nContent-Lengt: 1\r\n\r\n{GET}\r\n"),
                format!("{ESCAPED}Cookie: a?\"\r\nContent-Lengt: 1\r\n\r\n{ESCAPED}\r\n"),
            ),
            (
                format!("{GET}content-LENGTH: 9\r\n\r\n{GET}\r\n"),
                format!("{ESCAPED}content-LENGTH: 9\r\n\r\n{GET}\r\n"),
            ),
            (
                format!("{GET}a: b\r\nTransfer-Encoding: chunked\r\n\r\n{GET}\r\n"),
                format!("{ESCAPED}a: b\r\nTransfer-Encoding: chunked\r\n\r\n{GET}\r\n"),
            ),
            (format!("{GET}Upgrade: x\r\n\r\n{GET}\r\n"), format!("{ESCAPED}Upgrade: x\r\n\r\n{GET}\r\n")),
            (
                format!("{GET}Expect: 100-continue\r\n\r\n{GET}\r\n"),
                format!("{ESCAPED}Expect: 100-continue\r\n\r\n{GET}\r\n"),
            ),
            // A line that goes on could hide anything.
            (format!("{GET}a: b\r\n c\r\n\r\n{GET}\r\n"), format!("{ESCAPED}a: b\r\n c\r\n\r\n{GET}\r\n")),
        ] {
            for (piece, buffer) in [(1, 1), (1, 4096), (7, 3), (4096, 1), (4096, 4096)] {
                assert_eq!(read(&sent, piece, buffer).await, expected, "in pieces of {piece}, {buffer}");
            }
        }
    }
}
