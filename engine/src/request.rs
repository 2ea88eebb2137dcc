//! What a session asks of the committer, and what becomes of it.

use crate::armed::ArmError;
use crate::commit::Commit;
use crate::door::{Denied, Door, Identity};
use crate::own_rules::Governed;
use crate::revision::Revision;
use crate::settings::Setting;
use hearth_rules::Ruleset;
use hearth_tree::{Hash, Path, ResolveError, Snapshot, Write};
use std::sync::Arc;

/// One client connection, or one request over REST, as long as it lives. Never used twice for the same database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// What the asker calls a request, to know its answer again; the engine only hands it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Something to decide.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who gets the answer. The requests of one session are decided in the order in which they come.
    pub session: SessionId,
    /// Its name for this request; without one nobody is told what became of it.
    pub ticket: Option<Ticket>,
    /// As whom.
    pub identity: Identity,
    /// What.
    pub act: Act,
}

/// What can be asked.
#[derive(Clone, Debug)]
pub enum Act {
    /// A write.
    Write(Write),
    /// A write that counts only if what is at the place still has this hash (wire reference 4.5).
    WriteIf {
        /// Where the hash was taken; the write is there or below.
        at: Path,
        /// The hash; `None` means that nothing was there.
        hash: Option<Hash>,
        /// The write.
        write: Write,
    },
    /// A write that is to be made when the session ends (wire reference 4.7).
    Arm(Write),
    /// Takes back what was armed at a place and below.
    Disarm(Path),
    /// The session has ended: makes the writes that it has armed.
    End,
    /// From here on this decides who may do what in a database without rules of its own: writes that come later are judged
    /// by it, those before were not. Not kept: what is the default is the server's affair, and no client can say it.
    Govern(Door),
    /// The same for this database alone, whatever is the default, and kept with it. Who may ask for that is not judged
    /// here.
    Store {
        /// What decides; nothing takes back what was stored.
        rules: Option<Arc<Ruleset>>,
        /// Only if this is the version of its own rules ([`crate::OwnRules`]).
        if_version: Option<u64>,
    },
    /// Something else of this database, and kept with it. Who may ask for that is not judged here.
    Set(Setting),
}

/// What the committer has decided. What it says counts once it is durable and published.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Whom to tell.
    pub session: SessionId,
    /// Which of its requests.
    pub ticket: Option<Ticket>,
    /// What to say.
    pub outcome: Result<Accepted, Refusal>,
    /// What to write to the log, if anything changes.
    pub commit: Option<Commit>,
    /// What is there with it. The publisher shows these nodes and need not make the same ones again.
    pub tree: Snapshot,
    /// What decides from here on who may do what, if that changes. It passes through the log step in its place among the
    /// commits.
    pub governed: Option<Governed>,
}

/// What a request has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The first revision in which it is: its own, or where nothing changed the newest one before it.
    pub revision: Revision,
    /// The version of the database's own rules by then.
    pub rules_version: u64,
}

/// Why a request is refused. Nothing has changed, except where it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The rules do not allow it.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// What is there is not what the asker thinks.
    #[error("`{at}` has changed since it was read")]
    Stale {
        /// Where.
        at: Path,
    },
    /// The rules are not those that the asker thinks.
    #[error("the rules of this database are at version {found}, and not at {expected}")]
    OtherRules {
        /// The version that they have.
        found: u64,
        /// The version that was asked for.
        expected: u64,
    },
    /// A server value cannot be filled in.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// It cannot be armed.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// The log had failed before; nothing can be promised any more.
    #[error("the commit log stopped after an I/O error; restart the server to recover")]
    LogStopped,
    /// The log failed while it kept this, or something before it. Unlike every other refusal it says nothing about what has
    /// changed: after a restart the change may be there. So nobody may be told that it is not; who asked loses the
    /// connection.
    #[error("the commit log failed; whether this is kept is known after a restart of the server")]
    InDoubt,
}
