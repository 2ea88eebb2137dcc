//! `hearth dev`.

use super::limits_file::LimitsFile;
use super::rules_file::RulesFile;
use super::run::{Reloaded, RunError, Settled};
use super::{Basics, LISTEN, address, entrance};
use crate::auth::{Origin, Secret};
use crate::checkpoint::StoreKind;
use crate::checkpoint_log::CheckpointLog;
use crate::config::{self, Config, Port};
use crate::keep_alive::KeepAlive;
use crate::mode::{Dev, Mode, Reach};
use crate::slow::SlowRequest;
use crate::transport::{MIB_MAX, Public};
use clap::builder::BoolishValueParser;
use std::net::IpAddr;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    basics: Basics,
    /// Lets other machines and containers in: `--listen` may be any address, and a random token replaces `owner`.
    #[arg(long, env = "HEARTH_ALLOW_REMOTE", value_parser = BoolishValueParser::new())]
    allow_remote: bool,
    /// Lets pages of another origin do what those of this machine may; may be said several times.
    #[arg(long, value_name = "ORIGIN", value_parser = Origin::parse, value_delimiter = ',', env = "HEARTH_ALLOW_ORIGIN")]
    allow_origin: Vec<Origin>,
    /// Serves the files of a folder, too: `/` is its index.html. What ends with `.json` is always data.
    #[arg(long, value_name = "DIR", env = "HEARTH_PUBLIC")]
    public: Option<PathBuf>,
    /// Tells every client why something is denied, not only those whose token has `debug: true`.
    #[arg(long, env = "HEARTH_EXPLAIN", value_parser = BoolishValueParser::new())]
    explain: bool,
}

/// Where a developer's data are kept, if nothing is said.
const DATA: &str = "hearth-data";

/// What may stand in the file.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    memory: Option<bool>,
    data: Option<PathBuf>,
    store: Option<StoreKind>,
    checkpoint_log: Option<CheckpointLog>,
    listen: Option<IpAddr>,
    port: Option<Port>,
    rules: Option<PathBuf>,
    limits: Option<PathBuf>,
    keep_alive: Option<KeepAlive>,
    log_slower_than: Option<SlowRequest>,
    allow_remote: Option<bool>,
    #[serde(default)]
    allow_origin: Vec<Origin>,
    public: Option<PathBuf>,
    explain: Option<bool>,
}

impl Config for File {
    const KEYS: &'static [&'static str] = &[
        "allow-origin",
        "allow-remote",
        "checkpoint-log",
        "data",
        "explain",
        "keep-alive",
        "limits",
        "listen",
        "log-slower-than",
        "memory",
        "port",
        "public",
        "rules",
        "store",
    ];
    const MODE: &'static str = "hearth dev";

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        let Self { data, rules, limits, public, .. } = self;
        [data, rules, limits, public].into_iter().flatten().collect()
    }
}

impl Arguments {
    pub(super) fn settle(self) -> Result<Settled, RunError> {
        let Self { basics, allow_remote, allow_origin, public, explain } = self;
        let file: File = config::read(basics.config.as_deref())?;
        // A developer need not say anything, and loses nothing.
        let data = basics.data((file.memory, file.data))?.unwrap_or_else(|| Some(DATA.into()));
        let listen = basics.listen.or(file.listen).unwrap_or(LISTEN);
        let reach = if allow_remote || file.allow_remote.unwrap_or_default() {
            Reach::Remote(Secret::random()?)
        } else if listen.to_canonical().is_loopback() {
            Reach::Loopback
        } else {
            return Err(RunError::Remote { listen });
        };
        let allowed = if allow_origin.is_empty() { file.allow_origin } else { allow_origin };
        let (rules_file, rules) = basics.rules.or(file.rules).map(RulesFile::open).transpose()?.unzip();
        let (limits_file, limits) = basics.limits.or(file.limits).map(LimitsFile::open).transpose()?.unzip();
        let address = address(Some(listen), basics.port.or(file.port.map(|Port(port)| port)));
        let public = public.or(file.public).map(|folder| Public::open(&folder)).transpose()?;
        let log_slower_than = basics.log_slower_than.or(file.log_slower_than).unwrap_or(SlowRequest::DEFAULT);
        let keep_alive = basics.keep_alive.or(file.keep_alive).unwrap_or(KeepAlive::DEFAULT);
        let store = basics.store.or(file.store);
        let explain = explain || file.explain.unwrap_or_default();
        let checkpoint_log = basics.checkpoint_log.or(file.checkpoint_log).unwrap_or(CheckpointLog::DEFAULT);
        Ok(Settled {
            address,
            data,
            store,
            checkpoint_log,
            keep_alive,
            log_slower_than,
            limits: limits.unwrap_or_default(),
            entrance: entrance(None, None, Vec::new())?,
            body_memory: MIB_MAX,
            mode: Mode::Dev(Dev { reach, allowed, rules, public, explain }),
            reloaded: Reloaded { rules: rules_file, limits: limits_file, tls: None, keys: Vec::new() },
        })
    }
}
