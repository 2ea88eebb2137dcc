//! A socket whose bytes are counted.

use super::{Meters, Present, Transport};
use crate::transport::Seat;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Counts what comes and goes: an addition for each call of the system, which costs a hundred times as much.
#[derive(Debug)]
pub(crate) struct Metered<S> {
    stream: S,
    meters: Arc<Meters>,
    /// Taken as long as there is a socket, whatever becomes of the connection.
    _seat: Seat,
}

impl<S> Metered<S> {
    pub(crate) const fn new(stream: S, meters: Arc<Meters>, seat: Seat) -> Self {
        Self { stream, meters, _seat: seat }
    }

    /// Where it is counted.
    pub(crate) const fn meters(&self) -> &Arc<Meters> {
        &self.meters
    }

    /// Counts whoever is at the other end.
    pub(crate) fn enter(&self, transport: Transport) -> Present {
        self.meters.enter(transport, None)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.meters.bytes_in.add((buffer.filled().len() - before) as u64);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        self.meters.bytes_out.add(written as u64);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, slices))?;
        self.meters.bytes_out.add(written as u64);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
