//! A WebSocket that is about to take over a session, until it may (wire reference 14.5).
//!
//! Why it is not read after the client's agreement: what comes then are requests that follow others which are still on
//! their way by long polling. They wait in the network until those have come.

use crate::transport::websocket::{Carrier, PAUSE, Socket, say};
use axum::body::Bytes;
use futures_util::StreamExt;
use hearth_tree::ReadOptions;
use hearth_wire::{ClientControl, ClientMessage, ServerControl};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// What there is of a WebSocket that may take over.
#[derive(Default)]
pub(super) enum TakeOver {
    /// None.
    #[default]
    Nobody,
    /// It asks whether its pings are answered.
    Proving(Box<Carrier>),
    /// The client sends nothing more by long polling than what is on its way.
    Agreed(Box<Carrier>),
}

impl TakeOver {
    /// A WebSocket that knows the session's name. It is told that the session is here.
    pub(super) async fn begin(mut carrier: Box<Carrier>) -> Self {
        if is_told(&mut carrier.socket, &ServerControl::Upgraded).await {
            Self::Proving(carrier)
        } else {
            Self::Nobody
        }
    }

    /// Waits for the WebSocket, while there is something to wait for; returns what it has said. Nothing is lost if this
    /// is dropped.
    pub(super) async fn heard(&mut self) -> Option<ClientControl> {
        match self {
            Self::Nobody | Self::Agreed(_) => std::future::pending().await,
            Self::Proving(carrier) => loop {
                let text = match carrier.socket.next().await?.ok()? {
                    Message::Text(text) => Bytes::from(text),
                    Message::Binary(bytes) => bytes,
                    Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
                    Message::Close(_) => return None,
                };
                carrier.socket.get_mut().kept(0);
                return control(&text);
            },
        }
    }

    /// Goes on after what was [heard](TakeOver::heard). A client that says what does not belong here, or nothing any
    /// more, stays with long polling.
    pub(super) async fn go_on(self, heard: Option<ClientControl>) -> Self {
        match (self, heard) {
            (Self::Proving(mut carrier), Some(ClientControl::Ping)) => {
                if is_told(&mut carrier.socket, &ServerControl::Pong).await {
                    Self::Proving(carrier)
                } else {
                    Self::Nobody
                }
            }
            (Self::Proving(carrier), Some(ClientControl::Upgraded)) => Self::Agreed(carrier),
            (Self::Nobody | Self::Proving(_) | Self::Agreed(_), _) => Self::Nobody,
        }
    }

    /// The client has sent its last message by long polling: the WebSocket that takes over, if there is one. Its agreement
    /// may still be on the way.
    pub(super) fn finish(self) -> Option<Box<Carrier>> {
        match self {
            Self::Nobody => None,
            Self::Proving(carrier) | Self::Agreed(carrier) => Some(carrier),
        }
    }
}

/// Whether the client takes this. One that lets it wait must not keep its session from living, or from ending.
async fn is_told(socket: &mut Socket, control: &ServerControl) -> bool {
    matches!(timeout(PAUSE, say(socket, control)).await, Ok(Ok(())))
}

/// What a message says about the connection, if it does.
pub(super) fn control(message: &[u8]) -> Option<ClientControl> {
    match ClientMessage::parse(message, &ReadOptions::default()) {
        Ok(ClientMessage::Control(control)) => Some(control),
        Ok(ClientMessage::Request(_)) | Err(_) => None,
    }
}
