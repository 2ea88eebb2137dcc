//! Long answers, as their clients take them.
//!
//! Why: what is made before it is taken stands in memory meanwhile, and whoever asks by long polling needs nothing to ask
//! anew. So texts take room as what clients send does, messages above a mebibyte are written piece by piece, and a client that
//! does not take an answer is not waited for.

use super::telling::Telling;
use crate::transport::pace::{Pace, TooSlow};
use crate::transport::{BodyShare, NoRoom};
use axum::body::{Body, Bytes};
use tokio::sync::mpsc;

/// Up to here a script is handed over as it is.
const WHOLE_BYTES: usize = 64 * 1024;
const PIECE_BYTES: usize = 128 * 1024;

/// The body of an answer that says this, and its length if that is known.
///
/// # Errors
/// [`NoRoom`], if it is long and too many others are.
pub(super) fn body_of(telling: Telling, mut share: BodyShare) -> Result<(Body, Option<usize>), NoRoom> {
    let telling = match telling.into_text() {
        Ok(text) if text.len() <= WHOLE_BYTES => return Ok((text.into(), None)),
        Ok(text) => Left::Text(text.into()),
        Err(telling) => Left::Telling(Box::new(telling)),
    };
    let (bytes, length) = match &telling {
        Left::Text(text) => (text.len(), Some(text.len())),
        Left::Telling(telling) => (telling.text_bytes(), None),
    };
    share.grow(bytes)?;
    let (sender, mut sent) = mpsc::channel(1);
    drop(tokio::spawn(send(telling, share, sender)));
    let body = Body::from_stream(futures_util::stream::poll_fn(move |context| sent.poll_recv(context)));
    Ok((body, length))
}

/// Why an answer has no end.
#[derive(Debug, thiserror::Error)]
enum BreaksOff {
    #[error(transparent)]
    TooSlow(#[from] TooSlow),
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
}

/// What is still to be sent.
enum Left {
    Text(Bytes),
    Telling(Box<Telling>),
}

impl Left {
    fn next_piece(&mut self) -> Option<Bytes> {
        match self {
            Self::Text(text) if text.is_empty() => None,
            Self::Text(text) => Some(text.split_to(text.len().min(PIECE_BYTES))),
            Self::Telling(telling) => telling.next_piece().map(Bytes::from),
        }
    }
}

/// Hands on a piece when the one before is taken. A client that takes too little gets no more, and sees that the answer has
/// no end.
async fn send(mut left: Left, mut share: BodyShare, sender: mpsc::Sender<Result<Bytes, BreaksOff>>) {
    let mut pace = Pace::begin();
    let own_bytes = share.bytes();
    while let Some(mut rest) = left.next_piece() {
        // A leaf may be as long as ten megabytes, and is there as a whole until its end is taken.
        if PIECE_BYTES < rest.len()
            && let Err(full) = share.grow(rest.len())
        {
            tracing::debug!(%full, "an answer breaks off");
            drop((rest, left, share));
            drop(sender.send(Err(BreaksOff::NoRoom(full))).await);
            return;
        }
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            let bytes = piece.len();
            match pace.keep(sender.send(Ok(piece))).await {
                Ok(Ok(())) => pace.took(bytes),
                Ok(Err(_)) => return,
                Err(error) => {
                    tracing::debug!(%error, "a client does not take what it has asked for");
                    // What it holds on to is let go of at once, whenever the client looks.
                    drop((rest, left, share));
                    drop(sender.send(Err(BreaksOff::TooSlow(error))).await);
                    return;
                }
            }
        }
        share.shrink_to(own_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{BYTES_FREE, BodyRoom, Coming};
    use futures_util::StreamExt;
    use std::sync::Arc;
    use std::time::Duration;

    const LONG: usize = 1024 * 1024;

    #[tokio::test(start_paused = true)]
    async fn a_script_that_is_not_taken_takes_no_room_for_long() {
        let room = Arc::new(BodyRoom::default());
        room.allow(2);
        let begin = |bytes: usize| {
            let mut telling = Telling::default();
            telling.script().message(&"x".repeat(bytes));
            body_of(telling, room.share(Coming::Message)).map(|(body, _)| body)
        };
        for (pause_s, expected) in [(0, LONG), (6, LONG), (40, 3 * PIECE_BYTES)] {
            let mut pieces = begin(LONG).unwrap().into_data_stream();
            let mut taken = 0;
            let mut is_whole = true;
            while let Some(piece) = pieces.next().await {
                match piece {
                    Ok(piece) => taken += piece.len(),
                    Err(_) => is_whole = false,
                }
                tokio::time::sleep(Duration::from_secs(pause_s)).await;
            }
            assert_eq!((taken, is_whole), (expected, expected == LONG), "a piece in {pause_s} s");
        }
        // As long as nobody takes them, others find no room; short ones need none.
        let first = [begin(LONG), begin(LONG)];
        assert_eq!(room.bytes_now(), 2 * (LONG - BYTES_FREE));
        assert_eq!(begin(LONG).err(), Some(NoRoom));
        assert!(begin(WHOLE_BYTES).is_ok());
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert_eq!(room.bytes_now(), 0);
        drop(first);
    }
}
