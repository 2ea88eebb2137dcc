//! What is measured: a server, or one of its peers, as a process of its own.

use crate::process::{CpuTime, Process};
use crate::trouble::Trouble;
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Which server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServerArguments {
    /// The server's program, started with `dev --memory --port 0`; if nothing is said, the `hearth` beside this program.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    server: Option<PathBuf>,
    /// A server that runs already, `http://HOST:PORT`. What it has at `/bench` is overwritten.
    #[arg(long, value_name = "URL", value_parser = address)]
    url: Option<SocketAddr>,
    /// The process of the server at `--url`. Without it, its processor time stays unknown.
    #[arg(long, requires = "url")]
    pid: Option<u32>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("`{text}` is no address of a server: `http://HOST:PORT` is expected");
    let host = text.strip_prefix("http://").ok_or_else(wrong)?.trim_end_matches('/');
    host.to_socket_addrs().ok().and_then(|mut found| found.next()).ok_or_else(wrong)
}

/// A program that listens. It ends with this, if this has started it.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) address: SocketAddr,
    pub(crate) process: Option<Process>,
    child: Option<Child>,
}

impl ServerArguments {
    /// The server, running.
    pub(crate) fn server(&self) -> Result<Subject, Trouble> {
        match self.url {
            Some(address) => Ok(Subject { address, process: self.pid.map(|id| Process { id }), child: None }),
            None => Subject::start(self.program()?, &["dev", "--memory", "--port", "0"]),
        }
    }

    /// The server, started now.
    pub(crate) fn fresh_server(&self) -> Result<Subject, Trouble> {
        if self.url.is_some() { Err(Trouble::StartOfRunning) } else { self.server() }
    }

    /// The server, started now with its data in a folder.
    pub(crate) fn server_on(&self, folder: &Path) -> Result<Subject, Trouble> {
        self.server_with(folder, &[])
    }

    /// The same, told more.
    pub(crate) fn server_with(&self, folder: &Path, more: &[&str]) -> Result<Subject, Trouble> {
        if self.url.is_some() {
            return Err(Trouble::StartOfRunning);
        }
        let folder = folder.to_str().ok_or(Trouble::FolderName)?;
        Subject::start(self.program()?, &[&["dev", "--data", folder, "--port", "0"], more].concat())
    }

    fn program(&self) -> Result<PathBuf, Trouble> {
        let file = match &self.server {
            Some(file) => file.clone(),
            None => std::env::current_exe()?.with_file_name("hearth"),
        };
        if file.is_file() { Ok(file) } else { Err(Trouble::NoServer { file }) }
    }
}

impl Subject {
    /// One of the peers, running.
    pub(crate) fn peer(arguments: &[&str]) -> Result<Self, Trouble> {
        let arguments: Vec<_> = ["peer"].iter().chain(arguments).copied().collect();
        Self::start(std::env::current_exe()?, &arguments)
    }

    fn start(file: PathBuf, arguments: &[&str]) -> Result<Self, Trouble> {
        let mut command = Command::new(&file);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Trouble::NoServer { file }),
            Err(error) => return Err(Trouble::Start { file, error }),
        };
        let stdout = child.stdout.take().expect("it was asked for");
        let process = Some(Process { id: child.id() });
        let mut subject =
            Self { address: SocketAddr::from(([127, 0, 0, 1], 0)), process, child: Some(child) };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim_end().strip_prefix("listening on http://").and_then(|at| at.parse().ok());
        subject.address = address.ok_or(Trouble::NotListening { file })?;
        Ok(subject)
    }

    /// Ends it in order, as somebody at its terminal would.
    pub(crate) async fn end(mut self) -> Result<(), Trouble> {
        let (Some(process), Some(mut child)) = (self.process, self.child.take()) else { return Ok(()) };
        let id = i32::try_from(process.id).ok().and_then(Pid::from_raw).ok_or(Trouble::NoProcess)?;
        kill_process(id, Signal::TERM).map_err(std::io::Error::from)?;
        // It writes its last checkpoint.
        tokio::task::spawn_blocking(move || child.wait()).await.map_err(|_| Trouble::Closed)??;
        Ok(())
    }

    /// Its processor time until now; nothing, if its process is not known.
    pub(crate) fn cpu(&self) -> Result<CpuTime, Trouble> {
        self.process.map_or_else(|| Ok(CpuTime::default()), Process::cpu)
    }

    /// Its memory in bytes.
    pub(crate) fn resident_bytes(&self) -> Result<u64, Trouble> {
        self.process.ok_or(Trouble::NoProcess)?.resident_bytes()
    }

    /// The most memory that it had since [`Subject::forget_peak`], in bytes.
    pub(crate) fn peak_bytes(&self) -> Result<u64, Trouble> {
        self.process.ok_or(Trouble::NoProcess)?.peak_bytes()
    }

    pub(crate) fn forget_peak(&self) -> Result<(), Trouble> {
        self.process.ok_or(Trouble::NoProcess)?.forget_peak()
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself, and then there is nothing to end.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Lets this process, and those that it starts, open as many files as the system allows; gives how many that is.
///
/// # Errors
/// [`Trouble::Descriptors`], if that is not enough for so many connections.
pub(crate) fn raise_descriptors(connections: u32) -> Result<u64, Trouble> {
    /// Files of a process that are no connections.
    const OTHERS: u64 = 64;
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).map_err(std::io::Error::from)?;
    let possible = limit.maximum.unwrap_or(u64::MAX);
    if possible < u64::from(connections) + OTHERS {
        return Err(Trouble::Descriptors { wanted: connections, possible });
    }
    Ok(possible)
}
