//! What is suspicious about rules that are in order: open doors, and rules that do not do what they seem to.
//!
//! Each finding is a likely mistake and not a certain one; nothing here changes a verdict.

use crate::check::RuleKind;
use crate::limits::DOCUMENT_BYTES_ADVISED;
use crate::span::{Position, Span};
use hearth_tree::DEPTH_MAX;
use std::fmt;

/// Most findings about one document; who has more has read enough after these.
pub const WARNINGS_MAX: usize = 1000;

/// One finding, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The place in the document, in bytes.
    pub span: Span,
    /// The same for people.
    pub position: Position,
    /// The rule or node that it is about, such as `/rooms/$room/.write`.
    pub at: String,
    /// What is suspicious.
    pub lint: Lint,
}

/// What can be suspicious.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lint {
    /// The whole database is open.
    #[error("anybody on the internet can {} the whole database", verb(*.0))]
    OpenRoot(RuleKind),
    /// The whole database is open for a while.
    #[error("anybody on the internet can {} the whole database until a fixed time: these are the rules of a first try", verb(*.0))]
    OpenRootForATime(RuleKind),
    /// The whole database will be open, or is already.
    #[error("anybody on the internet can {} the whole database from a fixed time on, and for ever", verb(*.0))]
    OpenRootSince(RuleKind),
    /// The whole database is open to everybody with an account.
    #[error("everybody who can sign up, or sign in anonymously, can {} the whole database", verb(*.0))]
    OpenRootToSignedIn(RuleKind),
    /// A part of the database can be written by anybody.
    #[error("anybody on the internet can write here")]
    PublicWrite,
    /// Whatever is written is accepted.
    #[error(
        "what is written here is not validated: no `.validate` at, above or below it bounds its shape or size"
    )]
    Unvalidated,
    /// A rule that is never asked.
    #[error("this is never asked: `{above}` already allows it to everybody")]
    Overruled {
        /// The rule that grants before.
        above: String,
    },
    /// A denial that does not deny.
    #[error(
        "this takes nothing back: `{above}` already allows it to everybody, and a deeper rule can only add"
    )]
    CannotTakeBack {
        /// The rule that grants before.
        above: String,
    },
    /// A rule that can never hold, without saying so.
    #[error("this can never hold{}", .0.map_or("", because))]
    NeverHolds(Option<Contradiction>),
    /// A comparison that decides nothing.
    #[error("this is never {}: the two sides are known, or are of types that are never equal", !.0)]
    Decided(bool),
    /// An order of things that have none.
    #[error("this always fails: only two numbers or two texts are in an order, or can be added")]
    AlwaysFails,
    /// A comparison of what is never equal.
    #[error(
        "values with children are never equal to each other, whatever is in them: compare their children"
    )]
    InnerNodes,
    /// A `.validate` for what nobody can write.
    #[error("this never runs: no `.write` at, above or below it grants anything")]
    ValidateNeverRuns,
    /// A `.validate` for what cannot be there.
    #[error("nothing can be here: `{above}` accepts no value that has children")]
    NothingBelow {
        /// The `.validate` above.
        above: String,
    },
    /// A `.write` for what cannot be there.
    #[error("this allows nothing but deletes: `{above}` accepts no value that has children")]
    OnlyDeletes {
        /// The `.validate` above.
        above: String,
    },
    /// A question that `.validate` need not ask.
    #[error("this is always true here: `.validate` is not asked about deletes; forbid them in `.write`")]
    ExistsInValidate,
    /// Data protected against change, but not against removal.
    #[error(
        "a delete skips this, and a `.write` that grants here does not look at `newData`: what is there can be removed"
    )]
    DeletesSkip,
    /// A literal child that is not covered by the rules of the capture beside it.
    #[error("`{capture}` does not apply to this key, so it has no `{kind}` of its own")]
    HidesCapture {
        /// The name of the capture.
        capture: String,
        /// The rule that the capture has and the literal child has not.
        kind: RuleKind,
    },
    /// Rules for a depth at which no data can be.
    #[error("no data lies deeper than {DEPTH_MAX} levels, so nothing here can apply")]
    TooDeep,
    /// A pattern whose anchors belong to single alternatives.
    #[error("each anchor belongs to one alternative only: write /^(a|b)$/ to match the whole text")]
    LooseAnchors,
    /// An index that is none.
    #[error("`.indexOn` has an empty entry, which names no child")]
    IndexOfNothing,
    /// An index that is there already.
    #[error("`.indexOn` names `{on}` twice")]
    IndexTwice {
        /// What it is on.
        on: String,
    },
    /// A document that other services may not take.
    #[error("the rules have {0} bytes; more than {DOCUMENT_BYTES_ADVISED} may not be accepted elsewhere")]
    LargeDocument(usize),
}

/// Conditions that cannot be true together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// Two tests of the type of one value.
    TwoTypes,
    /// Two values of one thing.
    TwoValues,
    /// Something that is there, and is not.
    NullAndMore,
    /// `.validate` about nothing.
    ValidatesNothing,
}

const fn because(contradiction: Contradiction) -> &'static str {
    match contradiction {
        Contradiction::TwoTypes => ": one value is never of two types",
        Contradiction::TwoValues => ": one value is never equal to two",
        Contradiction::NullAndMore => ": what is null has no value, no children and no members",
        Contradiction::ValidatesNothing => ": `.validate` runs only where something will be",
    }
}

const fn verb(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Read => "read",
        RuleKind::Write | RuleKind::Validate => "write",
    }
}

impl Lint {
    /// A name for tools that does not change.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OpenRoot(_) => "open-root",
            Self::OpenRootForATime(_) => "open-root-for-a-time",
            Self::OpenRootSince(_) => "open-root-since",
            Self::OpenRootToSignedIn(_) => "open-root-to-signed-in",
            Self::PublicWrite => "public-write",
            Self::Unvalidated => "unvalidated-write",
            Self::Overruled { .. } => "overruled",
            Self::CannotTakeBack { .. } => "cannot-take-back",
            Self::NeverHolds(_) => "never-holds",
            Self::Decided(_) => "decided-comparison",
            Self::AlwaysFails => "always-fails",
            Self::InnerNodes => "inner-nodes",
            Self::ValidateNeverRuns => "validate-never-runs",
            Self::NothingBelow { .. } => "nothing-below",
            Self::OnlyDeletes { .. } => "only-deletes",
            Self::ExistsInValidate => "exists-in-validate",
            Self::DeletesSkip => "deletes-skip-validate",
            Self::HidesCapture { .. } => "hides-capture",
            Self::TooDeep => "too-deep",
            Self::LooseAnchors => "loose-anchors",
            Self::IndexOfNothing | Self::IndexTwice { .. } => "useless-index",
            Self::LargeDocument(_) => "large-document",
        }
    }

    /// Whether this opens the database further than is likely meant: worth a line in the operator's log.
    pub const fn is_risk(&self) -> bool {
        match self {
            Self::OpenRoot(_)
            | Self::OpenRootForATime(_)
            | Self::OpenRootSince(_)
            | Self::OpenRootToSignedIn(_)
            | Self::PublicWrite
            | Self::Unvalidated
            | Self::CannotTakeBack { .. }
            | Self::DeletesSkip => true,
            Self::Overruled { .. }
            | Self::NeverHolds(_)
            | Self::Decided(_)
            | Self::AlwaysFails
            | Self::InnerNodes
            | Self::ValidateNeverRuns
            | Self::NothingBelow { .. }
            | Self::OnlyDeletes { .. }
            | Self::ExistsInValidate
            | Self::HidesCapture { .. }
            | Self::TooDeep
            | Self::LooseAnchors
            | Self::IndexOfNothing
            | Self::IndexTwice { .. }
            | Self::LargeDocument(_) => false,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.position.line, self.position.column, self.at, self.lint)
    }
}
