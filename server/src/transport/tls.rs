//! Encryption between clients and a server for production.
//!
//! Why `ring` does the arithmetic: it builds with a C compiler and nothing else. Why files are read again on a signal and
//! not watched: a certificate and its key are two files, and only who has replaced both knows when they belong together.

use arc_swap::ArcSwap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

/// What clients and servers call the protocols among which they choose (RFC 7301, 6), the one that is preferred first.
const HTTP_2: &[u8] = b"h2";
const HTTP_1_1: &[u8] = b"http/1.1";

/// A certificate with its key, and the files that they come from.
#[derive(Debug)]
pub(crate) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    config: ArcSwap<ServerConfig>,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is not there, or not ours to read.
    #[error("cannot read `{}`: {error}", .file.display())]
    Unreadable {
        /// Its name.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file of another kind.
    #[error("there is no {what} in `{}`: a PEM file with one is needed", .file.display())]
    Missing {
        /// What should be there.
        what: &'static str,
        /// The name of the file.
        file: PathBuf,
    },
    /// The two cannot be used together.
    #[error("the certificate in `{}` and the key in `{}` cannot be used: {error}", .certificate.display(), .key.display())]
    Unusable {
        /// The name of the file with the certificate.
        certificate: PathBuf,
        /// The name of the file with the key.
        key: PathBuf,
        /// What is wrong.
        error: rustls::Error,
    },
}

impl Tls {
    /// Reads both.
    ///
    /// # Errors
    /// [`TlsError`] says why they cannot be used.
    pub(crate) fn open(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let config = ArcSwap::from_pointee(read(&certificate, &key)?);
        Ok(Self { certificate, key, config })
    }

    /// Reads both again, for connections that begin from now on.
    ///
    /// # Errors
    /// [`TlsError`] says why they cannot be used; then those from before stay.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        self.config.store(Arc::new(read(&self.certificate, &self.key)?));
        Ok(())
    }

    /// What begins a connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.config.load_full().into()
    }
}

/// Whether the two have agreed on HTTP/2.
pub(super) fn speaks_http2<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP_2)
}

fn read(certificate: &Path, key: &Path) -> Result<ServerConfig, TlsError> {
    let unusable = |error| TlsError::Unusable { certificate: certificate.into(), key: key.into(), error };
    let of_certificate = |error| trouble(error, "certificate", certificate);
    let chain = CertificateDer::pem_file_iter(certificate).map_err(of_certificate)?;
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(of_certificate)?;
    if chain.is_empty() {
        return Err(of_certificate(pem::Error::NoItemsFound));
    }
    let own_key = PrivateKeyDer::from_pem_file(key).map_err(|error| trouble(error, "private key", key))?;
    let mut config = ServerConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, own_key))
        .map_err(unusable)?;
    config.alpn_protocols = [HTTP_2, HTTP_1_1].map(<[u8]>::to_vec).into();
    Ok(config)
}

fn trouble(error: pem::Error, what: &'static str, file: &Path) -> TlsError {
    if let pem::Error::Io(error) = error {
        TlsError::Unreadable { file: file.into(), error }
    } else {
        // Whatever else it says, the file does not hold what it should.
        TlsError::Missing { what, file: file.into() }
    }
}
