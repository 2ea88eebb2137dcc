//! A client's end of a connection.
//!
//! Why small buffers on this side, too: ten thousand connections are opened from one process.

use crate::trouble::Trouble;
use futures_util::{SinkExt, StreamExt};
use hearth_tree::{Hash, Path, Query, ReadOptions};
use hearth_wire::{
    Action, Held, Listen, ListenKind, Outcome, Request, RequestBody, RequestNumber, ServerMessage, Tag,
};
use std::net::SocketAddr;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Utf8Bytes};

/// A WebSocket, of either end.
pub(crate) type Socket = WebSocketStream<TcpStream>;

/// The buffers that the server has.
pub(crate) fn small_buffers() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(4 * 1_024).write_buffer_size(4 * 1_024)
}

/// The next text; pings are passed over, since they are answered by themselves.
pub(crate) async fn next_text(socket: &mut Socket) -> Result<Utf8Bytes, Trouble> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(text),
            Some(Ok(Message::Close(_))) | None => return Err(Trouble::Closed),
            Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            Some(Err(error)) => return Err(error.into()),
        }
    }
}

/// A session with a server, or with a peer that is spoken to alike.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) socket: Socket,
    requests_made: u64,
}

impl Session {
    /// Connects, and waits for the handshake.
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self, Trouble> {
        let refused = |error| Trouble::Connect { address, error };
        let stream = TcpStream::connect(address).await.map_err(|error| refused(Error::Io(error)))?;
        stream.set_nodelay(true)?;
        let url = format!("ws://{address}/.ws?v=5&ns=bench");
        let connected = tokio_tungstenite::client_async_with_config(url, stream, Some(small_buffers())).await;
        let (mut socket, _) = connected.map_err(refused)?;
        next_text(&mut socket).await?;
        Ok(Self { socket, requests_made: 0 })
    }

    /// Connects to a peer, which asks for no handshake.
    pub(crate) async fn connect_bare(address: SocketAddr) -> Result<Self, Trouble> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let socket = WebSocketStream::from_raw_socket(stream, Role::Client, Some(small_buffers())).await;
        Ok(Self { socket, requests_made: 0 })
    }

    /// The text of a request, numbered.
    pub(crate) fn request(&mut self, body: RequestBody) -> String {
        self.requests_made += 1;
        Request { number: RequestNumber(self.requests_made), body }.to_text()
    }

    /// Asks, and waits until it is done. Pushes that come before are passed over.
    pub(crate) async fn ask(&mut self, body: RequestBody) -> Result<(), Trouble> {
        let request = self.request(body);
        self.socket.send(Message::text(request)).await?;
        loop {
            let text = next_text(&mut self.socket).await?;
            if is_done(&text)? {
                return Ok(());
            }
        }
    }

    /// Listens to everything at a place.
    pub(crate) async fn listen(&mut self, at: &Path) -> Result<(), Trouble> {
        self.listen_to(at, ListenKind::Default).await
    }

    /// Listens to everything at a place, as one who has something of that hash.
    pub(crate) async fn listen_again(&mut self, at: &Path, held: Option<Hash>) -> Result<(), Trouble> {
        let held = held.map(Held::Hash);
        let listen = Listen { at: at.clone(), kind: ListenKind::Default, held, held_ranges: None };
        self.ask(RequestBody::Listen(listen)).await
    }

    /// Listens to what a query shows.
    pub(crate) async fn listen_to_query(&mut self, at: &Path, query: Query, tag: Tag) -> Result<(), Trouble> {
        self.listen_to(at, ListenKind::tagged(query, tag)).await
    }

    async fn listen_to(&mut self, at: &Path, kind: ListenKind) -> Result<(), Trouble> {
        let listen = Listen { at: at.clone(), kind, held: None, held_ranges: None };
        self.ask(RequestBody::Listen(listen)).await
    }
}

/// Whether a text says that a request is done; anything but an answer is not that.
///
/// # Errors
/// [`Trouble::Refused`], if it says that it was refused.
pub(crate) fn is_done(text: &str) -> Result<bool, Trouble> {
    let options = ReadOptions::default();
    let ServerMessage::Reply(reply) = ServerMessage::parse(text.as_bytes(), &options)? else {
        return Ok(false);
    };
    // Of the answers asked for here only whether they are good matters, and for that every action is alike.
    match reply.outcome(Action::Put, &options) {
        Ok(Outcome::Ok(_)) => Ok(true),
        Ok(Outcome::Failed { status, text }) => Err(Trouble::Refused { text: text.unwrap_or(status) }),
        Err(error) => Err(Trouble::Unreadable(error.into())),
    }
}
