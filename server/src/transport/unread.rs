//! A socket on which what clients send as texts comes as bytes.
//!
//! Why: the C++ SDK cuts a message between any two bytes, and sends the parts as texts that need not be UTF-8 (wire
//! reference 2.2). The library that speaks WebSocket would end such a connection. Whether a message is UTF-8 is looked at
//! where it is read, when it is whole; so each byte is looked at once.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The kinds of frames that matter here (RFC 6455, section 5.2).
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
/// Where they stand in the first byte of a frame.
const KIND: u8 = 0x0f;

/// A socket whose texts nobody has read yet.
pub(super) struct Unread<S> {
    stream: S,
    frames: Frames,
}

impl<S> Unread<S> {
    /// From its first frame on.
    pub(super) const fn new(stream: S) -> Self {
        Self { stream, frames: Frames { head: [0; HEAD_BYTES_MAX], head_bytes: 0, payload_left: 0 } }
    }
}

/// Longest head of a frame: two bytes, the length in eight more, the mask.
const HEAD_BYTES_MAX: usize = 14;

/// Finds where frames begin, whatever parts they come in.
struct Frames {
    /// What has come of the head of a frame.
    head: [u8; HEAD_BYTES_MAX],
    head_bytes: usize,
    /// How much of its payload is to come.
    payload_left: u64,
}

impl Frames {
    /// Makes frames of bytes out of those of text.
    fn pass(&mut self, mut bytes: &mut [u8]) {
        while let Some(first) = bytes.first_mut() {
            if 0 < self.payload_left {
                let skipped = usize::try_from(self.payload_left).unwrap_or(usize::MAX).min(bytes.len());
                self.payload_left -= skipped as u64;
                bytes = &mut bytes[skipped..];
                continue;
            }
            if self.head_bytes == 0 && *first & KIND == TEXT {
                *first = *first & !KIND | BINARY;
            }
            self.head[self.head_bytes] = *first;
            self.head_bytes += 1;
            if let Some(payload) = self.payload() {
                (self.head_bytes, self.payload_left) = (0, payload);
            }
            bytes = &mut bytes[1..];
        }
    }

    /// The length of the payload, if the head is complete.
    fn payload(&self) -> Option<u64> {
        let &[_, second, ref rest @ ..] = &self.head[..self.head_bytes] else { return None };
        let mask_bytes = if second & 0x80 == 0 { 0 } else { 4 };
        let length_bytes = match second & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let long = rest.get(..length_bytes).filter(|_| length_bytes + mask_bytes <= rest.len())?;
        let length = long.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
        Some(if length_bytes == 0 { u64::from(second & 0x7f) } else { length })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Unread<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.frames.pass(&mut buffer.filled_mut()[before..]);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Unread<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A frame of a client, or of a server where it has no mask.
    fn frame(first: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
        let bit = if mask.is_some() { 0x80 } else { 0 };
        let mut frame = vec![first];
        match payload.len() {
            length @ 0..126 => frame.push(bit | u8::try_from(length).unwrap()),
            length => {
                let length = u16::try_from(length).unwrap();
                frame.extend([&[bit | 126][..], &length.to_be_bytes()].concat());
            }
        }
        frame.extend(mask.into_iter().flatten());
        frame.extend_from_slice(payload);
        frame
    }

    #[test]
    fn a_length_of_eight_bytes_is_read() {
        let mut frames = Unread::new(()).frames;
        let mut head = [0x81, 0x7f, 0, 0, 0, 1, 0, 0, 0, 2];
        frames.pass(&mut head);
        assert_eq!((head[0], frames.payload_left), (0x82, (1 << 32) + 2));
        // Payload that looks like a frame is none.
        let mut payload = [0x81, 0x00];
        frames.pass(&mut payload);
        assert_eq!((payload[0], frames.payload_left), (0x81, 1 << 32));
    }

    proptest! {
        #[test]
        fn texts_become_bytes_and_nothing_else_changes(
            frames in prop::collection::vec(
                (prop::sample::select(vec![0x81, 0x01, 0x80, 0x00, 0x82, 0x88, 0x89, 0x8a]),
                 prop_oneof![0_usize..130, Just(5_000)], any::<u8>(), any::<bool>()),
                0..20,
            ),
            cuts in prop::collection::vec(1_usize..300, 1..40),
        ) {
            let text = |first, length, byte, is_masked: bool| {
                frame(first, &vec![byte; length], is_masked.then_some([byte; 4]))
            };
            let all = |kind: &dyn Fn(u8) -> u8| -> Vec<u8> {
                frames.iter().flat_map(|&(first, length, byte, is_masked)| text(kind(first), length, byte, is_masked)).collect()
            };
            let mut passed = all(&|first| first);
            let expected = all(&|first| if first & 0x0f == 1 { first + 1 } else { first });
            let mut seen = Unread::new(()).frames;
            let (mut rest, mut cuts) = (&mut passed[..], cuts.into_iter().cycle());
            while !rest.is_empty() {
                let (part, after) = rest.split_at_mut(cuts.next().unwrap().min(rest.len()));
                seen.pass(part);
                rest = after;
            }
            prop_assert_eq!(passed, expected);
        }
    }
}
