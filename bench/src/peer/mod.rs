//! Bare programs to compare with: what the same bytes cost without a database.
//!
//! Why each is a process of its own: its processor time is then counted as the server's is.

mod echo;
mod rest;
mod tungstenite;
mod write_loop;

#[cfg(test)]
pub(crate) use echo::ANSWER;

use crate::session::{Socket, small_buffers};
use crate::trouble::Trouble;
use futures_util::{FutureExt, StreamExt};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_tungstenite::tungstenite::protocol::{Message, Role};

/// Most messages that are taken together.
const BATCH: usize = 64;

/// Which one. All but the one of REST speak WebSocket from the first byte, without a handshake, and print where they listen
/// as the server does.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
pub(crate) enum Peer {
    /// Repeats what the last one to connect sends to all others, through tokio-tungstenite.
    Tungstenite { listeners: usize },
    /// The same with one `write(2)` per socket.
    WriteLoop { listeners: usize },
    /// Answers every message with one of the length of an acknowledgement.
    Echo,
    /// Answers GET, PUT and event streams as the server does, by axum.
    Rest,
}

impl Peer {
    /// Serves until it is ended, or until the one that writes is gone.
    pub(crate) async fn run(self) -> Result<(), Trouble> {
        match self {
            Self::Tungstenite { listeners } => tungstenite::run(listeners).await,
            Self::WriteLoop { listeners } => write_loop::run(listeners),
            Self::Echo => echo::run().await,
            Self::Rest => rest::run(),
        }
    }
}

const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn say_where(address: SocketAddr) -> io::Result<()> {
    writeln!(io::stdout(), "listening on http://{address}")
}

async fn socket(stream: TcpStream) -> io::Result<Socket> {
    stream.set_nodelay(true)?;
    Ok(WebSocketStream::from_raw_socket(stream, Role::Server, Some(small_buffers())).await)
}

/// The next text and what else is there by then, up to [`BATCH`]; nothing, when the other side is gone.
async fn next_texts(socket: &mut Socket, texts: &mut Vec<Utf8Bytes>) -> Option<()> {
    texts.clear();
    texts.push(text(socket.next().await)?);
    while texts.len() < BATCH
        && let Some(message) = socket.next().now_or_never()
    {
        texts.push(text(message)?);
    }
    Some(())
}

/// The bench sends its peers nothing but texts.
fn text(message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>) -> Option<Utf8Bytes> {
    match message? {
        Ok(Message::Text(text)) => Some(text),
        Ok(
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_),
        )
        | Err(_) => None,
    }
}
