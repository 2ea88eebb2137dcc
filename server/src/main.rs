//! The binary `hearth`.

use hearth::command::{Command, RunError, verbosity};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let command = match Command::of_process() {
        Ok(command) => command,
        Err(exit) => return exit,
    };
    let filter = match verbosity() {
        Ok(filter) => filter,
        Err(error) => {
            // With no standard error there is nobody to tell.
            drop(writeln!(std::io::stderr(), "hearth: {error}"));
            return ExitCode::from(2);
        }
    };
    let is_seen = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(is_seen).with_env_filter(filter).init();
    // By hand: the attribute panics where the system gives no descriptors or threads.
    let ended = Runtime::new().map_err(RunError::from).and_then(|runtime| runtime.block_on(command.run()));
    match ended {
        Ok(exit) => exit,
        Err(error) => {
            // With no standard error there is nobody to tell.
            drop(writeln!(std::io::stderr(), "hearth: {error}"));
            error.exit()
        }
    }
}
