//! The binary, running.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server on a free port, that ends with this.
pub(crate) struct Running {
    child: Child,
    /// Where it listens: `host:port`.
    pub(crate) address: String,
}

impl Running {
    /// Starts it, and returns when it listens.
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
        command.args(["dev", "--memory", "--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().into();
        Self { child, address }
    }

    /// The most memory that it ever had, in MB.
    pub(crate) fn resident_most_mb(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
        kib / 1024
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
