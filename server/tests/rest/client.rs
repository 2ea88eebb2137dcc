//! HTTP as plainly as can be, so that every byte of a request is the test's own.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What to ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    pub(crate) method: String,
    /// As it stands in the URL.
    pub(crate) path: String,
    /// Not encoded yet.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
}

/// An answer whose body has not been read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The id that came with the newest event, or before.
    pub(crate) last_id: Option<String>,
    stream: BufReader<TcpStream>,
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Ask {
    /// A request without anything else.
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { method: method.into(), path: path.into(), ..Self::default() }
    }

    /// As an admin.
    pub(crate) fn by_owner(mut self) -> Self {
        self.headers.push(("Authorization".into(), "Bearer owner".into()));
        self
    }

    pub(crate) fn with_query(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    pub(crate) fn with_body(mut self, body: &Value) -> Self {
        self.body = Some(body.to_string().into_bytes());
        self
    }

    /// Sends it, and reads the head of the answer. In HTTP 1.0, so that a body is never cut into chunks.
    pub(crate) fn send(&self, address: &str) -> std::io::Result<Answer> {
        let query: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let mut head =
            format!("{} {}?{} HTTP/1.0\r\nHost: {address}\r\n", self.method, self.path, query.join("&"));
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").expect("a text takes all");
        }
        let body = self.body.as_deref().unwrap_or_default();
        write!(head, "Content-Length: {}\r\n\r\n", body.len()).expect("a text takes all");
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        Answer::read(BufReader::new(stream))
    }
}

impl Answer {
    fn read(mut stream: BufReader<TcpStream>) -> std::io::Result<Self> {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| std::io::Error::other(format!("no status in {line}")))?;
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        Ok(Self { status, headers, last_id: None, stream })
    }

    /// The whole body, whatever it is.
    pub(crate) fn bytes(mut self) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.stream.read_to_end(&mut body)?;
        Ok(body)
    }

    /// The whole body.
    pub(crate) fn text(mut self) -> std::io::Result<String> {
        let kind = self.headers.get("content-type");
        if kind.is_some_and(|kind| kind.contains("event-stream")) {
            return Err(std::io::Error::other("it is an event stream and would never end"));
        }
        let mut text = String::new();
        self.stream.read_to_string(&mut text)?;
        Ok(text)
    }

    /// The next lines as they came.
    pub(crate) fn next_lines(&mut self, count: usize) -> std::io::Result<Vec<String>> {
        let mut lines = vec![String::new(); count];
        for line in &mut lines {
            self.stream.read_line(line)?;
        }
        Ok(lines)
    }

    /// The next event.
    pub(crate) fn next_event(&mut self) -> std::io::Result<Event> {
        let (mut name, mut data) = (String::new(), Value::Null);
        let mut line = String::new();
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(std::io::Error::other("the stream ended"));
            }
            match line.trim_end_matches('\n').split_once(": ") {
                Some(("event", value)) => name = value.into(),
                Some(("id", value)) => self.last_id = Some(value.into()),
                Some(("data", value)) => data = serde_json::from_str(value)?,
                Some(_) | None if line == "\n" => return Ok(Event { name, data }),
                Some(_) | None => {}
            }
        }
    }
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("a text takes all");
        }
        encoded
    })
}
