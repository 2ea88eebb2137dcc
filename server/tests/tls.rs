//! A server for production with a certificate.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

use futures_util::{SinkExt, StreamExt};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

const ADMIN: &str = "an-admin-of-this-test";

/// Two files of this test run.
struct Files {
    certificate: String,
    key: String,
}

impl Files {
    fn new(name: &str) -> Self {
        let file = |kind| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tls-{name}-{kind}.pem"));
        let named = |kind| file(kind).to_str().unwrap().to_owned();
        Self { certificate: named("certificate"), key: named("key") }
    }

    /// Makes a certificate, and the key to it.
    fn renew(&self) -> CertificateDer<'static> {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".into()]).unwrap();
        fs::write(&self.certificate, cert.pem()).unwrap();
        fs::write(&self.key, signing_key.serialize_pem()).unwrap();
        cert.der().clone()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
        let options = ["--tls-cert", &self.certificate, "--tls-key", &self.key];
        command.env_clear().args(["serve", "--memory", "--port", "0", "--namespace", "demo"]).args(options);
        command.env("HEARTH_ADMIN_CREDENTIAL", ADMIN);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// A server that runs, until it is dropped.
struct Server {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
    address: String,
}

impl Server {
    fn start(files: &Files) -> Self {
        let mut child = files.command().spawn().unwrap();
        let line = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let address = line.strip_prefix("listening on https://").unwrap().to_owned();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, said, address }
    }

    /// Has it read its files again; what it says of that.
    fn reload(&mut self) -> String {
        let kill = format!("kill -HUP {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let mut said = self.said.by_ref().map(Result::unwrap);
        said.find(|line| line.starts_with("hearth: the certificate")).unwrap()
    }

    /// Connects as somebody who trusts this certificate alone.
    async fn connect(&self, trusted: &CertificateDer<'static>) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(&self.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The answer to a request without headers.
async fn get(stream: impl AsyncReadExt + AsyncWriteExt + Unpin, path: &str) -> String {
    get_with(stream, path, "").await
}

/// The answer to a request with headers, each ended.
async fn get_with(
    mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin,
    path: &str,
    headers: &str,
) -> String {
    stream.write_all(format!("GET {path} HTTP/1.0\r\n{headers}\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Without encryption the server ends the connection as it likes.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn what_travels_is_encrypted_and_certificates_are_renewed() {
    let files = Files::new("renewed");
    let first = files.renew();
    let mut server = Server::start(&files);
    let answer = get(server.connect(&first).await.unwrap(), "/healthz").await;
    assert!(answer.starts_with("HTTP/1.0 200 OK") && answer.ends_with("ok\n"), "{answer}");
    let own = format!("Host: db.example:8443\r\nAuthorization: Bearer {ADMIN}\r\n");
    let details = "/v1beta/projects/demo/locations/-/instances/demo";
    let answer = get_with(server.connect(&first).await.unwrap(), details, &own).await;
    assert!(answer.contains(r#""databaseUrl":"https://db.example:8443""#), "{answer}");
    let plain = get(TcpStream::connect(&server.address).await.unwrap(), "/healthz").await;
    assert!(!plain.contains("ok\n"), "{plain}");
    let stream = server.connect(&first).await.unwrap();
    let (mut socket, _) = client_async("wss://localhost/.ws?v=5&ns=demo", stream).await.unwrap();
    assert!(socket.next().await.unwrap().unwrap().to_text().unwrap().contains(r#""t":"h""#));

    let key = fs::read(&files.key).unwrap();
    let second = files.renew();
    let renewed = fs::read(&files.key).unwrap();
    // Half of what was renewed changes nothing.
    fs::write(&files.key, key).unwrap();
    assert!(server.reload().contains("stays as it was: the certificate in"));
    assert!(server.connect(&first).await.is_ok());
    assert!(server.connect(&second).await.is_err());
    fs::write(&files.key, renewed).unwrap();
    assert_eq!(server.reload(), "hearth: the certificate was read again and holds for new connections");
    assert!(server.connect(&first).await.is_err());
    assert!(server.connect(&second).await.is_ok());
    // Who was there before is still served.
    let stats = r#"{"t":"d","d":{"r":1,"a":"s","b":{"c":{}}}}"#;
    socket.send(Message::text(stats)).await.unwrap();
    // A ping comes, too.
    while !socket.next().await.unwrap().unwrap().to_text().unwrap().contains(r#""r":1"#) {}
    // And the end of the conversation is told from a line that was cut.
    socket.close(None).await.unwrap();
    while let Some(message) = socket.next().await {
        message.unwrap();
    }
    assert_eq!(socket.get_mut().read(&mut [0]).await.unwrap(), 0);
}

#[test]
fn a_certificate_that_cannot_be_used_is_answered_with_a_sentence() {
    let [files, other] = ["good", "other"].map(Files::new);
    files.renew();
    other.renew();
    let (good, key) = (files.certificate.as_str(), files.key.as_str());
    let unusable = format!("the certificate in `{good}` and the key in `{}` cannot be used: ", other.key);
    for (options, expected) in [
        (
            &["--tls-cert", good][..],
            "`--tls-cert` and `--tls-key` belong together, and `--tls-key` is missing\n",
        ),
        (&["--tls-key", key], "`--tls-cert` and `--tls-key` belong together, and `--tls-cert` is missing\n"),
        (
            &["--tls-cert", "/nowhere/x", "--tls-key", key],
            "cannot read `/nowhere/x`: No such file or directory (os error 2)\n",
        ),
        (
            &["--tls-cert", key, "--tls-key", key],
            &format!("there is no certificate in `{key}`: a PEM file with one is needed\n"),
        ),
        (
            &["--tls-cert", good, "--tls-key", good],
            &format!("there is no private key in `{good}`: a PEM file with one is needed\n"),
        ),
        (&["--tls-cert", good, "--tls-key", &other.key], &unusable),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
        command.env_clear().args(["serve", "--memory", "--port", "0", "--namespace", "demo"]).args(options);
        let ended = command.output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.starts_with(&format!("hearth: {expected}")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
