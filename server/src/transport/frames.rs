//! What a WebSocket reads: texts as bytes, and large frames in pieces, counted while they are not whole.
//!
//! Why as bytes: the C++ SDK cuts a message between any two bytes, and sends the parts as texts that need not be UTF-8 (wire
//! reference 2.2). The library that speaks WebSocket would end such a connection. Whether a message is UTF-8 is looked at
//! where it is read, when it is whole; so each byte is looked at once.
//!
//! Why in pieces: a frame says how long it is before anything of it is there, and whoever reads it makes room for all of
//! that. So a frame that announces much is handed on as several that continue each other, which is the same message (RFC
//! 6455, 5.4), and memory follows what has come. Why counted here: what has come of a message is in nobody's hands until
//! it is whole, and this is where it passes by, whether it is one frame, many, or Firebase's parts.

use super::bodies::BodyShare;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// Longest frame that is handed on as it is. A multiple of four, so that the mask of a frame is that of each piece of it.
/// The SDKs send nothing longer than a quarter of it (wire reference 2.2).
pub(super) const PIECE_BYTES: usize = 64 * 1024;
const _: () = assert!(PIECE_BYTES.is_multiple_of(4));
/// Longest head of a frame.
const HEAD_BYTES_MAX: usize = 14;
/// How long so much of a message may take that counts: nobody holds room by adding a byte now and then.
const PART: Duration = Duration::from_secs(60);
const PART_BYTES: usize = 64 * 1024;
/// What is longer between two questions was not all waited for the client: something was written to it meanwhile.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// A stream that frames of a client come from.
pub(super) struct Frames<S> {
    stream: S,
    /// What has come of a message that is not whole.
    share: BodyShare,
    /// How much of the frame, or piece, that is passing by has not come yet.
    left: u64,
    /// What follows the piece.
    rest: Option<Rest>,
    /// Bytes that stand before what comes next: of a head of which something is missing, or that was made here.
    before: Before,
    bytes_max: usize,
    /// Of a message that counts.
    slow: Option<Slow>,
}

/// How slowly a message comes.
#[derive(Clone, Copy)]
struct Slow {
    /// When that was asked last.
    asked: Instant,
    /// How long it was waited for since so much had come.
    waited: Duration,
    before: usize,
}

/// The rest of a frame that is handed on in pieces.
#[derive(Clone, Copy)]
struct Rest {
    bytes: u64,
    is_final: bool,
    mask: Option<[u8; 4]>,
}

/// The head of a frame.
struct Head {
    first: u8,
    bytes: u64,
    mask: Option<[u8; 4]>,
    /// Its own length.
    length: usize,
}

#[derive(Clone, Copy, Default)]
struct Before {
    bytes: [u8; HEAD_BYTES_MAX],
    /// Those that can be handed on.
    ready: usize,
    /// Those that are there.
    length: usize,
}

impl<S> Frames<S> {
    /// Frames above `bytes_max` are handed on as they are, to be refused for what they announce.
    pub(super) fn new(stream: S, share: BodyShare, bytes_max: usize) -> Self {
        let before = Before::default();
        Self { stream, share, left: 0, rest: None, before, bytes_max, slow: None }
    }

    /// A message is whole, or a part of one that somebody else puts together: so many bytes are kept of it.
    pub(super) fn kept(&mut self, bytes: usize) {
        self.share.shrink_to(bytes);
    }

    /// Something came that belongs to no message, and had so many bytes: at most 125, by the protocol.
    pub(super) fn passed(&mut self, bytes: usize) {
        // With its head.
        self.share.shrink_to(self.share.bytes().saturating_sub(bytes + 6));
    }

    /// Whether a message that takes room comes too slowly, at this time. To be asked now and then, and with whether it is
    /// waited for at all.
    pub(super) fn is_slow(&mut self, now: Instant, is_awaited: bool) -> bool {
        let bytes = self.share.bytes();
        if !is_awaited || !self.share.counts() {
            self.slow = None;
            return false;
        }
        let slow = match self.slow {
            Some(Slow { asked, waited, before }) if before <= bytes && bytes < before + PART_BYTES => {
                Slow { asked: now, waited: waited + (now - asked).min(PAUSE_MAX), before }
            }
            Some(_) | None => Slow { asked: now, waited: Duration::ZERO, before: bytes },
        };
        self.slow = Some(slow);
        PART <= slow.waited
    }

    /// Follows what has come: makes bytes of texts and pieces of what is large, and gives how much of it can be handed on. What cannot is the
    /// beginning of a head, and stays here.
    fn follow(&mut self, come: &mut [u8]) -> usize {
        let mut at = 0;
        while at < come.len() {
            if 0 < self.left {
                let passing = usize::try_from(self.left).unwrap_or(usize::MAX).min(come.len() - at);
                self.left -= passing as u64;
                at += passing;
                continue;
            }
            let Some(head) = Head::read(&come[at..]) else { break };
            self.left = head.bytes;
            if head.first & KIND == TEXT {
                come[at] = head.first & !KIND | BINARY;
            }
            if head.is_large(self.bytes_max) {
                let rest = Rest {
                    bytes: head.bytes - PIECE_BYTES as u64,
                    is_final: head.first & FINAL != 0,
                    mask: head.mask,
                };
                self.left = PIECE_BYTES as u64;
                self.rest = Some(rest);
                come[at] &= !FINAL;
                come[at + 2..at + 10].copy_from_slice(&self.left.to_be_bytes());
            }
            at += head.length;
        }
        at
    }

    /// The head of the next piece, if one has passed by.
    fn begin_piece(&mut self) {
        let Some(rest) = self.rest.take_if(|_| self.left == 0) else { return };
        self.left = rest.bytes.min(PIECE_BYTES as u64);
        let bytes = rest.bytes - self.left;
        let is_last = bytes == 0;
        let before = &mut self.before;
        before.bytes[0] = if is_last && rest.is_final { FINAL } else { CONTINUED };
        before.bytes[1] = LONG | if rest.mask.is_some() { MASKED } else { 0 };
        before.bytes[2..10].copy_from_slice(&self.left.to_be_bytes());
        before.bytes[10..].copy_from_slice(&rest.mask.unwrap_or_default());
        before.length = if rest.mask.is_some() { HEAD_BYTES_MAX } else { HEAD_BYTES_MAX - 4 };
        before.ready = before.length;
        self.rest = (!is_last).then_some(Rest { bytes, ..rest });
    }
}

/// In the first byte of a head: nothing of the message follows.
const FINAL: u8 = 0x80;
/// Where the kind of a frame stands there, and the kinds that matter (RFC 6455, 5.2).
const KIND: u8 = 0x0f;
const CONTINUED: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
/// In the second one.
const MASKED: u8 = 0x80;
const LONG: u8 = 127;
const MEDIUM: u8 = 126;

impl Head {
    /// Reads one; nothing, if something of it is missing.
    fn read(come: &[u8]) -> Option<Self> {
        let (&[first, second], behind) = come.split_first_chunk()?;
        let (bytes, behind) = match second & !MASKED {
            LONG => {
                let (bytes, behind) = behind.split_first_chunk()?;
                (u64::from_be_bytes(*bytes), behind)
            }
            MEDIUM => {
                let (bytes, behind) = behind.split_first_chunk()?;
                (u16::from_be_bytes(*bytes).into(), behind)
            }
            short => (short.into(), behind),
        };
        let (mask, behind) = if second & MASKED == 0 {
            (None, behind)
        } else {
            let (&mask, behind) = behind.split_first_chunk()?;
            (Some(mask), behind)
        };
        Some(Self { first, bytes, mask, length: come.len() - behind.len() })
    }

    /// Whether it is handed on in pieces: if it belongs to a message, and that may be so long.
    fn is_large(&self, bytes_max: usize) -> bool {
        let is_data = matches!(self.first & KIND, CONTINUED | TEXT | BINARY);
        is_data && (PIECE_BYTES as u64) < self.bytes && self.bytes <= bytes_max as u64
    }
}

impl Before {
    fn hand_on(&mut self, buffer: &mut ReadBuf<'_>) {
        let now = self.ready.min(buffer.remaining());
        buffer.put_slice(&self.bytes[..now]);
        self.bytes.copy_within(now..self.length, 0);
        (self.ready, self.length) = (self.ready - now, self.length - now);
    }
}

impl<S: AsyncRead + Unpin> Frames<S> {
    /// Reads what a client still sends, and keeps nothing of it: clients that still send do not look for an answer.
    pub(super) async fn pass_over(&mut self) {
        let mut nowhere = [0; 1024];
        while matches!(self.stream.read(&mut nowhere).await, Ok(1..)) {}
    }

    /// Reads frames; gives how much has come, which need not be what can be handed on.
    fn poll_frames(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let space = buffer.initialize_unfilled();
        // Behind a piece comes the head of the next one.
        let most = match self.rest {
            Some(_) => usize::try_from(self.left).unwrap_or(usize::MAX),
            None => PIECE_BYTES,
        };
        let most = most.min(space.len());
        let mut space = ReadBuf::new(&mut space[..most]);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut space))?;
        let bytes = space.filled_mut();
        let come = bytes.len();
        self.share.grow(come).map_err(io::Error::other)?;
        let whole = self.follow(bytes);
        let behind = &bytes[whole..];
        self.before.bytes[..behind.len()].copy_from_slice(behind);
        self.before.length = behind.len();
        buffer.advance(whole);
        Poll::Ready(Ok(come))
    }

    /// Reads behind what there is of a head; gives how much has come.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Before { mut bytes, length, .. } = self.before;
        let mut space = ReadBuf::new(&mut bytes[length..]);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut space))?;
        let come = space.filled().len();
        self.share.grow(come).map_err(io::Error::other)?;
        let length = length + come;
        let ready = self.follow(&mut bytes[..length]);
        self.before = Before { bytes, ready, length };
        Poll::Ready(Ok(come))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Frames<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        loop {
            this.begin_piece();
            if 0 < this.before.ready {
                this.before.hand_on(buffer);
                return Poll::Ready(Ok(()));
            }
            let come = if this.before.length == 0 {
                ready!(this.poll_frames(context, buffer))?
            } else {
                ready!(this.poll_head(context))?
            };
            // Where nothing can be handed on but something has come, it goes on; else it would look like the end.
            if come == 0 || before < buffer.filled().len() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Frames<S> {
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
    use crate::transport::{BodyRoom, Coming};
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::sync::Arc;

    /// Gives what it has in pieces of these lengths, over and over.
    struct Trickle {
        bytes: VecDeque<u8>,
        lengths: Vec<usize>,
        turn: usize,
    }

    impl AsyncRead for Trickle {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let length = self.lengths[self.turn % self.lengths.len()].min(buffer.remaining());
            self.turn += 1;
            let length = length.min(self.bytes.len());
            let now: Vec<u8> = self.bytes.drain(..length).collect();
            buffer.put_slice(&now);
            Poll::Ready(Ok(()))
        }
    }

    const MASK: [u8; 4] = [1, 2, 3, 4];

    /// A frame with content that tells its bytes apart.
    fn frame(first: u8, length: usize, is_masked: bool, is_spelled_long: bool) -> Vec<u8> {
        let flag = if is_masked { MASKED } else { 0 };
        let mut frame = vec![first];
        match length {
            0..=125 if !is_spelled_long => frame.push(flag | u8::try_from(length).unwrap()),
            126..=0xffff if !is_spelled_long => {
                frame.push(flag | MEDIUM);
                frame.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                frame.push(flag | LONG);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        if is_masked {
            frame.extend(MASK);
        }
        frame.extend((0..length).map(|at| content(at) ^ if is_masked { MASK[at % 4] } else { 0 }));
        frame
    }

    fn content(at: usize) -> u8 {
        u8::try_from(at % 251).unwrap()
    }

    /// The frames of a text, each with its first byte and what it holds.
    fn parse(mut text: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut frames = Vec::new();
        while let Some(head) = Head::read(text) {
            let (payload, behind) = text[head.length..].split_at(usize::try_from(head.bytes).unwrap());
            let mask = head.mask.unwrap_or_default();
            frames.push((
                head.first,
                payload.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]).collect(),
            ));
            text = behind;
        }
        assert!(text.is_empty());
        frames
    }

    async fn handed_on(bytes: Vec<u8>, lengths: Vec<usize>, space: usize) -> Vec<u8> {
        let share = Arc::new(BodyRoom::default()).share(Coming::Message);
        let trickle = Trickle { bytes: bytes.into(), lengths, turn: 0 };
        let mut frames = Frames::new(trickle, share, 1_000_000);
        let (mut all, mut buffer) = (Vec::new(), vec![0; space]);
        loop {
            match frames.read(&mut buffer).await.unwrap() {
                0 => return all,
                come => all.extend(&buffer[..come]),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn texts_become_bytes_and_a_large_frame_is_several_that_say_the_same(
            sent in prop::collection::vec(
                (
                    prop::sample::select(vec![0x81_u8, 0x82, 0x01, 0x80, 0x00, 0x89, 0x8a, 0x88]),
                    prop::sample::select(vec![0, 1, 7, 125, 126, 300, 65_535, 65_536, 65_537, 131_072, 200_001]),
                    any::<bool>(),
                    any::<bool>(),
                ),
                1..6,
            ),
            lengths in prop::collection::vec(1_usize..3_000, 1..4),
            space in 1_usize..2_000,
        ) {
            let bytes: Vec<u8> = sent
                .iter()
                .flat_map(|&(first, length, is_masked, is_long)| frame(first, length, is_masked, is_long))
                .collect();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let found = parse(&runtime.block_on(handed_on(bytes, lengths, space)));
            let mut found = found.into_iter();
            for (first, length, ..) in sent {
                let is_data = first & KIND < 8;
                let pieces = if is_data { length.div_ceil(PIECE_BYTES).max(1) } else { 1 };
                let mut all = Vec::new();
                for piece in 0..pieces {
                    let (own, payload) = found.next().unwrap();
                    let own_kind = if first & KIND == TEXT { BINARY } else { first & KIND };
                    let kind = if piece == 0 { own_kind } else { CONTINUED };
                    let is_final = if piece + 1 == pieces { first & FINAL } else { 0 };
                    prop_assert_eq!(own, kind | is_final);
                    all.extend(payload);
                }
                prop_assert!(all.iter().enumerate().all(|(at, &byte)| byte == content(at)));
                prop_assert_eq!(all.len(), length);
            }
            prop_assert!(found.next().is_none());
        }
    }

    #[tokio::test]
    async fn a_frame_above_all_that_is_received_says_so_itself() {
        for (length, pieces) in [(1_000_000, 16), (1_000_001, 1)] {
            let found = parse(&handed_on(frame(0x82, length, true, false), vec![1_000], 2_000).await);
            assert_eq!(found.len(), pieces, "{length}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_message_that_trickles_is_slow() {
        let room = Arc::new(BodyRoom::default());
        for (grown, pause_s, is_awaited, expected) in [
            (1, 25, true, true),
            (1, 25, false, false),
            (PART_BYTES, 25, true, false),
            // It was not read all the time.
            (PART_BYTES / 2, 90, true, false),
            (PART_BYTES / 4, 25, true, true),
            (PART_BYTES / 2, 25, true, false),
        ] {
            let trickle = Trickle { bytes: VecDeque::new(), lengths: vec![1], turn: 0 };
            let mut frames = Frames::new(trickle, room.share(Coming::Message), 1_000_000);
            let pause = Duration::from_secs(pause_s);
            let begin = Instant::now();
            // What takes no room may take its time.
            frames.share.grow(crate::transport::BYTES_FREE).unwrap();
            assert!((0..10).all(|at| !frames.is_slow(begin + at * pause, true)));
            let is_slow = (10..30).any(|at| {
                frames.share.grow(grown).unwrap();
                frames.is_slow(begin + at * pause, is_awaited)
            });
            assert_eq!(is_slow, expected, "{grown} bytes every {pause_s} s");
        }
    }
}
