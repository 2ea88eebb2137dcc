//! What can be wrong with a file that is read in steps.

use hearth_tree::{OneLine, Problem};
use std::fmt;
use std::io;

/// What is wrong.
#[derive(Debug)]
pub(in super::super) enum Fault {
    /// It cannot be read.
    Read(io::Error),
    /// It is no data.
    Problem(Problem),
}

/// The same, and where.
#[derive(Debug)]
pub struct Faulty {
    pub(in super::super) fault: Fault,
    /// How many bytes of the text were read.
    pub(super) byte: u64,
    /// The place in the data.
    pub(super) at: String,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, byte, at } = self;
        match fault {
            Fault::Read(error) => write!(f, "it cannot be read behind byte {byte} of its text: {error}"),
            Fault::Problem(problem) => {
                write!(f, "{problem} (at byte {byte} of its text, in `{}`)", OneLine(at))
            }
        }
    }
}

impl std::error::Error for Faulty {}
