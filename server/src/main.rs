//! The binary `hearth`.

use hearth::command::Command;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let command = match Command::of_process() {
        Ok(command) => command,
        Err(exit) => return exit,
    };
    let filter = EnvFilter::try_from_env("HEARTH_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let is_seen = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(is_seen).with_env_filter(filter).init();
    match command.run().await {
        Ok(exit) => exit,
        Err(error) => {
            // With no standard error there is nobody to tell.
            drop(writeln!(std::io::stderr(), "hearth: {error}"));
            error.exit()
        }
    }
}
