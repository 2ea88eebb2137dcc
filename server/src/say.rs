//! What whoever runs the server is told, whatever the log is set to.

use std::io::{self, Write};

/// Says lines on standard error.
pub(crate) fn say(lines: &str) {
    // With no standard error there is nobody to tell.
    drop(io::stderr().write_all(lines.as_bytes()));
}
