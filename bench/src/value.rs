//! What is written: texts that say which write they are of.

use hearth_tree::{Assignment, Path, ReadOptions, read_value};
use hearth_wire::{Put, RequestBody};

/// Length of the mark at the start of a value, and so the shortest value.
pub(crate) const MARK_BYTES: usize = 10;

/// A text of so many bytes that begins with the number of its write: `#00000012#xxxx`. The bytes are ASCII without
/// quotes, so they stand in JSON as they are.
pub(crate) fn marked(write: usize, bytes: usize) -> String {
    format!("{:x<bytes$}", format!("#{write:08}#"))
}

/// The number of the write that a message speaks of.
pub(crate) fn mark_in(message: &str) -> Option<usize> {
    let (_, behind) = message.split_once('#')?;
    behind.get(..8)?.parse().ok()
}

/// The wish to write a text without anything to escape.
pub(crate) fn put(at: &Path, text: &str) -> RequestBody {
    let json = format!("\"{text}\"");
    let value = read_value(json.as_bytes(), &ReadOptions::default()).expect("a quoted text is a value");
    let set = Assignment::value(at.clone(), value).expect("a text may stand anywhere");
    RequestBody::Put(Put { set, expected: None })
}

/// A place below `/bench`.
pub(crate) fn place(below: &str) -> Path {
    Path::parse(&format!("bench/{below}")).expect("the places of the bench are names")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_in_what_was_written() {
        for (write, bytes) in [(0, MARK_BYTES), (12, 200), (99_999_999, 11)] {
            let value = marked(write, bytes);
            assert_eq!(value.len(), bytes);
            assert_eq!(mark_in(&format!(r#"{{"d":"{value}"}}"#)), Some(write));
        }
        assert_eq!(mark_in("nothing"), None);
        assert_eq!(mark_in("#123"), None);
    }
}
