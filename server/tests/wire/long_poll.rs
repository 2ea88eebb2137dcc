//! Long polling from the outside, request by request (wire reference 14).

use crate::polls::{Polls, Said, get, said, segments, send};
use crate::server::Server;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

fn begin(server: &Server) -> Polls {
    Polls::start(&server.address, "ns=demo", &[]).unwrap()
}

/// The name of its session. Here it is the id of the ticket, too.
fn session(client: &Polls) -> &str {
    client.ticket.strip_prefix("id=").unwrap().split('&').next().unwrap()
}

fn ok(data: impl Into<Value>) -> Value {
    json!({"s": "ok", "d": data.into()})
}

fn put(at: &str, value: impl Into<Value>) -> Value {
    json!({"p": at, "d": value.into()})
}

fn value_at(client: &mut Polls, at: &str) -> Value {
    client.ask("g", &json!({"p": at, "q": {}}))["d"].clone()
}

#[test]
fn a_session_starts_with_a_script() {
    let server = Server::start();
    let query = "start=t&ser=48210332&cb=7&v=5&p=1:2:web:3&ns=demo";
    let (status, head, script) = get(&server.address, query, &[("host", "localhost:9000")]);
    assert_eq!(status, 200);
    for header in ["content-type: application/javascript; charset=utf-8", "cache-control: no-cache, no-store"]
    {
        assert!(head.lines().any(|line| line == header), "{head}");
    }
    let lines: Vec<_> = script.lines().collect();
    assert_eq!(
        lines[..2],
        [
            r#"function pLPCommand(c,a,b,d,e){var f=parent.window["pLPCommand7"];if(f)f(c,a,b,d,e);}"#,
            r#"function pRTLPCB(n,d){var f=parent.window["pRTLPCB7"];if(f)f(n,d);}"#
        ]
    );
    let [Said::Start { id, password }, Said::Messages(0, messages)] = &said(&script)[..] else {
        panic!("{script}");
    };
    assert!(id.len() == 32 && password.len() == 32 && id != password, "{script}");
    let handshake: Value = serde_json::from_str(&messages[0]).unwrap();
    assert_eq!(handshake["d"]["t"], "h");
    assert_eq!(handshake["d"]["d"]["h"], "localhost:9000");
    assert_eq!(handshake["d"]["d"]["v"], "5");
    assert_eq!(handshake["d"]["d"]["s"], json!(id));
}

#[test]
fn what_is_written_is_read_and_told() {
    let server = Server::start();
    let (mut ada, mut grace) = (begin(&server), begin(&server));
    assert_eq!(ada.ask("q", &json!({"p": "/a", "h": ""})), ok(json!({})));
    // Ada's request waits, until there is something to tell.
    let waiting = thread::spawn({
        let ada = ada.clone();
        move || ada.poll("")
    });
    let text = "</script>\u{2028}<!-- é😀 \"";
    assert_eq!(grace.ask("p", &put("/a", json!({"text": text, "x": 2}))), ok(""));
    assert_eq!(ada.take(waiting.join().unwrap(), 0), None);
    assert_eq!(ada.pushes, [json!({"a": "d", "b": {"p": "a", "d": {"text": text, "x": 2}}})]);
    assert_eq!(grace.ask("m", &put("/a", json!({"x": null, "y/z": true}))), ok(""));
    assert_eq!(value_at(&mut grace, "/a/y"), json!({"z": true}));
    assert_eq!(grace.pushes, Vec::<Value>::new());
}

#[test]
fn a_newer_request_lets_the_older_one_go() {
    let server = Server::start();
    let mut client = begin(&server);
    let (ended, ends) = mpsc::channel();
    for _ in 0..3 {
        let (client, ended) = (client.clone(), ended.clone());
        thread::spawn(move || ended.send(client.poll("")).unwrap());
    }
    let next = || match &ends.recv().unwrap()[..] {
        [Said::Messages(number, messages)] if messages.is_empty() => *number,
        other => panic!("{other:?}"),
    };
    // Each ends with the next, with nothing, and the numbers have no gap; which is read first is not the server's choice.
    let mut numbers = [next(), next()];
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
    // One is left.
    assert_eq!(client.poll(PING), [pong(4)]);
    assert_eq!(next(), 3);
    (client.number, client.segment) = (5, 1);
    assert_eq!(value_at(&mut client, "/a"), Value::Null);
}

/// What is answered at once.
const SOCKET_PING: &str = r#"{"t":"c","d":{"t":"p","d":{}}}"#;
/// The same, as the first message of a session.
const PING: &str = "&seg0=0&ts0=1&d0=eyJ0IjoiYyIsImQiOnsidCI6InAiLCJkIjp7fX19";

fn pong(number: u64) -> Said {
    Said::Messages(number, vec![r#"{"t":"c","d":{"t":"o","d":{}}}"#.into()])
}

#[test]
fn segments_may_overtake_each_other_and_come_twice() {
    let server = Server::start();
    let mut client = begin(&server);
    let message = json!({"t": "d", "d": {"r": 1, "a": "p", "b": put("/a", "x".repeat(100))}}).to_string();
    let urls = segments(&message, 0, 50);
    client.segment = urls.len() as u64;
    let (ended, ends) = mpsc::channel();
    let mut under_way = 0_u32;
    // Backwards, and the first twice.
    for url in urls.iter().rev().chain(&urls[..1]) {
        let (client, url, ended) = (client.clone(), url.clone(), ended.clone());
        thread::spawn(move || ended.send(client.poll(&url)).unwrap());
        under_way += 1;
    }
    let answer = r#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#.to_owned();
    let is_answered = |said: &[Said]| {
        said.iter().any(|call| matches!(call, Said::Messages(_, messages) if messages.contains(&answer)))
    };
    let mut said = Vec::new();
    while !is_answered(&said) {
        // Whoever is left when the others have ended waits for the answer.
        said.extend(if under_way == 0 { client.poll("") } else { ends.recv().unwrap() });
        under_way = under_way.saturating_sub(1);
    }
    // Those that have come later wait for nothing.
    while 0 < under_way {
        said.extend(client.poll(&segments(SOCKET_PING, client.segment, 1_840)[0]));
        client.segment += 1;
        for more in ends.try_iter() {
            said.extend(more);
            under_way -= 1;
        }
    }
    let mut told: Vec<_> = said
        .into_iter()
        .map(|call| match call {
            Said::Messages(number, messages) => (number, messages),
            Said::Start { .. } | Said::Close(_) => panic!("{call:?}"),
        })
        .collect();
    told.sort_by_key(|(number, _)| *number);
    assert!((1..).zip(&told).all(|(expected, (number, _))| expected == *number), "{told:?}");
    client.number = told.len() as u64 + 1;
    let told: Vec<_> = told.into_iter().flat_map(|(_, messages)| messages).collect();
    assert_eq!(told.iter().filter(|text| text.contains(r#""r":"#)).collect::<Vec<_>>(), [&answer]);
    assert_eq!(value_at(&mut client, "/a"), json!("x".repeat(100)));
}

#[test]
fn tickets_that_open_nothing_are_told_to_begin_anew() {
    let server = Server::start();
    let (ada, grace) = (begin(&server), begin(&server));
    let password = |polls: &Polls| polls.ticket.split_once("&pw=").unwrap().1.to_owned();
    let id = |polls: &Polls| polls.ticket.split_once("&pw=").unwrap().0.to_owned();
    let other = format!("{}&pw={}", id(&ada), password(&grace));
    let short = ada.ticket[..ada.ticket.len() - 1].to_owned();
    for ticket in ["id=41&pw=x", &other, &short] {
        let mut stranger = ada.clone();
        stranger.ticket = ticket.into();
        assert_eq!(stranger.poll(""), [Said::Close(None)], "{ticket}");
        assert_eq!(stranger.poll("&seg0=0&ts0=1&d0=e30."), [Said::Close(None)], "{ticket}");
        assert_eq!(get(&server.address, &format!("disconn=t&{ticket}"), &[]).0, 204, "{ticket}");
    }
    // Nothing of that has hurt the session.
    assert_eq!(value_at(&mut { ada }, "/a"), Value::Null);
}

#[test]
fn what_nobody_can_understand_is_refused() {
    let server = Server::start();
    for (query, expected) in [
        ("", "a parameter is missing: `start` to begin a session, or `id` and `pw` of one"),
        ("start=t&v=5&ns=demo", "parameter `cb` must be a number of 1 to 16 digits, not ``"),
        ("start=t&v=5&cb=0%22", "parameter `cb` must be a number of 1 to 16 digits, not `0\"`"),
        ("start=t&cb=1&v=6", "parameter `v` must be 5, the version of the protocol, not `6`"),
        (
            "start=t&cb=1&v=5&ns=a/b",
            "`a/b` is not a database name: 1 to 100 of A-Z a-z 0-9 . _ - are allowed, the first a letter or digit",
        ),
        ("id=a&pw=b&seg0=x&ts0=1&d0=", "parameter `seg0` must be a number, not `x`"),
    ] {
        let (status, _, body) = get(&server.address, query, &[]);
        assert_eq!((status, body.as_str()), (400, format!("{expected}\n").as_str()), "{query}");
    }
    // Where it is about a session, that is over; but not for a URL that cannot be read at all.
    let too_long = format!("&seg0=0&ts0=1&d0={}", "A".repeat(4_097));
    for (more, expected, is_over) in [
        (too_long.as_str(), "parameter `d0` has 4097 characters; at most 4096 are allowed", false),
        ("&seg0=129&ts0=1&d0=e30.", "segment 129 has come, but 0 has not; at most 128 may be ahead", true),
        ("&seg0=0&ts0=1&d0=*", "the message up to segment 0 is not Base64 with - and _", true),
        ("&seg0=0&ts0=0&d0=", "segment 0 is one of 0, but its message has 1 segments", true),
    ] {
        let client = begin(&server);
        let (status, _, body) = get(&server.address, &format!("{}{more}", client.ticket), &[]);
        assert_eq!((status, body.as_str()), (400, format!("{expected}\n").as_str()), "{more}");
        let expected = if is_over { Said::Close(None) } else { pong(1) };
        assert_eq!(client.poll(PING), [expected], "{more}");
    }
    // A message without a number ends it, as on a WebSocket.
    assert_eq!(begin(&server).poll("&seg0=0&ts0=1&d0=W10."), [Said::Close(None)]);
}

/// How a session of a client comes to its end.
type Way<'a> = (&'a str, &'a dyn Fn(&Polls));

#[test]
fn the_end_of_a_session_makes_the_armed_writes() {
    let server = Server::start();
    let goodbye = |method: &str, client: &Polls| {
        let status = send(&server.address, &format!("{method} /.lp?disconn=t&{}", client.ticket), &[]).0;
        assert_eq!(status, 204);
    };
    let ends: [Way<'_>; 5] = [
        ("a request", &|client| goodbye("GET", client)),
        ("a beacon", &|client| goodbye("POST", client)),
        ("its client comes back", &|client| {
            let next = Polls::start(&server.address, &format!("ls={}&ns=demo", session(client)), &[]);
            // They are made before the new session begins.
            assert_eq!(value_at(&mut next.unwrap(), "/its client comes back"), "offline");
        }),
        ("a gap", &|client| {
            let refused = format!("{}&seg0=999&ts0=1&d0=", client.ticket);
            assert_eq!(get(&server.address, &refused, &[]).0, 400);
        }),
        ("no message", &|client| {
            let text = segments("[]", client.segment, 1_840);
            assert_eq!(client.poll(&text[0]), [Said::Close(None)]);
        }),
    ];
    let mut watching = begin(&server);
    for (way, end) in ends {
        let mut client = begin(&server);
        assert_eq!(client.ask("o", &put(&format!("/{way}"), "offline")), ok(""));
        assert_eq!(value_at(&mut watching, &format!("/{way}")), Value::Null, "{way}");
        assert_eq!(watching.ask("q", &json!({"p": way, "h": ""})), ok(json!({})), "{way}");
        end(&client);
        let made = json!({"a": "d", "b": {"p": way, "d": "offline"}});
        while !watching.pushes.contains(&made) {
            let said = watching.poll("");
            assert_eq!(watching.take(said, 0), None, "{way}");
        }
        assert_eq!(client.poll(""), [Said::Close(None)], "{way}");
    }
}

#[test]
fn the_page_of_the_frame_says_goodbye() {
    let server = Server::start();
    let client = begin(&server);
    let (status, head, page) = get(&server.address, &format!("dframe=t&{}&ns=demo", client.ticket), &[]);
    assert_eq!(status, 200);
    assert!(
        head.contains("content-type: text/html; charset=utf-8") && !head.contains("x-frame-options"),
        "{head}"
    );
    assert!(page.contains(&format!("\"?disconn=t&{}\"", client.ticket)), "{page}");
}

#[test]
fn a_large_write_comes_in_pieces() {
    let server = Server::start();
    let mut client = begin(&server);
    let text = "é".repeat(100_000);
    assert_eq!(client.ask("p", &put("/large", text.as_str())), ok(""));
    assert_eq!(value_at(&mut client, "/large"), json!(text));
}

#[test]
fn what_is_long_is_told_as_it_is_and_what_comes_behind_it() {
    let server = Server::start();
    let mut client = begin(&server);
    // Three megabytes, with what means something else in a script.
    let text = "</script>\u{2028}é😀\"".repeat(100);
    let members: serde_json::Map<_, _> =
        (0..1_500).map(|at| (format!("k{at:04}"), json!({"text": text.as_str(), "at": at}))).collect();
    let large = Value::Object(members);
    let body = large.to_string();
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    let length = body.len();
    write!(
        stream,
        "PUT /large.json?ns=demo&print=silent HTTP/1.0\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n{body}",
        server.address
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 204"), "{answer}");
    assert_eq!(client.ask("q", &json!({"p": "/large", "h": ""})), ok(json!({})));
    assert!(client.pushes == [json!({"a": "d", "b": {"p": "large", "d": large}})], "it is told as it is");
    client.pushes.clear();
    assert!(value_at(&mut client, "/large") == large, "it is read as it is");
    // Several that are long, and what is not, in their order.
    for (at, value) in [("k0001", json!(1)), ("k0002", json!(2))] {
        assert_eq!(client.ask("p", &put(&format!("/large/{at}"), value)), ok(""));
    }
    let numbers = ["/large/k0003", "/large", "/large/k0001", "/large", "/large/k0002"];
    for at in numbers {
        let found = value_at(&mut client, at);
        let expected = match at {
            "/large/k0003" => large["k0003"].clone(),
            "/large/k0001" => json!(1),
            "/large/k0002" => json!(2),
            _ => {
                let mut changed = large.clone();
                (changed["k0001"], changed["k0002"]) = (json!(1), json!(2));
                changed
            }
        };
        assert!(found == expected, "{at}");
    }
}

#[test]
fn a_url_of_eight_kilobytes_is_read() {
    let server = Server::start();
    let mut client = begin(&server);
    let message = json!({"t": "d", "d": {"r": 1, "a": "p", "b": put("/a", "x".repeat(5_400))}}).to_string();
    let parts = segments(&message, 0, 1_840);
    let url: String = (0..).zip(&parts).map(|(at, part)| part.replace("0=", &format!("{at}="))).collect();
    assert!((7_000..8_192).contains(&url.len()), "{}", url.len());
    client.segment = parts.len() as u64;
    let said = client.poll(&url);
    assert_eq!(client.take(said, 1), Some(ok("")));
    assert_eq!(value_at(&mut client, "/a"), json!("x".repeat(5_400)));
}

#[test]
fn a_client_that_does_not_ask_is_told_the_difference_when_it_does() {
    let server = Server::start();
    let (mut slow, mut busy) = (begin(&server), begin(&server));
    assert_eq!(slow.ask("q", &json!({"p": "/a", "h": ""})), ok(json!({})));
    for number in 1..=500 {
        assert_eq!(busy.ask("p", &put("/a", number)), ok(""));
    }
    while slow.pushes.last().is_none_or(|push| push["b"]["d"] != 500) {
        let said = slow.poll("");
        assert_eq!(slow.take(said, 0), None);
    }
    // What fits into its queue, and one difference for the rest.
    assert!(slow.pushes.len() <= 66, "{} messages", slow.pushes.len());
}

/// The last message on a transport.
const END: &str = r#"{"t":"c","d":{"t":"n","d":{}}}"#;

type Socket = WebSocketStream<TcpStream>;

/// A WebSocket that knows the name of a session.
async fn take_over(server: &Server, session: &str) -> Socket {
    let url = format!("ws://{}/.ws?v=5&s={session}&ns=demo", server.address);
    let stream = TcpStream::connect(&server.address).await.unwrap();
    client_async(url, stream).await.unwrap().0
}

async fn hear(socket: &mut Socket) -> Value {
    loop {
        if let Message::Text(text) = socket.next().await.unwrap().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

fn control(kind: &str) -> Value {
    json!({"t": "c", "d": {"t": kind, "d": {}}})
}

async fn tell(socket: &mut Socket, message: &Value) {
    socket.send(Message::text(message.to_string())).await.unwrap();
}

#[tokio::test]
async fn a_websocket_takes_a_session_over() {
    let server = Server::start();
    let mut client = begin(&server);
    assert_eq!(client.ask("o", &put("/armed", true)), ok(""));
    let mut socket = take_over(&server, session(&client)).await;
    assert_eq!(hear(&mut socket).await, control("a"));
    for _ in 0..2 {
        tell(&mut socket, &control("p")).await;
        assert_eq!(hear(&mut socket).await, control("o"));
    }
    // Until the client's last message has come, everything goes by long polling, and in its order.
    assert_eq!(client.ask("p", &put("/a", 1)), ok(""));
    tell(&mut socket, &control("a")).await;
    let request = |number: u64, action: &str, body: Value| json!({"t": "d", "d": {"r": number, "a": action, "b": body}});
    tell(&mut socket, &request(12, "g", json!({"p": "/", "q": {}}))).await;
    let late = segments(&request(11, "p", put("/late", true)).to_string(), client.segment, 1_840);
    let end = segments(&control("n").to_string(), client.segment + 1, 1_840);
    let both = format!("{}{}", late[0], end[0].replace("0=", "1="));
    let last = client.number;
    assert_eq!(client.poll(&both), [Said::Messages(last, vec![END.into()]), Said::Close(Some(last))]);
    assert_eq!(hear(&mut socket).await["d"], json!({"r": 11, "b": ok("")}));
    let everything = json!({"a": 1, "late": true});
    assert_eq!(hear(&mut socket).await["d"], json!({"r": 12, "b": ok(everything.clone())}));

    // Long polling is over, and its goodbye is nothing to the session.
    assert_eq!(client.poll(""), [Said::Close(Some(last))]);
    assert_eq!(get(&server.address, &format!("disconn=t&{}", client.ticket), &[]).0, 204);
    tell(&mut socket, &request(13, "g", json!({"p": "/", "q": {}}))).await;
    assert_eq!(hear(&mut socket).await["d"], json!({"r": 13, "b": ok(everything)}));

    // What was armed is made at the end, wherever it comes.
    let next = Polls::start(&server.address, &format!("ls={}&ns=demo", session(&client)), &[]);
    assert_eq!(value_at(&mut next.unwrap(), "/armed"), true);
    assert_eq!(client.poll(""), [Said::Close(None)]);
}

#[tokio::test]
async fn a_websocket_that_cannot_take_over_leaves_long_polling_as_it_is() {
    let server = Server::start();
    let mut client = begin(&server);
    let mut stranger = take_over(&server, "nobody").await;
    assert_eq!(hear(&mut stranger).await, json!({"t": "c", "d": {"t": "r", "d": server.address}}));
    // One that goes, one that does not keep to the protocol, and one after which another comes.
    drop(take_over(&server, session(&client)).await);
    let mut rude = take_over(&server, session(&client)).await;
    assert_eq!(hear(&mut rude).await, control("a"));
    tell(&mut rude, &json!({"t": "d", "d": {"r": 1, "a": "s", "b": {"c": {}}}})).await;
    let mut first = take_over(&server, session(&client)).await;
    assert_eq!(hear(&mut first).await, control("a"));
    let mut second = take_over(&server, session(&client)).await;
    assert_eq!(hear(&mut second).await, control("a"));
    assert_eq!(client.ask("p", &put("/a", 1)), ok(""));
    assert_eq!(value_at(&mut client, "/a"), 1);
    // The end of long polling, and nobody to take over: the session is over.
    drop(second);
    drop(first);
    let nobody = begin(&server);
    let end = segments(&control("n").to_string(), 0, 1_840);
    assert_eq!(nobody.poll(&end[0]), [Said::Close(None)]);
}

#[test]
fn the_end_of_the_server_lets_waiting_clients_go() {
    let mut server = Server::start();
    let client = begin(&server);
    let (ended, ends) = mpsc::channel();
    for _ in 0..2 {
        let (client, ended) = (client.clone(), ended.clone());
        thread::spawn(move || ended.send(client.poll("")).unwrap());
    }
    // One has let the other go, so it waits.
    assert_eq!(ends.recv().unwrap(), [Said::Messages(1, Vec::new())]);
    let kill = format!("kill -TERM {}", server.child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(ends.recv().unwrap(), [Said::Close(None)]);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
