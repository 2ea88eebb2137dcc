//! One thread that writes the same bytes to all sockets: what the messages cost in the kernel alone.

use super::{ANYWHERE, BATCH, say_where};
use crate::session::small_buffers;
use crate::trouble::Trouble;
use std::io::{ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocket};
use tokio_tungstenite::tungstenite::{Error, Utf8Bytes};

pub(super) fn run(listeners: usize) -> Result<(), Trouble> {
    let listener = TcpListener::bind(ANYWHERE)?;
    say_where(listener.local_addr()?)?;
    let accept = || listener.accept().and_then(|(stream, _)| stream.set_nodelay(true).map(|()| stream));
    let mut sockets = (0..listeners).map(|_| accept()).collect::<Result<Vec<_>, _>>()?;
    let mut writer = WebSocket::from_raw_socket(accept()?, Role::Server, Some(small_buffers()));
    let mut bytes = Vec::new();
    while let Some(text) = read(&mut writer)? {
        bytes.clear();
        frame(text, &mut bytes)?;
        take_what_else_is_there(&mut writer, &mut bytes)?;
        for socket in &mut sockets {
            socket.write_all(&bytes)?;
        }
    }
    Ok(())
}

/// The next text, waited for; nothing, when the other side is gone.
fn read(writer: &mut WebSocket<TcpStream>) -> Result<Option<Utf8Bytes>, Trouble> {
    match writer.read() {
        Ok(Message::Text(text)) => Ok(Some(text)),
        Ok(
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_),
        ) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn take_what_else_is_there(writer: &mut WebSocket<TcpStream>, bytes: &mut Vec<u8>) -> Result<(), Trouble> {
    writer.get_ref().set_nonblocking(true)?;
    for _ in 1..BATCH {
        match read(writer) {
            Ok(Some(text)) => frame(text, bytes)?,
            Ok(None) => break,
            Err(Trouble::Broken(Error::Io(error))) if error.kind() == ErrorKind::WouldBlock => break,
            Err(trouble) => return Err(trouble),
        }
    }
    Ok(writer.get_ref().set_nonblocking(false)?)
}

fn frame(text: Utf8Bytes, bytes: &mut Vec<u8>) -> Result<(), Trouble> {
    Ok(Frame::message(text, OpCode::Data(Data::Text), true).format(bytes)?)
}
