//! The commands about rules, as a library: the small binary `hearth-rules` and the server's own command line share it.
//!
//! Exit codes are for CI: 0 if all is well, 1 if something was found (problems, failed tests, too little coverage),
//! 2 if the command could not do its work (a file that cannot be read, a suite that is none).

mod check;
mod coverage;
mod excerpt;
mod explain;
mod files;
mod report;
mod run;
mod suite;
mod test;

pub use excerpt::excerpt;
pub use files::{Trouble, plain, read_rules, show_risks};
pub use report::html::html as coverage_page;
pub use report::json::json as coverage_json;

use hearth_tree::Printable;
use std::io::{self, Write};
use std::process::ExitCode;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Reports every problem in rules files, and what is suspicious about rules that are in order
    Check(check::Check),
    /// Runs test suites against rules
    Test(test::Test),
    /// Shows node by node how a verdict comes about
    Explain(explain::Explain),
    /// Shows which parts of the rules test suites exercise
    Coverage(coverage::Cover),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Fine,
    /// Something was found.
    Found,
    /// The command could not do its work.
    Trouble,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::Found => Self::from(1),
            Exit::Trouble => Self::from(2),
        }
    }
}

/// Runs a command; results go to `out`, what kept it from its work to `err`, behind the name of the program. What is to
/// be said beside results for programs goes to `err`, too.
pub fn run(program: &str, command: &Command, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let done = match command {
        Command::Check(check) => check.run(out),
        Command::Test(test) => test.run(out),
        Command::Explain(explain) => explain.run(out),
        Command::Coverage(cover) => cover.run(out, err),
    };
    match done {
        Ok(exit) => exit,
        // Whoever reads the results has stopped: that is theirs to decide.
        Err(Trouble::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
        Err(trouble) => {
            let said = match &trouble {
                // Lines of their own, each with its file, as compilers write them.
                Trouble::Rejected { shown } => writeln!(err, "{shown}"),
                Trouble::Unreadable { .. }
                | Trouble::Unwritable { .. }
                | Trouble::Suite { .. }
                | Trouble::Argument(_)
                | Trouble::Output(_) => writeln!(err, "{program}: {}", Printable(trouble)),
            };
            match said {
                Ok(()) | Err(_) => Exit::Trouble,
            }
        }
    }
}
