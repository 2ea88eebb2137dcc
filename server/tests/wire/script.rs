//! A conversation as text, played against the real binary.
//!
//! Each line is a step. `a> TEXT` sends a message on connection `a`, `a< TEXT` expects exactly this one next; `…` stands
//! for anything, `<ann>` for an unsigned token of that user, `{a}` for the last session id of connection `a`.
//! `a connects` opens a connection and `a connects ls={b}` one with that parameter, both up to the handshake; `a ends`
//! closes it and waits for the server's goodbye; `a is silent` makes sure that nothing waits; `rules TEXT` and
//! `put PATH TEXT` are an admin's, over REST. Lines that are indented say why.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

/// How long a message may take before it is taken for one that never comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays conversations, each in a database of its own.
pub(crate) fn play(scripts: &[(&str, &str)]) {
    let server = Server::start();
    for (name, script) in scripts {
        let mut stage =
            Stage { server: &server, namespace: name.replace(' ', "-"), connections: BTreeMap::new() };
        for (number, line) in script.lines().enumerate().filter(|(_, line)| !line.starts_with(" ")) {
            if !line.is_empty() {
                stage.step(line, &format!("{name}, line {}", number + 1));
            }
        }
    }
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Self {
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

    fn put(&self, namespace: &str, path: &str, body: &str) -> String {
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

struct Connection {
    socket: WebSocket<TcpStream>,
    session: String,
}

struct Stage<'a> {
    server: &'a Server,
    namespace: String,
    connections: BTreeMap<String, Connection>,
}

impl Stage<'_> {
    fn step(&mut self, line: &str, place: &str) {
        let (who, what) = line.split_once(' ').unwrap_or_else(|| panic!("{place}: `{line}` is no step"));
        let what = self.filled(what);
        match who {
            "rules" => self.admin("/.settings/rules", &what, place),
            "put" => {
                let (path, body) = what.split_once(' ').unwrap();
                self.admin(path, body, place);
            }
            _ => match (who.split_at(1), what.split_once(' ').unwrap_or((&what, ""))) {
                ((who, ">"), _) => self.connection(who).send(&what),
                ((who, "<"), _) => self.connection(who).expect(&what, place),
                ((who, ""), ("connects", params)) => self.connect(who, params, place),
                ((who, ""), ("ends", _)) => self.end(who, place),
                ((who, ""), ("is", "silent")) => {
                    // Whatever waits would come before the answer to this.
                    self.connection(who).send(r#"{"t":"c","d":{"t":"p","d":{}}}"#);
                    self.connection(who).expect(r#"{"t":"c","d":{"t":"o","d":{}}}"#, place);
                }
                _ => panic!("{place}: `{line}` is no step"),
            },
        }
    }

    fn admin(&self, path: &str, body: &str, place: &str) {
        let answer = self.server.put(&self.namespace, path, body);
        assert!(answer.starts_with("HTTP/1.1 200"), "{place}: {answer}");
    }

    fn connection(&mut self, who: &str) -> &mut Connection {
        self.connections.get_mut(who).unwrap_or_else(|| panic!("`{who}` is not connected"))
    }

    fn connect(&mut self, who: &str, params: &str, place: &str) {
        let address = &self.server.address;
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) =
            client(format!("ws://{address}/.ws?v=5&ns={}&{params}", self.namespace), stream).unwrap();
        let mut connection = Connection { socket, session: String::new() };
        let handshake = connection.next(place).unwrap();
        let (head, session) = handshake.split_once(r#","s":""#).unwrap();
        let expected = format!(r#"{{"t":"c","d":{{"t":"h","d":{{"ts":…,"v":"5","h":"{address}""#);
        assert!(is_like(head, &expected), "{place}: {handshake}");
        connection.session = session.strip_suffix(r#""}}}"#).unwrap().to_owned();
        self.connections.insert(who.to_owned(), connection);
    }

    fn end(&mut self, who: &str, place: &str) {
        let mut connection = self.connections.remove(who).unwrap();
        connection.socket.close(None).unwrap();
        assert_eq!(connection.next(place), None, "{place}: something comes before the goodbye");
    }

    fn filled(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (who, connection) in &self.connections {
            filled = filled.replace(&format!("{{{who}}}"), &connection.session);
        }
        for user in ["ann", "bob"] {
            filled = filled.replace(&format!("<{user}>"), &unsigned(user));
        }
        filled
    }
}

impl Connection {
    fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    fn expect(&mut self, expected: &str, place: &str) {
        let found =
            self.next(place).unwrap_or_else(|| panic!("{place}: the connection ended instead of {expected}"));
        assert!(is_like(&found, expected), "{place}: expected\n  {expected}\nand got\n  {found}");
    }

    /// The next message, put together where it comes in parts; nothing, if the connection has ended.
    fn next(&mut self, place: &str) -> Option<String> {
        let mut parts = 0;
        let mut whole = String::new();
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => match text.parse::<usize>() {
                    Ok(count) if parts == 0 && text.len() < 7 => parts = count,
                    Ok(_) | Err(_) => {
                        whole.push_str(&text);
                        parts = parts.saturating_sub(1);
                        if parts == 0 {
                            return Some(whole);
                        }
                    }
                },
                Ok(Message::Close(_)) => return None,
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(other @ (Message::Binary(_) | Message::Frame(_))) => panic!("{place}: {other:?}"),
                Err(error) => panic!("{place}: {error}, after {whole:?}"),
            }
        }
    }
}

/// Whether a text is another one, in which `…` stands for anything.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn unsigned(user: &str) -> String {
    let payload = format!(r#"{{"sub":"{user}","user_id":"{user}","iat":1,"exp":99999999999}}"#);
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.", encode(r#"{"alg":"none","typ":"JWT"}"#), encode(&payload))
}

#[test]
fn a_pattern_is_what_it_says() {
    for (text, pattern, expected) in [
        ("abc", "abc", true),
        ("abc", "ab", false),
        ("abc", "a…", true),
        ("abc", "a…c", true),
        ("abc", "…", true),
        ("abcbd", "a…b…d", true),
        ("abc", "a…d", false),
        ("abc", "…b", false),
    ] {
        assert_eq!(is_like(text, pattern), expected, "{text} {pattern}");
    }
}
