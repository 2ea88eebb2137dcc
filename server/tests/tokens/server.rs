//! The binary, believing what it is told to.

use crate::signed::{CERTIFICATE, PROJECT, SECRET};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);
pub(crate) const ADMIN: &str = "an-admin-credential";
const RULES: &str = r#"{"rules": {
  "open": {".read": true},
  "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}},
  "teams": {"$team": {".read": "auth.team === $team"}},
  "verified": {".read": "auth.token.email_verified === true"},
  "providers": {"$provider": {".read": "auth.provider === $provider"}}
}}"#;

/// A folder of a test, for its files.
pub(crate) struct Files(PathBuf);

impl Files {
    /// With rules, a secret for tokens, and the keys of the project as Google publishes them.
    pub(crate) fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tokens-{name}"));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        let files = Self(folder);
        files.write("rules.json", RULES);
        files.write("secret", SECRET);
        files.write("keys.json", &json!({"k1": CERTIFICATE}).to_string());
        files
    }

    /// Its name.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).unwrap();
        self.name(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The binary, for production, with none of the variables of whoever runs the tests.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
        command.env_clear().env("HEARTH_ADMIN_CREDENTIAL", ADMIN).env("HEARTH_LOG", "trace");
        command.args(["serve", "--memory", "--port", "0", "--namespace", "demo"]);
        command.args(["--rules", &self.name("rules.json")]).args(arguments);
        command
    }

    /// With the project and the secret.
    pub(crate) fn start(&self) -> Server {
        let (keys, secret) = (self.name("keys.json"), self.name("secret"));
        let project =
            ["--firebase-project", PROJECT, "--firebase-keys", &keys, "--token-secret-file", &secret];
        Server::of(&mut self.command(&project))
    }
}

/// A server that runs, until it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    said: String,
    saying: Receiver<String>,
}

impl Server {
    /// Returns when it listens.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (say, saying) = channel();
        let stderr = child.stderr.take().unwrap();
        std::thread::spawn(move || listen(stderr, |line| say.send(line).is_ok()));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address, said: String::new(), saying }
    }

    /// Waits until it has said this on standard error; all that it has said by then.
    pub(crate) fn says(&mut self, expected: &str) -> &str {
        while !self.said.contains(expected) {
            match self.saying.recv_timeout(PATIENCE) {
                Ok(line) => self.said += &line,
                Err(_) => panic!("it does not say `{expected}` but:\n{}", self.said),
            }
        }
        &self.said
    }

    /// Status and body of a request for this path with these header lines.
    pub(crate) fn get(&self, path: &str, headers: &str) -> (u16, String) {
        self.send("GET", path, headers, "")
    }

    /// Writes as an admin.
    pub(crate) fn write(&self, path: &str, body: &str) {
        let admin = format!("Authorization: Bearer {ADMIN}\r\n");
        let (status, said) = self.send("PUT", &format!("/{path}.json?ns=demo"), &admin, body);
        assert_eq!(status, 200, "{said}");
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let address = &self.address;
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.trim_end().to_owned())
    }

    /// Whether somebody with this token may read there: status and body.
    pub(crate) fn read(&self, path: &str, token: &str) -> (u16, String) {
        self.get(&format!("/{path}.json?ns=demo&auth={token}"), "")
    }

    /// Has it read its files again.
    pub(crate) fn reload(&self) {
        let kill = format!("kill -HUP {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Ends it in order; all that it has said.
    pub(crate) fn stop(mut self) -> String {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        self.child.wait().unwrap();
        while let Ok(line) = self.saying.recv_timeout(PATIENCE) {
            self.said += &line;
        }
        std::mem::take(&mut self.said)
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

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
