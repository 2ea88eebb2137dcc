//! Where somebody stands who is told what happens.

use crate::revision::Revision;

/// A place in the history of a database as the publisher shows it, as long as that one lives. Whoever was told everything up
/// to here can be told what came behind it ([`crate::Listen::left`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The newest commit by then.
    pub revision: Revision,
    /// How often other rules have begun by then, since the publisher did.
    pub rules: u64,
}
