//! Whether a client is there, as its socket tells.
//!
//! Why at the socket: a network that is gone says nothing, and what is sent into it is first taken by the system's
//! buffers and then by nothing at all. So a client is alive that sends anything, an answer to a ping for one, and also one
//! that slowly takes what waits for it. Silence counts only while something is waited for: a client that is not read
//! because the server has enough of its requests in hand has nothing to prove.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// A socket whose client is watched.
pub(super) struct Watched<S> {
    stream: S,
    pulse: Pulse,
    /// A write found no room.
    is_full: bool,
    /// It was read last and in vain: whoever reads it waits, and need not ask again before there is something.
    is_awaited: bool,
}

/// Since when a client has been waited for in vain; nothing while nobody waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Pulse(Arc<Mutex<Option<Instant>>>);

impl Pulse {
    /// Returns when a client has been waited for in vain for so long.
    pub(super) async fn lost(&self, silence_max: Duration) {
        loop {
            let now = Instant::now();
            let until = self.waited_since().unwrap_or(now) + silence_max;
            if until <= now {
                return;
            }
            sleep_until(until).await;
        }
    }

    fn waited_since(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
    }

    /// The client is alive, and may still be waited for.
    fn beat(&self, is_awaited: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = is_awaited.then(Instant::now);
    }
}

impl<S> Watched<S> {
    /// Watches the client of a socket.
    pub(super) fn new(stream: S) -> (Self, Pulse) {
        let pulse = Pulse::default();
        (Self { stream, pulse: pulse.clone(), is_full: false, is_awaited: false }, pulse)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.is_awaited = read.is_pending();
        match &read {
            Poll::Ready(_) => self.pulse.beat(false),
            Poll::Pending => self.pulse.wait(),
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        match &written {
            // Room in the system's buffer proves nothing; room where there was none was made by the client.
            Poll::Ready(_) => {
                if std::mem::take(&mut self.is_full) {
                    self.pulse.beat(self.is_awaited);
                }
            }
            Poll::Pending => {
                self.is_full = true;
                self.pulse.wait();
            }
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{advance, timeout};

    const SILENCE_MAX: Duration = Duration::from_secs(50);
    const A_WHILE: Duration = Duration::from_secs(30);
    /// What fits between the two.
    const ROOM: usize = 8;

    /// What a client and the server do, and half a minute after it.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Nothing,
        /// The client says something, and the server reads it.
        Says,
        /// The server has more to say than fits.
        Told,
        /// The client takes as much as fits.
        Takes,
        /// The client says something, and the server reads that and, having enough in hand, nothing more.
        Waits,
        /// The client takes all that did not fit at once, and is not read again: it was, and in vain, or it is not waited for.
        Hears,
    }
    use Step::{Hears, Nothing, Says, Takes, Told, Waits};

    #[tokio::test(start_paused = true)]
    async fn a_client_is_lost_that_neither_speaks_nor_takes_anything() {
        for (steps, is_lost) in [
            (&[Nothing][..], false),
            (&[Nothing, Nothing], true),
            (&[Says], false),
            (&[Says, Nothing], true),
            (&[Nothing, Says], false),
            (&[Nothing, Says, Says, Says, Says], false),
            (&[Nothing, Says, Nothing], true),
            (&[Told], false),
            (&[Told, Nothing], true),
            (&[Told, Takes], false),
            (&[Told, Takes, Takes, Takes, Takes], false),
            (&[Told, Takes, Nothing], true),
            (&[Waits, Nothing, Nothing], false),
            (&[Nothing, Waits, Nothing, Nothing], false),
            (&[Nothing, Hears, Hears, Hears, Hears], false),
            (&[Nothing, Hears, Nothing], true),
            (&[Waits, Hears, Nothing, Nothing], false),
        ] {
            assert_eq!(is_lost_after(steps).await, is_lost, "{steps:?}");
        }
    }

    async fn is_lost_after(steps: &[Step]) -> bool {
        let (server, mut client) = duplex(ROOM);
        let (mut server, pulse) = Watched::new(server);
        let mut lost = pin!(pulse.lost(SILENCE_MAX));
        let mut is_read = true;
        for step in steps {
            match step {
                Nothing => {}
                Says => client.write_all(b"x").await.unwrap(),
                Waits => {
                    is_read = false;
                    client.write_all(b"x").await.unwrap();
                    server.read_u8().await.unwrap();
                }
                Hears => {
                    is_read = false;
                    let (said, mut heard) = ([b'x'; 2 * ROOM], [0; 2 * ROOM]);
                    let (told, taken) = tokio::join!(server.write_all(&said), client.read_exact(&mut heard));
                    assert!(told.is_ok() && taken.is_ok());
                }
                Told => {
                    is_read = false;
                    // It waits until more of it is taken.
                    drop(timeout(Duration::ZERO, server.write_all(&[b'x'; 100 * ROOM])).await);
                }
                Takes => {
                    client.read_exact(&mut [0; ROOM]).await.unwrap();
                    drop(timeout(Duration::ZERO, server.write_all(&[b'x'; 100 * ROOM])).await);
                }
            }
            if is_read {
                // Until the client is waited for.
                while timeout(Duration::ZERO, server.read_u8()).await.is_ok() {}
            }
            advance(A_WHILE).await;
            if timeout(Duration::ZERO, &mut lost).await.is_ok() {
                return true;
            }
        }
        false
    }
}
