//! A conversation as text, played against the real binary, over a WebSocket and by long polling.
//!
//! Each line is a step. `a> TEXT` sends a message on connection `a`, `a< TEXT` expects exactly this one next; `…` stands
//! for anything, `<ann>` for an unsigned token of that user, `<{"sub":…}>` for one that says this, `{a}` for the last
//! session id of connection `a`, `{server}` for where the server listens. `a connects` opens a connection, `a connects
//! ls={b}` one with that parameter, `a connects at HOST` one under another name, each up to the handshake. `a ends` closes
//! it and waits for the server's goodbye, `a vanishes` closes it without a word, `a is closed` waits for the server to do
//! so; `a is silent` makes sure that there is nothing to tell. `rules TEXT` and `put PATH TEXT` are an admin's, over REST.
//!
//! Where a conversation is of one transport it begins with `over a WebSocket` or `by long polling`. There, `a>bytes HEX`
//! sends a text that is none; `a opens s={b}` is a WebSocket that gets no handshake. Lines that are indented say why.

use crate::polled::Polled;
use crate::server::Server;
use crate::socket::Socket;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;

/// Plays conversations, by name and text, each in a database of its own.
pub(crate) fn play<T: AsRef<str>>(conversations: &[(&str, T)]) {
    let server = Server::start();
    for (name, script) in conversations {
        let script = script.as_ref().trim_start();
        for transport in [Transport::WebSocket, Transport::LongPolling] {
            let steps = match (transport, script.split_once('\n')) {
                (Transport::WebSocket, Some(("over a WebSocket", steps)))
                | (Transport::LongPolling, Some(("by long polling", steps))) => steps,
                (_, Some(("over a WebSocket" | "by long polling", _))) => continue,
                (_, _) => script,
            };
            Stage::new(&server, name, transport).play(name, steps);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Transport {
    WebSocket,
    LongPolling,
}

/// One end of a connection.
enum Line {
    Socket(Box<Socket>),
    Polled(Box<Polled>),
}

struct Connection {
    line: Line,
    session: String,
}

struct Stage<'a> {
    server: &'a Server,
    namespace: String,
    transport: Transport,
    connections: BTreeMap<String, Connection>,
    /// The last session of each connection, also of those that have ended.
    sessions: BTreeMap<String, String>,
    /// How often it was made sure that there is nothing to tell.
    silences: u64,
}

/// Numbers of requests that no conversation uses.
const SILENCES_FROM: u64 = 7_000_000_000;

impl<'a> Stage<'a> {
    fn new(server: &'a Server, name: &str, transport: Transport) -> Self {
        Self {
            server,
            namespace: format!("{}-{transport:?}", name.replace(' ', "-")),
            transport,
            connections: BTreeMap::new(),
            sessions: BTreeMap::new(),
            silences: 0,
        }
    }

    fn play(&mut self, name: &str, steps: &str) {
        let transport = self.transport;
        for line in steps.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')) {
            self.step(line, &format!("{name}, {transport:?}, at `{line}`"));
        }
    }

    fn step(&mut self, line: &str, place: &str) {
        let (who, what) = line.split_once(' ').unwrap_or_else(|| panic!("{place}: this is no step"));
        let what = self.filled(what);
        match who {
            "rules" => self.admin("/.settings/rules", &what, place),
            "put" => {
                let (path, body) = what.split_once(' ').unwrap();
                self.admin(path, body, place);
            }
            _ => match (who.split_at(1), what.split_once(' ').unwrap_or((&what, ""))) {
                ((who, ">"), _) => self.connection(who).send(&what, place),
                ((who, ">bytes"), _) => self.connection(who).send_bytes(&bytes(&what), place),
                ((who, "<"), _) => self.connection(who).expect(&what, place),
                ((who, ""), ("connects", how)) => self.connect(who, how, place),
                ((who, ""), ("opens", params)) => self.open(who, params),
                ((who, ""), ("ends", _)) => match self.connections.remove(who).unwrap().line {
                    Line::Socket(socket) => socket.end(place),
                    Line::Polled(polled) => polled.end(place),
                },
                ((who, ""), ("vanishes", _)) => drop(self.connections.remove(who).unwrap()),
                ((who, ""), ("is", "closed")) => {
                    let mut connection = self.connections.remove(who).unwrap();
                    assert_eq!(connection.next(place), None, "{place}: something comes before the end");
                }
                ((who, ""), ("is", "silent")) => self.make_sure_of_silence(who, place),
                _ => panic!("{place}: this is no step"),
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

    fn connect(&mut self, who: &str, how: &str, place: &str) {
        let address = &self.server.address;
        let (host, params) = match how.strip_prefix("at ") {
            Some(host) => host.split_once(' ').unwrap_or((host, "")),
            None => (&**address, how),
        };
        let params = format!("ns={}&{params}", self.namespace);
        let line = match self.transport {
            Transport::WebSocket => Line::Socket(Box::new(Socket::connect(address, host, &params))),
            Transport::LongPolling => Line::Polled(Box::new(Polled::start(address, host, &params))),
        };
        let mut connection = Connection { line, session: String::new() };
        let handshake = connection.next(place).unwrap();
        let (head, session) = handshake.split_once(r#","s":""#).unwrap();
        let expected = format!(r#"{{"t":"c","d":{{"t":"h","d":{{"ts":…,"v":"5","h":"{host}""#);
        assert!(is_like(head, &expected), "{place}: {handshake}");
        connection.session = session.strip_suffix(r#""}}}"#).unwrap().to_owned();
        self.sessions.insert(who.to_owned(), connection.session.clone());
        self.connections.insert(who.to_owned(), connection);
    }

    fn open(&mut self, who: &str, params: &str) {
        let address = &self.server.address;
        let socket = Socket::connect(address, address, &format!("ns={}&{params}", self.namespace));
        let connection = Connection { line: Line::Socket(Box::new(socket)), session: String::new() };
        self.connections.insert(who.to_owned(), connection);
    }

    /// Whatever there is to tell comes before the answer to the end of a listen, even of one that never was.
    fn make_sure_of_silence(&mut self, who: &str, place: &str) {
        let number = SILENCES_FROM + self.silences;
        self.silences += 1;
        let connection = self.connection(who);
        connection
            .send(&format!(r#"{{"t":"d","d":{{"r":{number},"a":"n","b":{{"p":"/silence"}}}}}}"#), place);
        connection.expect(&format!(r#"{{"t":"d","d":{{"r":{number},"b":{{"s":"ok","d":""}}}}}}"#), place);
    }

    fn filled(&self, text: &str) -> String {
        let mut filled = text.replace("{server}", &self.server.address);
        for (who, session) in &self.sessions {
            filled = filled.replace(&format!("{{{who}}}"), session);
        }
        for user in ["ann", "bob"] {
            filled = filled.replace(&format!("<{user}>"), &token_of(user));
        }
        while let Some((before, rest)) = filled.split_once("<{") {
            let (payload, after) = rest.split_once("}>").unwrap();
            filled = format!("{before}{}{after}", unsigned(&format!("{{{payload}}}")));
        }
        filled
    }
}

impl Connection {
    fn send(&mut self, text: &str, place: &str) {
        match &mut self.line {
            Line::Socket(socket) => socket.send(text),
            Line::Polled(polled) => polled.send(text, place),
        }
    }

    fn send_bytes(&mut self, bytes: &[u8], place: &str) {
        match &mut self.line {
            Line::Socket(socket) => socket.send_bytes(bytes),
            Line::Polled(_) => panic!("{place}: segments have no frames"),
        }
    }

    fn next(&mut self, place: &str) -> Option<String> {
        match &mut self.line {
            Line::Socket(socket) => socket.next(place),
            Line::Polled(polled) => polled.next(place),
        }
    }

    fn expect(&mut self, expected: &str, place: &str) {
        let found = self.next(place).unwrap_or_else(|| panic!("{place}: the connection ended instead"));
        assert!(is_like(&found, expected), "{place}: expected\n  {expected}\nand got\n  {found}");
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().map(|digit| digit.to_digit(16).unwrap()).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap()).collect()
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

fn token_of(user: &str) -> String {
    unsigned(&format!(r#"{{"sub":"{user}","user_id":"{user}","iat":1,"exp":99999999999}}"#))
}

fn unsigned(payload: &str) -> String {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.", encode(r#"{"alg":"none","typ":"JWT"}"#), encode(payload))
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
