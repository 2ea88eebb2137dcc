//! The heads by which a connection becomes a WebSocket (wire reference 1.1, 1.4).

use hearth_wire::{ConnectParams, Validator};

/// Longest line that Android's own client reads.
const LINE_BYTES_MAX: usize = 1_000;

/// The bytes up to the empty line and it, and the others; nothing, if it has not come.
pub(super) fn split_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    Some(bytes.split_at(end))
}

/// Where a request wants a WebSocket; nothing, if it does not.
pub(super) fn wanted_socket(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let (line, headers) = head.split_once("\r\n")?;
    let is_upgrade = headers.lines().filter_map(|line| line.split_once(':')).any(|(name, value)| {
        name.eq_ignore_ascii_case("upgrade") && value.trim().eq_ignore_ascii_case("websocket")
    });
    is_upgrade.then(|| line.split(' ').nth(1).unwrap_or_default().to_owned())
}

/// Who judges what is said on the WebSocket at this target.
pub(super) fn validator(target: &str) -> Validator {
    let params = target.split_once('?').map(|(_, query)| ConnectParams::parse(query));
    match params {
        // What was asked for before went another way, so the answers cannot be judged.
        Some(Ok(params)) if params.transport_session.is_some() => Validator::without_requests().upgrading(),
        Some(_) | None => Validator::new(),
    }
}

/// Whether an answer makes the connection a WebSocket.
pub(super) fn is_upgrade(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/1.1 101")
}

/// What is wrong with an answer that makes the connection a WebSocket.
pub(super) fn upgrade_fault(head: &[u8]) -> Option<String> {
    let Ok(head) = std::str::from_utf8(head) else { return Some("the answer's head is not UTF-8".into()) };
    let mut lines = head.trim_end().split("\r\n").skip(1);
    let mut found = (false, false);
    let line_fault = lines.find_map(|line| {
        let Some((name, value)) = line.split_once(": ") else {
            return Some(format!("the header `{line}` is not a name, a colon, one space and a value"));
        };
        if LINE_BYTES_MAX <= line.len() {
            return Some(format!("the header `{name}` has {} bytes; Android reads up to 999", line.len()));
        }
        match name.to_ascii_lowercase().as_str() {
            "upgrade" => found.0 = value == "websocket",
            "connection" => found.1 = value.eq_ignore_ascii_case("upgrade"),
            "sec-websocket-extensions" => {
                return Some(format!("the extension `{value}` is used, which Android fails at"));
            }
            "sec-websocket-protocol" => return Some(format!("nobody asks for the protocol `{value}`")),
            _ => {}
        }
        None
    });
    line_fault.or_else(|| match found {
        (true, true) => None,
        (false, _) => Some("the header `Upgrade` must be exactly `websocket`".into()),
        (true, false) => Some("the header `Connection` must be exactly `Upgrade`".into()),
    })
}
