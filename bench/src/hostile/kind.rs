//! What can be done to a server by one who means it no good.

use super::raw::{Doing, ENDS, GOES_ON, Raw, TEXT, TEXT_BEGINS, frame};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Messages that are sent in one go.
const TOGETHER: u64 = 100;
/// Values that are replaced while somebody holds on to what was there.
const LARGE_BYTES: usize = 1024 * 1024;
/// Who holds on to them.
const HOLDERS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Listens to what everybody writes, and does not read.
    ReadsNothing,
    /// The same, and reads a byte a second.
    ReadsAByteASecond,
    /// Writes in frames of one byte each.
    OneByteFrames,
    /// Announces a message of a million parts, and sends them.
    AMillionParts,
    /// Listens to 100,000 places.
    ManyListens,
    /// Arms a million writes.
    ManyArmed,
    /// Writes as fast as the server takes it.
    FloodsWrites,
    /// Eight listen to a value of a mebibyte and do not read, while a ninth replaces it all the time.
    PinsOldRoots,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ReadsNothing => "reads nothing",
            Self::ReadsAByteASecond => "reads a byte a second",
            Self::OneByteFrames => "sends frames of one byte",
            Self::AMillionParts => "announces a million parts",
            Self::ManyListens => "opens 100,000 listens",
            Self::ManyArmed => "arms a million writes",
            Self::FloodsWrites => "floods writes",
            Self::PinsOldRoots => "pins old roots",
        }
    }

    /// Does it until it is to end, anew with each connection that the server closes.
    pub(super) fn run(self, address: SocketAddr, doing: &Arc<Doing>) {
        while !doing.is_over() {
            if self.once(address, doing).is_err() && !doing.is_over() {
                doing.was_closed();
            }
        }
    }

    fn once(self, address: SocketAddr, doing: &Arc<Doing>) -> io::Result<()> {
        let mut raw = Raw::connect(address, doing)?;
        match self {
            Self::ReadsNothing => {
                raw.send(&listen("/bench/load", 1), 1)?;
                doing.wait();
            }
            Self::ReadsAByteASecond => {
                raw.send(&listen("/bench/load", 1), 1)?;
                while raw.read(&mut Vec::new(), 1)? {
                    doing.pause(Duration::from_secs(1));
                }
            }
            Self::OneByteFrames => {
                raw.throw_answers_away()?;
                let mut frames = Vec::new();
                let text = put("/bench/frames", 1, &"x".repeat(40));
                for (at, byte) in text.bytes().enumerate() {
                    let first = if at == 0 {
                        TEXT_BEGINS
                    } else if at + 1 == text.len() {
                        ENDS
                    } else {
                        GOES_ON
                    };
                    frame(&mut frames, first, &[byte]);
                }
                while raw.send(&frames, text.len() as u64)? {}
            }
            Self::AMillionParts => {
                raw.throw_answers_away()?;
                let mut frames = Vec::new();
                frame(&mut frames, TEXT, b"1000000");
                raw.send(&frames, 1)?;
                frames.clear();
                (0..TOGETHER).for_each(|_| frame(&mut frames, TEXT, b"x"));
                while raw.send(&frames, TOGETHER)? {}
            }
            Self::ManyListens => {
                const LISTENS: u64 = 100_000;
                raw.throw_answers_away()?;
                let each = |number| listen(&format!("/bench/hostile/{number}"), number + 1);
                if send_each(&mut raw, LISTENS, each)? {
                    doing.wait();
                }
            }
            Self::ManyArmed => {
                const ARMED: u64 = 1_000_000;
                raw.throw_answers_away()?;
                let each = |number: u64| {
                    let wish = format!(r#""a":"o","b":{{"p":"/bench/armed/{number}","d":1}}"#);
                    text(&request(number + 1, &wish))
                };
                send_each(&mut raw, ARMED, each)?;
            }
            Self::FloodsWrites => {
                const PLACES: u64 = 1_000;
                raw.throw_answers_away()?;
                let value = "x".repeat(100);
                let each = |number: u64| {
                    text(&put(&format!("/bench/flood/{}", number % PLACES), number + 1, &value))
                };
                send_each(&mut raw, u64::MAX, each)?;
            }
            Self::PinsOldRoots => {
                raw.throw_answers_away()?;
                let mut holders = Vec::new();
                for _ in 0..HOLDERS {
                    let mut holder = Raw::connect(address, doing)?;
                    holder.send(&listen("/bench/pinned", 1), 1)?;
                    holders.push(holder);
                }
                let large = |letter: &str| text(&put("/bench/pinned", 1, &letter.repeat(LARGE_BYTES)));
                let (one, other) = (large("x"), large("y"));
                while raw.send(&one, 1)? && raw.send(&other, 1)? {}
            }
        }
        Ok(())
    }
}

/// Sends so many messages, several in one go; false, if it is to end before that.
fn send_each(raw: &mut Raw, count: u64, each: impl Fn(u64) -> Vec<u8>) -> io::Result<bool> {
    let mut sent = 0;
    while sent < count {
        let now = TOGETHER.min(count - sent);
        let frames: Vec<u8> = (sent..sent + now).flat_map(&each).collect();
        if !raw.send(&frames, now)? {
            return Ok(false);
        }
        sent += now;
    }
    Ok(true)
}

fn listen(at: &str, number: u64) -> Vec<u8> {
    text(&request(number, &format!(r#""a":"q","b":{{"p":"{at}","h":""}}"#)))
}

fn put(at: &str, number: u64, value: &str) -> String {
    request(number, &format!(r#""a":"p","b":{{"p":"{at}","d":"{value}"}}"#))
}

fn request(number: u64, wish: &str) -> String {
    format!(r#"{{"t":"d","d":{{"r":{number},{wish}}}}}"#)
}

fn text(message: &str) -> Vec<u8> {
    let mut frames = Vec::new();
    frame(&mut frames, TEXT, message.as_bytes());
    frames
}
