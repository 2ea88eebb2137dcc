//! The binary, running.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The command of a server in this mode, with none of the variables of whoever runs the tests.
pub(crate) fn command(mode: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
    command.env_clear().args([mode, "--memory", "--port", "0"]);
    command
}

/// A file of this test run.
pub(crate) fn file(name: &str, text: &str) -> String {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}"));
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().into()
}

/// A server on a free port, that ends with this.
pub(crate) struct Running {
    child: Child,
    /// Where it listens: `host:port`.
    pub(crate) address: String,
}

impl Running {
    /// Starts one for development, and returns when it listens.
    pub(crate) fn start() -> Self {
        Self::of(command("dev").stderr(Stdio::null()))
    }

    /// Starts this, and returns when it listens.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().into();
        Self { child, address }
    }

    /// What it says on standard error, line by line, if that was asked for.
    pub(crate) fn said(&mut self) -> impl Iterator<Item = String> + use<> {
        BufReader::new(self.child.stderr.take().unwrap()).lines().map(Result::unwrap)
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// The most memory that it ever had, in MB.
    pub(crate) fn resident_most_mb(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
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
