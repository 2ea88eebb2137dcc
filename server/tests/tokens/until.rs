//! Tokens end while somebody listens.

use crate::polls::Polls;
use crate::server::{ADMIN, Files, Server};
use crate::signed::{id_token, now_s};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Ends soon, and not before it has begun.
fn short() -> (String, i64) {
    let end = now_s() + 4;
    (id_token(&json!({"exp": end})), end)
}

/// The time passes, and meanwhile there is news.
fn pass(server: &Server, until_s: i64) {
    while now_s() <= until_s {
        server.write("open", &now_s().to_string());
    }
}

/// A WebSocket, and all that it was told.
struct Socket {
    stream: WebSocketStream<tokio::net::TcpStream>,
    asked: u32,
    said: Vec<Value>,
}

impl Socket {
    async fn open(server: &Server) -> Self {
        let stream = tokio::net::TcpStream::connect(&server.address).await.unwrap();
        let url = format!("ws://{}/.ws?v=5&ns=demo", server.address);
        let (stream, _) = client_async(url, stream).await.unwrap();
        Self { stream, asked: 0, said: Vec::new() }
    }

    /// Sends a request, and returns its answer.
    async fn ask(&mut self, action: &str, body: Value) -> Value {
        self.asked += 1;
        let asked = self.asked;
        let ask = json!({"t": "d", "d": {"r": asked, "a": action, "b": body}});
        self.stream.send(Message::text(ask.to_string())).await.unwrap();
        self.until(|said| said["r"] == asked).await["b"].clone()
    }

    /// What it says, when it says something that fits.
    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let said = timeout(PATIENCE, self.stream.next()).await.expect("it should say something");
            if let Message::Text(text) = said.unwrap().unwrap() {
                let said = serde_json::from_str::<Value>(&text).unwrap()["d"].clone();
                self.said.push(said.clone());
                if fits(&said) {
                    return said;
                }
            }
        }
    }

    /// The kinds of what was pushed to it, in order, with what came more than once in a row once.
    fn pushes(&self) -> Vec<&str> {
        let mut kinds: Vec<_> = self.said.iter().filter_map(|said| said["a"].as_str()).collect();
        kinds.dedup();
        kinds
    }
}

fn revoked() -> Value {
    json!({"s": "expired_token", "d": "Auth token is expired."})
}

#[tokio::test]
async fn a_connection_is_nobodys_when_its_token_ends() {
    let files = Files::new("until-socket");
    let server = files.start();
    let mut socket = Socket::open(&server).await;
    let (token, end) = short();
    let answer = socket.ask("auth", json!({"cred": token})).await;
    assert_eq!(answer["s"], "ok");
    assert_eq!(answer["d"]["expires"], end);
    assert_eq!(answer["d"]["auth"]["uid"], "kim");
    assert_eq!(socket.ask("q", json!({"p": "/users/kim", "h": ""})).await["s"], "ok");
    assert_eq!(socket.ask("q", json!({"p": "/open", "h": ""})).await["s"], "ok");
    let pushed = socket.until(|said| said["a"] == "ac").await;
    assert_eq!(pushed["b"], revoked());
    assert!((end..=end + 1).contains(&now_s()));
    let pushed = socket.until(|said| said["a"] == "c").await;
    assert_eq!(pushed["b"]["p"], "users/kim");
    // It is nobody's now, and may be somebody's again.
    let put = json!({"p": "/users/kim", "d": 1});
    let mut answers = Vec::new();
    for (action, body) in [
        ("p", put.clone()),
        ("auth", json!({"cred": token})),
        ("auth", json!({"cred": id_token(&json!({}))})),
        ("p", put),
    ] {
        answers.push(socket.ask(action, body).await["s"].clone());
    }
    assert_eq!(answers, ["permission_denied", "expired_token", "ok", "ok"]);
    // What everybody may read goes on.
    server.write("open", "\"still\"");
    socket.until(|said| said["b"]["d"] == "still").await;
}

#[tokio::test]
async fn the_newer_token_counts_whether_it_ends_later_or_sooner() {
    let files = Files::new("until-newer");
    let server = files.start();
    let ((first, end), long) = (short(), id_token(&json!({})));
    let (mut renewed, mut shortened, mut left) =
        (Socket::open(&server).await, Socket::open(&server).await, Socket::open(&server).await);
    for (socket, tokens) in
        [(&mut renewed, [&first, &long]), (&mut shortened, [&long, &first]), (&mut left, [&first, &first])]
    {
        assert_eq!(socket.ask("auth", json!({"cred": tokens[0]})).await["s"], "ok");
        assert_eq!(socket.ask("q", json!({"p": "/users/kim", "h": ""})).await["s"], "ok");
        assert_eq!(socket.ask("auth", json!({"cred": tokens[1]})).await["s"], "ok");
    }
    assert_eq!(left.ask("unauth", json!({})).await["s"], "ok");
    shortened.until(|said| said["a"] == "c").await;
    assert_eq!(shortened.pushes(), ["ac", "c"]);
    assert!((end..=end + 1).contains(&now_s()));
    pass(&server, end);
    server.write("users/kim", "\"later\"");
    renewed.until(|said| said["b"]["d"] == "later").await;
    assert_eq!(renewed.pushes(), ["d"]);
    // Who has left needs no token any more.
    assert_eq!(left.ask("g", json!({"p": "/open"})).await["s"], "ok");
    assert_eq!(left.pushes(), ["c"]);
}

#[tokio::test]
async fn a_token_that_ends_while_others_wait_for_their_turn_ends_in_its_own() {
    let files = Files::new("until-queue");
    let server = files.start();
    let mut socket = Socket::open(&server).await;
    let (token, end) = short();
    // The token is behind a write, so that it is looked at when the write is done.
    for (number, action, body) in [
        (1, "p", json!({"p": "/users/kim", "d": 1})),
        (2, "auth", json!({"cred": token})),
        (3, "q", json!({"p": "/users/kim", "h": ""})),
    ] {
        let ask = json!({"t": "d", "d": {"r": number, "a": action, "b": body}});
        socket.stream.send(Message::text(ask.to_string())).await.unwrap();
    }
    socket.until(|said| said["a"] == "ac").await;
    assert!((end..=end + 1).contains(&now_s()));
    let answers: Vec<_> =
        socket.said.iter().filter(|said| said.get("r").is_some()).map(|said| &said["b"]["s"]).collect();
    assert_eq!(answers, ["permission_denied", "ok", "ok"]);
}

#[test]
fn who_polls_is_told_and_gets_nothing_of_what_came_later() {
    let files = Files::new("until-polls");
    let server = files.start();
    let mut polls = Polls::start(&server.address, "ns=demo", &[]).unwrap();
    let (token, end) = short();
    assert_eq!(polls.ask("auth", &json!({"cred": token}))["s"], "ok");
    assert_eq!(polls.ask("q", &json!({"p": "/users/kim", "h": ""}))["s"], "ok");
    // Who does not ask for a while cannot be told, and must not get afterwards what was written meanwhile.
    pass(&server, end);
    server.write("users/kim", "\"later\"");
    polls.pushes.clear();
    while !polls.pushes.iter().any(|push| push["a"] == "c") {
        let said = polls.poll("");
        polls.take(said, 0);
    }
    assert_eq!(polls.pushes[0], json!({"a": "ac", "b": revoked()}));
    assert_eq!(polls.pushes[1], json!({"a": "c", "b": {"p": "users/kim"}}));
    assert_eq!(polls.pushes.len(), 2, "{:?}", polls.pushes);
    assert_eq!(polls.ask("g", &json!({"p": "/users/kim"}))["s"], "permission_denied");
    // Who asks all the time is told on time.
    let (token, end) = short();
    assert_eq!(polls.ask("auth", &json!({"cred": token}))["s"], "ok");
    polls.pushes.clear();
    let said = polls.poll("");
    polls.take(said, 0);
    assert_eq!(polls.pushes, [json!({"a": "ac", "b": revoked()})]);
    assert!((end..=end + 1).contains(&now_s()));
}

#[test]
fn a_stream_ends_with_its_token() {
    let files = Files::new("until-stream");
    let server = files.start();
    let (token, end) = short();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let address = &server.address;
    write!(
        stream,
        "GET /users/kim.json?ns=demo&auth={token} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let events: Vec<_> =
        lines.filter(|line| line.starts_with("event:") || line.starts_with("data:")).collect();
    assert_eq!(
        events,
        [
            "event: put",
            r#"data: {"path":"/","data":null}"#,
            "event: auth_revoked",
            "data: credential is no longer valid"
        ]
    );
    assert!((end..=end + 1).contains(&now_s()));
}

/// A write over REST, the last byte of which comes when it is let go on.
fn begin_write(server: &Server, method: &str, path: &str, token: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (address, length) = (&server.address, body.len());
    write!(
        stream,
        "{method} /{path}.json?ns=demo&auth={token} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{}",
        &body[..length - 1]
    )
    .unwrap();
    stream
}

#[test]
fn a_write_whose_token_ends_while_its_body_comes_is_not_made() {
    let files = Files::new("until-body");
    let server = files.start();
    let (short, end) = short();
    let long = id_token(&json!({}));
    // One that is read when it is whole, and one that is read as it comes.
    let large = json!({"a": "x".repeat(2_000_000)}).to_string();
    let mut begun = Vec::new();
    for (number, (method, token, body, expected)) in [
        ("PUT", &short, r#"{"a":1}"#, 401),
        ("PATCH", &short, r#"{"a":1}"#, 401),
        ("POST", &short, r#"{"a":1}"#, 401),
        ("PUT", &short, &large, 401),
        ("PATCH", &short, &large, 401),
        ("PUT", &long, r#"{"a":1}"#, 200),
        ("PUT", &long, &large, 200),
    ]
    .into_iter()
    .enumerate()
    {
        let path = format!("users/kim/{number}");
        let stream = begin_write(&server, method, &path, token, body);
        begun.push((path, stream, method, expected));
    }
    pass(&server, end);
    let admin = format!("Authorization: Bearer {ADMIN}\r\n");
    for (path, mut stream, method, expected) in begun {
        stream.write_all(b"}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status: u16 = answer.split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!(status, expected, "{method} {path}: {answer:.500}");
        let (_, there) = server.get(&format!("/{path}.json?ns=demo"), &admin);
        assert_eq!(there != "null", expected == 200, "{method} {path}");
    }
}
