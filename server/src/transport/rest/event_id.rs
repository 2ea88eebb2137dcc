//! Ids of events, with which a stream goes on where another one was cut.
//!
//! Why signed: an id says what its holder was shown, so nobody may make one up, and one of another database, place, query or
//! identity must say nothing. Why with a secret of this process: what commits have touched is remembered as long as the
//! process lives, so an id of another one could not be used anyway. Why what it says is hidden: how often a database is
//! written is nobody's business.

use super::params::Params;
use super::refused::Refused;
use super::{Asked, Server};
use crate::database::Database;
use crate::limits::uid_of;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hearth_engine::{Identity, Moment, Revision};
use hearth_tree::Path;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// So much of a digest is enough that nobody finds one by trying.
const TAG_BYTES: usize = 16;
const MOMENT_BYTES: usize = 16;
/// What of a query an id belongs to.
const NAMES: [&str; 8] =
    ["orderBy", "limitToFirst", "limitToLast", "startAt", "startAfter", "endAt", "endBefore", "equalTo"];

/// What ids of this process are signed with. Never shown.
#[derive(Clone)]
pub(crate) struct EventSecret([u8; 32]);

impl EventSecret {
    /// A new one.
    ///
    /// # Errors
    /// The system's own, if it has no random bytes to give.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }
}

/// The ids of one kind of stream: of one database, place, query and identity.
pub(super) struct EventIds([u8; 32]);

impl EventIds {
    /// Those that a stream is asked for, and where its client was that comes back: nothing where nobody asks, as plain
    /// clients do not, and for keys alone, which are no values to go on with. The header is what a client has seen last; the
    /// parameter is for one that cannot send it with its first request.
    ///
    /// # Errors
    /// A parameter may not be readable, or go with nothing.
    pub(super) fn asked(
        server: &Server,
        database: &Database,
        asked: &Asked,
        is_shallow: bool,
    ) -> Result<Option<(Self, Option<Moment>)>, Refused> {
        let param = asked.params.text("lastEventId")?;
        if !asked.params.flag("eventIds")? {
            return match param {
                Some(_) => Err(Refused::bad("lastEventId needs eventIds=true beside it")),
                None => Ok(None),
            };
        }
        if is_shallow {
            return Ok(None);
        }
        let Asked { target, identity, params, headers, .. } = asked;
        let ids = Self::of(&server.event_secret, database.name(), &target.path, identity, params)?;
        let header = headers.get("last-event-id").and_then(|id| id.to_str().ok());
        let left = header.or(param.as_deref()).and_then(|id| ids.moment(id));
        Ok(Some((ids, left)))
    }

    /// Those of a query as it stands in its URL.
    ///
    /// # Errors
    /// A parameter may not be readable.
    pub(super) fn of(
        EventSecret(secret): &EventSecret,
        database: &str,
        at: &Path,
        identity: &Identity,
        params: &Params,
    ) -> Result<Self, Refused> {
        let mut parts = vec![Some(database.to_owned()), Some(at.to_string()), Some(name_of(identity))];
        for name in NAMES {
            parts.push(params.query_text(name)?);
        }
        let mut text = Vec::new();
        for part in parts {
            // With its length before it, so that no two lists are one text.
            let length = part.as_ref().map_or(u64::MAX, |part| part.len() as u64);
            text.extend(length.to_be_bytes());
            text.extend(part.unwrap_or_default().into_bytes());
        }
        Ok(Self(digest(secret, &text)))
    }

    /// The id of a moment.
    pub(super) fn id(&self, moment: Moment) -> String {
        let moment = bytes_of(moment);
        let tag = self.tag(&moment);
        URL_SAFE_NO_PAD.encode([tag, self.masked(tag, moment)].concat())
    }

    /// The moment that an id names; nothing, if it is none of these.
    pub(super) fn moment(&self, id: &str) -> Option<Moment> {
        let bytes: [u8; TAG_BYTES + MOMENT_BYTES] = URL_SAFE_NO_PAD.decode(id).ok()?.try_into().ok()?;
        let (tag, masked) = bytes.split_first_chunk::<TAG_BYTES>()?;
        let moment = self.masked(*tag, *masked.first_chunk::<MOMENT_BYTES>()?);
        let is_ours = bool::from(self.tag(&moment).ct_eq(tag));
        let (revision, rules) = moment.split_first_chunk::<8>()?;
        is_ours.then_some(Moment {
            revision: Revision::new(u64::from_be_bytes(*revision)),
            rules: u64::from_be_bytes(*rules.first_chunk::<8>()?),
        })
    }

    fn tag(&self, moment: &[u8; MOMENT_BYTES]) -> [u8; TAG_BYTES] {
        first_half(digest(&self.0, moment))
    }

    /// Hides a moment, or shows it again: a second time is as if it had never been.
    fn masked(&self, tag: [u8; TAG_BYTES], mut moment: [u8; MOMENT_BYTES]) -> [u8; MOMENT_BYTES] {
        let mask = first_half(digest(&self.0, &[&b"mask"[..], &tag].concat()));
        moment.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        moment
    }
}

/// Somebody comes back with another token, so it is the `uid` that counts where there is one.
fn name_of(identity: &Identity) -> String {
    match (identity, uid_of(identity)) {
        (Identity::Admin, _) => "admin".into(),
        (Identity::User(_), Some(uid)) => format!("uid {uid}"),
        (Identity::User(claims), None) => format!("claims {claims}"),
    }
}

fn bytes_of(Moment { revision, rules }: Moment) -> [u8; MOMENT_BYTES] {
    let mut bytes = [0; MOMENT_BYTES];
    bytes[..8].copy_from_slice(&revision.get().to_be_bytes());
    bytes[8..].copy_from_slice(&rules.to_be_bytes());
    bytes
}

fn digest(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

fn first_half(digest: [u8; 32]) -> [u8; 16] {
    *digest.first_chunk().expect("a half is shorter than the whole")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn user(auth: &serde_json::Value) -> Identity {
        Identity::User(Arc::new(serde_json::from_value(auth.clone()).unwrap()))
    }

    #[test]
    fn an_id_says_something_only_to_the_stream_that_it_is_of() {
        let (ours, others) = (EventSecret([7; 32]), EventSecret([8; 32]));
        let ids = |secret, database, at, identity: &Identity, query| {
            let at = Path::parse(at).unwrap();
            EventIds::of(secret, database, &at, identity, &Params::parse(query)).ok().unwrap()
        };
        let ada = user(&json!({"uid": "ada", "token": {"iat": 1}}));
        let moment = Moment { revision: Revision::new(258), rules: 3 };
        let query = "orderBy=\"a\"&limitToFirst=2";
        let id = ids(&ours, "db", "/a/b", &ada, query).id(moment);
        let later = user(&json!({"uid": "ada", "token": {"iat": 2}}));
        for (secret, database, at, identity, query, is_known) in [
            (&ours, "db", "/a/b", &ada, query, true),
            (&ours, "db", "/a/b", &later, query, true),
            (&ours, "db", "/a/b", &ada, "auth=x&limitToFirst=2&orderBy=%22a%22", true),
            (&others, "db", "/a/b", &ada, query, false),
            (&ours, "db2", "/a/b", &ada, query, false),
            (&ours, "db", "/a", &ada, query, false),
            (&ours, "db", "/a/b", &user(&json!({"uid": "bob"})), query, false),
            (&ours, "db", "/a/b", &user(&json!({"id": "ada"})), query, false),
            (&ours, "db", "/a/b", &Identity::Admin, query, false),
            (&ours, "db", "/a/b", &Identity::nobody(), query, false),
            (&ours, "db", "/a/b", &ada, "", false),
            (&ours, "db", "/a/b", &ada, "orderBy=\"a\"&limitToLast=2", false),
        ] {
            let found = ids(secret, database, at, identity, query).moment(&id);
            assert_eq!(found, is_known.then_some(moment), "{database} {at} {query}");
        }
        let ids = ids(&ours, "db", "/a/b", &ada, query);
        for position in 0..id.len() {
            let mut wrong = id.clone().into_bytes();
            wrong[position] = if wrong[position] == b'x' { b'y' } else { b'x' };
            assert_eq!(ids.moment(&String::from_utf8(wrong).unwrap()), None, "{position}");
        }
        for wrong in ["", "null", "1", &id[1..], &format!("{id}A"), "\u{85}"] {
            assert_eq!(ids.moment(wrong), None, "{wrong}");
        }
    }
}
