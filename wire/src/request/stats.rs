//! Statistics about the client (wire reference 4.1).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `s`: what the client is made of, such as `sdk.js.13-2-0`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Stats {
    /// Counts by name.
    #[serde(rename = "c")]
    pub counters: BTreeMap<String, i64>,
}
