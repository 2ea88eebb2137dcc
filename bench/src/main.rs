//! `hearth-bench`: how fast the server is, and how much of that is the server.
//!
//! Why peers: a figure of one machine says little about another. So every figure stands beside that of a bare program
//! which sends the same bytes over the same number of sockets in the same run, and the ratio can be read. Why processor
//! time of the server: the load generator runs on the same cores, and what it takes is not the server's doing.

mod chat;
mod checkpointed;
mod checkpoints;
mod churn;
mod command;
mod durable;
mod fanout;
mod field;
mod hostile;
mod http;
mod idle;
mod latency;
mod load;
mod membership;
mod pauses;
mod peer;
mod process;
mod query;
mod reconnects;
mod rest;
mod restart;
mod sentence;
mod session;
mod set;
mod start;
mod subject;
mod suite;
mod table;
mod trouble;
mod value;
mod verdicts;

use clap::Parser;
use clap::error::ErrorKind;
use command::Command;
use std::io::{self, Write};
use std::process::ExitCode;

/// One thread: the load generator leaves the other cores to the server.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) => {
            // With no standard error there is nobody to tell.
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                drop(writeln!(io::stderr(), "hearth-bench: {}", sentence::of(&error.render().to_string())));
            } else {
                drop(error.print());
            }
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    match command.run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            drop(writeln!(io::stderr(), "hearth-bench: {trouble}"));
            ExitCode::from(2)
        }
    }
}
