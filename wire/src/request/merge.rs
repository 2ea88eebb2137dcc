//! Writing at several places together (wire reference 4.6).

use super::write_body::UpdateFields;
use hearth_tree::Update;
use serde::{Serialize, Serializer};

/// `m`: what several places below one become, all or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// The places and what is written.
    pub update: Update,
}

impl Serialize for Merge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        UpdateFields(&self.update).serialize(serializer)
    }
}
