//! One end of a WebSocket. Everything that the server says on it is judged by the validator.

use hearth_wire::{Ending, FRAME_UNITS_MAX, Validator, split};
use std::net::TcpStream;
use std::time::Duration;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

/// How long a message may take before it is taken for one that never comes.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Socket {
    socket: WebSocket<TcpStream>,
    validator: Validator,
}

impl Socket {
    /// Connects there, under that name of the server and with these parameters.
    pub(crate) fn connect(address: &str, host: &str, params: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(format!("ws://{host}/.ws?v=5&{params}"), stream).unwrap();
        let takes_over = params.split('&').any(|param| param.starts_with("s="));
        // What was asked for before went another way.
        let validator = if takes_over { Validator::without_requests().upgrading() } else { Validator::new() };
        Self { socket, validator }
    }

    /// Sends a message, in parts where clients would.
    pub(crate) fn send(&mut self, text: &str) {
        if text.len() <= FRAME_UNITS_MAX {
            return self.send_bytes(text.as_bytes());
        }
        for frame in split(text).unwrap() {
            self.send_bytes(frame.as_bytes());
        }
    }

    /// Sends a text, even if it is none.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.validator.received(bytes);
        let frame = Frame::message(bytes.to_vec(), OpCode::Data(Data::Text), true);
        self.socket.send(Message::Frame(frame)).unwrap();
    }

    /// The next message, put together where it comes in parts; nothing, if the server has closed.
    pub(crate) fn next(&mut self, place: &str) -> Option<String> {
        let mut parts = 0;
        let mut whole = String::new();
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    self.validator.sent(text.as_bytes());
                    assert_eq!(self.validator.findings(), [""; 0], "{place}");
                    match text.parse::<usize>() {
                        Ok(count) if parts == 0 && text.len() < 7 => parts = count,
                        Ok(_) | Err(_) => {
                            whole.push_str(&text);
                            parts = parts.saturating_sub(1);
                            if parts == 0 {
                                return Some(whole);
                            }
                        }
                    }
                }
                Ok(Message::Close(_))
                | Err(
                    Error::ConnectionClosed | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake),
                ) => return None,
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(other @ (Message::Binary(_) | Message::Frame(_))) => panic!("{place}: {other:?}"),
                Err(error) => panic!("{place}: {error}, after {whole:?}"),
            }
        }
    }

    /// Closes, and waits for the server's goodbye. Nothing may be left to say.
    pub(crate) fn end(mut self, place: &str) {
        self.socket.close(None).unwrap();
        assert_eq!(self.next(place), None, "{place}: something comes before the goodbye");
        assert_eq!(self.validator.finish(Ending::Settled), [""; 0], "{place}");
    }
}
