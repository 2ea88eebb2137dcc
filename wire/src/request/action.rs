//! The names of what a client can ask for.

use std::fmt;

/// A kind of request, as it is called on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// `s`
    Stats,
    /// `auth`
    Auth,
    /// `gauth`
    GAuth,
    /// `unauth`
    Unauth,
    /// `appcheck`
    AppCheck,
    /// `unappcheck`; JavaScript writes `unappeck`.
    UnAppCheck,
    /// `q`
    Listen,
    /// `n`
    Unlisten,
    /// `g`
    Get,
    /// `p`
    Put,
    /// `m`
    Merge,
    /// `o`
    DisconnectSet,
    /// `om`
    DisconnectUpdate,
    /// `oc`
    DisconnectCancel,
}

/// What the `d` of a request that writes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A value or a priority.
    Set,
    /// An object whose keys are paths.
    Update,
}

/// How the JavaScript SDK writes `unappcheck` (wire reference 4).
const UN_APP_CHECK_MISSPELT: &str = "unappeck";

impl Action {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Stats,
        Self::Auth,
        Self::GAuth,
        Self::Unauth,
        Self::AppCheck,
        Self::UnAppCheck,
        Self::Listen,
        Self::Unlisten,
        Self::Get,
        Self::Put,
        Self::Merge,
        Self::DisconnectSet,
        Self::DisconnectUpdate,
        Self::DisconnectCancel,
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stats => "s",
            Self::Auth => "auth",
            Self::GAuth => "gauth",
            Self::Unauth => "unauth",
            Self::AppCheck => "appcheck",
            Self::UnAppCheck => "unappcheck",
            Self::Listen => "q",
            Self::Unlisten => "n",
            Self::Get => "g",
            Self::Put => "p",
            Self::Merge => "m",
            Self::DisconnectSet => "o",
            Self::DisconnectUpdate => "om",
            Self::DisconnectCancel => "oc",
        }
    }

    /// The action of this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        let misspelt = (name == UN_APP_CHECK_MISSPELT).then_some(Self::UnAppCheck);
        misspelt.or_else(|| Self::ALL.into_iter().find(|action| action.as_str() == name))
    }

    pub(crate) const fn writes(self) -> Option<Written> {
        match self {
            Self::Put | Self::DisconnectSet => Some(Written::Set),
            Self::Merge | Self::DisconnectUpdate => Some(Written::Update),
            Self::Stats
            | Self::Auth
            | Self::GAuth
            | Self::Unauth
            | Self::AppCheck
            | Self::UnAppCheck
            | Self::Listen
            | Self::Unlisten
            | Self::Get
            | Self::DisconnectCancel => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
