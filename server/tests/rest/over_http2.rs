//! A server for production with a certificate, and somebody in front who asks it over HTTP/2 what was asked by 1.0: so all
//! that is looked at is what has come over HTTP/2, all of it on one connection.

use crate::server::Running;
use h2::client::{SendRequest, handshake};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::thread;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// What stands for the word that makes somebody an admin in development.
const ADMIN: &str = "an-owner-of-this-test";

type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Starts both, with these databases. The address is that of the one in front.
pub(crate) fn start(namespaces: &str) -> Running {
    let file = |name: &str, text: &str| {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("rest-http2-{name}.pem"));
        fs::write(&file, text).expect("the folder is ours");
        file
    };
    let made = generate_simple_self_signed(["localhost".into()]);
    let CertifiedKey { cert, signing_key } = made.expect("the name is well-formed");
    let (certificate, key) = (file("certificate", &cert.pem()), file("key", &signing_key.serialize_pem()));
    let mut command = Running::command("serve");
    command.stderr(Stdio::null());
    command.args(["--namespace", namespaces]).arg("--tls-cert").arg(certificate).arg("--tls-key").arg(key);
    let mut server = Running::of(command.env("HEARTH_ADMIN_CREDENTIAL", ADMIN));
    let behind = Behind { address: server.address.clone(), trusted: cert.der().clone() };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.set_nonblocking(true).expect("it is ours");
    server.address = listener.local_addr().expect("it listens").to_string();
    thread::spawn(move || Runtime::new().expect("there are threads").block_on(stand(listener, behind)));
    server
}

/// The server that is asked.
struct Behind {
    address: String,
    trusted: CertificateDer<'static>,
}

/// Passes on whatever comes, until the process ends.
async fn stand(listener: std::net::TcpListener, behind: Behind) {
    let listener = TcpListener::from_std(listener).expect("it listens");
    let (behind, connection) = (Arc::new(behind), Arc::<Mutex<Option<SendRequest<_>>>>::default());
    while let Ok((stream, _)) = listener.accept().await {
        let (behind, connection) = (behind.clone(), connection.clone());
        tokio::spawn(async move {
            // The one it has: another, where the server has let go of it because nobody asked anything for a while.
            let mut connection = connection.lock().await;
            let ready = match connection.take() {
                Some(open) => open.ready().await.ok(),
                None => None,
            };
            let open = match ready {
                Some(open) => open,
                None => connect(&behind).await?,
            };
            *connection = Some(open.clone());
            drop(connection);
            pass(stream, open).await
        });
    }
}

async fn connect(behind: &Behind) -> Result<SendRequest<axum::body::Bytes>, Problem> {
    let mut roots = RootCertStore::empty();
    roots.add(behind.trusted.clone())?;
    let config = ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(&behind.address).await?;
    let name = ServerName::try_from("localhost")?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let (open, connection) = handshake(stream).await?;
    tokio::spawn(connection);
    Ok(open)
}

/// One request of HTTP/1.0 with its answer.
async fn pass(stream: TcpStream, open: SendRequest<axum::body::Bytes>) -> Result<(), Problem> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim_end().replace("Bearer owner", &format!("Bearer {ADMIN}")));
    }
    let headers = || lines[1..].iter().filter_map(|line| line.split_once(": "));
    let of = |name: &str| headers().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    let mut first = lines[0].split(' ');
    let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let target = target.replace("access_token=owner", &format!("access_token={ADMIN}"));
    let uri = format!("https://{}{target}", of("host").unwrap_or_default());
    let mut request = axum::http::Request::builder().method(method).uri(uri);
    for (name, value) in headers().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
        request = request.header(name, value);
    }
    let mut body = vec![0; of("content-length").map_or(Ok(0), str::parse)?];
    stream.read_exact(&mut body).await?;
    let mut open = open.ready().await?;
    let (response, mut sending) = open.send_request(request.body(())?, body.is_empty())?;
    if !body.is_empty() {
        // Whoever is answered before cannot send it any more; what else goes wrong is seen in the answer.
        drop(sending.send_data(body.into(), true));
    }
    let (head, mut body) = response.await?.into_parts();
    let mut text = format!("HTTP/1.0 {}\r\n", head.status).into_bytes();
    for (name, value) in &head.headers {
        text.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    text.extend_from_slice(b"\r\n");
    stream.write_all(&text).await?;
    // Who is not interested any more has given up the request.
    loop {
        tokio::select! {
            piece = body.data() => match piece {
                Some(piece) => {
                    let piece = piece?;
                    body.flow_control().release_capacity(piece.len())?;
                    stream.write_all(&piece).await?;
                }
                None => return Ok(()),
            },
            _ = stream.fill_buf() => return Ok(()),
        }
    }
}
