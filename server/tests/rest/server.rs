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
        let mut child = Command::new(env!("CARGO_BIN_EXE_hearth"))
            .args(["dev", "--memory", "--port", "0"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary was built with this test");
        let stdout = BufReader::new(child.stdout.take().expect("it was asked for"));
        let says_where = |line: std::io::Result<String>| {
            let line = line.expect("what it says is text");
            line.split_once("http://").map(|(_, address)| address.trim().trim_end_matches('/').to_owned())
        };
        let address = stdout.lines().find_map(says_where).expect("it says where it listens");
        Self { child, address }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().expect("it is ours to end");
        self.child.wait().expect("it has ended");
    }
}
