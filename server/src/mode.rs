//! What a server is for, and so whom it believes and what it opens.
//!
//! Why two types that share no field but the rules: nothing that makes development convenient can be switched on in
//! production by a forgotten flag, because there is no place to put it.

use crate::auth::{Origin, Secret, Tokens};
use crate::database::Naming;
use crate::study::{Studies, Tells};
use crate::transport::Public;
use hearth_engine::Door;
use hearth_rules::Ruleset;
use hearth_wire::Namespace;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a server is for.
#[derive(Debug)]
pub(crate) enum Mode {
    /// A developer, on their machine.
    Dev(Dev),
    /// Everybody.
    Serve(Serve),
}

/// A server for development.
#[derive(Debug)]
pub(crate) struct Dev {
    pub(crate) reach: Reach,
    /// Origins whose pages may do what those of loopback may.
    pub(crate) allowed: Vec<Origin>,
    pub(crate) rules: Option<Arc<Ruleset>>,
    /// A folder whose files are served beside the data.
    pub(crate) public: Option<Public>,
    /// Whether everybody is told why something is denied, and not only whoever asks.
    pub(crate) explain: bool,
}

/// Who can reach a server for development.
#[derive(Debug)]
pub(crate) enum Reach {
    /// This machine; `owner` is an admin.
    Loopback,
    /// Others, too; the admin has this token, and `owner` is nobody.
    Remote(Secret),
}

/// A server for production.
#[derive(Debug)]
pub(crate) struct Serve {
    /// What an admin shows. Without it nobody is one.
    pub(crate) admin: Option<Secret>,
    /// Whose tokens are believed.
    pub(crate) tokens: Tokens,
    /// The databases.
    pub(crate) namespaces: BTreeSet<Namespace>,
    pub(crate) rules: Option<Arc<Ruleset>>,
    /// Whether rules that go further than is likely meant are refused, and not only warned about.
    pub(crate) refuses_open_rules: bool,
}

impl Mode {
    /// What stands between requests and the data.
    pub(crate) fn door(&self) -> Door {
        let without = |rules: &Option<Arc<Ruleset>>, door| rules.clone().map_or(door, Door::Rules);
        match self {
            Self::Dev(dev) => without(&dev.rules, Door::Open),
            Self::Serve(serve) => without(&serve.rules, Door::Closed),
        }
    }

    /// What is to be noted of rules: only a developer wants to know, and pays for it.
    pub(crate) fn studies(&self) -> Option<Studies> {
        match self {
            Self::Dev(Dev { explain: true, .. }) => Some(Studies::new(Tells::Everybody)),
            Self::Dev(Dev { reach: Reach::Loopback, .. }) => Some(Studies::new(Tells::WhoAsks)),
            // Unsigned tokens ask for whatever they like, and those of others are believed, too.
            Self::Dev(Dev { reach: Reach::Remote(_), .. }) => Some(Studies::new(Tells::Nobody)),
            Self::Serve(_) => None,
        }
    }

    /// Whether rules that go further than is likely meant are refused.
    pub(crate) const fn refuses_open_rules(&self) -> bool {
        match self {
            Self::Dev(_) => false,
            Self::Serve(serve) => serve.refuses_open_rules,
        }
    }

    /// The folder whose files are served.
    pub(crate) const fn public(&self) -> Option<&Public> {
        match self {
            Self::Dev(dev) => dev.public.as_ref(),
            Self::Serve(_) => None,
        }
    }

    /// Which databases there are.
    pub(crate) fn naming(&self) -> Naming {
        match self {
            Self::Dev(_) => Naming::OnUse,
            Self::Serve(serve) => Naming::Listed(serve.namespaces.clone()),
        }
    }
}
