//! HTTP as it passes over one connection: which answer belongs to which request.
//!
//! Why only what says its length is followed: so does everything of long polling. Behind an answer that goes on until it
//! ends nothing more is judged.

use super::head::split_head;
use std::collections::VecDeque;

/// A connection, followed from its first byte.
#[derive(Default)]
pub(super) struct Web {
    asked: Vec<u8>,
    told: Vec<u8>,
    /// Where the requests went that are not answered yet.
    targets: VecDeque<String>,
    is_lost: bool,
}

/// An answer that has come whole.
pub(super) struct Answer {
    pub(super) target: String,
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

/// Longest head that is waited for.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Longest body that is kept.
const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;

impl Web {
    /// A connection by which that was asked for.
    pub(super) fn asked(target: String) -> Self {
        Self { targets: [target].into(), ..Self::default() }
    }

    /// Takes what the client sends.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        if self.is_lost {
            return;
        }
        self.asked.extend_from_slice(bytes);
        while let Some((head, _)) = next(&mut self.asked, request_bytes) {
            let line = head.lines().next().unwrap_or_default();
            self.targets.push_back(line.split(' ').nth(1).unwrap_or_default().to_owned());
        }
        self.lose(is_hopeless(&self.asked, request_bytes));
    }

    /// Takes what the server sends. The next answer; there may be more of them.
    pub(super) fn sent(&mut self, bytes: &[u8]) -> Option<Answer> {
        if self.is_lost {
            return None;
        }
        self.told.extend_from_slice(bytes);
        let Some((head, body)) = next(&mut self.told, answer_bytes) else {
            self.lose(is_hopeless(&self.told, answer_bytes));
            return None;
        };
        let status = status(&head);
        // A word in between is no answer.
        let target = if status == 100 { String::new() } else { self.targets.pop_front().unwrap_or_default() };
        Some(Answer { target, status, body })
    }

    fn lose(&mut self, is_lost: bool) {
        if is_lost {
            *self = Self { is_lost, ..Self::default() };
        }
    }
}

/// The next head and body that have come whole.
fn next(bytes: &mut Vec<u8>, body_bytes: fn(&str) -> Option<usize>) -> Option<(String, Vec<u8>)> {
    let (head, rest) = split_head(bytes)?;
    let text = String::from_utf8_lossy(head).into_owned();
    let body = rest.get(..body_bytes(&text)?)?.to_vec();
    let taken = head.len() + body.len();
    bytes.drain(..taken);
    Some((text, body))
}

/// Whether what has come will not be whole, or not be kept so long.
fn is_hopeless(bytes: &[u8], body_bytes: fn(&str) -> Option<usize>) -> bool {
    match split_head(&bytes[..bytes.len().min(HEAD_BYTES_MAX)]) {
        Some((head, _)) => {
            std::str::from_utf8(head).is_err() || body_bytes(&String::from_utf8_lossy(head)).is_none()
        }
        None => HEAD_BYTES_MAX <= bytes.len(),
    }
}

/// How long the body of a request is.
fn request_bytes(head: &str) -> Option<usize> {
    if header(head, "transfer-encoding").is_some() { None } else { length(head).unwrap_or(Some(0)) }
}

/// How long the body of an answer is.
fn answer_bytes(head: &str) -> Option<usize> {
    match (length(head), status(head)) {
        (_, 100..200 | 204 | 304) => Some(0),
        (length, _) => length?,
    }
}

/// What a head says about that; nothing inside, if that is too much.
fn length(head: &str) -> Option<Option<usize>> {
    let length = header(head, "content-length")?;
    Some(length.parse().ok().filter(|length| *length <= BODY_BYTES_MAX))
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let headers = head.lines().filter_map(|line| line.split_once(':'));
    headers.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}
