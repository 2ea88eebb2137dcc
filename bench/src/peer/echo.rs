//! Answers every message: what a request costs without anything to decide.

use super::{ANYWHERE, next_texts, say_where, socket};
use crate::session::Socket;
use crate::trouble::Trouble;
use futures_util::SinkExt;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_tungstenite::tungstenite::protocol::Message;

/// What a server says to a write; here always of the same number, since nobody looks at it.
pub(crate) const ANSWER: &str = r#"{"t":"d","d":{"r":10000,"b":{"s":"ok","d":""}}}"#;

pub(super) async fn run() -> Result<(), Trouble> {
    let listener = TcpListener::bind(ANYWHERE).await?;
    say_where(listener.local_addr()?)?;
    loop {
        let socket = socket(listener.accept().await?.0).await?;
        tokio::spawn(answer(socket));
    }
}

async fn answer(mut socket: Socket) {
    let mut texts = Vec::new();
    while next_texts(&mut socket, &mut texts).await.is_some() {
        for _ in &texts {
            if socket.feed(Message::Text(Utf8Bytes::from_static(ANSWER))).await.is_err() {
                return;
            }
        }
        if socket.flush().await.is_err() {
            return;
        }
    }
}
