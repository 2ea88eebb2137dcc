//! What one verdict may cost.
//!
//! Why a budget although the language has no loops: texts come from clients, each can be 10 MB, and a rule can double
//! one with `+` or `replace` as often as it is long. Why one per verdict and not per rule: a write is judged at every
//! node that it carries.

/// How much a verdict may still cost. What goes beyond it is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// One for each operation, for each node that is walked over, and for every 64 bytes of text that are looked at.
    pub steps: u64,
    /// Bytes of text that rules may make, those that are gone again included.
    pub bytes: u64,
}

impl Budget {
    /// Some seconds at the very worst; a write of 16 MB under twenty operations per node passes.
    pub const DEFAULT: Self = Self { steps: 10_000_000, bytes: 64 * 1024 * 1024 };

    /// Whether there was enough.
    #[must_use]
    pub(crate) const fn spend(&mut self, steps: u64) -> bool {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                true
            }
            None => {
                self.steps = 0;
                false
            }
        }
    }

    /// Pays for looking at a text once.
    #[must_use]
    pub(crate) const fn scan(&mut self, text: &str) -> bool {
        self.spend(scan_steps(text))
    }

    /// Pays for matching a text; an automaton of many parts may look at each byte more than once.
    #[must_use]
    pub(crate) const fn match_text(&mut self, text: &str, weight: u64) -> bool {
        self.spend((text.len() as u64).saturating_mul(16_u64.saturating_add(weight)) / 128)
    }

    /// Pays for making a text, before it is made.
    #[must_use]
    pub(crate) const fn make(&mut self, bytes: usize) -> bool {
        match self.bytes.checked_sub(bytes as u64) {
            Some(left) => {
                self.bytes = left;
                self.spend(bytes as u64 / 64)
            }
            None => {
                // Nothing that comes later may pass what this one could not.
                self.bytes = 0;
                self.steps = 0;
                false
            }
        }
    }
}

/// What looking at a text once costs.
pub(crate) const fn scan_steps(text: &str) -> u64 {
    text.len() as u64 / 64
}
