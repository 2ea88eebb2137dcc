//! Where in the folder of checkpoints a store stands.

use super::kind::StoreKind;

/// One of the two folders of a kind: a new store is filled in the one while that in the other still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shelf {
    kind: StoreKind,
    is_second: bool,
}

impl Shelf {
    /// The one that a kind begins with.
    pub(super) const fn first(kind: StoreKind) -> Self {
        Self { kind, is_second: false }
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        StoreKind::ALL.into_iter().map(Self::first).flat_map(|first| [first, first.other()])
    }

    pub(super) const fn other(self) -> Self {
        Self { kind: self.kind, is_second: !self.is_second }
    }

    pub(super) const fn kind(self) -> StoreKind {
        self.kind
    }

    /// Of the folder.
    pub(super) const fn name(self) -> &'static str {
        match (self.kind, self.is_second) {
            (StoreKind::Fjall, false) => "fjall",
            (StoreKind::Fjall, true) => "fjall-2",
            (StoreKind::Sled, false) => "sled",
            (StoreKind::Sled, true) => "sled-2",
        }
    }
}
