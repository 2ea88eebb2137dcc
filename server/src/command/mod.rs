//! The command line.

mod backup;
mod chunked;
mod descriptors;
mod dev;
mod export;
mod import;
mod limits_file;
mod new_file;
mod notify;
mod remote;
mod restore;
mod rules_file;
mod run;
mod serve;
mod stored;
mod token;
mod tokens;
mod transfer;
mod verbosity;
mod watched_file;
mod welcome;

pub use chunked::{Faulty, Unresumable};
pub use run::RunError;
pub use transfer::TransferError;
pub use verbosity::{VerbosityError, verbosity};

use crate::checkpoint::StoreKind;
use crate::checkpoint_log::CheckpointLog;
use crate::keep_alive::KeepAlive;
use crate::slow::SlowRequest;
use crate::transport::{Entrance, Network, Proxies, Seats};
use clap::builder::BoolishValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::env;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use tokio::task::block_in_place;

/// A realtime database that you run yourself, for the apps and SDKs of the Firebase Realtime Database.
#[derive(Debug, Parser)]
#[command(name = "hearth", version)]
pub struct Command {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Runs a server for development: for this machine, and convenient.
    Dev(dev::Arguments),
    /// Runs a server for production: closed without rules, and for the databases that you name.
    Serve(serve::Arguments),
    /// Makes a token for a service, a device or a test, and prints it.
    Token(token::Arguments),
    /// Copies what is at a place of a running server into a file of JSON, as it is at one moment.
    Export(export::Arguments),
    /// Replaces what is at a place of a running server by a file of JSON, at once or not at all.
    Import(import::Arguments),
    /// Copies all databases of a running server into one file, with rules and settings.
    Backup(backup::Arguments),
    /// Makes a folder of data from a backup, for a server that does not run.
    Restore(restore::Arguments),
    /// Checks, tests, explains and covers security rules, without a server.
    Rules {
        #[command(subcommand)]
        command: hearth_rules_cli::Command,
    },
}

/// What every server needs. Whatever is not given here may stand in the file.
#[derive(Debug, Args)]
struct Basics {
    /// A TOML file with the same names: `port = 9000`. The command line goes before the environment, both before the
    /// file.
    #[arg(long, value_name = "FILE", env = "HEARTH_CONFIG")]
    config: Option<PathBuf>,
    /// The folder that keeps the data; made if it is not there.
    #[arg(long, value_name = "DIR", env = "HEARTH_DATA")]
    data: Option<PathBuf>,
    /// Keeps nothing: the data end with the server.
    #[arg(long, env = "HEARTH_MEMORY", value_parser = BoolishValueParser::new())]
    memory: bool,
    /// What keeps checkpoints of the data: what they have if nothing is said, `fjall` if they are new. Data that have
    /// another one are moved.
    #[arg(long, env = "HEARTH_STORE")]
    store: Option<StoreKind>,
    /// How many MiB of log there may be before a checkpoint stands for it: 1 to 4096; 64 if nothing is said. Less makes a
    /// start after a crash faster and the folder smaller, more writes less.
    #[arg(long, value_name = "MIB", env = "HEARTH_CHECKPOINT_LOG")]
    checkpoint_log: Option<CheckpointLog>,
    /// The address to listen on; 127.0.0.1 if nothing is said.
    #[arg(long, value_name = "ADDRESS", env = "HEARTH_LISTEN", value_parser = listen)]
    listen: Option<IpAddr>,
    /// The port to listen on; 9000 if nothing is said, 0 takes a free one.
    #[arg(long, env = "HEARTH_PORT", value_parser = port)]
    port: Option<u16>,
    /// Security rules for all databases that have none of their own. `hearth dev` reads the file again when it changes,
    /// `hearth serve` on SIGHUP; a file that cannot be used changes nothing.
    #[arg(long, value_name = "FILE", env = "HEARTH_RULES")]
    rules: Option<PathBuf>,
    /// How much anybody but an admin may write and read at which places: a file like that of rules. It is read again as
    /// rules are.
    #[arg(long, value_name = "FILE", env = "HEARTH_LIMITS")]
    limits: Option<PathBuf>,
    /// After how many seconds of silence an event stream says that it lives, and how often the client of a WebSocket is
    /// asked whether it does: 1 to 30; 25 if nothing is said. A client that has not answered twice is gone.
    #[arg(long, value_name = "SECONDS", env = "HEARTH_KEEP_ALIVE")]
    keep_alive: Option<KeepAlive>,
    /// From how many milliseconds on a request over REST is slow and told of in the log; 1000 if nothing is said, 0 tells of
    /// none. What its body takes to arrive is not counted.
    #[arg(long, value_name = "MS", env = "HEARTH_LOG_SLOWER_THAN")]
    log_slower_than: Option<SlowRequest>,
}

impl Basics {
    /// Where the data are kept, of what is said here or else in the file: a folder, or `None` in memory. Nothing, if
    /// neither says anything.
    fn data(&self, in_file: (Option<bool>, Option<PathBuf>)) -> Result<Option<Option<PathBuf>>, RunError> {
        let of = |memory: bool, folder: Option<PathBuf>| match (memory, folder) {
            (true, Some(folder)) => Err(RunError::MemoryAndData { folder }),
            (true, None) => Ok(Some(None)),
            (false, Some(folder)) => Ok(Some(Some(folder))),
            (false, None) => Ok(None),
        };
        match of(self.memory, self.data.clone())? {
            Some(said) => Ok(Some(said)),
            None => of(in_file.0.unwrap_or_default(), in_file.1),
        }
    }
}

const LISTEN: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PORT: u16 = 9_000;

/// The range instead of the parser's words about digits.
fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("`{text}` is not a port: a number from 0 to 65535 is allowed"))
}

/// No name, which may mean several addresses.
fn listen(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is no IP address: 127.0.0.1 and ::1 are this machine, 0.0.0.0 and :: are all of its addresses")
    })
}

/// A whole number from 1, instead of the parser's words about what is not zero.
fn count<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is not allowed: a whole number from 1 is"))
}

fn address(listen: Option<IpAddr>, port: Option<u16>) -> SocketAddr {
    SocketAddr::new(listen.unwrap_or(LISTEN), port.unwrap_or(PORT))
}

/// Who is let in: so many, so many of one address, and some of them through these proxies.
fn entrance(
    most: Option<NonZeroUsize>,
    most_per_address: Option<NonZeroUsize>,
    proxies: Vec<Network>,
) -> Result<Entrance, RunError> {
    let seats = Seats::new(descriptors::connections_max(most)?, most_per_address);
    Ok(Entrance { seats: Arc::new(seats), proxies: Arc::new(Proxies::from(proxies)) })
}

impl Command {
    /// What the command line says.
    ///
    /// # Errors
    /// The exit code, when help was asked for, or when it says nothing that can be done: that has been told then.
    pub fn of_process() -> Result<Self, ExitCode> {
        Self::try_parse().map_err(|error| {
            // With no standard error there is nobody to tell.
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                let said = sentence(&error.render().to_string());
                let more = choice(&error, &said)
                    .or_else(|| elsewhere(&error, &said))
                    .or_else(|| variable(&error))
                    .unwrap_or_default();
                drop(writeln!(io::stderr(), "hearth: {said}{more}"));
            } else {
                drop(error.print());
            }
            u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
        })
    }

    /// Does what it says, until a signal comes.
    ///
    /// # Errors
    /// [`RunError`] says why it cannot.
    pub async fn run(self) -> Result<ExitCode, RunError> {
        match self.act {
            Act::Dev(dev) => dev.settle()?.run().await?,
            Act::Serve(serve) => serve.settle()?.run().await?,
            Act::Token(token) => token.print()?,
            Act::Export(export) => {
                let credential = serve::admin(export.remote.admin_credential_file.clone(), None)?;
                block_in_place(|| export.run(credential.as_ref()))?;
            }
            Act::Import(import) => {
                let credential = serve::admin(import.remote.admin_credential_file.clone(), None)?;
                block_in_place(|| import.run(credential.as_ref()))?;
            }
            Act::Backup(backup) => {
                let credential = serve::admin(backup.admin_credential_file.clone(), None)?;
                block_in_place(|| backup.run(credential.as_ref()))?;
            }
            Act::Restore(restore) => block_in_place(|| restore.run())?,
            Act::Rules { command } => {
                let mut out = io::BufWriter::new(io::stdout().lock());
                let exit = hearth_rules_cli::run("hearth", &command, &mut out, &mut io::stderr().lock());
                // Whoever closed the pipe has read what they wanted.
                return match out.flush() {
                    Ok(()) | Err(_) => Ok(exit.into()),
                };
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What is wrong, in one line, from what the parser of the command line makes a page of.
fn sentence(rendered: &str) -> String {
    let lines = rendered.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let mut sentence = String::new();
    for line in said {
        if !sentence.is_empty() {
            sentence += if line.starts_with("tip:") { "; " } else { " " };
        }
        sentence += line.strip_prefix("error: ").unwrap_or(line);
    }
    sentence
}

/// The command that somebody means: `hearth`, or that of its commands which comes first.
fn meant() -> clap::Command {
    let hearth = Command::command();
    let named = env::args_os().nth(1).and_then(|name| hearth.find_subcommand(name).cloned());
    named.unwrap_or(hearth)
}

/// What there is, where something else was asked for and nothing resembles that.
fn choice(error: &clap::Error, said: &str) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    // Those about rules have names of their own elsewhere.
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(rules) = Command::command().find_subcommand("rules")
        && rules.find_subcommand(name).is_some()
    {
        return Some(format!("; it is `hearth rules {name}`"));
    }
    if said.contains("tip:") {
        return None;
    }
    let names: Vec<_> =
        meant().get_subcommands().map(|command| format!("`{}`", command.get_name())).collect();
    Some(format!("; there are {}", names.join(", ")))
}

/// Which other command has an option that this one has not.
fn elsewhere(error: &clap::Error, said: &str) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument || said.contains("tip:") {
        return None;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = option.strip_prefix("--")?;
    let hearth = Command::command();
    let has = |command: &&clap::Command| command.get_arguments().any(|own| own.get_long() == Some(name));
    let names: Vec<_> = hearth
        .get_subcommands()
        .filter(has)
        .map(|command| format!("`hearth {}`", command.get_name()))
        .collect();
    (!names.is_empty()).then(|| format!("; it is an option of {}", names.join(", ")))
}

/// Where a value stands, if not on the command line.
fn variable(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    let option = argument.split(' ').next()?;
    let is_option = |said: &str| said == option || said.starts_with(&format!("{option}="));
    if env::args_os().any(|said| is_option(&said.to_string_lossy())) {
        return None;
    }
    let command = meant();
    let argument = command.get_arguments().find(|own| own.get_long() == option.strip_prefix("--"))?;
    let variable = argument.get_env().filter(|variable| env::var_os(variable).is_some())?;
    Some(format!("; the variable `{}` says so", variable.to_string_lossy()))
}
