//! What a client sent: the two layers, and what can be saved of a message that is wrong (wire reference 2.1, 3.1).
//!
//! Why a number is looked for in a broken message: JavaScript waits for every answer for ever, and a client whose
//! connection is closed sends the same request again, for ever. So whatever can be answered is answered.

use crate::control::ClientControl;
use crate::number::RequestNumber;
use crate::request::{Action, Request, RequestBody, RequestError, Unchecked, WriteBodySeed, once};
use crate::text::{CONTROL, DATA};
use hearth_tree::{Excerpt, ReadError, ReadOptions, Reader, repair_surrogates};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// What a client sent.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every message is a request, and it is moved once")]
pub enum ClientMessage {
    /// Something about the connection.
    Control(ClientControl),
    /// A request.
    Request(Request),
}

/// A message that cannot be followed, by what is to be done about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Answer this request with the error's status and text, in its turn, and go on.
    #[error("request {number}: {error}")]
    Request {
        /// The request.
        number: RequestNumber,
        /// Why.
        error: RequestError,
    },
    /// Go on as if it had not been sent: nobody waits for an answer.
    #[error("unknown {layer} `{}`", Excerpt(.name))]
    Unknown {
        /// `layer`, or `kind of control message`.
        layer: &'static str,
        /// What it is called.
        name: String,
    },
    /// Close the connection: this client does not speak the protocol, and an answer cannot be addressed.
    #[error("the message has no readable request number: {error}")]
    Broken {
        /// Why.
        error: RequestError,
    },
}

impl ClientMessage {
    /// Reads one message in one pass, O(length).
    ///
    /// ```
    /// use hearth_wire::{Answer, ClientMessage, Refused, Response};
    /// let answer = |message: &str| match ClientMessage::parse(message.as_bytes(), &Default::default()) {
    ///     Ok(ClientMessage::Request(request)) => {
    ///         Response { number: request.number, answer: Answer::Done }.to_text()
    ///     }
    ///     Err(Refused::Request { number, error }) => {
    ///         Response { number, answer: Answer::Failed((&error).into()) }.to_text()
    ///     }
    ///     Ok(ClientMessage::Control(_)) | Err(Refused::Unknown { .. } | Refused::Broken { .. }) => String::new(),
    /// };
    /// assert_eq!(
    ///     answer(r#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/users/ann","d":{"name":"Ann"}}}}"#),
    ///     r#"{"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}"#,
    /// );
    /// assert_eq!(
    ///     answer(r#"{"t":"d","d":{"r":8,"a":"p","b":{"p":"/users","d":{"ann":1,"ann":2}}}}"#),
    ///     r#"{"t":"d","d":{"r":8,"b":{"s":"invalid","d":"key `ann` stands twice in one object"}}}"#,
    /// );
    /// ```
    ///
    /// # Errors
    /// [`Refused`] says what is to be done about it.
    pub fn parse(message: &[u8], options: &ReadOptions) -> Result<Self, Refused> {
        let Ok(text) = std::str::from_utf8(message) else {
            return Err(refused(message, RequestError::NotUtf8));
        };
        let text = repair_surrogates(text);
        match Envelope::read(&text, options) {
            Ok(envelope) => envelope.into_message(options),
            Err(error) => Err(refused(message, RequestError::read(error))),
        }
    }
}

fn refused(message: &[u8], error: RequestError) -> Refused {
    match number_of(message) {
        Some(number) => Refused::Request { number, error },
        None => Refused::Broken { error },
    }
}

/// The layers of a message.
struct Envelope<'de> {
    layer: Cow<'de, str>,
    payload: Payload<'de>,
}

/// The fields of both kinds of payload: which kind it is may stand behind it.
#[derive(Default)]
struct Payload<'de> {
    number: Option<RequestNumber>,
    action: Option<Cow<'de, str>>,
    body: Option<Unchecked<'de>>,
    kind: Option<Cow<'de, str>>,
}

impl<'de> Envelope<'de> {
    fn read(text: &'de str, options: &ReadOptions) -> Result<Self, ReadError> {
        let mut reader = Reader::new(*options);
        let mut json = serde_json::Deserializer::from_str(text);
        let envelope = EnvelopeSeed(&mut reader).deserialize(&mut json);
        let envelope = envelope.and_then(|envelope| json.end().map(|()| envelope));
        envelope.map_err(|error| reader.error(&error, text))
    }

    fn into_message(self, options: &ReadOptions) -> Result<ClientMessage, Refused> {
        match &*self.layer {
            DATA => self.payload.into_request(options).map(ClientMessage::Request),
            CONTROL => self.payload.into_control().map(ClientMessage::Control),
            name => Err(Refused::Unknown { layer: "layer", name: name.into() }),
        }
    }
}

impl Payload<'_> {
    fn into_request(self, options: &ReadOptions) -> Result<Request, Refused> {
        let Self { number, action, body, .. } = self;
        let Some(number) = number else {
            return Err(Refused::Broken { error: RequestError::Missing { field: "r" } });
        };
        let checked = || {
            let name = action.ok_or(RequestError::Missing { field: "a" })?;
            let action = Action::parse(&name)
                .ok_or_else(|| RequestError::UnknownAction { name: name.into_owned() })?;
            match body {
                Some(body) => RequestBody::check(action, body, options),
                None => RequestBody::without_fields(action).ok_or(RequestError::Missing { field: "b" }),
            }
        };
        match checked() {
            Ok(body) => Ok(Request { number, body }),
            Err(error) => Err(Refused::Request { number, error }),
        }
    }

    fn into_control(self) -> Result<ClientControl, Refused> {
        let kind = self.kind.ok_or(Refused::Broken { error: RequestError::Missing { field: "t" } })?;
        ClientControl::parse(&kind)
            .ok_or_else(|| Refused::Unknown { layer: "kind of control message", name: kind.into_owned() })
    }
}

#[derive(Deserialize)]
#[serde(field_identifier)]
enum EnvelopeField {
    #[serde(rename = "t")]
    Layer,
    #[serde(rename = "d")]
    Payload,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(field_identifier)]
enum PayloadField {
    #[serde(rename = "r")]
    Number,
    #[serde(rename = "a")]
    Action,
    #[serde(rename = "b")]
    Body,
    #[serde(rename = "t")]
    Kind,
    #[serde(other)]
    Other,
}

struct EnvelopeSeed<'r>(&'r mut Reader);

impl<'de> DeserializeSeed<'de> for EnvelopeSeed<'_> {
    type Value = Envelope<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EnvelopeSeed<'_> {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut layer, mut payload) = (None::<Cow<'de, str>>, None);
        while let Some(field) = members.next_key()? {
            match field {
                EnvelopeField::Layer => once(&mut layer, "t", members.next_value()?)?,
                EnvelopeField::Payload => match layer.as_deref() {
                    Some(DATA | CONTROL) | None => {
                        once(&mut payload, "d", members.next_value_seed(PayloadSeed(&mut *self.0))?)?;
                    }
                    Some(_) => {
                        members.next_value::<IgnoredAny>()?;
                        once(&mut payload, "d", Payload::default())?;
                    }
                },
                EnvelopeField::Other => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        let missing = <A::Error as serde::de::Error>::missing_field;
        Ok(Envelope {
            layer: layer.ok_or_else(|| missing("t"))?,
            payload: payload.ok_or_else(|| missing("d"))?,
        })
    }
}

struct PayloadSeed<'r>(&'r mut Reader);

impl<'de> DeserializeSeed<'de> for PayloadSeed<'_> {
    type Value = Payload<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PayloadSeed<'_> {
    type Value = Payload<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut payload = Payload::default();
        while let Some(field) = members.next_key()? {
            match field {
                PayloadField::Number => once(&mut payload.number, "r", members.next_value()?)?,
                PayloadField::Action => once(&mut payload.action, "a", members.next_value()?)?,
                PayloadField::Kind => once(&mut payload.kind, "t", members.next_value()?)?,
                PayloadField::Body => {
                    let written = payload.action.as_deref().and_then(Action::parse).and_then(Action::writes);
                    let body = match written {
                        Some(written) => Unchecked::Write(
                            members.next_value_seed(WriteBodySeed { reader: &mut *self.0, written })?,
                        ),
                        None => Unchecked::Text(members.next_value::<&RawValue>()?),
                    };
                    once(&mut payload.body, "b", body)?;
                }
                PayloadField::Other => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(payload)
    }
}

/// The number of the request in a message that is broken, cut off, or too long to be read. None, if it stands behind
/// the damage, if there are two, or if the message is no request. O(length).
pub fn number_of(message: &[u8]) -> Option<RequestNumber> {
    let mut found = Found::default();
    // Whether the text goes on well does not matter: what was seen before is kept.
    let _damage =
        FindNumber(&mut found).deserialize(&mut serde_json::Deserializer::from_slice(message)).err();
    if found.is_other_layer || found.is_repeated { None } else { found.number }
}

#[derive(Default)]
struct Found {
    number: Option<RequestNumber>,
    is_repeated: bool,
    is_other_layer: bool,
}

/// Looks through the envelope.
struct FindNumber<'f>(&'f mut Found);

impl<'de> DeserializeSeed<'de> for FindNumber<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FindNumber<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(field) = members.next_key()? {
            match field {
                EnvelopeField::Layer => {
                    let layer: Cow<'de, str> = members.next_value()?;
                    self.0.is_other_layer |= layer != DATA;
                }
                EnvelopeField::Payload => members.next_value_seed(FindInPayload(&mut *self.0))?,
                EnvelopeField::Other => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Looks through the payload.
struct FindInPayload<'f>(&'f mut Found);

impl<'de> DeserializeSeed<'de> for FindInPayload<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FindInPayload<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(field) = members.next_key()? {
            match field {
                PayloadField::Number => {
                    let number = members.next_value()?;
                    self.0.is_repeated |= self.0.number.replace(number).is_some();
                }
                PayloadField::Action | PayloadField::Body | PayloadField::Kind | PayloadField::Other => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}
