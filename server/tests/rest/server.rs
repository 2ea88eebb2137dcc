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
        Self::with(&[])
    }

    /// As [`Running::start`], with options.
    pub(crate) fn with(options: &[&str]) -> Self {
        Self::of(Self::command("dev").args(options))
    }

    /// The command of a server in this mode.
    pub(crate) fn command(mode: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
        command.args([mode, "--memory", "--port", "0"]);
        command
    }

    /// As [`Running::start`], of any command.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary was built with this test");
        let stdout = BufReader::new(child.stdout.take().expect("it was asked for"));
        let says_where = |line: std::io::Result<String>| {
            let line = line.expect("what it says is text");
            line.split_once("://").map(|(_, address)| address.trim().trim_end_matches('/').to_owned())
        };
        let address = stdout.lines().find_map(says_where).expect("it says where it listens");
        Self { child, address }
    }
}

impl Running {
    /// What it says on standard error, line by line, if that was asked for.
    pub(crate) fn said(&mut self) -> impl Iterator<Item = String> + use<> {
        let said = BufReader::new(self.child.stderr.take().expect("it was asked for"));
        said.lines().map(|line| line.expect("what it says is text"))
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "{kill}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().expect("it is ours to end");
        self.child.wait().expect("it has ended");
    }
}
