//! One end of a WebSocket made by hand, so that it can do what no library would.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long the server may take for anything. Long, since machines that run tests are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Peer {
    stream: TcpStream,
    requests: usize,
    /// How the server has closed the connection, if it has said anything.
    goodbye: Option<(u16, String)>,
    /// How many bytes of messages went to the server and came from it.
    pub(crate) said: usize,
    pub(crate) told: usize,
}

impl Peer {
    /// Connects, and reads the handshake.
    pub(crate) fn connect(address: &str) -> Self {
        Self::connect_with(address, "")
    }

    /// As [`Peer::connect`], with further headers and their line ends.
    pub(crate) fn connect_with(address: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let upgrade = format!(
            "GET /.ws?v=5&ns=hostile HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n{headers}\r\n"
        );
        stream.write_all(upgrade.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        let mut peer = Self { stream, requests: 0, goodbye: None, said: 0, told: 0 };
        assert!(peer.read().unwrap().starts_with(r#"{"t":"c","d":{"t":"h","#));
        peer
    }

    /// Sends one text.
    pub(crate) fn send(&mut self, text: &str) {
        self.said += text.len();
        self.send_frame(0x1, text.as_bytes());
    }

    /// Sends a request with these fields and the next number.
    pub(crate) fn send_request(&mut self, fields: &str) {
        self.requests += 1;
        self.send(&format!(r#"{{"t":"d","d":{{"r":{},{fields}}}}}"#, self.requests));
    }

    /// Sends a request, and gives its answer.
    pub(crate) fn ask(&mut self, fields: &str) -> String {
        self.send_request(fields);
        self.answer()
    }

    /// Sends one frame with this code.
    pub(crate) fn send_frame(&mut self, code: u8, payload: &[u8]) {
        self.stream.write_all(&framed(code, payload)).unwrap();
    }

    /// Sends bytes as they are, which may be a part of a frame; whether they could be sent.
    pub(crate) fn try_send_bytes(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Begins a text in one frame of that length.
    pub(crate) fn announce(&mut self, bytes: u64) {
        let head = [&[0x81, 0xff], &bytes.to_be_bytes()[..], &[0; 4]].concat();
        self.stream.write_all(&head).unwrap();
    }

    /// Reads one byte, whatever it is; false, if the connection is closed.
    pub(crate) fn read_byte(&mut self) -> bool {
        self.stream.read_exact(&mut [0]).is_ok()
    }

    /// The code and the words with which the connection is closed; what comes before is passed over.
    pub(crate) fn goodbye(&mut self) -> Option<(u16, String)> {
        while self.read_part().is_some() {}
        self.goodbye.take()
    }

    /// Whether a text could be sent.
    pub(crate) fn try_send(&mut self, payload: &[u8]) -> bool {
        self.stream.write_all(&framed(0x1, payload)).is_ok()
    }

    /// Sends a text again and again until the server has taken nothing for so long; gives how many it took.
    pub(crate) fn send_until_it_stops(&mut self, text: &str, most: usize, wait: Duration) -> usize {
        self.stream.set_write_timeout(Some(wait)).unwrap();
        let frame = framed(0x1, text.as_bytes());
        (0..most).take_while(|_| self.stream.write_all(&frame).is_ok()).count()
    }

    /// The body of the next answer; what else comes is passed over.
    pub(crate) fn answer(&mut self) -> String {
        loop {
            let text = self.read().expect("the connection goes on");
            if let Some((_, body)) = text.split_once(r#","b":{"s":"#) {
                return format!(r#"{{"s":{}"#, body.strip_suffix("}}").unwrap());
            }
        }
    }

    /// The next text, without what says how many parts it has; nothing, if the connection is closed.
    pub(crate) fn read(&mut self) -> Option<String> {
        let first = self.read_part()?;
        let text = match first.parse::<usize>() {
            Ok(parts) => (0..parts).map(|_| self.read_part()).collect::<Option<String>>()?,
            Err(_) => first,
        };
        self.told += text.len();
        Some(text)
    }

    /// The next text as it is sent: a count of parts, or one of them; nothing, if the connection is closed.
    pub(crate) fn read_part(&mut self) -> Option<String> {
        loop {
            let mut head = [0; 2];
            if let Err(error) = self.stream.read_exact(&mut head) {
                let is_closed = matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
                );
                assert!(is_closed, "{error}");
                return None;
            }
            let length = match head[1] {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                short => short.into(),
            };
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.stream.read_exact(&mut payload).unwrap();
            match head[0] & 0xf {
                0x1 => return Some(String::from_utf8(payload).unwrap()),
                0x8 => {
                    self.goodbye = payload.split_first_chunk().map(|(code, reason)| {
                        (u16::from_be_bytes(*code), String::from_utf8(reason.to_vec()).unwrap())
                    });
                    return None;
                }
                _ => {}
            }
        }
    }

    fn bytes<const COUNT: usize>(&mut self) -> [u8; COUNT] {
        let mut bytes = [0; COUNT];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }
}

/// A whole frame, masked with zeros: what comes out is what went in.
fn framed(code: u8, payload: &[u8]) -> Vec<u8> {
    framed_after(0x80 | code, payload)
}

/// A frame with this first byte.
pub(crate) fn framed_after(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ 0..=125 => frame.push(0x80 | u8::try_from(short).unwrap()),
        medium @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend(u16::try_from(medium).unwrap().to_be_bytes());
        }
        long => {
            frame.push(0x80 | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}
