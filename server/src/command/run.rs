//! Running a server from what was settled until a signal comes.

use super::descriptors::TooFew;
use super::limits_file::LimitsFile;
use super::notify::{State, notify};
use super::rules_file::RulesFile;
use super::stored::{open_rules, stored_rules};
use super::transfer::TransferError;
use super::welcome::welcome;
use crate::auth::{KeyError, KeySource, LegacySecretError, Reread, SecretError};
use crate::checkpoint::StoreKind;
use crate::checkpoint_log::CheckpointLog;
use crate::clock::now_ms;
use crate::config::ConfigError;
use crate::database::{Beginning, Databases, Stopped};
use crate::keep_alive::KeepAlive;
use crate::limits::Limits;
use crate::log::{Data, DataError};
use crate::mode::Mode;
use crate::say::say;
use crate::slow::SlowRequest;
use crate::threads::Threads;
use crate::transport::{Entrance, EventSecret, PublicError, Server, Tls, TlsError, router, serve};
use hearth_engine::LogError;
use hearth_rules_cli::Trouble;
use hearth_tree::Excerpt;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

/// How long those who are connected may take to finish when the server ends.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the last checkpoint may take. Without it the next server reads more of the log.
const CHECKPOINT_PATIENCE: Duration = Duration::from_secs(20);

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Somebody else listens there.
    #[error("cannot listen on {address}: another program does; `--port` takes another port, 0 a free one")]
    InUse {
        /// The address.
        address: SocketAddr,
    },
    /// The address is not ours.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// Other machines would reach a server that believes everything.
    #[error(
        "`--listen {listen}` lets other machines reach a server for development: say `--allow-remote`, too, and a random token replaces `owner`"
    )]
    Remote {
        /// The address.
        listen: IpAddr,
    },
    /// Where to keep the data.
    #[error("nothing says where the data are kept: `--data DIR` names a folder, `--memory` keeps nothing")]
    NoData,
    /// Twice said where, and differently.
    #[error(
        "`--memory` keeps nothing and `--data {}` keeps the data: say one of them (they may stand in `HEARTH_MEMORY` and `HEARTH_DATA`)", .folder.display()
    )]
    MemoryAndData {
        /// The folder.
        folder: PathBuf,
    },
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The server has run, and could not keep everything.
    #[error("the server has ended after its log had stopped: {0}")]
    LogStopped(LogError),
    /// Data could not be brought in or out.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// A server that nobody could use.
    #[error("no database is named: `--namespace NAME` names one, and may be said several times")]
    NoNamespace,
    /// The configuration file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A file that should have been readable.
    #[error("cannot read `{}`: {error}", .file.display())]
    Unreadable {
        /// Its name.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Rules that cannot be read.
    #[error("{0}")]
    Rules(Trouble),
    /// Rules with problems: all of them.
    #[error("the rules cannot be used\n{0}")]
    Rejected(Trouble),
    /// Not enough descriptors.
    #[error(transparent)]
    Descriptors(#[from] TooFew),
    /// Rules that open more than the operator lets them.
    #[error("`--refuse-open-rules` refuses the rules\n{shown}")]
    OpenRules {
        /// What they open, in lines.
        shown: String,
    },
    /// The same of rules that are stored.
    #[error(
        "`--refuse-open-rules` refuses the rules that are stored with database `{database}`; a start without it lets others be stored\n{shown}"
    )]
    OpenStoredRules {
        /// Whose they are.
        database: String,
        /// What they open, in lines.
        shown: String,
    },
    /// Limits with mistakes: all of them.
    #[error("the limits cannot be used\n{shown}")]
    Limits {
        /// In lines.
        shown: String,
    },
    /// A certificate without its key, or the other way round.
    #[error("`--tls-cert` and `--tls-key` belong together, and `{missing}` is missing")]
    HalfTls {
        /// Which one.
        missing: &'static str,
    },
    /// A certificate that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A folder whose files were to be served.
    #[error(transparent)]
    Public(#[from] PublicError),
    /// An admin credential that is none.
    #[error("{place}: {error}")]
    Credential {
        /// Where it stands.
        place: String,
        /// What is wrong.
        error: CredentialMistake,
    },
    /// Keys that cannot be used.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// Keys that are nowhere.
    #[error("{0}")]
    KeyPlace(String),
    /// Keys of nobody.
    #[error(
        "`--firebase-keys` says where the keys of a project are, and `--firebase-project` does not say of which"
    )]
    NoProject,
    /// No name of a project.
    #[error("`{}` is not the id of a Firebase project: letters, digits, `-`, `.` and `:` are allowed", Excerpt(.project))]
    Project {
        /// What stands there.
        project: String,
    },
    /// Tokens that are to be believed, and nobody can say which.
    #[error("one of the `token-issuers` has an empty issuer or audience: both say which tokens are believed")]
    NoIssuer,
    /// Two that could not be told apart.
    #[error("the issuer `{}` has the audience `{}` twice", Excerpt(.issuer), Excerpt(.audience))]
    SameIssuer {
        /// Who.
        issuer: String,
        /// For whom.
        audience: String,
    },
    /// A member of `auth` that is no claim's to choose.
    #[error(
        "the issuer `{}` cannot say what `auth.{member}` is: `uid`, `provider` and `token` have a meaning; `uid = \"CLAIM\"` chooses the claim that is the user",
        Excerpt(.issuer)
    )]
    Member {
        /// Who.
        issuer: String,
        /// Its name.
        member: String,
    },
    /// A secret for tokens that is none.
    #[error("`{}`: {error}", .file.display())]
    TokenSecret {
        /// Where it stands.
        file: PathBuf,
        /// What is wrong.
        error: LegacySecretError,
    },
    /// A token that cannot be made.
    #[error("cannot make the token: {0}")]
    Token(String),
    /// Something that the system does not give.
    #[error("the system refuses what the server needs: {0}")]
    System(#[from] io::Error),
    /// No secrets without.
    #[error("the system has no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// What is wrong with an admin credential. Does not quote it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CredentialMistake(#[from] SecretError);

impl RunError {
    /// 2 for what stands against starting, 1 for what has gone wrong after that.
    pub fn exit(&self) -> ExitCode {
        if matches!(self, Self::LogStopped(_) | Self::Transfer(_)) {
            ExitCode::FAILURE
        } else {
            ExitCode::from(2)
        }
    }
}

/// A server with everything decided.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) address: SocketAddr,
    /// Where the data are kept; nothing, if they are not.
    pub(super) data: Option<PathBuf>,
    /// Where checkpoints are kept, if that was said.
    pub(super) store: Option<StoreKind>,
    pub(super) checkpoint_log: CheckpointLog,
    pub(super) keep_alive: KeepAlive,
    pub(super) log_slower_than: SlowRequest,
    pub(super) limits: Limits,
    pub(super) entrance: Entrance,
    /// For bodies that are being received, in MiB.
    pub(super) body_memory: u32,
    pub(super) mode: Mode,
    pub(super) reloaded: Reloaded,
}

impl Settled {
    /// Reads the data, serves until a signal comes, and ends in order: no new connections, armed writes made, clients
    /// sent away so that they come back.
    pub(super) async fn run(self) -> Result<(), RunError> {
        let Self {
            address,
            data,
            store,
            checkpoint_log,
            keep_alive,
            log_slower_than,
            limits,
            entrance,
            body_memory,
            mode,
            reloaded,
        } = self;
        let data = match data {
            None => Data::in_memory(),
            Some(folder) => Data::open(&folder, mode.door(), now_ms(), store, checkpoint_log)?,
        };
        // Held until everything is kept.
        let Data { lock: _lock, log, databases, checkpointing, starts, found } = data;
        if mode.refuses_open_rules()
            && let Some((database, shown)) = open_rules(databases.values(), &mode.naming())
        {
            return Err(RunError::OpenStoredRules { database, shown });
        }
        let listener = TcpListener::bind(address).await.map_err(|error| {
            if error.kind() == ErrorKind::AddrInUse {
                RunError::InUse { address }
            } else {
                RunError::Listen { address, error }
            }
        })?;
        let address = listener.local_addr()?;
        let (mut terminated, mut interrupted) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        // A terminal that is closed ends a server for development, as it ends everything in it.
        let hung_up = match &mode {
            Mode::Dev(_) => None,
            Mode::Serve(_) => Some(signal(SignalKind::hangup())?),
        };
        let beginning = Beginning::new(&databases, starts);
        let stored = stored_rules(databases.values(), &mode.naming());
        let checkpointing = checkpointing.map(|checkpointing| (checkpointing, checkpoint_log));
        let studies = mode.studies().map(Arc::new);
        let (threads, running) = Threads::start(log, checkpointing, databases, beginning.shown(), studies)?;
        let health = threads.health.clone();
        let risks = reloaded.rules.as_ref().map_or("", RulesFile::risks);
        let limits_file = reloaded.limits.as_ref().map(LimitsFile::path);
        let is_encrypted = reloaded.tls.is_some();
        say(&format!("{}{risks}", welcome(&mode, &found, &stored, address, is_encrypted, limits_file)));
        let databases = Arc::new(Databases::new(threads, beginning, mode.door(), mode.naming()));
        databases.limiter().replace(limits);
        databases.bodies().allow(body_memory);
        databases.slow().from(log_slower_than);
        let event_secret = EventSecret::random()?;
        let (sessions, mode) = (Arc::default(), Arc::new(mode));
        let server = Server { databases, sessions, mode, keep_alive, event_secret, is_encrypted };
        let scheme = if is_encrypted { "https" } else { "http" };
        let address = format!("{scheme}://{address}");
        writeln!(io::stdout(), "listening on {address}")?;
        notify(State::Ready(&address));
        let mut signals = async || {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
        };
        let sessions = server.sessions.clone();
        let (databases, tls) = (server.databases.clone(), reloaded.tls.clone());
        let meters = databases.meters().clone();
        tokio::select! {
            () = serve(listener, router(server), &entrance, (&sessions, &meters, keep_alive), tls.as_deref()) => {}
            () = signals() => {}
            Stopped = reloaded.follow(&databases, hung_up) => tracing::warn!("the threads have ended"),
        }
        notify(State::Stopping);
        // Nobody may be able to tell the threads anything, or they would not end.
        drop(databases);
        let finished = async {
            sessions.close().await;
            running.ended().await;
        };
        let ended = async {
            if timeout(PATIENCE, finished).await.is_err() {
                tracing::warn!(seconds = PATIENCE.as_secs(), "somebody has not finished in time");
                return false;
            }
            if timeout(CHECKPOINT_PATIENCE, running.checkpointed()).await.is_err() {
                tracing::info!(
                    "the last checkpoint has taken too long; the next start reads more of the log"
                );
            }
            true
        };
        let is_in_order = tokio::select! {
            is_in_order = ended => is_in_order,
            // Whoever asks twice does not want to wait.
            () = signals() => false,
        };
        if let Some(error) = health.failure() {
            return Err(RunError::LogStopped(error.clone()));
        }
        if is_in_order {
            say("hearth: ended in order\n");
        }
        Ok(())
    }
}

/// What is read again while the server runs.
#[derive(Debug)]
pub(super) struct Reloaded {
    /// The rules of all databases that have none of their own.
    pub(super) rules: Option<RulesFile>,
    pub(super) limits: Option<LimitsFile>,
    pub(super) tls: Option<Arc<Tls>>,
    /// Those of the issuers of tokens.
    pub(super) keys: Vec<Arc<KeySource>>,
}

impl Reloaded {
    /// Reads it again for ever: all of it when the signal says so, or without one, what has changed.
    async fn follow(mut self, databases: &Databases, mut hung_up: Option<Signal>) -> Stopped {
        loop {
            let due = match &mut hung_up {
                Some(hung_up) => {
                    hung_up.recv().await.unwrap_or_default();
                    Due { rules: true, limits: true }
                }
                None => tokio::select! {
                    () = changed(self.rules.as_mut().map(RulesFile::changed)) => Due { rules: true, limits: false },
                    () = changed(self.limits.as_mut().map(LimitsFile::changed)) => Due { rules: false, limits: true },
                },
            };
            if let Err(stopped) = self.reload(databases, due).await {
                return stopped;
            }
        }
    }

    async fn reload(&self, databases: &Databases, due: Due) -> Result<(), Stopped> {
        if let Some(tls) = &self.tls {
            let outcome = match tls.reload() {
                Ok(()) => "the certificate was read again and holds for new connections".into(),
                Err(error) => format!("the certificate stays as it was: {error}"),
            };
            say(&format!("hearth: {outcome}\n"));
        }
        for keys in &self.keys {
            match keys.reload() {
                Ok(Reread::Nothing) => {}
                Ok(Reread::File(file)) => {
                    say(&format!("hearth: the keys in `{}` were read again\n", file.display()));
                }
                Err(error) => say(&format!("hearth: the keys stay as they were: {error}\n")),
            }
        }
        if let Some(limits) = self.limits.as_ref().filter(|_| due.limits) {
            limits.reload(databases).await?;
        }
        if let Some(rules) = self.rules.as_ref().filter(|_| due.rules) {
            rules.reload(databases).await?;
        }
        Ok(())
    }
}

/// What is to be read again.
struct Due {
    rules: bool,
    limits: bool,
}

/// Waits for a change of what is there, and of nothing for ever.
async fn changed(change: Option<impl Future<Output = ()>>) {
    match change {
        Some(change) => change.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::{Dev, Reach};
    use futures_util::{SinkExt, StreamExt};
    use hearth_engine::{Entry, Log};
    use hearth_tree::Path;
    use hearth_wire::{Addressed, Validator};
    use std::collections::BTreeMap;
    use tokio::net::TcpStream;
    use tokio_tungstenite::tungstenite::Message;

    fn entrance() -> Entrance {
        crate::command::entrance(None, None, Vec::new()).unwrap()
    }

    fn server_of(threads: Threads) -> Server {
        let mode = Mode::Dev(Dev {
            reach: Reach::Loopback,
            allowed: Vec::new(),
            rules: None,
            public: None,
            explain: false,
        });
        let databases = Databases::new(threads, Beginning::default(), mode.door(), mode.naming());
        Server {
            databases: Arc::new(databases),
            sessions: Arc::default(),
            mode: Arc::new(mode),
            keep_alive: KeepAlive::DEFAULT,
            event_secret: EventSecret::random().unwrap(),
            is_encrypted: false,
        }
    }

    /// A disk that gives up in the middle of a write.
    struct Failing;

    impl crate::log::KeptLog for Failing {
        fn end_position(&self) -> Option<(crate::log::Position, u64)> {
            None
        }
    }

    impl Log for Failing {
        fn append(&mut self, _: &[Entry<'_>]) -> Result<(), LogError> {
            Err(LogError::InDoubt { reason: "the disk is tired".into() })
        }

        fn end(&mut self) -> Result<(), LogError> {
            unreachable!("it has failed")
        }
    }

    #[tokio::test]
    async fn a_write_in_doubt_is_answered_by_the_end_of_the_connection() {
        let (threads, _running) =
            Threads::start(Box::new(Failing), None, BTreeMap::new(), BTreeMap::new(), None).unwrap();
        let server = server_of(threads);
        let (databases, sessions) = (server.databases.clone(), server.sessions.clone());
        let (meters, entrance) = (databases.meters().clone(), entrance());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = async {
            let url = format!("ws://{address}/.ws?v=5");
            // Whoever comes back and sends the same again is told as little.
            for _ in 0..2 {
                let stream = TcpStream::connect(address).await.unwrap();
                let (mut socket, _) = tokio_tungstenite::client_async(&url, stream).await.unwrap();
                let put = r#"{"t": "d", "d": {"r": 7, "a": "p", "b": {"p": "/ada", "d": 1}}}"#;
                socket.send(Message::text(put)).await.unwrap();
                while let Some(Ok(message)) = socket.next().await {
                    assert!(!message.to_string().contains(r#""r":7"#), "{message}");
                }
            }
        };
        tokio::select! {
            () = serve(listener, router(server), &entrance, (&sessions, &meters, KeepAlive::DEFAULT), None) => unreachable!("it serves for ever"),
            ended = timeout(PATIENCE, client) => ended.unwrap(),
        }
        assert!(databases.health().failure().is_some());
        // Reads go on.
        let database = databases.find(&Addressed::Default).await.unwrap();
        assert!(database.published().tree.root().is_none());
    }

    #[tokio::test]
    async fn the_end_of_the_server_makes_the_armed_writes() {
        let (threads, _running) = Threads::in_memory();
        let server = server_of(threads);
        let (databases, sessions) = (server.databases.clone(), server.sessions.clone());
        let (meters, entrance) = (databases.meters().clone(), entrance());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = async {
            let stream = TcpStream::connect(address).await.unwrap();
            let url = format!("ws://{address}/.ws?v=5");
            let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
            let arm = r#"{"t": "d", "d": {"r": 1, "a": "o", "b": {"p": "/ada", "d": "offline"}}}"#;
            let mut validator = Validator::new();
            validator.received(arm.as_bytes());
            socket.send(Message::text(arm)).await.unwrap();
            loop {
                // A ping comes, too.
                let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
                validator.sent(text.as_bytes());
                assert_eq!(validator.findings(), [""; 0]);
                if text.contains(r#""s":"ok""#) {
                    break;
                }
            }
            socket
        };
        let _socket = tokio::select! {
            () = serve(listener, router(server), &entrance, (&sessions, &meters, KeepAlive::DEFAULT), None) => unreachable!("it serves for ever"),
            socket = client => socket,
        };
        let database = databases.find(&Addressed::Default).await.unwrap();
        let written = || database.published().tree.get(&Path::parse("/ada").unwrap()).is_some();
        assert!(!written());
        timeout(PATIENCE, sessions.close()).await.unwrap();
        assert!(written());
    }
}
