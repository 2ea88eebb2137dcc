//! Long scripts, as their clients take them.
//!
//! Why: the text of an answer is made before it is taken, and whoever asks by long polling needs nothing to ask anew. So
//! these texts take room as what clients send does, and a client that does not take one is not waited for.

use crate::transport::pace::Pace;
use crate::transport::{BodyShare, NoRoom};
use axum::body::{Body, Bytes};
use std::convert::Infallible;
use tokio::sync::mpsc;

/// Up to here a script is handed over as it is.
const WHOLE_BYTES: usize = 64 * 1024;
const PIECE_BYTES: usize = 128 * 1024;

/// The body of an answer with this script.
///
/// # Errors
/// [`NoRoom`], if it is long and too many others are.
pub(super) fn body_of(script: String, mut share: BodyShare) -> Result<Body, NoRoom> {
    if script.len() <= WHOLE_BYTES {
        return Ok(script.into());
    }
    share.grow(script.len())?;
    let (sender, mut sent) = mpsc::channel::<Bytes>(1);
    drop(tokio::spawn(send(script.into(), share, sender)));
    Ok(Body::from_stream(futures_util::stream::poll_fn(move |context| {
        sent.poll_recv(context).map(|piece| piece.map(Ok::<_, Infallible>))
    })))
}

/// Hands on a piece when the one before is taken. A client that takes too little gets no more, and sees that it is less
/// than was said.
async fn send(mut script: Bytes, share: BodyShare, sender: mpsc::Sender<Bytes>) {
    let mut pace = Pace::begin();
    while !script.is_empty() {
        let piece = script.split_to(script.len().min(PIECE_BYTES));
        let bytes = piece.len();
        match pace.keep(sender.send(piece)).await {
            Ok(Ok(())) => pace.took(bytes),
            Ok(Err(_)) => break,
            Err(error) => {
                tracing::debug!(%error, "a client does not take what it has asked for");
                break;
            }
        }
    }
    drop(share);
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
        let begin = |bytes: usize| body_of("x".repeat(bytes), room.share(Coming::Message));
        for (pause_s, expected) in [(0, LONG), (6, LONG), (40, 3 * PIECE_BYTES)] {
            let mut pieces = begin(LONG).unwrap().into_data_stream();
            let mut taken = 0;
            while let Some(piece) = pieces.next().await {
                taken += piece.unwrap().len();
                tokio::time::sleep(Duration::from_secs(pause_s)).await;
            }
            assert_eq!(taken, expected, "a piece in {pause_s} s");
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
