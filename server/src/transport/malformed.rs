//! Whoever sends over HTTP/2 what the library refuses is told to ask by HTTP/1.1.
//!
//! Why: `?orderBy="$key"` is what Firebase's own examples for curl have, and no URL. By 1.1 it is mended on its way in
//! (`raw_target.rs`); here it comes compressed, against a table that both sides keep, and cannot be. The library ends such a
//! request as an error of protocol, which says nothing to anybody; with this code in its place (RFC 9113, 7) curl asks once more
//! by 1.1, without a word, and others say what to do.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Head of a frame: three bytes of length, kind, flags, four bytes of stream.
const HEAD_BYTES: usize = 9;
const RST_STREAM: u8 = 3;
const PROTOCOL_ERROR: u8 = 1;
const HTTP_1_1_REQUIRED: u8 = 13;

/// A connection over HTTP/2 whose errors say something else, where that helps.
pub(super) struct Malformed<S> {
    stream: S,
    place: Place,
}

/// Where in what is sent the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a head, of which this is known.
    Head { at: usize, length: usize, kind: u8 },
    /// In a frame that ends after so many bytes.
    Payload { left: usize },
    /// In the code of an error, of which so many bytes are gone, all of them zero so far or not.
    Code { at: usize, is_small: bool },
}

impl Place {
    const START: Self = Self::Head { at: 0, length: 0, kind: 0 };

    /// How many of these bytes go as they are, up to one that does not, and the place behind them.
    fn pass(mut self, bytes: &[u8]) -> (usize, Self) {
        let mut passed = 0;
        while let Some(&byte) = bytes.get(passed) {
            if self.replaces(byte) {
                break;
            }
            let count = match self {
                Self::Payload { left } => left.min(bytes.len() - passed),
                Self::Head { .. } | Self::Code { .. } => 1,
            };
            self = self.after(byte, count);
            passed += count;
        }
        (passed, self)
    }

    /// Whether the next byte is the end of the code of an error of protocol.
    const fn replaces(self, byte: u8) -> bool {
        matches!(self, Self::Code { at: 3, is_small: true }) && byte == PROTOCOL_ERROR
    }

    /// The place behind `count` bytes, of which this is the first; in a payload alone it is more than one.
    const fn after(self, byte: u8, count: usize) -> Self {
        match self {
            Self::Payload { left } if count == left => Self::START,
            Self::Payload { left } => Self::Payload { left: left - count },
            Self::Code { at: 3, .. } => Self::START,
            Self::Code { at, is_small } => Self::Code { at: at + 1, is_small: is_small && byte == 0 },
            Self::Head { at, length, kind } if at + 1 == HEAD_BYTES => match (kind, length) {
                (_, 0) => Self::START,
                (RST_STREAM, 4) => Self::Code { at: 0, is_small: true },
                (_, left) => Self::Payload { left },
            },
            Self::Head { at, length, kind } => {
                let length = if at < 3 { length << 8 | byte as usize } else { length };
                Self::Head { at: at + 1, length, kind: if at == 3 { byte } else { kind } }
            }
        }
    }
}

impl<S> Malformed<S> {
    pub(super) const fn new(stream: S) -> Self {
        Self { stream, place: Place::START }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Malformed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let place = self.place;
        let (passed, _) = place.pass(bytes);
        if let (0, Some(&byte)) = (passed, bytes.first()) {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &[HTTP_1_1_REQUIRED]))?;
            if written == 1 {
                self.place = place.after(byte, 1);
            }
            return Poll::Ready(Ok(written));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, &bytes[..passed]))?;
        self.place = place.pass(&bytes[..written]).1;
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut place = self.place;
        for slice in slices {
            let (passed, next) = place.pass(slice);
            if passed < slice.len() {
                // One by one, up to the one that is not sent as it is.
                let first = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| slice);
                return self.poll_write(context, first);
            }
            place = next;
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, slices))?;
        let (mut left, mut place) = (written, self.place);
        for slice in slices {
            let count = left.min(slice.len());
            place = place.pass(&slice[..count]).1;
            left -= count;
        }
        self.place = place;
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Malformed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let [_, length @ ..] = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[..], &[kind, 0, 0, 0, 0, 1], payload].concat()
    }

    /// What comes of frames that are written with others in one call, or each alone, and taken in pieces of that length.
    async fn told(sent: &[Vec<u8>], together: usize, piece: usize) -> Vec<u8> {
        let (client, mut server) = duplex(piece);
        let mut client = Malformed::new(client);
        let sent = sent.to_vec();
        let writing = tokio::spawn(async move {
            for frames in sent.chunks(together) {
                let (mut at, all) = (0, frames.concat().len());
                while at < all {
                    let mut skipped = at;
                    let slices: Vec<IoSlice<'_>> = frames
                        .iter()
                        .map(|frame| {
                            let from = skipped.min(frame.len());
                            skipped -= from;
                            IoSlice::new(&frame[from..])
                        })
                        .collect();
                    at += client.write_vectored(&slices).await.unwrap();
                }
            }
            client.shutdown().await.unwrap();
        });
        let mut told = Vec::new();
        server.read_to_end(&mut told).await.unwrap();
        writing.await.unwrap();
        told
    }

    #[tokio::test]
    async fn an_error_of_protocol_of_one_stream_says_what_to_do() {
        let refused = frame(RST_STREAM, &[0, 0, 0, PROTOCOL_ERROR]);
        let required = frame(RST_STREAM, &[0, 0, 0, HTTP_1_1_REQUIRED]);
        for (frames, replaced) in [
            (vec![refused.clone()], vec![required.clone()]),
            // Others stay: of other errors, of the connection (GOAWAY), and data that look like it.
            (vec![frame(RST_STREAM, &[0, 0, 0, 8])], vec![]),
            (vec![frame(RST_STREAM, &[0, 0, 1, 1])], vec![]),
            (vec![frame(7, &[0, 0, 0, 1])], vec![]),
            (vec![frame(0, &refused), frame(0, &[]), frame(4, &[])], vec![]),
            (
                vec![frame(0, &[1; 300]), refused.clone(), refused.clone(), frame(0, &refused)],
                vec![frame(0, &[1; 300]), required.clone(), required.clone(), frame(0, &refused)],
            ),
        ] {
            let expected = if replaced.is_empty() { frames.concat() } else { replaced.concat() };
            for (together, piece) in [(1, 1), (1, 4_096), (4, 1), (4, 7), (4, 4_096)] {
                assert_eq!(told(&frames, together, piece).await, expected, "{frames:?} {together} {piece}");
            }
        }
    }
}
