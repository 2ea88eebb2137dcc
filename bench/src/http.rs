//! One request over HTTP, however large.

use crate::subject::Subject;
use crate::trouble::Trouble;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What is kept of an answer, for whoever must be told that it is not good.
const HEAD_BYTES_MAX: usize = 4 * 1_024;
const READ_BYTES: usize = 64 * 1_024;

/// Asks for something below `/bench` on a connection of its own, and reads the answer to its end; gives its length.
pub(crate) async fn ask(subject: &Subject, method: &str, below: &str, body: &str) -> Result<u64, Trouble> {
    let host = subject.address;
    let mut stream = TcpStream::connect(host).await?;
    stream.set_nodelay(true)?;
    let head = format!(
        "{method} /bench/{below}.json?ns=bench HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let (mut head, mut bytes) = (Vec::new(), 0);
    let mut piece = vec![0; READ_BYTES];
    loop {
        match stream.read(&mut piece).await? {
            0 => break,
            read => {
                let room = HEAD_BYTES_MAX.saturating_sub(head.len()).min(read);
                head.extend_from_slice(&piece[..room]);
                bytes += read as u64;
            }
        }
    }
    let head = String::from_utf8_lossy(&head);
    let status = head.lines().next().unwrap_or_default();
    if status.starts_with("HTTP/1.1 200 ") || status.starts_with("HTTP/1.1 204 ") {
        Ok(bytes)
    } else {
        Err(Trouble::Status { status: status.into() })
    }
}
