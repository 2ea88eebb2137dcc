//! Who the client is, and until when that is proved.

use super::Connection;
use super::failure::failure_of_credential;
use super::outgoing::Outgoing;
use crate::auth::{Expiry, Proof, acting_as};
use crate::database::Stopped;
use hearth_engine::Identity;
use hearth_wire::{ActingAs, Answer, Auth, Push, Status};
use std::sync::Arc;

impl Connection {
    /// Becomes who a credential proves the client to be.
    pub(super) async fn authenticate(&mut self, auth: Auth) -> Result<Answer, Stopped> {
        let judged = self.gate.identify(auth.credential.as_str()).await.and_then(|proof| {
            let Proof { identity, auth: value, expires_ms } = proof;
            let (identity, auth) = match (identity, auth.acting) {
                (Identity::Admin, ActingAs::Nobody) => (Identity::nobody(), Arc::default()),
                (Identity::Admin, ActingAs::Other(auth)) => {
                    (acting_as(auth.clone())?, Arc::new(serde_json::Value::Object(auth)))
                }
                // Who is no admin cannot act as somebody else.
                (identity, ActingAs::Itself | ActingAs::Nobody | ActingAs::Other(_)) => (identity, value),
            };
            Ok(Proof { identity, auth, expires_ms })
        });
        match judged {
            Ok(Proof { identity, auth, expires_ms }) => {
                self.become_somebody(identity, expires_ms).await?;
                let auth = Arc::unwrap_or_clone(auth);
                Ok(Answer::Authenticated { auth, expires_s: expires_ms.map(|ms| ms.div_euclid(1000)) })
            }
            Err(error) => Ok(Answer::Failed(failure_of_credential(&error))),
        }
    }

    pub(super) async fn become_somebody(
        &mut self,
        identity: Identity,
        expires_ms: Option<i64>,
    ) -> Result<(), Stopped> {
        self.identity = identity.clone();
        // First: who watches it says only of a time that holds still that it is over.
        self.expiry.set(expires_ms);
        self.database.identify(self.session, identity).await
    }

    /// Until when it is proved who the client is.
    pub(crate) const fn expiry(&self) -> &Arc<Expiry> {
        &self.expiry
    }

    /// Takes a client for nobody whose token has expired, and tells it so (wire reference 4.8).
    pub(crate) async fn expire(&mut self) -> Result<(), Stopped> {
        if !self.expiry.is_over() {
            return Ok(());
        }
        self.outgoing.push_back(Outgoing::Text(Push::AuthRevoked(Status::ExpiredToken.into()).to_text()));
        // In a box, since this seldom happens and every connection would have room for it.
        Box::pin(self.become_somebody(Identity::nobody(), None)).await
    }
}
