//! Long polling as a browser does it, by bare HTTP.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long anything may take; a request is held for 20 s.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most characters of a segment (wire reference 14.4).
const SEGMENT_CHARS: usize = 1_840;

/// What is answered at once.
const PING: &str = r#"{"t":"c","d":{"t":"p","d":{}}}"#;

/// What the script of an answer does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// Begins a session.
    Start { id: String, password: String },
    /// Brings messages, as they were spelled.
    Messages(u64, Vec<String>),
    /// Ends it, maybe after the messages of a number.
    Close(Option<u64>),
}

/// Status, head and body of an answer. The last of headers that have one name counts.
pub(crate) fn get(address: &str, query: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
    send(address, &format!("GET /.lp?{query}"), headers)
}

pub(crate) fn send(address: &str, start: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
    let mut head = format!("{start} HTTP/1.0\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        write!(head, "host: {address}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.into())
}

/// Reads a script, the definitions of a start left out.
pub(crate) fn said(script: &str) -> Vec<Said> {
    let calls = script.lines().filter(|line| !line.starts_with("function "));
    calls.map(call).collect()
}

fn call(line: &str) -> Said {
    let arguments = |name| line.strip_prefix(name).and_then(|rest| rest.strip_suffix(");"));
    if let Some((number, messages)) = arguments("pRTLPCB(").and_then(|text| text.split_once(',')) {
        return Said::Messages(number.parse().expect(line), literals(messages).expect(line));
    }
    let values = arguments("pLPCommand(").expect(line);
    let values: Vec<Value> = serde_json::from_str(&format!("[{values}]")).expect(line);
    match (values[0].as_str().expect(line), &values[1..]) {
        ("start", [id, password]) => Said::Start {
            id: id.as_str().expect(line).into(),
            password: password.as_str().expect(line).into(),
        },
        ("close", []) => Said::Close(None),
        ("close", [last]) => Said::Close(last.as_u64()),
        _ => panic!("{line}"),
    }
}

/// The members of an array, each as it is spelled but for what is escaped because it stands in a script.
fn literals(array: &str) -> Option<Vec<String>> {
    let mut rest = array.strip_prefix('[')?.strip_suffix(']')?;
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let (text, after) = rest.split_at(values.byte_offset());
        texts.push(text.replace(r"\u003c", "<").replace(r"\u2028", "\u{2028}"));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    Some(texts)
}

/// The segments of a message, as parameters of a URL each; the first has this number.
pub(crate) fn segments(message: &str, first: u64, chars: usize) -> Vec<String> {
    let text = URL_SAFE.encode(message).replace('=', ".");
    let parts: Vec<_> =
        text.as_bytes().chunks(chars).map(|part| std::str::from_utf8(part).unwrap()).collect();
    let numbered = parts.iter().zip(first..);
    numbered.map(|(part, number)| format!("&seg0={number}&ts0={}&d0={part}", parts.len())).collect()
}

/// A client with its session.
#[derive(Clone)]
pub(crate) struct Polls {
    pub(crate) address: String,
    /// `id=…&pw=…`.
    pub(crate) ticket: String,
    /// The number of its next segment.
    pub(crate) segment: u64,
    /// The number of the next messages to it.
    pub(crate) number: u64,
    /// The number of its next request.
    request: u64,
    /// Messages whose turn has not come.
    early: BTreeMap<u64, Vec<String>>,
    /// Messages that were no answers.
    pub(crate) pushes: Vec<Value>,
}

impl Polls {
    /// Begins a session with these parameters; the status, if it is refused.
    pub(crate) fn start(address: &str, params: &str, headers: &[(&str, &str)]) -> Result<Self, u16> {
        let (status, _, script) = get(address, &format!("start=t&ser=1&cb=7&v=5&{params}"), headers);
        if status != 200 {
            return Err(status);
        }
        let [Said::Start { id, password }, Said::Messages(0, messages)] = &said(&script)[..] else {
            panic!("{script}");
        };
        Ok(Self {
            address: address.into(),
            ticket: format!("id={id}&pw={password}"),
            segment: 0,
            number: 0,
            request: 0,
            early: BTreeMap::from([(0, messages.clone())]),
            pushes: Vec::new(),
        })
    }

    /// One request, with these parameters too.
    pub(crate) fn poll(&self, more: &str) -> Vec<Said> {
        let (status, _, script) = get(&self.address, &format!("{}&ser=2{more}", self.ticket), &[]);
        assert_eq!(status, 200, "{script}");
        said(&script)
    }

    /// Sends a request, and asks until it is answered.
    pub(crate) fn ask(&mut self, action: &str, body: &Value) -> Value {
        self.request += 1;
        let number = self.request;
        let message = json!({"t": "d", "d": {"r": number, "a": action, "b": body}}).to_string();
        let mut urls = segments(&message, self.segment, SEGMENT_CHARS).into_iter();
        self.segment += urls.len() as u64;
        // As browsers do: while there is something to say two requests are under way, otherwise one.
        let (ended, ends) = mpsc::channel();
        let mut under_way = 0;
        loop {
            while under_way < if urls.len() == 0 { 1 } else { 2 } {
                let (own, ended, url) = (self.clone(), ended.clone(), urls.next().unwrap_or_default());
                thread::spawn(move || ended.send(own.poll(&url)));
                under_way += 1;
            }
            let said = ends.recv().unwrap();
            under_way -= 1;
            if let Some(answer) = self.take(said, number) {
                if 0 < under_way {
                    // It was overtaken, and waits; what is answered at once lets it go.
                    let said = self.poll(&segments(PING, self.segment, SEGMENT_CHARS)[0]);
                    self.segment += 1;
                    self.take(said, 0);
                    self.take(ends.recv().unwrap(), 0);
                }
                return answer;
            }
        }
    }

    /// The messages of what was said whose turn has come: answers may overtake each other.
    pub(crate) fn in_turn(&mut self, said: Vec<Said>) -> Vec<String> {
        for call in said {
            let Said::Messages(number, messages) = call else { panic!("{call:?}") };
            assert!(self.number <= number && self.early.insert(number, messages).is_none(), "{number}");
        }
        let mut texts = Vec::new();
        while let Some(messages) = self.early.remove(&self.number) {
            self.number += 1;
            texts.extend(messages);
        }
        texts
    }

    /// Takes what was said. The answer to a request, if it is there.
    pub(crate) fn take(&mut self, said: Vec<Said>, request: u64) -> Option<Value> {
        let mut answer = None;
        for text in self.in_turn(said) {
            let message: Value = serde_json::from_str(&text).expect(&text);
            if message["d"]["r"] == request {
                answer = Some(message["d"]["b"].clone());
            } else if message["t"] == "d" {
                self.pushes.push(message["d"].clone());
            }
        }
        answer
    }
}
