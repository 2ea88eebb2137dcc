//! The binary, running, and asked over HTTP.

use crate::folder::Folder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) struct Running {
    child: Child,
    address: String,
    said: String,
    saying: Receiver<String>,
}

/// The binary with these arguments, and none of the variables of whoever runs the tests.
pub(crate) fn hearth(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
    command.env_clear().args(arguments);
    command
}

/// Its exit code, what it says on standard output, and what on standard error.
pub(crate) fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

impl Running {
    /// A server for development with its data in that folder.
    pub(crate) fn on(folder: &Folder) -> Self {
        Self::of(hearth(&["dev", "--port", "0"]).arg("--data").arg(folder.path()))
    }

    /// Returns when it listens.
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::try_of(command).unwrap_or_else(|(code, said)| panic!("it ended with {code:?}:\n{said}"))
    }

    /// The same; or its exit code and all that it has said, where it ends instead.
    pub(crate) fn try_of(command: &mut Command) -> Result<Self, (Option<i32>, String)> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (say, saying) = channel();
        let stderr = child.stderr.take().unwrap();
        std::thread::spawn(move || listen(stderr, |line| say.send(line).is_ok()));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        match line.trim_end().strip_prefix("listening on http://") {
            Some(address) => Ok(Self { child, address: address.into(), said: String::new(), saying }),
            None => Err((child.wait().unwrap().code(), saying.iter().collect())),
        }
    }

    /// Waits until it has said this on standard error; all that it has said by then, in whole lines.
    pub(crate) fn says(&mut self, expected: &str) -> &str {
        while !self.said.contains(expected) {
            match self.saying.recv_timeout(PATIENCE) {
                Ok(line) => self.said += &line,
                Err(_) => panic!("it does not say `{expected}` but:\n{}", self.said),
            }
        }
        &self.said
    }

    /// Where it listens: `host:port`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Status and body.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.try_ask(method, path, body).unwrap()
    }

    /// The same, where the connection may end without an answer.
    pub(crate) fn try_ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let (address, len) = (&self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body.as_bytes()).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
    }

    /// Leaves it no time for anything.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it in order; its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

fn listen(stderr: ChildStderr, say: impl Fn(String) -> bool) {
    for line in BufReader::new(stderr).lines() {
        let Ok(line) = line else { return };
        if !say(line + "\n") {
            return;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
