//! The command line.

use crate::subject::ServerArguments;
use crate::table::Format;
use crate::trouble::Trouble;
use crate::{
    checkpoints, churn, durable, fanout, hostile, idle, membership, pauses, peer, query, reconnects, rest,
    restart, set, start, suite, verdicts,
};
use std::io::{self, Write};

/// Measures a Hearth server over real sockets, beside bare programs that send the same bytes.
#[derive(Debug, clap::Parser)]
#[command(name = "hearth-bench", version)]
pub(crate) struct Command {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// One writes, many listen at the same place: deliveries by processor time, and how late the last one is.
    Fanout(Run<fanout::Arguments>),
    /// Acknowledged writes, by one client and by many, one or several under way.
    Set(Run<set::Arguments>),
    /// Acknowledged writes that are on the disk, beside the same bytes written and synced without a server.
    Durable(Run<durable::Arguments>),
    /// How long others wait while a large body, a delete of a million leaves or a checkpoint is under way.
    Pauses(Run<pauses::Arguments>),
    /// Until a server that was killed serves two million leaves again: from the log, and from checkpoints.
    Restart(Run<restart::Arguments>),
    /// What checkpoints take: of everything, and of what has changed since.
    Checkpoints(Run<checkpoints::Arguments>),
    /// What small writes come to on the disk over minutes, with checkpoints and trimming.
    Churn(Run<churn::Arguments>),
    /// Memory of connections that do nothing, and of one listener each.
    Idle(Run<idle::Arguments>),
    /// How long until the server listens, and its memory then.
    Start(Run<start::Arguments>),
    /// The last 100 of many children: the first answer, and writes that move the window.
    Query(Run<query::Arguments>),
    /// All clients come back at once after a restart: when the last one is served, and how long others wait.
    Reconnects(Run<reconnects::Arguments>),
    /// How long others wait while somebody does its worst to the server, and the server's memory meanwhile.
    Hostile(Run<hostile::Arguments>),
    /// Small reads and writes over HTTP.
    Rest(Run<rest::Arguments>),
    /// Reads and writes judged by rules, beside targaryen; without a server.
    Verdicts(Bare<verdicts::Arguments>),
    /// The end of one membership while many listen by that rule; in the engine, without a server.
    Membership(Bare<membership::Arguments>),
    /// `hearth-rules test` with many steps, from its start to its exit.
    Suite(Bare<suite::Arguments>),
    /// A bare program to compare with; the others start it.
    #[command(hide = true)]
    Peer {
        #[command(subcommand)]
        peer: peer::Peer,
    },
}

#[derive(Debug, clap::Args)]
struct Run<A: clap::Args> {
    #[command(flatten)]
    server: ServerArguments,
    /// How to print the figures.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    own: A,
}

/// Without a server.
#[derive(Debug, clap::Args)]
struct Bare<A: clap::Args> {
    /// How to print the figures.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    own: A,
}

impl Command {
    /// Measures, and prints.
    pub(crate) async fn run(self) -> Result<(), Trouble> {
        let (table, format) = match self.act {
            Act::Fanout(run) => (fanout::run(&run.server, &run.own).await?, run.format),
            Act::Set(run) => (set::run(&run.server, &run.own).await?, run.format),
            Act::Durable(run) => (durable::run(&run.server, &run.own).await?, run.format),
            Act::Pauses(run) => (pauses::run(&run.server, &run.own).await?, run.format),
            Act::Restart(run) => (restart::run(&run.server, &run.own).await?, run.format),
            Act::Checkpoints(run) => (checkpoints::run(&run.server, &run.own).await?, run.format),
            Act::Churn(run) => (churn::run(&run.server, &run.own).await?, run.format),
            Act::Idle(run) => (idle::run(&run.server, &run.own).await?, run.format),
            Act::Start(run) => (start::run(&run.server, &run.own)?, run.format),
            Act::Query(run) => (query::run(&run.server, &run.own).await?, run.format),
            Act::Reconnects(run) => (reconnects::run(&run.server, &run.own).await?, run.format),
            Act::Hostile(run) => (hostile::run(&run.server, &run.own).await?, run.format),
            Act::Rest(run) => (rest::run(&run.server, &run.own).await?, run.format),
            Act::Verdicts(run) => (verdicts::run(&run.own)?, run.format),
            Act::Membership(run) => (membership::run(&run.own), run.format),
            Act::Suite(run) => (suite::run(&run.own)?, run.format),
            Act::Peer { peer } => return peer.run().await,
        };
        write!(io::stdout(), "{}", table.rendered(format)).map_err(Trouble::Output)
    }
}

#[cfg(test)]
mod tests {
    use super::Command;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Command::command().debug_assert();
    }
}
