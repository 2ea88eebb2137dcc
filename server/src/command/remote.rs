//! A running server, as its admin reaches it from the command line.

use super::transfer::TransferError;
use crate::auth::{Secret, trust};
use hearth_wire::Namespace;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use ureq::Agent;
use ureq::http::{Response, Uri};
use ureq::{Body, SendBody};

/// What is not written as it is in a path of an address.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_');
/// What a server for development takes for an admin's.
const OWNER: &str = "owner";
/// Longest text of a refusal.
const REFUSAL_BYTES_MAX: u64 = 64 * 1024;

/// Where the data are, and who asks.
#[derive(Debug, clap::Args)]
pub(super) struct At {
    /// The place of the data: `http://127.0.0.1:9000/`, or with a path that leads below.
    #[arg(value_name = "URL")]
    url: String,
    /// The database, if it is not the default one.
    #[arg(long, value_name = "NAME", value_parser = Namespace::parse)]
    namespace: Option<Namespace>,
    /// A file with the admin credential of the server.
    #[arg(long, value_name = "FILE", env = "HEARTH_ADMIN_CREDENTIAL_FILE")]
    pub(super) admin_credential_file: Option<PathBuf>,
}

/// A place in the data of a server.
pub(super) struct Remote {
    agent: Agent,
    /// Scheme, host and port.
    server: String,
    /// From the slash behind the port, without one at its end.
    path: String,
    /// The parameter that names the database, with `&`; or nothing.
    namespace: String,
    credential: String,
    /// Whether the credential is one that somebody has named.
    is_given: bool,
}

impl At {
    /// A server, and no place in it.
    pub(super) const fn server(url: String) -> Self {
        Self { url, namespace: None, admin_credential_file: None }
    }

    /// Whether it leads to anything below a server.
    pub(super) fn is_below(&self) -> bool {
        self.url.parse::<Uri>().is_ok_and(|url| !matches!(url.path(), "" | "/"))
    }

    /// The database and the place, for people.
    pub(super) fn name(&self) -> String {
        let named = self.namespace.as_ref().map(|name| format!("database `{}`", name.as_str()));
        let url = self.url.parse::<Uri>();
        let path = url.as_ref().map_or("/", Uri::path).trim_end_matches('/');
        let path = path.strip_suffix(".json").unwrap_or(path);
        let slash = if path.is_empty() { "/" } else { "" };
        format!("{}, `{path}{slash}`", named.as_deref().unwrap_or("the default database"))
    }

    /// Checks the address. `credential` is what was found of one; a server on this machine may do without.
    pub(super) fn open(self, credential: Option<&Secret>) -> Result<Remote, TransferError> {
        let Self { url, namespace, .. } = self;
        let wrong = |what: &str| TransferError::Url { url: url.clone(), what: what.into() };
        let uri: Uri = url.parse().map_err(|_| wrong("it is no address"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong("an address begins with `http://` or `https://` and a host"));
        };
        if scheme != "http" && scheme != "https" {
            return Err(wrong("it begins with neither `http://` nor `https://`"));
        }
        if uri.query().is_some() {
            return Err(wrong("`?` and what follows are not taken; `--namespace NAME` names the database"));
        }
        let host = uri.host().unwrap_or_default();
        let is_here = ["127.0.0.1", "[::1]", "localhost"].contains(&host) || host.ends_with(".localhost");
        let is_given = credential.is_some();
        let credential = match credential {
            Some(secret) => secret.reveal().to_owned(),
            None if is_here => OWNER.into(),
            None => return Err(TransferError::NoCredential { host: host.into() }),
        };
        if scheme == "http" && !is_here {
            // With no standard error there is nobody to warn.
            drop(writeln!(
                io::stderr(),
                "hearth: warning: the admin credential and the data go to `{host}` as they are, for all on the way to read; `https://` hides them"
            ));
        }
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix(".json").unwrap_or(path);
        let namespace = namespace.map(|name| format!("ns={}&", name.as_str())).unwrap_or_default();
        let (server, path) = (format!("{scheme}://{authority}"), path.to_owned());
        Ok(Remote { agent: agent(), server, path, namespace, credential, is_given })
    }
}

fn agent() -> Agent {
    let config = Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .tls_config(trust())
        .user_agent("hearth")
        .build();
    config.into()
}

impl Remote {
    /// Reads, with these parameters.
    pub(super) fn get(&self, params: &str) -> Result<Response<Body>, TransferError> {
        let request = self.agent.get(self.url(&self.path, params)).header("Authorization", self.bearer());
        self.accepted(request.call())
    }

    /// Reads all databases, at one moment.
    pub(super) fn get_backup(&self) -> Result<Response<Body>, TransferError> {
        let request = self.agent.get(format!("{}/.backup", self.server));
        self.accepted(request.header("Authorization", self.bearer()).call())
    }

    /// Writes, with these parameters.
    pub(super) fn put(&self, params: &str, body: SendBody<'_>) -> Result<Response<Body>, TransferError> {
        let request = self.agent.put(self.url(&self.path, params)).header("Authorization", self.bearer());
        // Before all of it is sent, the server can say that it does not want it.
        let request = request.header("Content-Type", "application/json").header("Expect", "100-continue");
        self.accepted(request.send(body))
    }

    /// Writes at several places below at once, with these parameters.
    pub(super) fn patch(&self, params: &str, body: &[u8]) -> Result<Response<Body>, TransferError> {
        let request = self.agent.patch(self.url(&self.path, params)).header("Authorization", self.bearer());
        self.accepted(request.header("Content-Type", "application/json").send(body))
    }

    /// Whether nothing is there.
    pub(super) fn is_empty(&self) -> Result<bool, TransferError> {
        // The keys may be many; the first bytes say it.
        let mut start = Vec::new();
        let read = self.get("shallow=true")?.into_body().into_reader().take(5).read_to_end(&mut start);
        read.map_err(|error| TransferError::Network {
            server: self.server.clone(),
            error: Box::new(error.into()),
        })?;
        Ok(start.trim_ascii() == b"null")
    }

    /// Reads what is below, at a path of keys with slashes between.
    pub(super) fn get_below(&self, path: &str) -> Result<Vec<u8>, TransferError> {
        let path = utf8_percent_encode(path, ENCODED).to_string();
        let slash = if path.is_empty() { "" } else { "/" };
        let url = self.url(&format!("{}{slash}{path}", self.path), "format=export");
        let answer = self.accepted(self.agent.get(url).header("Authorization", self.bearer()).call())?;
        let body = answer.into_body().into_with_config().limit(u64::MAX).read_to_vec();
        body.map_err(|error| TransferError::Network { server: self.server.clone(), error: error.into() })
    }

    /// How many levels it is below the root.
    pub(super) fn depth(&self) -> usize {
        self.path.split('/').filter(|key| !key.is_empty()).count()
    }

    /// The address, for people and for files.
    pub(super) fn place(&self) -> String {
        let slash = if self.path.is_empty() { "/" } else { "" };
        let namespace = self.namespace.trim_end_matches('&');
        let mark = if namespace.is_empty() { "" } else { "?" };
        format!("{}{}{slash}{mark}{namespace}", self.server, self.path)
    }

    fn url(&self, path: &str, params: &str) -> String {
        let slash = if path.is_empty() { "/" } else { "" };
        format!("{}{path}{slash}.json?{}{params}", self.server, self.namespace)
    }

    /// Scheme, host and port.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.credential)
    }

    fn accepted(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<Response<Body>, TransferError> {
        let server = self.server.clone();
        let mut response =
            answer.map_err(|error| TransferError::Network { server: server.clone(), error: error.into() })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(REFUSAL_BYTES_MAX).read_to_string();
        let answer: Option<serde_json::Value> = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        let said = answer.as_ref().and_then(|answer| answer.get("error")?.as_str());
        let advice = match (status, said.is_some()) {
            (401, _) if self.is_given => "; it has another admin credential than the one that was given",
            (401, _) => {
                "; no admin credential was given: `--admin-credential-file FILE` or the variable `HEARTH_ADMIN_CREDENTIAL` has it"
            }
            (404, true) => "; `--namespace NAME` names the database",
            (_, true) => "",
            (_, false) => "; it may be no server of a database, or there is a proxy before it",
        };
        let said = said.unwrap_or("no reason").trim().to_owned();
        Err(TransferError::Refused { server, status, said, advice })
    }
}
