//! Tells a service manager how far the server is, if one wants to know (`NOTIFY_SOCKET`, `sd_notify` of systemd).
//!
//! Why by hand: it is one datagram, and a server that reads much data is there long after it was started.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixDatagram;

const SOCKET: &str = "NOTIFY_SOCKET";

/// How far the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State<'a> {
    /// It listens there.
    Ready(&'a str),
    /// It ends.
    Stopping,
}

/// Tells it. Nobody needs to hear it.
pub(super) fn notify(state: State<'_>) {
    let Some(socket) = env::var_os(SOCKET).filter(|socket| !socket.is_empty()) else { return };
    let text = match state {
        State::Ready(address) => format!("READY=1\nSTATUS=listening on {address}\n"),
        State::Stopping => "STOPPING=1\nSTATUS=ending\n".into(),
    };
    if let Err(error) = send(&socket, &text) {
        tracing::warn!(%error, "the service manager was not told how far the server is ({SOCKET})");
    }
}

/// A name that begins with `@` is none of a file.
fn send(socket: &OsStr, text: &str) -> io::Result<()> {
    let own = UnixDatagram::unbound()?;
    match socket.as_bytes().strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            own.send_to_addr(text.as_bytes(), &address)?;
        }
        #[cfg(not(target_os = "linux"))]
        Some(_) => return Err(io::ErrorKind::Unsupported.into()),
        None => {
            own.send_to(text.as_bytes(), socket)?;
        }
    }
    Ok(())
}
