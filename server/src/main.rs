//! The binary `hearth`.

use hearth::command::Command;
use std::io::Write;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let command = match Command::of_process() {
        Ok(command) => command,
        Err(exit) => return exit,
    };
    let filter = EnvFilter::try_from_env("HEARTH_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter).init();
    match command.run().await {
        Ok(exit) => exit,
        Err(error) => {
            // With no standard error there is nobody to tell.
            drop(writeln!(std::io::stderr(), "hearth: {error}"));
            error.exit()
        }
    }
}
