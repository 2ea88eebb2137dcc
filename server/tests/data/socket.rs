//! A WebSocket to the server, one request after the other.

use crate::running::PATIENCE;
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

pub(crate) struct Socket {
    socket: WebSocket<TcpStream>,
    requests: usize,
}

impl Socket {
    pub(crate) fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(format!("ws://{address}/.ws?v=5"), stream).unwrap();
        Self { socket, requests: 0 }
    }

    /// What is answered to a request, `"a":…,"b":…`; nothing, if the connection ends instead.
    pub(crate) fn ask(&mut self, request: &str) -> Option<String> {
        self.requests += 1;
        let number = self.requests;
        self.socket.send(Message::text(format!(r#"{{"t":"d","d":{{"r":{number},{request}}}}}"#))).ok()?;
        let start = format!(r#"{{"t":"d","d":{{"r":{number},"b":"#);
        loop {
            match self.socket.read().ok()? {
                Message::Text(text) => {
                    if let Some(answer) = text.as_str().strip_prefix(&start) {
                        return Some(answer.strip_suffix("}}").unwrap().to_owned());
                    }
                }
                Message::Close(_) => return None,
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }
}
