//! The command line.

use crate::database::Databases;
use crate::sessions::Sessions;
use crate::threads::Threads;
use crate::transport::{Server, router, serve};
use clap::{Args, Parser, Subcommand};
use hearth_engine::Door;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// A realtime database that you run yourself, for the apps and SDKs of the Firebase Realtime Database.
#[derive(Debug, Parser)]
#[command(name = "hearth", version)]
pub struct Command {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Runs a server for development: open to everybody on this machine, believes unsigned tokens.
    Dev(Dev),
}

#[derive(Debug, Args)]
struct Dev {
    /// Keeps nothing: the data end with the server.
    #[arg(long)]
    memory: bool,
    /// The address to listen on.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), env = "HEARTH_LISTEN")]
    listen: IpAddr,
    /// The port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 9000, env = "HEARTH_PORT")]
    port: u16,
}

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// Something that the system does not give.
    #[error("the system refuses what the server needs: {0}")]
    System(#[from] std::io::Error),
}

impl Command {
    /// Does what it says, until a signal comes.
    ///
    /// # Errors
    /// [`RunError`] says why it cannot.
    pub async fn run(self) -> Result<(), RunError> {
        match self.act {
            Act::Dev(dev) => dev.run().await,
        }
    }
}

impl Dev {
    async fn run(self) -> Result<(), RunError> {
        let address = SocketAddr::new(self.listen, self.port);
        let listener =
            TcpListener::bind(address).await.map_err(|error| RunError::Listen { address, error })?;
        let threads = Threads::start()?;
        let databases = Arc::new(Databases::new(threads, Door::Open));
        let server = Server { databases, sessions: Arc::new(Sessions::default()) };
        let mut terminated = signal(SignalKind::terminate())?;
        writeln!(std::io::stdout(), "listening on http://{}", listener.local_addr()?)?;
        tokio::select! {
            () = serve(listener, router(server)) => {}
            _ = terminated.recv() => {}
            result = tokio::signal::ctrl_c() => result?,
        }
        Ok(())
    }
}
