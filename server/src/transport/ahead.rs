//! Reads ahead of who reads little at a time.
//!
//! Why: a connection mostly idles, and there are many, so the buffer that is read into belongs to the thread and is lent for
//! as long as one read takes. What comes is nearly always one short message, which whoever asked has room for; only what
//! it has no room for is kept, in its own length and until it is asked for.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read at a time, and so the most that is kept. Requests that are sent behind each other come in one call of
/// the system.
const LENT_BYTES: usize = 4 * 1024;

thread_local! {
    /// What a thread lends, to one read at a time.
    static LENT: RefCell<[u8; LENT_BYTES]> = const { RefCell::new([0; LENT_BYTES]) };
}

/// A stream that is read by [`LENT_BYTES`], however little is asked for.
pub(super) struct Ahead<S> {
    stream: S,
    /// What has come and nobody had room for.
    kept: Box<[u8]>,
    /// How much of that has been handed on since: less than all of it, if there is any.
    handed_on: usize,
}

impl<S> Ahead<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, kept: Box::default(), handed_on: 0 }
    }

    fn hand_on(&mut self, buffer: &mut ReadBuf<'_>) {
        let left = &self.kept[self.handed_on..];
        let now = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..now]);
        self.handed_on += now;
        if self.handed_on == self.kept.len() {
            (self.kept, self.handed_on) = (Box::default(), 0);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Ahead<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.kept.is_empty() {
            this.hand_on(buffer);
            return Poll::Ready(Ok(()));
        }
        LENT.with_borrow_mut(|lent| {
            let mut lent = ReadBuf::new(lent);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut lent))?;
            let (now, later) = lent.filled().split_at(lent.filled().len().min(buffer.remaining()));
            buffer.put_slice(now);
            this.kept = later.into();
            Poll::Ready(Ok(()))
        })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Ahead<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
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
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_comes_is_handed_on_in_order_and_nothing_is_kept_behind_it(
            sent in prop::collection::vec(
                prop::sample::select(vec![1, 7, 300, LENT_BYTES - 1, LENT_BYTES, LENT_BYTES + 1, 3 * LENT_BYTES]),
                1..6,
            ),
            spaces in prop::collection::vec(
                prop::sample::select(vec![1, 14, 256, LENT_BYTES - 1, LENT_BYTES, 2 * LENT_BYTES]),
                1..4,
            ),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let (server, mut client) = duplex(16 * LENT_BYTES);
                // Another one of the same thread, which has the same buffer lent in between.
                let (other, mut others_client) = duplex(16 * LENT_BYTES);
                let (mut ahead, mut other) = (Ahead::new(server), Ahead::new(other));
                let mut spaces = spaces.into_iter().cycle();
                for length in sent {
                    let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
                    client.write_all(&bytes).await.unwrap();
                    others_client.write_all(&vec![255; length]).await.unwrap();
                    let (mut come, mut others) = (Vec::<u8>::new(), Vec::<u8>::new());
                    while come.len() < length {
                        let mut space = vec![0; spaces.next().unwrap()];
                        let now = ahead.read(&mut space).await.unwrap();
                        assert!(0 < now, "it looks like the end");
                        come.extend(&space[..now]);
                        assert!(ahead.kept.len() < LENT_BYTES);
                        let now = other.read(&mut space[..now]).await.unwrap();
                        others.extend(&space[..now]);
                    }
                    while others.len() < length {
                        others.push(other.read_u8().await.unwrap());
                    }
                    assert!(come == bytes && others.iter().all(|&byte| byte == 255));
                    assert!(ahead.kept.is_empty() && other.kept.is_empty());
                }
                drop(client);
                assert_eq!(ahead.read(&mut [0; 8]).await.unwrap(), 0);
            });
        }
    }
}
