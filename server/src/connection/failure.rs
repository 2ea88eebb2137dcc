//! Why something failed, in the words that clients know: the one place where they are chosen.

use crate::auth::CredentialError;
use crate::limits::OverLimit;
use hearth_engine::{Denied, ListenRefusal, Refusal};
use hearth_wire::{Failure, Status};

/// Of a write, or of arming one.
pub(super) fn failure_of_write(refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::Denied(denied) => failure_of_denial(denied),
        // No client can ask for other rules over a socket.
        Refusal::Stale { .. } | Refusal::OtherRules { .. } => Status::DataStale.into(),
        Refusal::Resolve(error) => Failure { status: Status::Invalid, text: error.to_string() },
        Refusal::Arm(error) => Failure { status: Status::TooBig, text: error.to_string() },
        Refusal::LogStopped | Refusal::InDoubt => Status::Unavailable.into(),
    }
}

/// Of a listen.
pub(super) fn failure_of_listen(refusal: &ListenRefusal) -> Failure {
    match refusal {
        ListenRefusal::Denied(denied) => failure_of_denial(denied),
        ListenRefusal::TooMany | ListenRefusal::TooLong => {
            Failure { status: Status::TooBig, text: refusal.to_string() }
        }
        ListenRefusal::Closed => Status::Disconnected.into(),
    }
}

/// A client is told that it is denied and nothing else: the rest would reveal rules or data.
pub(super) fn failure_of_denial(denied: &Denied) -> Failure {
    tracing::debug!(%denied, "denied");
    Status::PermissionDenied.into()
}

/// Of what a limit refuses. Clients send nothing of this again by themselves; `unavailable` is what they know of the kind.
pub(super) fn failure_of_limit(over: &OverLimit) -> Failure {
    let status = match over {
        OverLimit::Rate { .. } => Status::Unavailable,
        OverLimit::Burst { .. } | OverLimit::Value { .. } => Status::WriteTooBig,
    };
    Failure { status, text: over.to_string() }
}

/// Of a credential that proves nothing.
pub(super) fn failure_of_credential(error: &CredentialError) -> Failure {
    if matches!(error, CredentialError::Expired) {
        Status::ExpiredToken.into()
    } else {
        // Clients come back with a token that they are not told is wrong.
        let status = if error.may_pass() { Status::Unavailable } else { Status::InvalidToken };
        Failure { status, text: error.to_string() }
    }
}
