//! The binary, running.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that runs, until it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// Where it listens: `host:port`.
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hearth"))
            .env_clear()
            .args(["dev", "--memory", "--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().into();
        Self { child, address }
    }

    /// Writes as an admin, over REST; the answer.
    pub(crate) fn put(&self, namespace: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "PUT {path}.json?ns={namespace} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer owner\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
