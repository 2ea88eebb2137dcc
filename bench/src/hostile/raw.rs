//! One end of a WebSocket made by hand, since no library would do what these clients do.
//!
//! Why threads and blocking sockets: whoever is measured shares the runtime of the bench, and nobody here may be in its way.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How often a client that waits looks whether it is to end.
const LOOK: Duration = Duration::from_millis(20);

/// First bytes of frames.
pub(super) const TEXT: u8 = 0x81;
pub(super) const TEXT_BEGINS: u8 = 0x01;
pub(super) const GOES_ON: u8 = 0x00;
pub(super) const ENDS: u8 = 0x80;

/// What a client has done, and whether it is to end.
#[derive(Debug, Default)]
pub(super) struct Doing {
    is_over: AtomicBool,
    /// Messages, or parts of one, that the server has taken.
    sent: AtomicU64,
    /// Connections that the server has closed.
    closed: AtomicU64,
}

impl Doing {
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }

    pub(super) fn was_closed(&self) {
        self.closed.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns after that time, or when it is to end.
    pub(super) fn pause(&self, mut time: Duration) {
        while !self.is_over() && !time.is_zero() {
            let now = time.min(LOOK);
            thread::sleep(now);
            time -= now;
        }
    }

    /// Returns when it is to end.
    pub(super) fn wait(&self) {
        self.pause(Duration::MAX);
    }
}

/// A connection that was upgraded. What the server says is not read unless somebody asks for it.
#[derive(Debug)]
pub(super) struct Raw {
    stream: TcpStream,
    doing: Arc<Doing>,
}

impl Raw {
    pub(super) fn connect(address: SocketAddr, doing: &Arc<Doing>) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK))?;
        stream.set_write_timeout(Some(LOOK))?;
        let upgrade = format!(
            "GET /.ws?v=5&ns=bench HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(upgrade.as_bytes())?;
        let raw = Self { stream, doing: doing.clone() };
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") && raw.read(&mut head, 1)? {}
        Ok(raw)
    }

    /// Sends bytes that hold so many messages or parts; false, if it is to end before all of them are taken.
    pub(super) fn send(&mut self, mut bytes: &[u8], count: u64) -> io::Result<bool> {
        while !bytes.is_empty() {
            if self.doing.is_over() {
                return Ok(false);
            }
            match self.stream.write(bytes) {
                Ok(taken) => bytes = &bytes[taken..],
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.doing.sent.fetch_add(count, Ordering::Relaxed);
        Ok(true)
    }

    /// Reads at most so many bytes; false, if it is to end before anything comes.
    pub(super) fn read(&self, into: &mut Vec<u8>, bytes_max: u64) -> io::Result<bool> {
        while !self.doing.is_over() {
            match (&self.stream).take(bytes_max).read_to_end(into) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(true),
                // What came before that is there.
                Err(error) if is_wait(&error) && into.is_empty() => {}
                Err(error) if is_wait(&error) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Reads whatever comes, and throws it away, on a thread of its own that ends with the connection.
    pub(super) fn throw_answers_away(&self) -> io::Result<()> {
        let raw = Self { stream: self.stream.try_clone()?, doing: self.doing.clone() };
        thread::spawn(move || {
            let mut nowhere = vec![0; 64 * 1024];
            while !raw.doing.is_over() {
                match (&raw.stream).read(&mut nowhere) {
                    Ok(1..) => {}
                    Err(error) if is_wait(&error) => {}
                    Ok(0) | Err(_) => return,
                }
            }
        });
        Ok(())
    }
}

fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Adds a frame to others. Its mask is of zeros, which changes nothing.
pub(super) fn frame(frames: &mut Vec<u8>, first: u8, payload: &[u8]) {
    const MASKED: u8 = 0x80;
    frames.push(first);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(short @ ..126), _) => frames.push(MASKED | short),
        (_, Ok(medium)) => {
            frames.push(MASKED | 126);
            frames.extend(medium.to_be_bytes());
        }
        (_, Err(_)) => {
            frames.push(MASKED | 127);
            frames.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frames.extend([0; 4]);
    frames.extend(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_how_long_it_is() {
        for (length, head) in [
            (0, &[0x81, 0x80][..]),
            (125, &[0x81, 0xfd]),
            (126, &[0x81, 0xfe, 0, 126]),
            (65_535, &[0x81, 0xfe, 0xff, 0xff]),
            (65_536, &[0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] {
            let mut found = Vec::new();
            frame(&mut found, TEXT, &vec![b'x'; length]);
            assert!(found.starts_with(head), "{length}");
            assert_eq!(found.len(), head.len() + 4 + length);
        }
    }
}
