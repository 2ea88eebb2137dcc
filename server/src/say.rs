//! What whoever runs the server is told, whatever the log is set to.

use hearth_tree::Printable;
use std::io::{self, Write};

/// Says lines on standard error. Names in them come from anybody: what a terminal would obey is shown as what it is.
pub(crate) fn say(lines: &str) {
    // With no standard error there is nobody to tell.
    drop(write!(io::stderr(), "{}", Printable(lines)));
}
