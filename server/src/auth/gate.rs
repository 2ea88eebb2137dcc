//! What stands between a stranger's request and everything else: where it comes from, and so which of the conveniences
//! of development it may use.
//!
//! Why all this for a server on loopback: every web page that a developer visits can send requests to it. A browser says
//! so in `Origin`, or in `Sec-Fetch-Site` where it sends no `Origin` (scripts, images, links); and if a page has pointed
//! its own name at this machine, `Host` still has that name. Programs say nothing of this kind, and need not.

use super::host::Host;
use super::origin::Origin;
use super::proof::{CredentialError, Proof};
use super::unsigned::of_development;
use crate::clock::now_ms;
use crate::mode::{Dev, Mode, Reach};
use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN, REFERER};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use hearth_engine::Identity;
use hearth_tree::Excerpt;
use percent_encoding::percent_decode_str;
use std::sync::Arc;

/// The answers of long polling are scripts.
const LONG_POLL: &str = "/.lp";
/// The parameter that makes a script of an answer over REST.
const CALLBACK: &str = "callback";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whom one request may be: the mode of the server, and where the request comes from.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    mode: Arc<Mode>,
    from: From,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// A program, or a page that may use the conveniences.
    Friend,
    /// A page of somebody else.
    Foreigner,
}

/// Why a request gets no further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Turned {
    #[error("the header `{0}` stands twice, or is not readable")]
    Unreadable(HeaderName),
    #[error(
        "this server is not called `{}`: without --allow-remote it answers to localhost, names that end with .localhost, and loopback addresses",
        Excerpt(.host)
    )]
    NotLoopback { host: String },
    #[error(
        "this server is not called `{}`: it answers to addresses, names without a dot, and hosts of an --allow-origin",
        Excerpt(.host)
    )]
    NotKnown { host: String },
    #[error(
        "a page of another origin may not use a server without rules: start it with --rules FILE, or with --allow-origin and the origin of the page"
    )]
    Open,
}

/// Gives a request its [`Gate`].
///
/// # Errors
/// The answer, if it gets no further.
pub(crate) fn keep(mode: Arc<Mode>, request: &mut Request) -> Result<(), Box<Response>> {
    match Gate::admit(mode, request.uri(), request.headers()) {
        Ok(gate) => {
            request.extensions_mut().insert(gate);
            Ok(())
        }
        Err(turned) => {
            tracing::info!(%turned, "a request is turned away");
            let status = match turned {
                Turned::Unreadable(_) => StatusCode::BAD_REQUEST,
                Turned::NotLoopback { .. } | Turned::NotKnown { .. } => StatusCode::MISDIRECTED_REQUEST,
                Turned::Open => StatusCode::FORBIDDEN,
            };
            Err(Box::new((status, format!("{turned}\n")).into_response()))
        }
    }
}

impl Gate {
    /// As of a request that says nothing of where it comes from.
    #[cfg(test)]
    pub(crate) const fn of_program(mode: Arc<Mode>) -> Self {
        Self { mode, from: From::Friend }
    }

    fn admit(mode: Arc<Mode>, uri: &Uri, headers: &HeaderMap) -> Result<Self, Turned> {
        let from = match &*mode {
            // Nothing here is believed because of where it comes from.
            Mode::Serve(_) => From::Friend,
            Mode::Dev(dev) => {
                check_host(dev, headers)?;
                let from = origin_of(dev, uri, headers)?;
                // Open without rules is a convenience, too.
                if from == From::Foreigner && dev.rules.is_none() {
                    return Err(Turned::Open);
                }
                from
            }
        };
        Ok(Self { mode, from })
    }

    /// Whether the request comes from a page of somebody else.
    pub(crate) fn is_foreign(&self) -> bool {
        self.from == From::Foreigner
    }

    /// Whether somebody may see what was noted of the rules: an admin, and whoever sits at a developer's own machine.
    pub(crate) fn may_inspect(&self, identity: &Identity) -> bool {
        let is_at_home =
            matches!((&*self.mode, self.from), (Mode::Dev(Dev { reach: Reach::Loopback, .. }), From::Friend));
        is_at_home || *identity == Identity::Admin
    }

    /// Whether somebody may be told how their own request ran: an admin, whoever sits at a developer's own machine, and
    /// everybody where everybody is told why something is denied.
    pub(crate) fn may_explain(&self, by_admin: bool) -> bool {
        let is_told = match (&*self.mode, self.from) {
            (Mode::Dev(dev), From::Friend) => dev.explain || matches!(dev.reach, Reach::Loopback),
            (Mode::Dev(_), From::Foreigner) | (Mode::Serve(_), From::Friend | From::Foreigner) => false,
        };
        is_told || by_admin
    }

    /// Who a credential proves the request to be. Mostly at once; a token with a new key of its issuer takes some seconds.
    ///
    /// # Errors
    /// [`CredentialError`] if it proves nothing here.
    pub(crate) async fn identify(&self, credential: &str) -> Result<Proof, CredentialError> {
        let admin = || Ok(Proof::admin());
        match &*self.mode {
            Mode::Serve(serve) => match &serve.admin {
                Some(secret) if secret.is(credential) => admin(),
                Some(_) | None if serve.tokens.is_empty() => Err(CredentialError::Unproven),
                Some(_) | None => serve.tokens.judge(credential, now_ms()).await,
            },
            Mode::Dev(dev) => match (&dev.reach, self.from) {
                // Whoever has the token was given it.
                (Reach::Remote(secret), From::Friend | From::Foreigner) if secret.is(credential) => admin(),
                (Reach::Loopback | Reach::Remote(_), From::Foreigner) => Err(CredentialError::Foreign),
                (Reach::Loopback, From::Friend) if credential == "owner" => admin(),
                (Reach::Loopback | Reach::Remote(_), From::Friend) => of_development(credential),
            },
        }
    }

    /// As [`Gate::identify`], of what a client sends as an admin's (`Authorization: Bearer`, `access_token`): like the
    /// emulator, a developer's own server takes any of these for one.
    ///
    /// # Errors
    /// [`CredentialError`] if it proves nothing here.
    pub(crate) async fn identify_admin(&self, credential: &str) -> Result<Proof, CredentialError> {
        match (&*self.mode, self.from) {
            (Mode::Dev(Dev { reach: Reach::Loopback, .. }), From::Friend) => Ok(Proof::admin()),
            (Mode::Dev(_) | Mode::Serve(_), From::Friend | From::Foreigner) => {
                self.identify(credential).await
            }
        }
    }
}

/// The text of a header that may stand once.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Turned> {
    let unreadable = || Turned::Unreadable(name.clone());
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| unreadable()),
        (Some(_), Some(_)) => Err(unreadable()),
    }
}

fn check_host(dev: &Dev, headers: &HeaderMap) -> Result<(), Turned> {
    let text = single(headers, &HOST)?.unwrap_or_default();
    let host = Host::parse(text);
    let is_known = host.is_some_and(|host| match dev.reach {
        Reach::Loopback => host.is_loopback() || host.is_loopback_of_emulator(),
        Reach::Remote(_) => {
            host.cannot_be_rebound() || dev.allowed.iter().any(|origin| *origin.host() == host)
        }
    });
    let host = || text.to_owned();
    match dev.reach {
        Reach::Loopback | Reach::Remote(_) if is_known => Ok(()),
        Reach::Loopback => Err(Turned::NotLoopback { host: host() }),
        Reach::Remote(_) => Err(Turned::NotKnown { host: host() }),
    }
}

/// Where a request comes from: what `Origin` says, otherwise `Sec-Fetch-Site`. A browser leaves the second out too, where
/// the server is not on its own machine and has no certificate. An answer that is data is then of no use to a page of
/// another origin, and the headers of a program are as few; but a script would be run, so it takes a `Referer` to get one.
/// With a `Referer`, too, a page at `localhost` may load scripts from `127.0.0.1`, which is another site: a page can leave
/// it out, but cannot write another one's name there.
fn origin_of(dev: &Dev, uri: &Uri, headers: &HeaderMap) -> Result<From, Turned> {
    let host = single(headers, &HOST)?.unwrap_or_default();
    let is_friend = |text: &str| {
        Origin::parse(text).is_ok_and(|origin| {
            origin.is_loopback() || dev.allowed.contains(&origin) || is_own(&origin, host)
        })
    };
    let is_linked = || Ok(single(headers, &REFERER)?.and_then(origin_of_url).is_some_and(is_friend));
    let is_friend = match (single(headers, &ORIGIN)?, single(headers, &SEC_FETCH_SITE)?) {
        (Some(origin), _) => is_friend(origin),
        (None, Some("cross-site")) => is_linked()?,
        (None, Some(_)) => true,
        (None, None) if is_script(uri) && !Host::parse(host).is_some_and(|host| host.is_loopback()) => {
            is_linked()?
        }
        (None, None) => true,
    };
    Ok(if is_friend { From::Friend } else { From::Foreigner })
}

/// Whether a page can make use of the answer as a script, without asking anybody.
fn is_script(uri: &Uri) -> bool {
    let mut params = uri.query().unwrap_or_default().split('&');
    let name_of = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    uri.path() == LONG_POLL || params.any(|pair| percent_decode_str(&name_of(pair)).eq(CALLBACK.bytes()))
}

/// What stands before the path.
fn origin_of_url(url: &str) -> Option<&str> {
    let after = url.find("://")? + "://".len();
    let length = url[after..].find(['/', '?', '#']).unwrap_or(url.len() - after);
    Some(&url[..after + length])
}

/// Whether it is the server's own, by a host that was found to be its own. Some SDKs, which are no pages at all, call
/// themselves that.
fn is_own(origin: &Origin, host: &str) -> bool {
    ["http", "https"].iter().any(|scheme| Origin::parse(&format!("{scheme}://{host}")).as_ref() == Ok(origin))
}
