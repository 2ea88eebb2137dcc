//! What the binary does in each mode, from the outside: whom it lets in, whom it believes, what it says when it cannot
//! begin, and how it ends.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

mod polls;

use futures_util::{SinkExt, StreamExt};
use hearth_tree::{Assignment, Path, ReadOptions, read_value};
use hearth_wire::{
    ActingAs, Auth, Credential, CredentialKind, OnDisconnect, Outcome, Put, Request, RequestBody,
    RequestNumber, ServerMessage, Status, Validator,
};
use polls::Polls;
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

const ADMIN: &str = "an-admin-credential-of-tests";

/// A token for `ada` that nobody has signed: `{"alg": "none"}`, `{"sub": "ada"}`.
const UNSIGNED: &str = "eyJhbGciOiAibm9uZSJ9.eyJzdWIiOiAiYWRhIn0.";

/// Reading is for everybody, writing for who is somebody.
const RULES: &str = r#"{"rules": {".read": true, ".write": "auth != null"}}"#;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
    // None of the variables of whoever runs the tests.
    command.env_clear().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A file of this test run.
fn file(name: &str, text: &str) -> String {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("modes-{name}"));
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().into()
}

/// A server that runs, until it is dropped.
struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        Self::of(command(arguments).args(["--memory", "--port", "0"]))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on http://").and_then(|at| at.trim_end().parse().ok());
        let Some(address) = address else {
            panic!("{line}{}", text(&child.wait_with_output().unwrap().stderr));
        };
        Self { child, stdout, address }
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Its exit code, what else it has said on standard output, and all that it has said on standard error.
    fn ended(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.stdout.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), out, err)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.into()).unwrap()
}

/// A WebSocket whose server is judged with every message.
struct Socket {
    stream: WebSocketStream<TcpStream>,
    validator: Validator,
}

/// Opens a WebSocket with these headers instead of its own; the status, if it is refused.
async fn connect(server: &Server, ns: &str, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
    let url = format!("ws://{}/.ws?v=5&ns={ns}", server.address);
    let mut request = url.into_client_request().unwrap();
    for &(name, value) in headers {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(server.address).await.unwrap();
    match client_async(request, stream).await {
        Ok((stream, _)) => {
            let mut socket = Socket { stream, validator: Validator::new() };
            assert!(matches!(receive(&mut socket).await, ServerMessage::Control(_)));
            Ok(socket)
        }
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

async fn receive(socket: &mut Socket) -> ServerMessage {
    loop {
        if let Message::Text(text) = socket.stream.next().await.unwrap().unwrap() {
            socket.validator.sent(text.as_bytes());
            assert_eq!(socket.validator.findings(), [""; 0]);
            return ServerMessage::parse(text.as_bytes(), &ReadOptions::default()).unwrap();
        }
    }
}

/// How a request ends.
async fn ask(socket: &mut Socket, body: RequestBody) -> Result<(), String> {
    let action = body.action();
    let request = Request { number: RequestNumber(1), body };
    let text = request.to_text();
    socket.validator.received(text.as_bytes());
    socket.stream.send(Message::text(text)).await.unwrap();
    loop {
        if let ServerMessage::Reply(reply) = receive(socket).await {
            return match reply.outcome(action, &ReadOptions::default()).unwrap() {
                Outcome::Ok(_) => Ok(()),
                Outcome::Failed { status, .. } => Err(status),
            };
        }
    }
}

async fn authenticate(socket: &mut Socket, credential: &str) -> Result<(), String> {
    let kind = if credential == UNSIGNED { CredentialKind::Token } else { CredentialKind::Admin };
    let credential = Credential::new(credential.into());
    ask(socket, RequestBody::Auth(Auth { credential, kind, acting: ActingAs::Itself })).await
}

fn one() -> Assignment {
    let value = read_value(b"1", &ReadOptions::default()).unwrap();
    Assignment::value(Path::parse("/a").unwrap(), value).unwrap()
}

/// What comes of a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is refused with this status.
    Turned(u16),
    /// It opens, and the credential is not believed.
    Disbelieved,
    /// It opens and the credential, if there is one, is believed, but may not write.
    Bound,
    /// That, and it may write.
    Free,
}
use End::{Bound, Disbelieved, Free, Turned};

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    WebSocket,
    LongPolling,
}

/// Where a request says that it goes and comes from, what it shows, and what comes of it.
type Row<'a> = (&'a [(&'static str, &'a str)], Option<&'a str>, End);

async fn check(server: &Server, rows: &[Row<'_>]) {
    for &(headers, credential, expected) in rows {
        for transport in [Transport::WebSocket, Transport::LongPolling] {
            let found = match transport {
                Transport::WebSocket => end(server, headers, credential).await,
                Transport::LongPolling => end_of_polls(server, headers, credential),
            };
            assert_eq!(found, expected, "{transport:?}, {headers:?} with {credential:?}");
        }
        // Over REST an empty credential is none.
        if credential != Some("") {
            check_rest(server, headers, credential, expected);
        }
    }
}

/// The same over REST, and of event streams.
fn check_rest(server: &Server, headers: &[(&str, &str)], credential: Option<&str>, expected: End) {
    let query = credential.map(|credential| format!("&auth={credential}")).unwrap_or_default();
    let path = format!("/a.json?ns=demo{query}");
    let put = request(server, "PUT", &path, headers, "1");
    let found = match put.status {
        200 => Free,
        401 if put.body.contains("Permission denied") => Bound,
        401 => Disbelieved,
        status => Turned(status),
    };
    assert_eq!(found, expected, "REST: {headers:?} with {credential:?}: {}", put.body);
    let get = request(server, "GET", &path, headers, "");
    let with_accept = [headers, &[("accept", "text/event-stream")]].concat();
    let stream = request(server, "GET", &path, &with_accept, "");
    assert_eq!(stream.status, get.status, "streams: {headers:?} with {credential:?}");
    match expected {
        Turned(status) => assert_eq!(get.status, status, "GET: {headers:?} with {credential:?}"),
        Disbelieved => assert_eq!(get.status, 401, "GET: {headers:?} with {credential:?}"),
        // Reading is another rule's.
        Bound | Free => assert!([200, 401].contains(&get.status), "GET: {headers:?} with {credential:?}"),
    }
    for answer in [&put, &get, &stream] {
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path} {headers:?}");
    }
}

/// An answer over HTTP. The body of a stream is left where it is.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Sends a request with these headers instead of its own.
fn request(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        write!(text, "host: {}\r\n", server.address).unwrap();
    }
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    write!(text, "content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer { status, head, body: String::new() };
    if answer.header("content-type").is_none_or(|kind| !kind.starts_with("text/event-stream")) {
        stream.read_to_string(&mut answer.body).unwrap();
    }
    answer
}

async fn end(server: &Server, headers: &[(&'static str, &str)], credential: Option<&str>) -> End {
    let mut socket = match connect(server, "demo", headers).await {
        Ok(socket) => socket,
        Err(status) => return Turned(status),
    };
    if let Some(credential) = credential
        && let Err(failure) = authenticate(&mut socket, credential).await
    {
        assert_eq!(failure, Status::InvalidToken.as_str());
        return Disbelieved;
    }
    match ask(&mut socket, RequestBody::Put(Put { set: one(), expected: None })).await {
        Ok(()) => Free,
        Err(failure) => {
            assert_eq!(failure, Status::PermissionDenied.as_str());
            Bound
        }
    }
}

/// The same by long polling: the request that begins the session has the headers. Its answer is a script, so where they
/// say nothing of where it comes from, a page of the server's own has sent it.
fn end_of_polls(server: &Server, headers: &[(&str, &str)], credential: Option<&str>) -> End {
    let host = headers.iter().find_map(|&(name, value)| (name == "host").then_some(value));
    let own = format!("http://{}/page", host.unwrap_or_default());
    let own: &[_] = if host.is_some() && headers.len() == 1 { &[("referer", own.as_str())] } else { &[] };
    let headers = &[headers, own].concat();
    let mut client = match Polls::start(&server.address.to_string(), "ns=demo", headers) {
        Ok(client) => client,
        Err(status) => return Turned(status),
    };
    if let Some(credential) = credential {
        let action = if credential == UNSIGNED { "auth" } else { "gauth" };
        let answer = client.ask(action, &json!({"cred": credential}));
        if answer["s"] != "ok" {
            assert_eq!(answer["s"], Status::InvalidToken.as_str());
            return Disbelieved;
        }
    }
    let answer = client.ask("p", &json!({"p": "/a", "d": 1}));
    if answer["s"] == "ok" {
        return Free;
    }
    assert_eq!(answer["s"], Status::PermissionDenied.as_str());
    Bound
}

/// What a browser says of scripts of another site.
const CROSS_SITE: (&str, &str) = ("sec-fetch-site", "cross-site");
const OWNER: Option<&str> = Some("owner");
const TOKEN: Option<&str> = Some(UNSIGNED);

#[tokio::test]
async fn a_server_for_development_is_for_this_machine_alone() {
    let server = Server::start(&["dev"]);
    check(
        &server,
        &[
            // Programs.
            (&[], OWNER, Free),
            (&[], TOKEN, Free),
            (&[], None, Free),
            (&[], Some("nonsense"), Disbelieved),
            (&[("host", "localhost:9000")], OWNER, Free),
            (&[("host", "LOCALHOST.")], OWNER, Free),
            (&[("host", "demo.localhost:9000")], OWNER, Free),
            (&[("host", "[::1]:9000")], OWNER, Free),
            (&[("host", "10.0.2.2:9000")], OWNER, Free),
            // Names that somebody has pointed at this machine.
            (&[("host", "evil.example:9000")], OWNER, Turned(421)),
            (&[("host", "evil.example:9000")], None, Turned(421)),
            (&[("host", "localhost.evil.example")], None, Turned(421)),
            (&[("host", "127.0.0.1.evil.example")], None, Turned(421)),
            (&[("host", "evil-localhost")], None, Turned(421)),
            (&[("host", "evil.example"), ("origin", "http://evil.example")], TOKEN, Turned(421)),
            (&[("host", "192.168.1.5:9000")], None, Turned(421)),
            (&[("host", "")], None, Turned(421)),
            // Pages of this machine.
            (&[("origin", "http://localhost:5173")], OWNER, Free),
            (&[("origin", "https://app.localhost")], TOKEN, Free),
            (&[("origin", "http://127.0.0.1:8080")], OWNER, Free),
            (&[("origin", "http://[::1]:8080")], OWNER, Free),
            (&[("origin", "http://127.0.0.1:1"), ("sec-fetch-site", "cross-site")], OWNER, Free),
            (&[("sec-fetch-site", "same-site")], OWNER, Free),
            (&[("sec-fetch-site", "none")], OWNER, Free),
            // Our own pages, and SDKs that call themselves that.
            (&[("host", "10.0.2.2:9000"), ("origin", "http://10.0.2.2:9000")], OWNER, Free),
            (&[("host", "10.0.2.2:9000"), ("origin", "http://10.0.2.2:9001")], OWNER, Turned(403)),
            (&[("host", "10.0.2.2:9000"), ("origin", "http://10.0.2.2")], OWNER, Turned(403)),
            // Pages of others. Without rules nothing is left for them.
            (&[("origin", "https://evil.example")], OWNER, Turned(403)),
            (&[("origin", "https://evil.example")], TOKEN, Turned(403)),
            (&[("origin", "https://evil.example")], None, Turned(403)),
            (&[("origin", "http://localhost.evil.example")], None, Turned(403)),
            (&[("origin", "null")], None, Turned(403)),
            (&[("origin", "")], None, Turned(403)),
            (&[("origin", "capacitor://localhost")], None, Turned(403)),
            (&[("sec-fetch-site", "cross-site")], None, Turned(403)),
            // Scripts, of which a browser says only the site and the page before.
            (&[CROSS_SITE, ("referer", "http://localhost:5173/a/b?c")], OWNER, Free),
            (&[CROSS_SITE, ("referer", "http://localhost:5173")], TOKEN, Free),
            (&[CROSS_SITE, ("referer", "https://evil.example/")], None, Turned(403)),
            (&[CROSS_SITE, ("referer", "https://evil.example/http://localhost:5173/")], None, Turned(403)),
            (&[CROSS_SITE, ("referer", "http://localhost:5173@evil.example/")], None, Turned(403)),
            (&[CROSS_SITE, ("referer", "http://localhost.evil.example/")], None, Turned(403)),
            (&[CROSS_SITE, ("referer", "about:blank")], None, Turned(403)),
            (&[("origin", "null"), ("referer", "http://localhost:5173/")], None, Turned(403)),
        ],
    )
    .await;
}

#[tokio::test]
async fn pages_of_others_are_nobody_to_the_rules() {
    let rules = file("pages.json", RULES);
    let server =
        Server::start(&["dev", "--rules", &rules, "--allow-origin", "capacitor://localhost,http://10.1.1.1"]);
    check(
        &server,
        &[
            (&[], OWNER, Free),
            (&[], TOKEN, Free),
            (&[], None, Bound),
            (&[("origin", "https://evil.example")], OWNER, Disbelieved),
            (&[("origin", "https://evil.example")], TOKEN, Disbelieved),
            (&[("origin", "https://evil.example")], None, Bound),
            (&[("origin", "null")], OWNER, Disbelieved),
            (&[("sec-fetch-site", "cross-site")], OWNER, Disbelieved),
            (&[("sec-fetch-site", "cross-site")], TOKEN, Disbelieved),
            (&[CROSS_SITE, ("referer", "capacitor://localhost/")], OWNER, Free),
            (&[CROSS_SITE, ("referer", "https://evil.example/")], OWNER, Disbelieved),
            (&[("origin", "capacitor://localhost")], OWNER, Free),
            (&[("origin", "http://10.1.1.1:80")], TOKEN, Free),
            (&[("origin", "http://10.1.1.1:81")], TOKEN, Disbelieved),
            (&[("host", "10.1.1.1")], TOKEN, Turned(421)),
        ],
    )
    .await;
}

#[tokio::test]
async fn other_machines_need_the_token_that_was_printed() {
    let mut server = Server::start(&[
        "dev",
        "--listen",
        "0.0.0.0",
        "--allow-remote",
        "--allow-origin",
        "http://pc.lan:5173",
    ]);
    let mut said = BufReader::new(server.child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let token = said.find_map(|line| line.split_once("Bearer ").map(|(_, token)| token.to_owned())).unwrap();
    server.address.set_ip([127, 0, 0, 1].into());
    let foreign = ("origin", "https://evil.example");
    check(
        &server,
        &[
            (&[], Some(&token), Free),
            (&[], OWNER, Disbelieved),
            (&[], TOKEN, Free),
            (&[("host", "192.168.1.5:9000")], Some(&token), Free),
            (&[("host", "hearth:9000")], Some(&token), Free),
            (&[("host", "pc.lan:9000")], Some(&token), Free),
            (&[("host", "other.lan:9000")], Some(&token), Turned(421)),
            (&[("host", "evil.example")], TOKEN, Turned(421)),
            (&[("origin", "http://pc.lan:5173")], TOKEN, Free),
            (&[("host", "192.168.1.5:9000"), ("origin", "http://192.168.1.5:9000")], TOKEN, Free),
            (&[("host", "192.168.1.5:9000"), ("origin", "http://192.168.1.6:9000")], TOKEN, Turned(403)),
            (&[foreign], TOKEN, Turned(403)),
            (&[foreign], Some(&token), Turned(403)),
        ],
    )
    .await;
    let rules = file("remote.json", RULES);
    let server = Server::start(&["dev", "--allow-remote", "--rules", &rules]);
    check(&server, &[(&[foreign], OWNER, Disbelieved), (&[foreign], TOKEN, Disbelieved)]).await;
}

#[test]
fn what_an_admin_of_development_sends_counts_only_from_friends() {
    let rules = file("bearer.json", RULES);
    let dev = Server::start(&["dev", "--rules", &rules]);
    let serve = Server::start(&["serve", "--namespace", "demo", "--rules", &rules]);
    let (evil, page) = (("origin", "https://evil.example"), ("origin", "http://localhost:5173"));
    let cross = ("sec-fetch-site", "cross-site");
    for (server, headers, credential, expected) in [
        (&dev, &[][..], "owner", 200),
        (&dev, &[page], "owner", 200),
        // As the emulator does.
        (&dev, &[], "ya29.anything", 200),
        (&dev, &[evil], "owner", 401),
        (&dev, &[evil], "ya29.anything", 401),
        (&dev, &[("origin", "null")], "owner", 401),
        (&dev, &[cross], "owner", 401),
        (&dev, &[evil], UNSIGNED, 401),
        (&dev, &[page, page], "owner", 400),
        (&serve, &[], "owner", 401),
        (&serve, &[page], "ya29.anything", 401),
        (&serve, &[], UNSIGNED, 401),
    ] {
        let bearer = format!("Bearer {credential}");
        let with_bearer = [headers, &[("authorization", &bearer)]].concat();
        let answer = request(server, "PUT", "/a.json?ns=demo", &with_bearer, "1");
        assert_eq!(answer.status, expected, "{headers:?} {credential}: {}", answer.body);
        let path = format!("/a.json?ns=demo&access_token={credential}");
        assert_eq!(request(server, "PUT", &path, headers, "1").status, expected, "{headers:?} {credential}");
        // Rules bind who comes without.
        let bare = request(server, "PUT", "/a.json?ns=demo", headers, "1").status;
        assert_eq!(bare, if expected == 400 { 400 } else { 401 }, "{headers:?}");
    }
    for name in ["host", "sec-fetch-site"] {
        let twice = [("host", "localhost"), (name, "localhost"), (name, "localhost")];
        assert_eq!(request(&dev, "GET", "/a.json", &twice, "").status, 400, "{name}");
    }
}

#[tokio::test]
async fn a_browser_that_asks_whether_a_page_may_reach_in_is_told_of_friends_alone() {
    let rules = file("preflight.json", RULES);
    let dev = Server::start(&["dev", "--rules", &rules, "--allow-origin", "https://app.example"]);
    let open = Server::start(&["dev"]);
    let serve = Server::start(&["serve", "--namespace", "demo", "--rules", &rules]);
    for (server, origin, expected) in [
        (&dev, "http://localhost:5173", (204, Some("true"))),
        (&dev, "https://app.example", (204, Some("true"))),
        (&dev, "https://evil.example", (204, None)),
        (&dev, "null", (204, None)),
        (&open, "http://localhost:5173", (204, Some("true"))),
        (&open, "https://evil.example", (403, None)),
        (&serve, "https://any.example", (204, Some("true"))),
    ] {
        let asks = ("access-control-request-private-network", "true");
        let headers = [("origin", origin), ("access-control-request-method", "PUT"), asks];
        for path in ["/a.json?ns=demo", "/anything"] {
            let answer = request(server, "OPTIONS", path, &headers, "");
            let found = (answer.status, answer.header("access-control-allow-private-network"));
            assert_eq!(found, expected, "{path} {origin}");
        }
        // Who does not ask is not told.
        let answer = request(server, "OPTIONS", "/a.json", &headers[..2], "");
        assert_eq!(answer.header("access-control-allow-private-network"), None, "{origin}");
    }
}

#[test]
fn a_page_of_others_gets_no_script_where_browsers_say_little() {
    let server = Server::start(&["dev", "--allow-remote"]);
    let (here, there) = (("host", "localhost:9000"), ("host", "192.168.1.5:9000"));
    let script = "/a.json?ns=demo&callback=f";
    for (path, headers, expected) in [
        (script, &[there][..], 403),
        ("/a.json?ns=demo&%63allback=f", &[there], 403),
        (script, &[there, ("referer", "https://evil.example/page")], 403),
        (script, &[there, ("referer", "http://192.168.1.5:9000@evil.example/")], 403),
        (script, &[there, ("referer", "192.168.1.5:9000")], 403),
        (script, &[there, ("referer", "http://192.168.1.5:9000/page?x")], 200),
        (script, &[there, ("referer", "http://192.168.1.5:9000")], 200),
        (script, &[there, ("referer", "http://localhost:5173/")], 200),
        (script, &[there, ("sec-fetch-site", "same-origin")], 200),
        (script, &[there, ("sec-fetch-site", "cross-site")], 403),
        (script, &[there, ("origin", "http://192.168.1.5:9000")], 200),
        // Browsers say enough of a server on their own machine, and data is of no use to a page of others.
        (script, &[here], 200),
        ("/a.json?ns=demo", &[there], 200),
        ("/a.json?ns=demo", &[there, ("referer", "https://evil.example/page")], 200),
        ("/a.json?ns=demo&orderBy=%22callback%22", &[there], 200),
    ] {
        assert_eq!(request(&server, "GET", path, headers, "").status, expected, "{path} {headers:?}");
    }
}

#[tokio::test]
async fn a_server_for_production_knows_no_convenience() {
    let secret = file("secret", &format!("{ADMIN}\n"));
    let closed = Server::start(&["serve", "--namespace", "demo", "--admin-credential-file", &secret]);
    let somewhere = ("host", "db.example.com");
    let page = ("origin", "https://app.example.com");
    check(
        &closed,
        &[
            (&[], None, Bound),
            (&[], OWNER, Disbelieved),
            (&[], TOKEN, Disbelieved),
            (&[], Some(""), Disbelieved),
            (&[], Some(&ADMIN[1..]), Disbelieved),
            (&[], Some(ADMIN), Free),
            (&[somewhere, page], None, Bound),
            (&[somewhere, page], TOKEN, Disbelieved),
            (&[somewhere, page], Some(ADMIN), Free),
            (&[("origin", "http://localhost:5173")], OWNER, Disbelieved),
        ],
    )
    .await;
    for (ns, expected) in [("demo", None), ("DEMO", None), ("other", Some(404)), ("undefined", Some(404))] {
        assert_eq!(connect(&closed, ns, &[]).await.err(), expected, "{ns}");
    }
    for (report, path, credential, expected) in [
        ("R097", "/.json?ns=demo", "", 401),
        ("R097", "/.json?ns=demo", ADMIN, 200),
        ("R091", "/.json?ns=demo", "owner", 401),
        ("R095", "/.inspect/coverage?ns=demo", "", 401),
        ("R095", "/.inspect/coverage.json?ns=demo", "", 401),
        // Nothing is recorded.
        ("R095", "/.inspect/coverage.json?ns=demo", ADMIN, 404),
        ("", "/emulators?ns=demo", ADMIN, 404),
    ] {
        let found = request(&closed, "GET", &format!("{path}&auth={credential}"), &[], "").status;
        assert_eq!(found, expected, "{report} {path} {credential}");
    }
    // Nobody is an admin where no credential was given, whatever they show.
    let nobody = Server::start(&["serve", "--namespace", "demo"]);
    check(&nobody, &[(&[], Some(""), Disbelieved), (&[], Some(ADMIN), Disbelieved)]).await;
    let rules = file("serve.json", r#"{"rules": {".write": true}}"#);
    let open = Server::start(&["serve", "--namespace", "demo", "--rules", &rules]);
    check(&open, &[(&[], None, Free), (&[], TOKEN, Disbelieved)]).await;
}

#[tokio::test]
async fn the_command_line_goes_before_the_environment_and_both_before_the_file() {
    file("precedence-rules.json", RULES);
    let config = file(
        "precedence.toml",
        "memory = true\nport = 1\nnamespaces = ['filed']\nrules = 'modes-precedence-rules.json'\n",
    );
    let variables = [("HEARTH_CONFIG", config.as_str()), ("HEARTH_PORT", "0")];
    let server = Server::of(command(&["serve"]).envs(variables));
    let mut nobody = connect(&server, "filed", &[]).await.unwrap();
    assert!(ask(&mut nobody, RequestBody::Put(Put { set: one(), expected: None })).await.is_err());
    assert_eq!(connect(&server, "demo", &[]).await.err(), Some(404));

    let variables = [("HEARTH_NAMESPACES", "demo,other"), ("HEARTH_PORT", "1")];
    let server = Server::of(command(&["serve", "--config", &config, "--port", "0"]).envs(variables));
    assert!(connect(&server, "other", &[]).await.is_ok());
    assert_eq!(connect(&server, "filed", &[]).await.err(), Some(404));

    let variables = [("HEARTH_NAMESPACES", "variable"), ("HEARTH_ADMIN_CREDENTIAL", ADMIN)];
    let server = Server::of(
        command(&["serve", "--config", &config, "--port", "0", "--namespace", "demo"]).envs(variables),
    );
    check(&server, &[(&[], Some(ADMIN), Free), (&[], None, Bound)]).await;
    assert_eq!(connect(&server, "variable", &[]).await.err(), Some(404));
}

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), text(&stdout), text(&stderr))
}

fn check_mistake(command: &mut Command, expected: &str) {
    assert_eq!(run(command), (Some(2), String::new(), format!("hearth: {expected}\n")));
}

#[test]
fn a_command_line_that_means_nothing_is_answered_with_a_sentence() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let in_use = format!(
        "cannot listen on {address}: another program does; `--port` takes another port, 0 a free one"
    );
    check_mistake(command(&["dev", "--memory", "--port"]).arg(address.port().to_string()), &in_use);
    let no_data =
        "nothing says where the data are kept: `--data DIR` names a folder, `--memory` keeps nothing";
    let namespace = "invalid value 'a/b' for '--namespace <NAME>': `a/b` is not a database name: \
        1 to 100 of A-Z a-z 0-9 . _ - are allowed, the first a letter or digit";
    let port = "is not a port: a number from 0 to 65535 is allowed";
    for (command_line, expected) in [
        ("serve --namespace demo", no_data),
        (
            "dev --memory --prot 1",
            "unexpected argument '--prot' found; tip: a similar argument exists: '--port'",
        ),
        ("dev --memory --port many", &format!("invalid value 'many' for '--port <PORT>': `many` {port}")),
        ("dev --memory --port 65536", &format!("invalid value '65536' for '--port <PORT>': `65536` {port}")),
        (
            "dev --memory --keep-alive 31",
            "invalid value '31' for '--keep-alive <SECONDS>': \
                `31` is not allowed: a whole number of seconds from 1 to 30 is",
        ),
        (
            "dev --memory --checkpoint-log 0",
            "invalid value '0' for '--checkpoint-log <MIB>': \
                `0` is not allowed: a whole number of MiB from 1 to 4096 is",
        ),
        (
            "dev --memory --allow-origin *",
            "invalid value '*' for '--allow-origin <ORIGIN>': `*` is not an origin: \
                it looks like `http://localhost:5173`, without a path",
        ),
        (
            "dev --memory --listen 0.0.0.0",
            "`--listen 0.0.0.0` lets other machines reach a server for development: \
                say `--allow-remote`, too, and a random token replaces `owner`",
        ),
        (
            "serve --memory",
            "no database is named: `--namespace NAME` names one, and may be said several times",
        ),
        ("serve --memory --namespace a/b", namespace),
        (
            "serve --memory --namespace demo --allow-remote",
            "unexpected argument '--allow-remote' found; it is an option of `hearth dev`",
        ),
        (
            "dev --memory --namespace demo",
            "unexpected argument '--namespace' found; it is an option of `hearth serve`, `hearth export`, \
                `hearth import`",
        ),
        (
            "dev --memory --listen localhost",
            "invalid value 'localhost' for '--listen <ADDRESS>': `localhost` is no IP address: 127.0.0.1 and ::1 are \
                this machine, 0.0.0.0 and :: are all of its addresses",
        ),
        (
            "serve --memory --namespace demo --max-connections 0",
            "invalid value '0' for '--max-connections <N>': `0` is not allowed: a whole number from 1 is",
        ),
        (
            "serve --memory --namespace demo --admin-credential 0123456789abcdef",
            "unexpected argument '--admin-credential' found; \
                tip: a similar argument exists: '--admin-credential-file'",
        ),
    ] {
        check_mistake(&mut command(&command_line.split(' ').collect::<Vec<_>>()), expected);
    }
    for (command_line, expected) in [
        (
            "dve",
            "unrecognized subcommand 'dve'; there are `dev`, `serve`, `token`, `export`, `import`, `backup`, `restore`, `rules`",
        ),
        ("check x", "unrecognized subcommand 'check'; it is `hearth rules check`"),
        ("rules chekk", "unrecognized subcommand 'chekk'; tip: a similar subcommand exists: 'check'"),
        ("rules xyz", "unrecognized subcommand 'xyz'; there are `check`, `test`, `explain`, `coverage`"),
        ("rules check /nowhere/x", "cannot read `/nowhere/x`: No such file or directory (os error 2)"),
    ] {
        check_mistake(&mut command(&command_line.split(' ').collect::<Vec<_>>()), expected);
    }
    // What the environment says is not looked for on the command line.
    let levels =
        "error, warn, info, debug, trace and off are allowed, for a part of the program as `hearth=debug`";
    for (name, value, expected) in [
        (
            "HEARTH_PORT",
            "",
            &*format!("invalid value '' for '--port <PORT>': `` {port}; the variable `HEARTH_PORT` says so"),
        ),
        (
            "HEARTH_PORT",
            "many",
            &format!(
                "invalid value 'many' for '--port <PORT>': `many` {port}; the variable `HEARTH_PORT` says so"
            ),
        ),
        ("HEARTH_LOG", "loud", &format!("the variable `HEARTH_LOG` says `loud`: {levels}")),
        ("HEARTH_LOG", "hearth=loud", &format!("the variable `HEARTH_LOG` says `hearth=loud`: {levels}")),
    ] {
        check_mistake(command(&["dev", "--memory"]).env(name, value), expected);
    }
    let said = format!("invalid value 'no' for '--port <PORT>': `no` {port}");
    check_mistake(command(&["dev", "--memory", "--port", "no"]).env("HEARTH_PORT", "1"), &said);
}

/// An app that names another database than the server has waits without a word; the server's log says why.
#[tokio::test]
async fn a_database_that_is_asked_for_in_vain_is_named() {
    let server = Server::start(&["serve", "--namespace", "demo"]);
    assert_eq!(connect(&server, "demo", &[]).await.err(), None);
    for _ in 0..3 {
        assert_eq!(connect(&server, "dmeo", &[]).await.err(), Some(404));
    }
    assert_eq!(request(&server, "GET", "/a.json?ns=other", &[], "").status, 404);
    server.signal("TERM");
    let (_, _, err) = server.ended();
    assert_eq!(err.matches("a client asks for the database").count(), 1, "{err}");
    assert!(err.contains("`dmeo`, which is not here; `--namespace dmeo` makes it"), "{err}");
}

/// The banner first, then what is wrong with the rules.
#[test]
fn a_server_says_who_it_is_before_it_warns() {
    let rules = file("open.json", r#"{"rules": {".read": true}}"#);
    for arguments in [&["dev", "--rules", &rules][..], &["serve", "--namespace", "demo", "--rules", &rules]] {
        let server = Server::start(arguments);
        server.signal("TERM");
        let (code, _, err) = server.ended();
        assert_eq!(code, Some(0), "{err}");
        assert!(err.starts_with("hearth "), "{err}");
        let warning = err.find("warning: ").expect("the rules are open");
        assert!(err.find("for production").or(err.find("Ctrl-C")).is_some_and(|at| at < warning), "{err}");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_answered_with_a_sentence() {
    let dev = |option: &str, value: &str| command(&["dev", "--memory", "--port", "0", option, value]);
    let serve = |option: &str, value: &str| {
        command(&["serve", "--memory", "--port", "0", "--namespace", "demo", option, value])
    };
    let missing = "cannot read `/nowhere/x`: No such file or directory (os error 2)";
    check_mistake(&mut dev("--rules", "/nowhere/x"), missing);
    check_mistake(&mut dev("--config", "/nowhere/x"), missing);
    check_mistake(&mut serve("--admin-credential-file", "/nowhere/x"), missing);
    let folder = env!("CARGO_TARGET_TMPDIR");
    check_mistake(
        &mut dev("--rules", folder),
        &format!("cannot read `{folder}`: Is a directory (os error 21)"),
    );

    let known = "it knows `allow-origin`, `allow-remote`, `checkpoint-log`, `data`, `explain`, `keep-alive`, `limits`, `listen`, \
        `log-slower-than`, `memory`, `port`, `public`, `rules`, `store`";
    let name = "`a/b` is not a database name: 1 to 100 of A-Z a-z 0-9 . _ - are allowed, the first a letter or digit";
    for (number, (mode, text, expected)) in [
        (
            "dev",
            "memory = true\nprot = 1\n\n[tls]\ncert = 'x'\n",
            &*format!(" has keys that `hearth dev` does not know: `prot` (line 2), `tls` (line 4); {known}"),
        ),
        (
            "dev",
            "namespaces = []",
            &format!(" has keys that `hearth dev` does not know: `namespaces` (line 1); {known}"),
        ),
        (
            "dev",
            "\nport = 'many'",
            ", line 2: invalid type: string \"many\", expected a port, a number from 0 to 65535",
        ),
        (
            "dev",
            "\nport = 65536",
            ", line 2: invalid value: integer `65536`, expected a port, a number from 0 to 65535",
        ),
        (
            "serve",
            "keep-alive = 0",
            ", line 1: invalid value: integer `0`, expected a whole number of seconds from 1 to 30",
        ),
        (
            "dev",
            "checkpoint-log = 4097",
            ", line 1: invalid value: integer `4097`, expected a whole number of MiB from 1 to 4096",
        ),
        ("dev", "port = = 1", ", line 1: extra `=`, expected nothing"),
        ("serve", "\n\nnamespaces = ['a/b']", &format!(", line 3: {name}")),
        (
            "serve",
            "explain = true",
            " has keys that `hearth serve` does not know: `explain` (line 1); it knows `admin-credential-file`, \
             `behind-proxy`, `checkpoint-log`, `data`, `firebase-keys`, `firebase-project`, `keep-alive`, `limits`, `listen`, \
             `log-slower-than`, `max-body-memory`, `max-connections`, `max-connections-per-address`, `memory`, `namespaces`, `port`, \
             `refuse-open-rules`, `rules`, `store`, `tls-cert`, `tls-key`, `token-issuers`, `token-secret-files`",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let file = file(&format!("{number}.toml"), text);
        let mut command = if mode == "dev" { dev("--config", &file) } else { serve("--config", &file) };
        check_mistake(&mut command, &format!("`{file}`{expected}"));
    }

    let short = "the admin credential has 7 characters: 16 to 1024 are allowed";
    let secret = file("short", "hunter2\n");
    check_mistake(&mut serve("--admin-credential-file", &secret), &format!("`{secret}`: {short}"));
    check_mistake(
        serve("--listen", "127.0.0.1").env("HEARTH_ADMIN_CREDENTIAL", "hunter2"),
        &format!("the variable `HEARTH_ADMIN_CREDENTIAL`: {short}"),
    );
}

#[test]
fn every_problem_of_rules_is_told() {
    let rules = file("wrong.json", "{\"rules\": {\n  \".read\": \"nobody\",\n  \".write\": \"1 +\"\n}}\n");
    for mode in ["dev", "serve"] {
        let (code, out, err) = run(&mut command(&[mode, "--memory", "--rules", &rules]));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.starts_with("hearth: the rules cannot be used\nerror: "), "{err}");
        for place in ["2:13: Unknown variable 'nobody'.", "3:17: Expected an operand"] {
            assert!(err.contains(&format!("error: {rules}:{place}")), "{err}");
        }
    }
}

/// Why the server closes, after whatever else it says.
async fn goodbye(socket: &mut Socket) -> CloseFrame {
    loop {
        if let Message::Close(frame) = socket.stream.next().await.unwrap().unwrap() {
            return frame.unwrap();
        }
    }
}

#[test]
fn the_commands_are_few() {
    let help = "\
A realtime database that you run yourself, for the apps and SDKs of the Firebase Realtime Database

Usage: hearth <COMMAND>

Commands:
  dev      Runs a server for development: for this machine, and convenient
  serve    Runs a server for production: closed without rules, and for the databases that you name
  token    Makes a token for a service, a device or a test, and prints it
  export   Copies what is at a place of a running server into a file of JSON, as it is at one moment
  import   Replaces what is at a place of a running server by a file of JSON, at once or not at all
  backup   Copies all databases of a running server into one file, with rules and settings
  restore  Makes a folder of data from a backup, for a server that does not run
  rules    Checks, tests, explains and covers security rules, without a server
  help     Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help
  -V, --version  Print version
";
    assert_eq!(run(&mut command(&["--help"])), (Some(0), help.into(), String::new()));
    assert_eq!(run(&mut command(&[])), (Some(2), String::new(), help.into()));
}

#[tokio::test]
async fn a_signal_sends_clients_away_so_that_they_come_back() {
    for signal in ["TERM", "INT"] {
        let server = Server::of(command(&["dev", "--port", "0"]).env("HEARTH_MEMORY", "1"));
        let mut socket = connect(&server, "demo", &[]).await.unwrap();
        // Something to be finished before the end.
        ask(&mut socket, RequestBody::OnDisconnect(OnDisconnect::Set(one()))).await.unwrap();
        server.signal(signal);
        let goodbye = goodbye(&mut socket).await;
        assert_eq!(goodbye.code, CloseCode::Away);
        let (code, out, err) = server.ended();
        assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
        assert!(err.ends_with("Ctrl-C ends it.\n\nhearth: ended in order\n"), "{err}");
    }
}

/// The lines of an event stream, head included.
fn stream(server: &Server) -> impl Iterator<Item = String> + use<> {
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    let ask = "GET /a.json?ns=demo HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n";
    stream.write_all(ask.as_bytes()).unwrap();
    BufReader::new(stream).lines().map(Result::unwrap)
}

#[test]
fn a_stream_says_that_it_lives_when_it_says_nothing_else() {
    let server = Server::start(&["dev", "--keep-alive", "1"]);
    let mut lines = stream(&server);
    let mut head = lines.by_ref().take_while(|line| !line.is_empty());
    for wanted in ["cache-control: no-cache", "x-accel-buffering: no"] {
        assert!(head.any(|line| line == wanted), "{wanted}");
    }
    drop(head);
    let mut events = lines.filter_map(|line| line.strip_prefix("event: ").map(str::to_owned));
    assert_eq!(events.next().as_deref(), Some("put"));
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1_500) {
        let value = began.elapsed().as_micros().to_string();
        assert_eq!(request(&server, "PUT", "/a.json?ns=demo", &[], &value).status, 200);
        assert_eq!(events.next().as_deref(), Some("put"));
    }
    let last = Instant::now();
    assert_eq!(events.next().as_deref(), Some("keep-alive"));
    assert_eq!(events.next().as_deref(), Some("keep-alive"));
    assert!((1_900..3_500).contains(&last.elapsed().as_millis()), "{:?}", last.elapsed());
}

#[test]
fn a_stream_ends_in_order_with_the_server() {
    let server = Server::start(&["dev"]);
    let mut lines = stream(&server);
    assert!(lines.any(|line| line == "event: put"));
    server.signal("TERM");
    let asked = Instant::now();
    // The end of a body in pieces: nothing is cut off.
    assert!(lines.any(|line| line == "0"));
    let (code, out, err) = server.ended();
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(err.ends_with("Ctrl-C ends it.\n\nhearth: ended in order\n"), "{err}");
    // Nobody was waited for until patience ended.
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
}

#[test]
fn the_commands_about_rules_are_there_too() {
    let (good, bad) = (file("good.json", RULES), file("bad.json", "{}"));
    for (name, expected) in [(good.as_str(), 0), (&bad, 1), ("/nowhere/x", 2)] {
        assert_eq!(run(&mut command(&["rules", "check", name])).0, Some(expected), "{name}");
    }
}

#[test]
fn a_service_manager_is_told_when_the_server_is_ready_and_when_it_ends() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let of_file = folder.join(format!("notify-{}", std::process::id()));
    drop(fs::remove_file(&of_file));
    let abstract_name = format!("hearth-tests-{}", std::process::id());
    let without_file = std::os::unix::net::SocketAddr::from_abstract_name(&abstract_name).unwrap();
    for (socket, name) in [
        (UnixDatagram::bind(&of_file).unwrap(), of_file.display().to_string()),
        (UnixDatagram::bind_addr(&without_file).unwrap(), format!("@{abstract_name}")),
    ] {
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let told = || {
            let mut told = [0; 1_000];
            let length = socket.recv(&mut told).unwrap();
            text(&told[..length])
        };
        let mut command = command(&["dev"]);
        let server = Server::of(command.args(["--memory", "--port", "0"]).env("NOTIFY_SOCKET", &name));
        assert_eq!(told(), format!("READY=1\nSTATUS=listening on http://{}\n", server.address), "{name}");
        server.signal("TERM");
        assert_eq!(told(), "STOPPING=1\nSTATUS=ending\n", "{name}");
        assert_eq!(server.ended().0, Some(0));
    }
    let mut command = command(&["dev"]);
    let server =
        Server::of(command.args(["--memory", "--port", "0"]).env("NOTIFY_SOCKET", "/nowhere/at/all"));
    server.signal("TERM");
    let (code, _, said) = server.ended();
    assert!(code == Some(0) && said.contains("the service manager was not told"), "{said}");
}
