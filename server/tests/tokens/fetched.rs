//! Keys that are fetched from their issuer.

use crate::server::{Files, Server};
use crate::signed::{CERTIFICATE, PROJECT, id_token};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// An issuer that says what it is told to.
struct Issuer {
    url: String,
    /// The certificate to trust.
    certificate: String,
    answer: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    fn start(answer: String) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".into()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://localhost:{}/keys", listener.local_addr().unwrap().port());
        let answer = Arc::new(Mutex::new(answer));
        let asked = Arc::new(AtomicUsize::new(0));
        let (own_answer, own_asked) = (answer.clone(), asked.clone());
        let config = Arc::new(config);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let answer = own_answer.lock().unwrap().clone();
                if reply(stream.unwrap(), config.clone(), &answer).is_ok() {
                    own_asked.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        Self { url, certificate: cert.pem(), answer, asked }
    }

    fn says(&self, answer: String) {
        *self.answer.lock().unwrap() = answer;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// A server that believes it.
    fn believed(&self, files: &Files) -> Server {
        let trusted = files.write("trusted.pem", &self.certificate);
        let arguments = ["--firebase-project", PROJECT, "--firebase-keys", &self.url];
        Server::of(files.command(&arguments).env("SSL_CERT_FILE", trusted))
    }
}

fn reply(stream: TcpStream, config: Arc<ServerConfig>, answer: &str) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    stream.write_all(answer.as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn keys(id: &str) -> String {
    let body = json!({id: CERTIFICATE}).to_string();
    format!(
        "HTTP/1.1 200 OK\r\nCache-Control: public, max-age=20000\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// What the body of an answer says.
fn error(body: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    body["error"].as_str().unwrap().into()
}

#[test]
fn keys_are_fetched_once_and_strangers_cannot_have_them_fetched_again() {
    let files = Files::new("fetched");
    let issuer = Issuer::start(keys("another"));
    let mut server = issuer.believed(&files);
    server.says("the keys of an issuer were fetched");
    issuer.says(keys("k1"));
    // Within the first minute nobody makes us ask.
    for _ in 0..20 {
        let (status, body) = server.read("users/kim", &id_token(&json!({})));
        assert_eq!((status, error(&body)), (401, "Invalid claim 'kid' in auth header.".into()));
    }
    assert_eq!(issuer.asked(), 1);
    let server = issuer.believed(&files);
    // Whoever comes before the keys are there is told so, and may come again.
    loop {
        match server.read("users/kim", &id_token(&json!({}))) {
            (200, body) => break assert_eq!(body, "null"),
            (status, body) => {
                let expected = "the keys of the issuer of the token have not been fetched yet";
                assert_eq!((status, error(&body)), (503, expected.into()));
            }
        }
    }
    assert_eq!(issuer.asked(), 2);
}

#[test]
fn what_an_issuer_must_not_say_is_not_believed() {
    let long = "x".repeat(2_000_000);
    let ok = |body: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    };
    let elsewhere = Issuer::start(keys("k1"));
    for (name, answer, reason) in [
        (
            "redirect",
            format!(
                "HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                elsewhere.url
            ),
            "the answer is 302 Found",
        ),
        (
            "error",
            "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".into(),
            "the answer is 500",
        ),
        ("text", ok("nothing"), "the answer cannot be used: it is neither a JWK set"),
        ("empty", ok(r#"{"keys": []}"#), "the answer cannot be used: none of its keys can be used"),
        ("broken", ok(r#"{"k1": "-----BEGIN CERTIFICATE-----"}"#), "the certificate `k1` cannot be read"),
        ("long", ok(&long), "could not be fetched"),
        ("cut", format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "x"), "could not be fetched"),
    ] {
        let files = Files::new(&format!("refused-{name}"));
        let issuer = Issuer::start(answer);
        let mut server = issuer.believed(&files);
        let said = server.says("could not be fetched; those that are known stay").to_owned();
        assert!(said.contains(reason), "{name}: {said}");
        assert_eq!(server.read("users/kim", &id_token(&json!({}))).0, 503, "{name}");
        assert_eq!(server.read("open", "").0, 200, "{name}");
    }
    assert_eq!(elsewhere.asked(), 0);
    // Somebody whom the system does not trust.
    let files = Files::new("refused-certificate");
    let issuer = Issuer::start(keys("k1"));
    let mut server = Issuer { certificate: elsewhere.certificate.clone(), ..issuer }.believed(&files);
    server.says("could not be fetched");
    assert_eq!(server.read("users/kim", &id_token(&json!({}))).0, 503);
}
