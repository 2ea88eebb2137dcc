//! Values that the server fills in when it decides a write (wire reference 7.6).

use crate::scalar::{NotFinite, Number};

/// What a client may write as `{".sv": …}` in the place of a value or of a priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServerValue {
    /// `{".sv": "timestamp"}`: the server's time in milliseconds since 1970, the same all through one write.
    Timestamp,
    /// `{".sv": {"increment": δ}}`: the number that is there plus δ; δ alone, if no number is there.
    Increment(Number),
}

impl ServerValue {
    /// The number to store. `now_ms` is the server's time in milliseconds since 1970; `current` is the number at the
    /// place now.
    ///
    /// # Errors
    /// [`NotFinite`] if the sum is beyond the largest double.
    pub fn resolve(self, now_ms: i64, current: Option<Number>) -> Result<Number, NotFinite> {
        match (self, current) {
            (Self::Timestamp, _) => Ok(now_ms.into()),
            (Self::Increment(delta), Some(current)) => current.plus(delta),
            (Self::Increment(delta), None) => Ok(delta),
        }
    }
}
