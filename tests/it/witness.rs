//! The witness between clients and a server, with both sides played from a script: what goes through it unchanged, and
//! what it finds wrong.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

use Step::{Client, ClientCut, ClientEnds, Server, ServerCut, ServerEnds};
use hearth_tests::witness::Witness;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// One thing that happens, and is waited for at the other end.
#[derive(Clone)]
enum Step {
    /// The client sends this, and the server gets exactly this.
    Client(Vec<u8>),
    /// The other way round.
    Server(Vec<u8>),
    /// The client has said all, and the server learns it.
    ClientEnds,
    ServerEnds,
    /// The client is gone without having read all, and the server learns it.
    ClientCut,
    ServerCut,
}

const ASK: &[u8] = b"GET /.ws?v=5&ns=demo HTTP/1.1\r\nHost: 127.0.0.1:9000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
const TAKE_OVER: &[u8] =
    b"GET /.ws?v=5&s=sess-1&ns=demo HTTP/1.1\r\nHost: localhost\r\nconnection: upgrade\r\nupgrade: WebSocket\r\n\r\n";
const ANSWER: &[u8] =
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: x\r\n\r\n";
const HANDSHAKE: &str =
    r#"{"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"127.0.0.1:9000","s":"sess-1"}}}"#;
const LISTEN: &str = r#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#;
const SHOWN: &str = r#"{"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1}}}}"#;
const LISTENING: &str = r#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}"#;
const PUT: &str = r#"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/b","d":2}}}"#;
const CHANGED: &str = r#"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":2}}}"#;
const DONE: &str = r#"{"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}"#;

/// A frame: its first byte, and what it carries.
fn frame(first: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    let bit = if mask.is_some() { 0x80 } else { 0 };
    let mut bytes = vec![first];
    match payload.len() {
        length @ ..126 => bytes.push(bit | u8::try_from(length).unwrap()),
        length @ 126..65_536 => {
            bytes.push(bit | 126);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        length => {
            bytes.push(bit | 127);
            bytes.extend(u64::try_from(length).unwrap().to_be_bytes());
        }
    }
    bytes.extend(mask.into_iter().flatten());
    let mask = mask.unwrap_or_default();
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

const MASK: Option<[u8; 4]> = Some([0x12, 0x34, 0x56, 0x78]);

fn says(text: &str) -> Step {
    Server(frame(0x81, text.as_bytes(), None))
}

fn asks(text: &str) -> Step {
    Client(frame(0x81, text.as_bytes(), MASK))
}

/// What begins every WebSocket, and what follows.
fn talk(steps: &[Step]) -> Vec<Step> {
    let opening = [Client(ASK.into()), Server(ANSWER.into()), says(HANDSHAKE)];
    opening.into_iter().chain(steps.iter().cloned()).collect()
}

/// A request of long polling, and its answer.
fn asked(query: &str, script: &str) -> Vec<Step> {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{script}", script.len());
    vec![
        Client(format!("GET /.lp?{query} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes()),
        Server(answer.into_bytes()),
    ]
}

/// The start of a session of long polling, and messages behind its handshake.
fn begun(messages: &[&str]) -> Vec<Step> {
    let messages = [&[HANDSHAKE][..], messages].concat().join(",");
    asked(
        "start=t&ser=1&cb=7&v=5",
        &format!(
            "function pRTLPCB(n,d){{}}\npLPCommand(\"start\",\"sess-1\",\"word\");\npRTLPCB(0,[{messages}]);\n"
        ),
    )
}

/// What is told later.
fn polled(script: &str) -> Vec<Step> {
    asked("id=sess-1&pw=word&ser=2", script)
}

/// The same bytes, each on its own.
fn dripping(steps: Vec<Step>) -> Vec<Step> {
    let each = |step| match step {
        Client(bytes) => bytes.into_iter().map(|byte| Client(vec![byte])).collect(),
        Server(bytes) => bytes.into_iter().map(|byte| Server(vec![byte])).collect(),
        step @ (ClientEnds | ServerEnds | ClientCut | ServerCut) => vec![step],
    };
    steps.into_iter().flat_map(each).collect()
}

/// A long text in parts behind their number, as it is sent by either side.
fn parts(text: &str) -> Vec<String> {
    let chunks = text.as_bytes().chunks(16_384).map(|chunk| String::from_utf8(chunk.into()).unwrap());
    let chunks: Vec<_> = chunks.collect();
    std::iter::once(chunks.len().to_string()).chain(chunks).collect()
}

/// Plays the steps through a witness. What it finds wrong; after the first fault the client is told nothing more.
fn play(steps: &[Step]) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let witness = Witness::listen(listener.local_addr().unwrap(), |_| ()).unwrap();
    let client = TcpStream::connect(witness.address()).unwrap();
    let (server, _) = listener.accept().unwrap();
    for end in [&client, &server] {
        end.set_read_timeout(Some(PATIENCE)).unwrap();
    }
    for step in steps {
        if !carried(step, &client, &server) {
            assert!(is_at_end(&server), "the connection is closed to the server, too");
            assert!(!witness.faults().is_empty(), "it is closed for a reason");
            break;
        }
    }
    witness.faults()
}

/// Whether a step came through, unless the witness has closed the connection.
fn carried(step: &Step, client: &TcpStream, server: &TcpStream) -> bool {
    let passes = |mut from: &TcpStream, to: &TcpStream, bytes: &[u8]| {
        std::thread::scope(|scope| {
            // More than fits into the buffers on the way cannot be written before somebody reads.
            scope.spawn(move || from.write_all(bytes).unwrap());
            let came = read(to, bytes.len());
            assert!(came.is_empty() || came == bytes, "what came is what was sent");
            !came.is_empty()
        })
    };
    match step {
        Client(bytes) => passes(client, server, bytes),
        Server(bytes) => passes(server, client, bytes),
        ClientEnds => client.shutdown(Shutdown::Write).is_ok() && is_at_end(server),
        ServerEnds => server.shutdown(Shutdown::Write).is_ok() && is_at_end(client),
        ClientCut => client.shutdown(Shutdown::Both).is_ok() && is_at_end(server),
        ServerCut => server.shutdown(Shutdown::Both).is_ok() && is_at_end(client),
    }
}

/// So many bytes, or none if the connection is closed.
fn read(mut stream: &TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    match stream.read_exact(&mut bytes) {
        Ok(()) => bytes,
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("{length} bytes do not come"),
        Err(_) => Vec::new(),
    }
}

fn is_at_end(mut stream: &TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn what_is_right_goes_through_unchanged() {
    let conversation = [
        asks(LISTEN),
        says(SHOWN),
        says(LISTENING),
        Server(frame(0x89, b"ping", None)),
        Client(frame(0x8a, b"ping", MASK)),
        asks("0"),
        asks(PUT),
        says(CHANGED),
        says(DONE),
        Client(frame(0x88, &[3, 232], MASK)),
        Server(frame(0x88, &[3, 232], None)),
        ServerEnds,
        ClientEnds,
    ];
    let big = format!(r#"{{"t":"d","d":{{"r":1,"a":"p","b":{{"p":"/a","d":"{}"}}}}}}"#, "x".repeat(16 << 20));
    let shown = format!(r#"{{"t":"d","d":{{"a":"d","b":{{"p":"a","d":"{}"}}}}}}"#, "x".repeat(16 << 20));
    let in_one = [LISTENING, CHANGED].map(|text| frame(0x81, text.as_bytes(), None)).concat();
    let rows: &[(&str, Vec<Step>)] = &[
        ("a conversation", talk(&conversation)),
        ("byte by byte", dripping(talk(&conversation))),
        (
            "the answer and the handshake at once",
            vec![
                Client(ASK.into()),
                Server([ANSWER, &frame(0x81, HANDSHAKE.as_bytes(), None)].concat()),
                asks(LISTEN),
            ],
        ),
        ("two messages at once", talk(&[asks(LISTEN), says(SHOWN), Server(in_one)])),
        (
            "a client's text in frames, with a pong between",
            talk(&[
                Client(frame(0x01, &LISTEN.as_bytes()[..20], MASK)),
                Client(frame(0x8a, b"", MASK)),
                Client(frame(0x80, &LISTEN.as_bytes()[20..], MASK)),
                says(SHOWN),
                says(LISTENING),
            ]),
        ),
        (
            "a server's text in frames",
            talk(&[
                Server(frame(0x01, br#"{"t":"c","d":{"t":"e","#, None)),
                Server(frame(0x80, r#""d":"é"}}"#.as_bytes(), None)),
            ]),
        ),
        (
            "sixteen megabytes to the server",
            talk(&parts(&big).iter().map(|part| asks(part)).collect::<Vec<_>>()),
        ),
        ("sixteen megabytes in one frame", talk(&[asks(&big)])),
        (
            "sixteen megabytes to the client",
            talk(
                &std::iter::once(asks(LISTEN))
                    .chain(parts(&shown).iter().map(|part| says(part)))
                    .chain([says(LISTENING)])
                    .collect::<Vec<_>>(),
            ),
        ),
        (
            "a client that is cut off inside a frame",
            talk(&[Client(frame(0x81, LISTEN.as_bytes(), MASK)[..9].into()), ClientCut]),
        ),
        (
            "a server that is cut off inside a frame",
            talk(&[asks(LISTEN), Server(frame(0x81, SHOWN.as_bytes(), None)[..9].into()), ServerCut]),
        ),
        ("nonsense from the client", talk(&[asks("hello"), Client(vec![0xff; 40]), ClientEnds])),
        (
            "a session that is taken over",
            vec![
                Client(TAKE_OVER.into()),
                Server(ANSWER.into()),
                says(r#"{"t":"c","d":{"t":"a","d":{}}}"#),
                says(LISTENING),
            ],
        ),
        (
            "a refused upgrade",
            vec![
                Client(ASK.into()),
                Server(b"HTTP/1.1 421 Misdirected Request\r\ncontent-length: 3\r\n\r\nno\n".into()),
                ServerEnds,
            ],
        ),
        (
            "requests by HTTP",
            vec![
                Client(b"PUT /a.json HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1".into()),
                Server(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1".into()),
                Client(b"GET /a.json HTTP/1.1\r\nHost: x\r\n\r\n".into()),
                Server(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1".into()),
                ClientEnds,
                ServerEnds,
            ],
        ),
        (
            "a stream of events",
            vec![
                Client(b"GET /a.json HTTP/1.1\r\nAccept: text/event-stream\r\n\r\n".into()),
                Server(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".into()),
                Server(b"1f\r\nevent: keep-alive\ndata: null\n\n\r\n".into()),
                ClientCut,
            ],
        ),
        (
            "a session of long polling",
            [
                begun(&["{\"t\":\"c\",\"d\":{\"t\":\"o\",\"d\":{}}}", "null"]),
                polled("pRTLPCB(2,[]);\n"),
                // Answers overtake each other.
                polled(&format!("pRTLPCB(1,[{SHOWN},{DONE}]);\n")),
                polled(r#"pRTLPCB(3,[{"t":"d","d":{"a":"d","b":{"p":"a","d":{["__proto__"]:"\u003c"}}}}]);"#),
                polled(
                    "pRTLPCB(4,[{\"t\":\"c\",\"d\":{\"t\":\"n\",\"d\":{}}}]);\npLPCommand(\"close\",4);\n",
                ),
                polled("pLPCommand(\"close\");\n"),
            ]
            .concat(),
        ),
        (
            "a session of long polling byte by byte",
            dripping([begun(&[]), polled("pRTLPCB(1,[]);\n")].concat()),
        ),
        (
            "a poll that never ends",
            vec![
                Client(b"GET /.lp?start=t&ser=1&cb=7&v=5 HTTP/1.1\r\n\r\n".into()),
                Server(b"HTTP/1.1 200 OK\r\ncontent-length: 26\r\n\r\npRTLPCB(0,[{\"t\":\"nonsense".into()),
            ],
        ),
        (
            "long polling behind other requests",
            [
                vec![
                    Client(
                        b"PUT /a.json HTTP/1.1\r\nContent-Length: 1\r\n\r\n1GET /b HTTP/1.1\r\n\r\n".into(),
                    ),
                    Server(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1HTTP/1.1 204 No\r\n\r\n".into()),
                ],
                begun(&[]),
            ]
            .concat(),
        ),
        ("somebody who says nothing", vec![ClientEnds, ServerEnds]),
    ];
    for (name, steps) in rows {
        assert_eq!(play(steps), [""; 0], "{name}");
    }
}

#[test]
fn what_an_sdk_cannot_bear_is_told_and_kept_from_the_client() {
    let answer = |line: &str| {
        let head = String::from_utf8(ANSWER.into()).unwrap();
        vec![Client(ASK.into()), Server(head.replace("sec-websocket-accept: x", line).into())]
    };
    let opening = [Client(ASK.into()), Server(ANSWER.into())];
    let after = |steps: &[Step]| opening.iter().chain(steps).cloned().collect::<Vec<_>>();
    for (name, steps, expected) in [
        (
            "an early answer",
            talk(&[asks(&LISTEN.replace(r#","h":"""#, "")), says(LISTENING)]),
            "no data were pushed before its ok",
        ),
        ("data for nobody", talk(&[says(SHOWN)]), "`/a` is pushed, and nobody listens there"),
        (
            "an answer that was not asked for",
            talk(&[says(DONE)]),
            "connection 1 to `/.ws?v=5&ns=demo`, text 2 of the server: request 2 is not waiting for an answer",
        ),
        (
            "a write that is answered before its data",
            talk(&[asks(LISTEN), says(SHOWN), says(LISTENING), asks(PUT), says(DONE)]),
            "request 2 is acknowledged before its data at `/a/b` were pushed",
        ),
        (
            "another order",
            talk(&[asks(LISTEN), says(SHOWN), asks(PUT), says(CHANGED), says(DONE)]),
            "which came first",
        ),
        ("the message is named", talk(&[says(SHOWN)]), r#"in `{"t":"d","d":{"a":"d""#),
        ("no handshake", after(&[says(LISTENING)]), "the first message must be the handshake"),
        (
            "a session that is greeted",
            vec![Client(TAKE_OVER.into()), Server(ANSWER.into()), says(HANDSHAKE)],
            "`a`",
        ),
        ("an empty text", talk(&[says("")]), "an empty text ends"),
        ("no JSON", talk(&[says("hello world")]), "it is not JSON"),
        ("byte by byte", dripping(talk(&[says(DONE)])), "text 2 of the server"),
        (
            "no handshake by long polling",
            asked("start=t", &format!("pLPCommand(\"start\",\"x\",\"y\");\npRTLPCB(0,[{DONE}]);\n")),
            "connection 1, an answer from `/.lp`: messages 0 of long polling: the first message must be the handshake",
        ),
        (
            "data that are missing by long polling",
            [begun(&[]), polled(r#"pRTLPCB(1,[{"t":"d","d":{"a":"d","b":{"p":"a"}}}]);"#)].concat(),
            "messages 1 of long polling",
        ),
        (
            "a number that comes twice",
            [begun(&[]), polled("pRTLPCB(2,[]);\n"), polled("pRTLPCB(2,[]);\n")].concat(),
            "messages 2 of long polling: that number came before",
        ),
        (
            "a number that came before",
            [begun(&[]), polled("pRTLPCB(0,[]);\n")].concat(),
            "messages 0 of long polling: that number came before",
        ),
        ("messages of nobody", polled("pRTLPCB(0,[]);\n"), "messages 0 come to a session that has not begun"),
        (
            "another command",
            polled("pLPCommand(\"pause\");\n"),
            "clients do not know what `pLPCommand(\"pause\");` says",
        ),
        ("a masked frame", talk(&[Server(frame(0x81, LISTENING.as_bytes(), MASK))]), "masked"),
        ("a compressed frame", talk(&[Server(frame(0xc1, b"x", None))]), "extension"),
        ("a binary frame", talk(&[Server(frame(0x82, LISTENING.as_bytes(), None))]), "binary"),
        ("half a character", talk(&[Server(frame(0x01, &[b'"', 0xc3], None))]), "inside a character"),
        (
            "a text inside a text",
            talk(&[Server(frame(0x01, b"{", None)), says("{}")]),
            "begins inside another",
        ),
        ("the end of nothing", talk(&[Server(frame(0x80, b"{", None))]), "never begun"),
        ("a long ping", talk(&[Server(frame(0x89, &[b'x'; 126], None))]), "125 bytes"),
        ("an unknown frame", talk(&[Server(frame(0x83, b"", None))]), "nobody knows"),
        (
            "a word behind the goodbye",
            talk(&[Server(frame(0x88, b"", None)), says(SHOWN)]),
            "after the goodbye",
        ),
        ("an extension", answer("sec-websocket-extensions: permessage-deflate"), "Android fails at"),
        ("a protocol", answer("sec-websocket-protocol: chat"), "nobody asks for"),
        ("no space", answer("server:x"), "one space"),
        ("a long header", answer(&format!("x: {}", "y".repeat(997))), "has 1000 bytes"),
        ("another upgrade", answer("upgrade: WebSocket"), "`Upgrade` must be exactly"),
        ("two connections", answer("connection: Upgrade, keep-alive"), "`Connection` must be exactly"),
        (
            "an upgrade of a connection in use",
            vec![
                Client(b"GET /a.json HTTP/1.1\r\n\r\n".into()),
                Server(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1".into()),
                Client(ASK.into()),
                Server(ANSWER.into()),
            ],
            "becomes a WebSocket after it was used for something else",
        ),
    ] {
        let found = play(&steps);
        assert!(found.len() == 1 && found[0].contains(expected), "{name}: {found:?}");
    }
}

#[test]
fn who_does_not_read_makes_the_server_wait() {
    /// The witness holds less than this, and so do the ends of the connections.
    const HELD_MAX: usize = 16 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let witness = Witness::listen(listener.local_addr().unwrap(), |_| ()).unwrap();
    let mut client = TcpStream::connect(witness.address()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let request = b"GET /a.json HTTP/1.1\r\n\r\n";
    client.write_all(request).unwrap();
    assert_eq!(read(&server, request.len()), request);
    // Shorter than it takes to write all, were all taken: a slow machine makes this test see less, and never fail.
    server.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut written = 0;
    while let Ok(taken @ 1..) = server.write(&[b'x'; 64 << 10]) {
        written += taken;
        assert!(written < HELD_MAX, "{written} bytes were taken for a client that reads none");
    }
    assert!(0 < written);
    drop(server);
    let mut came = Vec::new();
    client.read_to_end(&mut came).unwrap();
    assert_eq!(came.len(), written, "what was taken comes in the end");
}

#[test]
fn every_fault_is_said_and_the_end_of_the_program_tells_of_it() {
    for (steps, code, said) in [
        (talk(&[asks(LISTEN), says(SHOWN), says(LISTENING)]), 0, ""),
        (
            talk(&[says(SHOWN)]),
            1,
            "hearth-witness: connection 1 to `/.ws?v=5&ns=demo`, text 2 of the server: `/a`",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_hearth-witness"))
            .arg(format!("http://{}", listener.local_addr().unwrap()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address: SocketAddr =
            line.trim_end().strip_prefix("listening on http://").unwrap().parse().unwrap();
        let client = TcpStream::connect(address).unwrap();
        let (server, _) = listener.accept().unwrap();
        assert_eq!(steps.iter().all(|step| carried(step, &client, &server)), code == 0);
        drop(program.stdin.take());
        let ended = program.wait_with_output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{stderr}");
        assert!(stderr.starts_with(said) && stderr.is_empty() == said.is_empty(), "{stderr}");
    }
}

#[test]
fn every_fault_is_handed_over_when_it_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = said.clone();
    let say = move |fault: &str| heard.lock().unwrap().push(fault.into());
    let witness = Witness::listen(listener.local_addr().unwrap(), say).unwrap();
    for _ in 0..2 {
        let client = TcpStream::connect(witness.address()).unwrap();
        let (server, _) = listener.accept().unwrap();
        assert!(!talk(&[says(SHOWN)]).iter().all(|step| carried(step, &client, &server)));
    }
    assert_eq!(witness.faults().len(), 2);
    assert_eq!(*said.lock().unwrap(), witness.faults());
}
