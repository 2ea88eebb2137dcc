//! What a client asks for, one kind per file (wire reference 4).

mod action;
mod auth;
mod disconnect;
mod error;
mod get;
mod listen;
mod merge;
mod place;
mod put;
mod stats;
mod write_body;

pub use action::Action;
pub use auth::{ActingAs, AppCheck, Auth, Credential, CredentialKind};
pub use disconnect::OnDisconnect;
pub use error::{BODY_BYTES_MAX, RequestError};
pub use get::Get;
pub use listen::{Listen, ListenKind, Unlisten};
pub use merge::Merge;
pub use put::Put;
pub use stats::Stats;
pub(crate) use write_body::{WriteBody, WriteBodySeed, once};

use crate::number::RequestNumber;
use crate::text::{Empty, Envelope, encode};
use hearth_tree::ReadOptions;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// One request, to be answered exactly once and in its turn (wire reference 3.2, 3.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What the response repeats.
    pub number: RequestNumber,
    /// What is asked for.
    pub body: RequestBody,
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestBody {
    /// Counts what the client is made of.
    Stats(Stats),
    /// Authenticates the connection.
    Auth(Auth),
    /// Goes back to being nobody.
    Unauth,
    /// Proves which app it is.
    AppCheck(AppCheck),
    /// Takes that back.
    UnAppCheck,
    /// Listens.
    Listen(Listen),
    /// Stops listening.
    Unlisten(Unlisten),
    /// Reads once.
    Get(Get),
    /// Writes at one place.
    Put(Put),
    /// Writes at several places together.
    Merge(Merge),
    /// Says what to write when the connection ends.
    OnDisconnect(OnDisconnect),
}

/// The body of a request, before it is known whether it makes sense.
pub(crate) enum Unchecked<'de> {
    /// A body that writes and may be large.
    Write(WriteBody<'de>),
    Text(&'de RawValue),
}

impl Request {
    /// The message. O(length).
    pub fn to_text(&self) -> String {
        #[derive(Serialize)]
        struct Fields<'a> {
            r: RequestNumber,
            a: &'static str,
            b: &'a RequestBody,
        }
        let Self { number, body } = self;
        encode(&Envelope::data(Fields { r: *number, a: body.action().as_str(), b: body }))
    }
}

impl RequestBody {
    /// What the action is called.
    pub const fn action(&self) -> Action {
        match self {
            Self::Stats(_) => Action::Stats,
            Self::Auth(auth) => match auth.kind {
                CredentialKind::Token => Action::Auth,
                CredentialKind::Admin => Action::GAuth,
            },
            Self::Unauth => Action::Unauth,
            Self::AppCheck(_) => Action::AppCheck,
            Self::UnAppCheck => Action::UnAppCheck,
            Self::Listen(_) => Action::Listen,
            Self::Unlisten(_) => Action::Unlisten,
            Self::Get(_) => Action::Get,
            Self::Put(_) => Action::Put,
            Self::Merge(_) => Action::Merge,
            Self::OnDisconnect(OnDisconnect::Set(_)) => Action::DisconnectSet,
            Self::OnDisconnect(OnDisconnect::Update(_)) => Action::DisconnectUpdate,
            Self::OnDisconnect(OnDisconnect::Cancel(_)) => Action::DisconnectCancel,
        }
    }

    /// What a client asks for if it says no more than this: who signs out must never stay signed in over a detail.
    pub(crate) const fn without_fields(action: Action) -> Option<Self> {
        match action {
            Action::Unauth => Some(Self::Unauth),
            Action::UnAppCheck => Some(Self::UnAppCheck),
            Action::Stats
            | Action::Auth
            | Action::GAuth
            | Action::AppCheck
            | Action::Listen
            | Action::Unlisten
            | Action::Get
            | Action::Put
            | Action::Merge
            | Action::DisconnectSet
            | Action::DisconnectUpdate
            | Action::DisconnectCancel => None,
        }
    }

    /// Checks what a client asks for.
    pub(crate) fn check(
        action: Action,
        body: Unchecked<'_>,
        options: &ReadOptions,
    ) -> Result<Self, RequestError> {
        match (action.writes(), body) {
            (_, Unchecked::Write(body)) => Self::check_write(action, body, options),
            (Some(written), Unchecked::Text(text)) => {
                Self::check_write(action, write_body::read(written, text.get(), options)?, options)
            }
            (None, Unchecked::Text(text)) => Self::check_small(action, text.get()),
        }
    }

    fn check_write(action: Action, body: WriteBody<'_>, options: &ReadOptions) -> Result<Self, RequestError> {
        match action {
            Action::Put => Put::of(body, options).map(Self::Put),
            Action::Merge => Ok(Self::Merge(Merge { update: body.into_update()? })),
            Action::DisconnectSet => {
                Ok(Self::OnDisconnect(OnDisconnect::Set(body.into_assignment(options)?)))
            }
            Action::DisconnectUpdate => Ok(Self::OnDisconnect(OnDisconnect::Update(body.into_update()?))),
            Action::Stats
            | Action::Auth
            | Action::GAuth
            | Action::Unauth
            | Action::AppCheck
            | Action::UnAppCheck
            | Action::Listen
            | Action::Unlisten
            | Action::Get
            | Action::DisconnectCancel => unreachable!("only what writes is read as a write"),
        }
    }

    fn check_small(action: Action, text: &str) -> Result<Self, RequestError> {
        if BODY_BYTES_MAX < text.len() {
            return Err(RequestError::BodyTooLong { action, bytes: text.len() });
        }
        match action {
            Action::Stats => fields(text).map(Self::Stats),
            Action::Auth => Auth::of(fields(text)?, CredentialKind::Token).map(Self::Auth),
            Action::GAuth => Auth::of(fields(text)?, CredentialKind::Admin).map(Self::Auth),
            Action::Unauth => Ok(Self::Unauth),
            Action::AppCheck => fields(text).map(Self::AppCheck),
            Action::UnAppCheck => Ok(Self::UnAppCheck),
            Action::Listen => Listen::of(fields(text)?).map(Self::Listen),
            Action::Unlisten => Unlisten::of(fields(text)?).map(Self::Unlisten),
            Action::Get => Get::of(fields(text)?).map(Self::Get),
            Action::DisconnectCancel => OnDisconnect::cancel(&fields(text)?).map(Self::OnDisconnect),
            Action::Put | Action::Merge | Action::DisconnectSet | Action::DisconnectUpdate => {
                unreachable!("what writes is read as a write")
            }
        }
    }
}

impl Serialize for RequestBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Stats(stats) => stats.serialize(serializer),
            Self::Auth(auth) => auth.serialize(serializer),
            Self::AppCheck(app_check) => app_check.serialize(serializer),
            Self::Unauth | Self::UnAppCheck => Empty {}.serialize(serializer),
            Self::Listen(listen) => listen.serialize(serializer),
            Self::Unlisten(unlisten) => unlisten.serialize(serializer),
            Self::Get(get) => get.serialize(serializer),
            Self::Put(put) => put.serialize(serializer),
            Self::Merge(merge) => merge.serialize(serializer),
            Self::OnDisconnect(operation) => operation.serialize(serializer),
        }
    }
}

fn fields<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, RequestError> {
    serde_json::from_str(text).map_err(|error| RequestError::unreadable(&error, text))
}
