//! What a client asks for, until it is begun.

use super::{Connection, Next};
use crate::database::Stopped;
use crate::transport::{BYTES_FREE, NoRoom};
use hearth_tree::{ControlCharacters, DEPTH_MAX, NODE_BYTES, ReadOptions, weight_of_nodes};
use hearth_wire::{
    Assembled, ClientControl, ClientMessage, Failure, Refused, RequestBody, RequestNumber, ServerControl,
    Status, number_of,
};

/// Most requests of one connection that are not answered yet; its socket is not read meanwhile.
pub(super) const REQUESTS_MAX: usize = 1_024;

/// Most text of requests of one connection that are not answered yet, in bytes; at this its socket is not read. One largest
/// message always finds room, so that a connection holds less than two of them.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Most nodes of one request, the keys of an update's paths among them. An array of ones has a node in two bytes of text,
/// and one of this size takes 300 MB while it is written. The worst that was found within this bound is an update of short
/// keys at one place: 1.4 million of them, which is all that 16 MB have room for, take 460 MB. An ordinary message of 16 MB
/// (8 bytes to a node, or more) is taken.
pub(crate) const REQUEST_NODES_MAX: usize = 2_000_000;

const REQUEST: ReadOptions = ReadOptions {
    depth_max: DEPTH_MAX,
    nodes_max: REQUEST_NODES_MAX,
    control_characters: ControlCharacters::Allow,
};

/// A request is large, and its place in the queue stays when it has gone: so only a pointer stands there.
pub(super) struct Queued {
    pub(super) number: RequestNumber,
    pub(super) size: Size,
    pub(super) body: Result<Box<RequestBody>, Failure>,
}

/// How large a request is.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    /// The length of its text.
    pub(super) bytes: usize,
    /// What that and what was made of it take at the most, in bytes.
    pub(super) weight: usize,
}

impl Connection {
    /// Whether it can take another message.
    pub(crate) fn has_room(&self) -> bool {
        self.queued.len() + self.slots.len() < REQUESTS_MAX && self.request_bytes < REQUEST_BYTES_MAX
    }

    /// Takes a message of the client.
    pub(crate) async fn receive(&mut self, message: Assembled<'_>) -> Result<Next, Stopped> {
        match self.read_message(message) {
            Next::Close => Ok(Next::Close),
            Next::GoOn => self.proceed().await.map(|()| Next::GoOn),
        }
    }

    /// Puts what a message asks for into the queue. No future: that would have room for a message as long as it lives.
    pub(super) fn read_message(&mut self, message: Assembled<'_>) -> Next {
        let (message, size) = match message {
            Assembled::Message(message) => match self.weigh(&message) {
                Ok(size) => (ClientMessage::parse(&message, &REQUEST), size),
                Err(full) => {
                    let Some(number) = number_of(&message) else { return Next::Close };
                    let failure = Failure { status: Status::Unavailable, text: full.to_string() };
                    self.enqueue(number, Size::default(), Err(failure));
                    return Next::GoOn;
                }
            },
            Assembled::TooBig { start, .. } => {
                let Some(number) = number_of(&start) else { return Next::Close };
                self.enqueue(number, Size::default(), Err(Status::WriteTooBig.into()));
                return Next::GoOn;
            }
        };
        let next = match message {
            Ok(ClientMessage::Request(hearth_wire::Request { number, body })) => {
                self.enqueue(number, size, Ok(Box::new(body)));
                return Next::GoOn;
            }
            Ok(ClientMessage::Control(ClientControl::Ping)) => {
                self.say(&ServerControl::Pong);
                Next::GoOn
            }
            Ok(ClientMessage::Control(ClientControl::Upgraded | ClientControl::End)) => Next::GoOn,
            Err(Refused::Request { number, error }) => {
                let failure = Failure::from(&error);
                let size = Size { bytes: failure.text.len(), weight: 0 };
                self.enqueue(number, size, Err(failure));
                Next::GoOn
            }
            Err(Refused::Unknown { .. }) => Next::GoOn,
            Err(Refused::Broken { .. }) => Next::Close,
        };
        // Nothing is kept of it.
        self.give_back(size);
        next
    }

    /// Makes room for a message that is about to be read.
    pub(super) fn weigh(&mut self, message: &[u8]) -> Result<Size, NoRoom> {
        let bytes = message.len();
        // A short one is not looked at as long as there is little under way, whatever stands in it.
        let most = bytes.saturating_mul(1 + 2 * NODE_BYTES);
        let is_little = self.share.bytes().saturating_add(most) <= BYTES_FREE;
        let weight =
            if is_little { most } else { bytes.saturating_add(weight_of_nodes(message, REQUEST_NODES_MAX)) };
        self.share.grow(weight)?;
        Ok(Size { bytes, weight })
    }

    pub(super) fn give_back(&mut self, size: Size) {
        self.share.shrink_to(self.share.bytes() - size.weight);
    }

    pub(super) fn enqueue(
        &mut self,
        number: RequestNumber,
        size: Size,
        body: Result<Box<RequestBody>, Failure>,
    ) {
        self.request_bytes += size.bytes;
        self.queued.push_back(Queued { number, size, body });
    }
}

impl Queued {
    /// Whether it must see the writes before it answered.
    pub(super) const fn waits_for_writes(&self) -> bool {
        match &self.body {
            Ok(body) => !is_write(body),
            Err(_) => false,
        }
    }

    /// Whether nothing else may be under way when it begins: what is published in its turn is kept for it, and one
    /// connection must not keep a thousand trees.
    pub(super) fn is_alone(&self) -> bool {
        self.body.as_ref().is_ok_and(|body| match **body {
            RequestBody::Get(_) | RequestBody::Unlisten(_) | RequestBody::Auth(_) | RequestBody::Unauth => {
                true
            }
            RequestBody::Put(_)
            | RequestBody::Merge(_)
            | RequestBody::OnDisconnect(_)
            | RequestBody::Listen(_)
            | RequestBody::Stats(_)
            | RequestBody::AppCheck(_)
            | RequestBody::UnAppCheck => false,
        })
    }
}

const fn is_write(body: &RequestBody) -> bool {
    match body {
        RequestBody::Put(_) | RequestBody::Merge(_) | RequestBody::OnDisconnect(_) => true,
        RequestBody::Stats(_)
        | RequestBody::Auth(_)
        | RequestBody::Unauth
        | RequestBody::AppCheck(_)
        | RequestBody::UnAppCheck
        | RequestBody::Listen(_)
        | RequestBody::Unlisten(_)
        | RequestBody::Get(_) => false,
    }
}
