//! `hearth serve`.

use super::limits_file::LimitsFile;
use super::rules_file::RulesFile;
use super::run::{Reloaded, RunError, Settled};
use super::tokens::{self, IssuerInFile};
use super::{Basics, address, count, entrance};
use crate::auth::{KeyPlace, Secret};
use crate::checkpoint::StoreKind;
use crate::checkpoint_log::CheckpointLog;
use crate::config::{self, Config, Port};
use crate::keep_alive::KeepAlive;
use crate::mode::{Mode, Serve};
use crate::slow::SlowRequest;
use crate::transport::{MIB_MAX, Network, Tls};
use clap::builder::BoolishValueParser;
use hearth_wire::Namespace;
use serde::de::{Deserialize, Deserializer, Error};
use std::env;
use std::fs;
use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the admin credential may stand. No option takes it: others see command lines.
const ADMIN_CREDENTIAL: &str = "HEARTH_ADMIN_CREDENTIAL";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The admin credential stands in a file or in HEARTH_ADMIN_CREDENTIAL, never on the command line."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    basics: Basics,
    /// A database that exists; may be said several times. Clients that name none use `default`.
    #[arg(long = "namespace", value_name = "NAME", value_parser = Namespace::parse, value_delimiter = ',', env = "HEARTH_NAMESPACES")]
    namespaces: Vec<Namespace>,
    /// A file with what an admin shows: 16 characters or more.
    #[arg(long, value_name = "FILE", env = "HEARTH_ADMIN_CREDENTIAL_FILE")]
    admin_credential_file: Option<PathBuf>,
    /// Refuses rules that open the whole database, or a part for everybody's writing, or take unvalidated writes: at the
    /// start, when the file is read again, and when an admin stores some.
    #[arg(long, env = "HEARTH_REFUSE_OPEN_RULES", value_parser = BoolishValueParser::new())]
    refuse_open_rules: bool,
    /// How many connections there may be at once; as many as the system has descriptors for if nothing is said, and 100000
    /// at most.
    #[arg(long, value_name = "N", env = "HEARTH_MAX_CONNECTIONS", value_parser = count::<NonZeroUsize>)]
    max_connections: Option<NonZeroUsize>,
    /// How many of them may come from one address, or from one /64 of IPv6.
    #[arg(long, value_name = "N", env = "HEARTH_MAX_CONNECTIONS_PER_ADDRESS", value_parser = count::<NonZeroUsize>)]
    max_connections_per_address: Option<NonZeroUsize>,
    /// How many MiB of the bodies of requests there may be while they are received, beyond the first 64 KB of each; 1024 if
    /// nothing is said.
    #[arg(long, value_name = "MIB", env = "HEARTH_MAX_BODY_MEMORY", value_parser = count::<NonZeroU32>)]
    max_body_memory: Option<NonZeroU32>,
    /// The address of a proxy in front, or a network of them: what it says in X-Forwarded-For or Forwarded of where its
    /// clients come from is believed. May be said several times.
    #[arg(long, value_name = "ADDRESS", value_parser = Network::parse, value_delimiter = ',', env = "HEARTH_BEHIND_PROXY")]
    behind_proxy: Vec<Network>,
    /// A Firebase project: its users are those of this server, with the ID tokens that they have from Firebase
    /// Authentication.
    #[arg(long, value_name = "ID", env = "HEARTH_FIREBASE_PROJECT")]
    firebase_project: Option<String>,
    /// Where the keys of Firebase Authentication are, if not where Google has them: an https URL or a file, as a JWK set,
    /// certificates by name, or PEM. SIGHUP has a file read again.
    #[arg(long, value_name = "URL|FILE", env = "HEARTH_FIREBASE_KEYS")]
    firebase_keys: Option<String>,
    /// A file with a secret of 32 bytes or more: tokens that are signed with it are believed, and `hearth token` makes
    /// some; may be said several times.
    #[arg(
        long = "token-secret-file",
        value_name = "FILE",
        value_delimiter = ',',
        env = "HEARTH_TOKEN_SECRET_FILES"
    )]
    token_secret_files: Vec<PathBuf>,
    /// A PEM file with the certificate of this server, and those that lead to its issuer behind it: clients reach it as
    /// https and wss. SIGHUP has it read again.
    #[arg(long, value_name = "FILE", env = "HEARTH_TLS_CERT")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the private key of the certificate.
    #[arg(long, value_name = "FILE", env = "HEARTH_TLS_KEY")]
    tls_key: Option<PathBuf>,
}

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
    #[serde(default)]
    namespaces: Vec<Name>,
    admin_credential_file: Option<PathBuf>,
    refuse_open_rules: Option<bool>,
    max_connections: Option<NonZeroUsize>,
    max_connections_per_address: Option<NonZeroUsize>,
    max_body_memory: Option<NonZeroU32>,
    #[serde(default)]
    behind_proxy: Vec<Network>,
    firebase_project: Option<String>,
    firebase_keys: Option<KeyPlace>,
    #[serde(default)]
    token_secret_files: Vec<PathBuf>,
    #[serde(default)]
    token_issuers: Vec<IssuerInFile>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
}

#[derive(Debug)]
struct Name(Namespace);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Namespace::parse(&text).map(Self).map_err(D::Error::custom)
    }
}

impl Config for File {
    const KEYS: &'static [&'static str] = &[
        "admin-credential-file",
        "behind-proxy",
        "checkpoint-log",
        "data",
        "firebase-keys",
        "firebase-project",
        "keep-alive",
        "limits",
        "listen",
        "log-slower-than",
        "max-body-memory",
        "max-connections",
        "max-connections-per-address",
        "memory",
        "namespaces",
        "port",
        "refuse-open-rules",
        "rules",
        "store",
        "tls-cert",
        "tls-key",
        "token-issuers",
        "token-secret-files",
    ];
    const MODE: &'static str = "hearth serve";

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        let Self { data, rules, limits, admin_credential_file, firebase_keys, tls_cert, tls_key, .. } = self;
        let single = [data, rules, limits, admin_credential_file, tls_cert, tls_key].into_iter().flatten();
        let keys = self.token_issuers.iter_mut().map(|issuer| &mut issuer.keys).chain(firebase_keys);
        let keys = keys.filter_map(|place| match place {
            KeyPlace::File(file) => Some(file),
            KeyPlace::Url(_) => None,
        });
        single.chain(keys).chain(&mut self.token_secret_files).collect()
    }
}

impl Arguments {
    pub(super) fn settle(self) -> Result<Settled, RunError> {
        let (max, per_address) = (self.max_connections, self.max_connections_per_address);
        let (behind_proxy, max_body_memory) = (self.behind_proxy, self.max_body_memory);
        let Self {
            basics,
            namespaces,
            admin_credential_file,
            refuse_open_rules,
            firebase_project,
            firebase_keys,
            token_secret_files,
            tls_cert,
            tls_key,
            ..
        } = self;
        let file: File = config::read(basics.config.as_deref())?;
        // Not read by the parser of the command line, which would quote what may be a secret.
        let firebase_keys =
            firebase_keys.map(|place| place.parse().map_err(RunError::KeyPlace)).transpose()?;
        let data = basics.data((file.memory, file.data))?.ok_or(RunError::NoData)?;
        let of_file = file.namespaces.into_iter().map(|Name(name)| name);
        let namespaces =
            if namespaces.is_empty() { of_file.collect() } else { namespaces.into_iter().collect() };
        let (rules_file, rules) = basics.rules.or(file.rules).map(RulesFile::open).transpose()?.unzip();
        let (limits_file, limits) = basics.limits.or(file.limits).map(LimitsFile::open).transpose()?.unzip();
        let refuses_open_rules = refuse_open_rules || file.refuse_open_rules.unwrap_or_default();
        let rules_file = match rules_file {
            Some(rules_file) if refuses_open_rules => Some(rules_file.refusing_risks()?),
            rules_file => rules_file,
        };
        let (tokens, keys) = tokens::open(
            firebase_project.or(file.firebase_project),
            firebase_keys.or(file.firebase_keys),
            if token_secret_files.is_empty() { file.token_secret_files } else { token_secret_files },
            file.token_issuers,
        )?;
        let admin = admin(admin_credential_file, file.admin_credential_file)?;
        let serve = Serve { admin, tokens, namespaces, rules, refuses_open_rules };
        if serve.namespaces.is_empty() {
            return Err(RunError::NoNamespace);
        }
        let tls = match (tls_cert.or(file.tls_cert), tls_key.or(file.tls_key)) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(Arc::new(Tls::open(certificate, key)?)),
            (Some(_), None) => return Err(RunError::HalfTls { missing: "--tls-key" }),
            (None, Some(_)) => return Err(RunError::HalfTls { missing: "--tls-cert" }),
        };
        let proxies = if behind_proxy.is_empty() { file.behind_proxy } else { behind_proxy };
        let per_address = per_address.or(file.max_connections_per_address);
        let entrance = entrance(max.or(file.max_connections), per_address, proxies)?;
        let address =
            address(basics.listen.or(file.listen), basics.port.or(file.port.map(|Port(port)| port)));
        let log_slower_than = basics.log_slower_than.or(file.log_slower_than).unwrap_or(SlowRequest::DEFAULT);
        let keep_alive = basics.keep_alive.or(file.keep_alive).unwrap_or(KeepAlive::DEFAULT);
        let store = basics.store.or(file.store);
        let checkpoint_log = basics.checkpoint_log.or(file.checkpoint_log).unwrap_or(CheckpointLog::DEFAULT);
        Ok(Settled {
            address,
            data,
            store,
            checkpoint_log,
            keep_alive,
            log_slower_than,
            limits: limits.unwrap_or_default(),
            entrance,
            body_memory: max_body_memory.or(file.max_body_memory).map_or(MIB_MAX, NonZeroU32::get),
            mode: Mode::Serve(serve),
            reloaded: Reloaded { rules: rules_file, limits: limits_file, tls, keys },
        })
    }
}

/// The credential: of the file that the command line or the environment names, of the environment itself, of the file
/// that the configuration names.
pub(super) fn admin(named: Option<PathBuf>, of_config: Option<PathBuf>) -> Result<Option<Secret>, RunError> {
    let of_environment = || env::var_os(ADMIN_CREDENTIAL).filter(|text| !text.is_empty());
    if let Some(file) = named {
        return read_secret(&file).map(Some);
    }
    match (of_environment(), of_config) {
        (Some(text), _) => {
            parse_secret(&text.to_string_lossy(), || format!("the variable `{ADMIN_CREDENTIAL}`")).map(Some)
        }
        (None, Some(file)) => read_secret(&file).map(Some),
        (None, None) => Ok(None),
    }
}

fn read_secret(file: &Path) -> Result<Secret, RunError> {
    let text = fs::read_to_string(file).map_err(|error| RunError::Unreadable { file: file.into(), error })?;
    parse_secret(&text, || format!("`{}`", file.display()))
}

fn parse_secret(text: &str, place: impl FnOnce() -> String) -> Result<Secret, RunError> {
    Secret::parse(text).map_err(|error| RunError::Credential { place: place(), error: error.into() })
}
