//! Answers that are spelled as the client takes them.
//!
//! Why: the text of 200 MB of data would stand in memory for each who asks, for as long as the slowest takes. A long answer
//! holds on to its tree instead, and to a few pieces of text. It is spelled twice, first to know how long it is: whoever
//! gets less must notice, and what is too long is refused.

use axum::body::{Body, Bytes};
use hearth_tree::{JsonPieces, OverBound};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Largest answer (rest reference 7.5).
pub(super) const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Largest export of an admin: there is no text of it in memory.
pub(super) const EXPORT_BYTES_MAX: usize = 1 << 40;
/// Up to here an answer is one text.
const WHOLE_BYTES: usize = 256 * 1024;
/// So much is written at once.
pub(super) const PIECE_BYTES: usize = 128 * 1024;
/// How long a client may take nothing.
const STALL: Duration = Duration::from_secs(60);

/// The text of an answer.
pub(super) enum Spelled {
    Whole(Vec<u8>),
    /// With its length.
    Pieces(usize, Body),
}

/// Spells pieces behind a beginning and before an end; what is long in a task of its own. O(length) in any case.
pub(super) fn spell(
    begin: Vec<u8>,
    mut pieces: JsonPieces,
    end: &'static [u8],
    bytes_max: usize,
) -> Result<Spelled, OverBound> {
    let mut text = begin;
    let is_longer = pieces.append_to(&mut text, WHOLE_BYTES);
    if !is_longer {
        text.extend_from_slice(end);
        return if text.len() <= bytes_max { Ok(Spelled::Whole(text)) } else { Err(OverBound) };
    }
    let bytes = text.len() + end.len() + length_of(pieces.clone(), bytes_max)?;
    if bytes_max < bytes {
        return Err(OverBound);
    }
    let (sender, mut sent) = mpsc::channel::<Bytes>(1);
    drop(tokio::spawn(send(text, pieces, end, sender)));
    let stream = futures_util::stream::poll_fn(move |context| {
        sent.poll_recv(context).map(|piece| piece.map(Ok::<_, Infallible>))
    });
    Ok(Spelled::Pieces(bytes, Body::from_stream(stream)))
}

/// How long pieces are together. O(length).
///
/// # Errors
/// [`OverBound`], if that is more than so many bytes.
pub(super) fn length_of(mut pieces: JsonPieces, bytes_max: usize) -> Result<usize, OverBound> {
    let (mut bytes, mut piece) = (0, Vec::with_capacity(2 * PIECE_BYTES));
    loop {
        let is_longer = pieces.append_to(&mut piece, PIECE_BYTES);
        bytes += piece.len();
        piece.clear();
        match is_longer {
            _ if bytes_max < bytes => return Err(OverBound),
            true => {}
            false => return Ok(bytes),
        }
    }
}

/// Spells a piece when the one before is taken. A client that takes nothing gets no more, and sees that it is less than was
/// said.
async fn send(text: Vec<u8>, pieces: JsonPieces, end: &'static [u8], sender: mpsc::Sender<Bytes>) {
    let (mut text, mut left) = (text, Some(pieces));
    while let Ok(Ok(())) = timeout(STALL, sender.send(text.into())).await {
        let Some(mut pieces) = left.take() else { return };
        let next = spawn_blocking(move || {
            let mut piece = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 8);
            let is_longer = pieces.append_to(&mut piece, PIECE_BYTES);
            if !is_longer {
                piece.extend_from_slice(end);
            }
            (piece, is_longer.then_some(pieces))
        });
        // The server ends.
        let Ok((piece, rest)) = next.await else { return };
        (text, left) = (piece, rest);
    }
    // Its tree may be one that nobody else holds any more.
    drop(spawn_blocking(move || drop(left)));
}
