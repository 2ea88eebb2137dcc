//! `hearth-rules`: the rules commands on their own, for projects that only test rules.

use clap::Parser;
use std::io::{self, Write};
use std::process::ExitCode;

/// Checks, tests, explains and covers security rules, without a server.
#[derive(Parser)]
#[command(name = "hearth-rules", version)]
struct Arguments {
    #[command(subcommand)]
    command: hearth_rules_cli::Command,
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let exit = hearth_rules_cli::run("hearth-rules", &command, &mut out, &mut io::stderr().lock());
    // Whoever closed the pipe has read what they wanted.
    match out.flush() {
        Ok(()) | Err(_) => exit.into(),
    }
}
