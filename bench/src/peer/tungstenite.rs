//! One task that sends to all sockets through tokio-tungstenite: what the messages cost with the library of the server.

use super::{ANYWHERE, next_texts, say_where, socket};
use crate::trouble::Trouble;
use futures_util::SinkExt;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::protocol::Message;

pub(super) async fn run(listeners: usize) -> Result<(), Trouble> {
    let listener = TcpListener::bind(ANYWHERE).await?;
    say_where(listener.local_addr()?)?;
    let mut sockets = Vec::with_capacity(listeners);
    while sockets.len() < listeners {
        sockets.push(socket(listener.accept().await?.0).await?);
    }
    let mut writer = socket(listener.accept().await?.0).await?;
    let mut texts = Vec::new();
    while next_texts(&mut writer, &mut texts).await.is_some() {
        for socket in &mut sockets {
            for text in &texts {
                socket.feed(Message::Text(text.clone())).await?;
            }
            socket.flush().await?;
        }
    }
    Ok(())
}
