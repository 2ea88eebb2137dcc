//! Why the model refuses a write.

/// The reasons that the reference gives. The words are for a failing test; servers word their errors themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A key is empty, too long, or has a forbidden character (7.3).
    BadKey(String),
    /// A path or a value reaches more than 32 keys below the root (7.3).
    TooDeep,
    /// A text is longer than 10 MB (7.3).
    TextTooLong,
    /// A priority is neither null, nor a number, nor a text (7.1).
    BadPriority,
    /// `.value` is an object or an array, or stands beside children (7.1).
    BadValue,
    /// Another key that starts with a dot (7.1).
    DotKey(String),
    /// An unknown server value, or one with other keys beside it (7.6).
    BadServerValue,
    /// Two places of one update, of which one is at or above the other.
    Conflict,
    /// An increment went beyond the largest double: there is nothing that could be stored.
    NotFinite,
}
