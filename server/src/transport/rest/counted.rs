//! Bodies of answers, counted for their database.

use crate::meters::DatabaseMeters;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Counts the body: at once if it is there as a whole, otherwise as it is taken.
pub(super) fn counted(response: Response, meters: &Arc<DatabaseMeters>) -> Response {
    match response.body().size_hint().exact() {
        Some(bytes) => {
            meters.bytes_out.add(bytes);
            response
        }
        None => response.map(|body| Body::new(Counted { body, meters: meters.clone() })),
    }
}

struct Counted {
    body: Body,
    meters: Arc<DatabaseMeters>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(piece) = frame.data_ref()
        {
            self.meters.bytes_out.add(piece.len() as u64);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
