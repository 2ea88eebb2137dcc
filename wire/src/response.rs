//! What a server answers (wire reference 3.2, 4, 9).
//!
//! Why an answer is a type and not a `d` of any kind: Android drops the connection, or crashes, if the `d` of an answer
//! is not of the kind that its request asks for.

use crate::number::RequestNumber;
use crate::request::{Action, RequestError};
use crate::status::Status;
use crate::text::{Empty, Envelope, TooLong, encode, encode_received};
use hearth_tree::{Form, Json, Node, ReadError, ReadOptions, read_node};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The one answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The request's number.
    pub number: RequestNumber,
    /// What came of it.
    pub answer: Answer,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done, and there is nothing to say: writes, on-disconnects, the end of a listen, App Check, statistics.
    Done,
    /// The listen runs, and its first data, if any were needed, have been pushed.
    Listening {
        /// Whether the app should be told to declare an index.
        no_index: bool,
    },
    /// What was read.
    Data(Option<Node>),
    /// The client is who it says.
    Authenticated {
        /// What rules see as `auth`.
        auth: Value,
        /// Until when, in seconds since 1970.
        expires_s: Option<i64>,
    },
    /// The client is nobody now.
    Unauthenticated,
    /// It failed.
    Failed(Failure),
}

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure: what SDKs act on.
    pub status: Status,
    /// What an app may show.
    pub text: String,
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self { status, text: status.text().into() }
    }
}

impl From<&RequestError> for Failure {
    fn from(error: &RequestError) -> Self {
        Self { status: error.status(), text: error.to_string() }
    }
}

#[derive(Serialize)]
struct ResponseFields<'a> {
    r: RequestNumber,
    b: &'a Answer,
}

#[derive(Serialize)]
struct AnswerFields<D> {
    s: &'static str,
    d: D,
}

const OK: &str = "ok";
const NO_INDEX: &str = "no_index";
const UNAUTHENTICATED: &str = "unauthenticated";

impl Response {
    /// The message. Data that no client could receive are answered with `too_big` (wire reference 2.2). O(length).
    pub fn to_text(&self) -> String {
        let Self { number, answer } = self;
        let message = Envelope::data(ResponseFields { r: *number, b: answer });
        match answer {
            Answer::Data(_) => encode_received(&message).unwrap_or_else(|TooLong| {
                Self { number: *number, answer: Answer::Failed(Status::TooBig.into()) }.to_text()
            }),
            Answer::Done
            | Answer::Listening { .. }
            | Answer::Authenticated { .. }
            | Answer::Unauthenticated
            | Answer::Failed(_) => encode(&message),
        }
    }
}

/// The answer to a read without what was read, which [`crate::LongMessage`] writes.
pub(crate) fn message_of_data(number: RequestNumber) -> impl Serialize {
    Envelope::data(ResponseFields { r: number, b: &Answer::Data(None) })
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Authenticated<'a> {
            auth: &'a Value,
            #[serde(skip_serializing_if = "Option::is_none")]
            expires: Option<i64>,
        }
        #[derive(Serialize)]
        struct Warnings {
            w: [&'static str; 1],
        }
        match self {
            Self::Done => AnswerFields { s: OK, d: "" }.serialize(serializer),
            Self::Listening { no_index: false } => AnswerFields { s: OK, d: Empty {} }.serialize(serializer),
            Self::Listening { no_index: true } => {
                AnswerFields { s: OK, d: Warnings { w: [NO_INDEX] } }.serialize(serializer)
            }
            Self::Data(node) => {
                AnswerFields { s: OK, d: Json::new(node.as_ref(), Form::SOCKET) }.serialize(serializer)
            }
            Self::Authenticated { auth, expires_s } => {
                AnswerFields { s: OK, d: Authenticated { auth, expires: *expires_s } }.serialize(serializer)
            }
            Self::Unauthenticated => AnswerFields { s: OK, d: UNAUTHENTICATED }.serialize(serializer),
            Self::Failed(Failure { status, text }) => {
                AnswerFields { s: status.as_str(), d: text }.serialize(serializer)
            }
        }
    }
}

/// A response as a client receives it: what its `d` means depends on what was asked for.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The request's number.
    pub number: RequestNumber,
    status: String,
    data: Option<Box<RawValue>>,
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The answer; never [`Answer::Failed`].
    Ok(Answer),
    /// The request failed.
    Failed {
        /// The status, which need not be one of [`Status`].
        status: String,
        /// What the server says about it.
        text: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct ReplyFields {
    s: String,
    d: Option<Box<RawValue>>,
}

impl Reply {
    pub(crate) fn of(number: RequestNumber, fields: ReplyFields) -> Self {
        Self { number, status: fields.s, data: fields.d }
    }

    /// What the answer to a request for `action` means. Only the data of a `get` are looked at closely: nothing else
    /// matters to a client.
    ///
    /// # Errors
    /// [`ReadError`] if the data of a `get` are none.
    pub fn outcome(self, action: Action, options: &ReadOptions) -> Result<Outcome, ReadError> {
        let data = self.data.as_deref().map_or("null", RawValue::get);
        if self.status != OK {
            return Ok(Outcome::Failed { status: self.status, text: serde_json::from_str(data).ok() });
        }
        Ok(Outcome::Ok(match action {
            Action::Listen => Answer::Listening { no_index: has_warning(data) },
            Action::Get => Answer::Data(read_node(data.as_bytes(), options)?),
            Action::Auth | Action::GAuth => authenticated(data),
            Action::Unauth => Answer::Unauthenticated,
            Action::Stats
            | Action::AppCheck
            | Action::UnAppCheck
            | Action::Unlisten
            | Action::Put
            | Action::Merge
            | Action::DisconnectSet
            | Action::DisconnectUpdate
            | Action::DisconnectCancel => Answer::Done,
        }))
    }
}

fn has_warning(data: &str) -> bool {
    #[derive(Deserialize)]
    struct Warnings {
        w: Vec<String>,
    }
    serde_json::from_str::<Warnings>(data).is_ok_and(|warnings| warnings.w.iter().any(|w| w == NO_INDEX))
}

fn authenticated(data: &str) -> Answer {
    #[derive(Default, Deserialize)]
    struct Authenticated {
        #[serde(default)]
        auth: Value,
        #[serde(default)]
        expires: Option<i64>,
    }
    let Authenticated { auth, expires } = serde_json::from_str(data).unwrap_or_default();
    Answer::Authenticated { auth, expires_s: expires }
}
