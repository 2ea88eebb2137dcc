//! What a server is for, and so whom it believes and what it opens.
//!
//! Why two types that share no field but the rules: nothing that makes development convenient can be switched on in
//! production by a forgotten flag, because there is no place to put it.

use crate::auth::{Origin, Secret};
use crate::database::Naming;
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
    /// The databases.
    pub(crate) namespaces: BTreeSet<Namespace>,
    pub(crate) rules: Option<Arc<Ruleset>>,
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
