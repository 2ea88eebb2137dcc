//! A witness that stands between clients and a server: it passes on every byte as it is, and judges every message that
//! the server sends over a WebSocket or by long polling by what the SDKs can bear.
//!
//! Why between them and not in the clients: an official SDK shows nobody what it was sent, and forgives much that another
//! one dies of. And why threads that block: whoever does not take what is theirs makes the other side wait, as without
//! the witness, and nothing need be said for it.

mod exchange;
mod frames;
mod head;
mod polls;
mod web;

use exchange::Exchange;
use polls::Polls;
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What may lie in the witness's own socket buffers: little, so that a server notices who does not read about as soon
/// as it would without a witness. By themselves they grow to tens of megabytes.
const SOCKET_BUFFER_BYTES: usize = 64 * 1024;
/// What is passed on at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A port that leads to a server, and what was wrong with what the server sent through it.
pub struct Witness {
    address: SocketAddr,
    testimony: Arc<Testimony>,
}

/// The faults found so far, and whom to tell.
struct Testimony {
    faults: Mutex<Vec<String>>,
    /// Their sessions are of no connection.
    polls: Arc<Mutex<Polls>>,
    say: Box<dyn Fn(&str) + Send + Sync>,
}

impl Witness {
    /// Listens on a free port of this machine, until the process ends. Every fault is said when it is found, and the
    /// connection that it is about is closed before the client sees the message.
    ///
    /// # Errors
    /// What the system says, if there is no port.
    pub fn listen(server: SocketAddr, say: impl Fn(&str) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let testimony =
            Arc::new(Testimony { faults: Mutex::default(), polls: Arc::default(), say: Box::new(say) });
        let noted = testimony.clone();
        thread::spawn(move || {
            for (number, client) in (1_u64..).zip(listener.incoming()) {
                let joined = client.and_then(|client| join(number, client, server, &testimony));
                if let Err(error) = joined {
                    (testimony.say)(&format!("connection {number} does not reach {server}: {error}"));
                }
            }
        });
        Ok(Self { address, testimony: noted })
    }

    /// Where clients are to connect.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The faults found so far: a sentence each, with the connection, the place in it and the start of the message.
    pub fn faults(&self) -> Vec<String> {
        self.testimony.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Testimony {
    fn note(&self, fault: String) {
        (self.say)(&fault);
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }
}

/// Lets two threads carry what comes from either side.
fn join(number: u64, client: TcpStream, server: SocketAddr, testimony: &Arc<Testimony>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    SockRef::from(&server).set_recv_buffer_size(SOCKET_BUFFER_BYTES)?;
    SockRef::from(&client).set_send_buffer_size(SOCKET_BUFFER_BYTES)?;
    for end in [&client, &server] {
        end.set_nodelay(true)?;
    }
    let (client, server) = (Arc::new(client), Arc::new(server));
    let exchange = Arc::new(Mutex::new(Exchange::new(number, testimony.polls.clone())));
    let (from, to, asked) = (client.clone(), server.clone(), exchange.clone());
    thread::spawn(move || {
        carry(&from, &to, |bytes| {
            asked.lock().unwrap_or_else(PoisonError::into_inner).received(bytes);
            true
        });
    });
    let testimony = testimony.clone();
    thread::spawn(move || {
        carry(&server, &client, |bytes| {
            let fault = exchange.lock().unwrap_or_else(PoisonError::into_inner).sent(bytes);
            let is_right = fault.is_none();
            fault.into_iter().for_each(|fault| testimony.note(fault));
            is_right
        });
    });
    Ok(())
}

/// Carries bytes until one side ends, or until they are found wrong. They are shown before they go on, so that an answer
/// is never shown before its request.
fn carry(from: &TcpStream, to: &TcpStream, mut is_right: impl FnMut(&[u8]) -> bool) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let ending = match (&*from).read(&mut chunk) {
            // The other direction may have something to say yet.
            Ok(0) => to.shutdown(Shutdown::Write),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(read) if is_right(&chunk[..read]) && (&*to).write_all(&chunk[..read]).is_ok() => continue,
            Ok(_) | Err(_) => from.shutdown(Shutdown::Both).and(to.shutdown(Shutdown::Both)),
        };
        // Whoever is gone cannot be told.
        drop(ending);
        return;
    }
}
