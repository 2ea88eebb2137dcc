//! The binary with a certificate, running.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tokio_rustls::rustls::pki_types::CertificateDer;

pub(crate) const ADMIN: &str = "an-admin-of-this-test";
pub(crate) const SECRET: &str = "a secret of this test, longer than 32 bytes";
const RULES: &str = r#"{"rules": {".read": true, ".write": true}}"#;

/// A server for production, until it is dropped.
pub(crate) struct Server {
    child: Child,
    /// Where it listens: `host:port`.
    pub(crate) address: String,
    pub(crate) certificate: CertificateDer<'static>,
    secret_file: String,
}

impl Server {
    /// Starts one that everybody may use, with databases `demo` and `other`.
    pub(crate) fn start(name: &str) -> Self {
        let file = |kind: &str, text: &str| {
            let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("http2-{name}-{kind}"));
            fs::write(&file, text).unwrap();
            file.to_str().unwrap().to_owned()
        };
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".into()]).unwrap();
        let (pem, key) =
            (file("certificate.pem", &cert.pem()), file("key.pem", &signing_key.serialize_pem()));
        let (rules, secret_file) = (file("rules.json", RULES), file("secret", SECRET));
        let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
        command.env_clear().env("HEARTH_ADMIN_CREDENTIAL", ADMIN);
        command.args(["serve", "--memory", "--port", "0", "--namespace", "demo,other", "--rules", &rules]);
        command.args(["--tls-cert", &pem, "--tls-key", &key, "--token-secret-file", &secret_file]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let line = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let address = line.strip_prefix("listening on https://").unwrap().to_owned();
        Self { child, address, certificate: cert.der().clone(), secret_file }
    }

    /// A token that holds for so many seconds.
    pub(crate) fn token(&self, seconds: u32) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
        command.env_clear().args(["token", "--token-secret-file", &self.secret_file, "--uid", "kim"]);
        let made = command.args(["--expires", &format!("{seconds}s")]).output().unwrap();
        String::from_utf8(made.stdout).unwrap().trim().into()
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// How it has ended.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// The most memory that it ever had, in MB.
    pub(crate) fn resident_most_mb(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
        kib / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Some tests have seen its end.
        drop(self.child.kill());
        self.child.wait().unwrap();
    }
}
