//! The frames of a WebSocket (RFC 6455, section 5), taken apart byte by byte.
//!
//! Why not with the library that the server uses: a judge that shared code with the accused would share its mistakes.

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) is_last: bool,
    /// The bits for extensions.
    pub(super) reserved: u8,
    pub(super) kind: Kind,
    pub(super) is_masked: bool,
    /// Without its mask.
    pub(super) payload: Vec<u8>,
}

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
    Unknown(u8),
}

/// Frames of which some bytes have come.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame that has come whole.
    pub(super) fn next(&mut self) -> Option<Frame> {
        let (&[first, second], mut rest) = self.bytes.split_first_chunk()?;
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(*take(&mut rest)?)),
            127 => u64::from_be_bytes(*take(&mut rest)?),
            length => u64::from(length),
        };
        let is_masked = second & 0x80 != 0;
        let mask = if is_masked { *take(&mut rest)? } else { [0; 4] };
        let payload = rest.get(..usize::try_from(length).ok()?)?;
        let frame = Frame {
            is_last: first & 0x80 != 0,
            reserved: (first >> 4) & 0b111,
            kind: Kind::of(first & 0x0f),
            is_masked,
            payload: payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect(),
        };
        let end = self.bytes.len() - rest.len() + payload.len();
        self.bytes.drain(..end);
        Some(frame)
    }
}

fn take<'b, const N: usize>(bytes: &mut &'b [u8]) -> Option<&'b [u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(taken)
}

impl Kind {
    const fn of(code: u8) -> Self {
        match code {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            code => Self::Unknown(code),
        }
    }
}

/// Texts of which some frames have come.
#[derive(Debug, Default)]
pub(super) struct Texts {
    begun: Option<Vec<u8>>,
}

impl Texts {
    /// Takes the next frame; a text, if it is complete. What is no part of one is passed over.
    pub(super) fn take(&mut self, frame: Frame) -> Option<Vec<u8>> {
        match (frame.kind, &mut self.begun) {
            (Kind::Text | Kind::Binary, begun) => *begun = Some(frame.payload),
            (Kind::Continuation, Some(begun)) => begun.extend_from_slice(&frame.payload),
            (Kind::Continuation, None) | (Kind::Close | Kind::Ping | Kind::Pong | Kind::Unknown(_), _) => {
                return None;
            }
        }
        if frame.is_last { self.begun.take() } else { None }
    }
}

/// What is wrong with a frame that a server sent, so that a client fails (wire reference 1.4).
pub(super) fn fault(frame: &Frame, is_inside_text: bool) -> Option<&'static str> {
    /// Of a frame that says something about the connection.
    const CONTROL_BYTES_MAX: usize = 125;
    if frame.is_masked {
        return Some("a server's frame is masked");
    }
    if frame.reserved != 0 {
        return Some("a frame uses an extension, as compression is one");
    }
    match frame.kind {
        Kind::Text if is_inside_text => Some("a text begins inside another one"),
        Kind::Continuation if !is_inside_text => Some("a text goes on that was never begun"),
        Kind::Text | Kind::Continuation if std::str::from_utf8(&frame.payload).is_err() => {
            Some("a frame is cut inside a character, or is no text")
        }
        Kind::Text | Kind::Continuation => None,
        Kind::Binary => Some("a frame is binary, and clients read text"),
        Kind::Close | Kind::Ping | Kind::Pong
            if !frame.is_last || CONTROL_BYTES_MAX < frame.payload.len() =>
        {
            Some("a close, ping or pong is in parts, or has more than 125 bytes")
        }
        Kind::Close | Kind::Ping | Kind::Pong => None,
        Kind::Unknown(_) => Some("a frame is of a kind that nobody knows"),
    }
}

impl Texts {
    /// Whether a text has begun.
    pub(super) const fn is_inside(&self) -> bool {
        self.begun.is_some()
    }
}
