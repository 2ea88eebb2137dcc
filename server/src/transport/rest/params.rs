//! The parameters of a URL.
//!
//! Why no ready-made form decoder: in a token `+` is itself, in a query it is a space (rest reference 1.4), and a name
//! that stands twice is an error and not the last one.

use super::refused::Refused;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// What stands behind the `?`, still encoded.
#[derive(Default)]
pub(super) struct Params(Vec<(String, String)>);

impl Params {
    /// Splits. Names that nobody asks for are passed over: harmless clients invent some.
    pub(super) fn parse(query: &str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let decoded = |name: &str| percent_decode_str(name).decode_utf8_lossy().into_owned();
        Self(pairs.map(|(name, value)| (decoded(name), value.into())).collect())
    }

    /// A value, in which `+` is a plus sign.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<Cow<'_, str>>, Refused> {
        self.find(name)?.map(|raw| decoded(name, raw)).transpose()
    }

    /// A value of a query, in which `+` is a space.
    pub(super) fn query_text(&self, name: &'static str) -> Result<Option<String>, Refused> {
        let spaced = self.find(name)?.map(|raw| raw.replace('+', " "));
        spaced.map(|raw| decoded(name, &raw).map(Cow::into_owned)).transpose()
    }

    /// Whether something is switched on.
    pub(super) fn flag(&self, name: &'static str) -> Result<bool, Refused> {
        match self.text(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Refused::bad(format!("{name} must be true or false"))),
        }
    }

    fn find(&self, name: &'static str) -> Result<Option<&str>, Refused> {
        let mut values = self.0.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(Refused::bad(format!("{name} must not be defined more than once"))),
        }
    }
}

fn decoded<'q>(name: &str, raw: &'q str) -> Result<Cow<'q, str>, Refused> {
    percent_decode_str(raw).decode_utf8().map_err(|_| Refused::bad(format!("{name} is not UTF-8")))
}
