//! What a server says about itself when it begins.

use crate::log::Found;
use crate::mode::{Dev, Mode, Reach, Serve};
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

/// Several lines, each ended. `stored` has a sentence for each database with rules of its own.
pub(super) fn welcome(
    mode: &Mode,
    found: &Found,
    stored: &[String],
    address: SocketAddr,
    is_encrypted: bool,
    limits: Option<&Path>,
) -> String {
    match mode {
        Mode::Dev(dev) => of_dev(dev, found, stored, address, limits),
        Mode::Serve(serve) => of_serve(serve, found, stored, is_encrypted, limits),
    }
}

/// Two things about the data: where they are, and what was there. Nothing, if they are nowhere.
fn of_data(found: &Found) -> Option<(String, String)> {
    match found {
        Found::Memory => None,
        Found::New { folder } => Some((format!("`{}`", folder.display()), "new".into())),
        Found::Kept { folder, databases, commits, has_checkpoint, log_bytes, sessions, is_stopped, took } => {
            let mut text = format!(
                "{} in {} recovered from {}{} kB of log in {} ms",
                counted(*commits, "write"),
                counted(*databases, "database"),
                if *has_checkpoint { "a checkpoint and " } else { "" },
                log_bytes.div_ceil(1_000),
                took.as_millis()
            );
            if !is_stopped {
                text += "; the last server was cut off";
            }
            if *sessions != 0 {
                let sessions = counted(*sessions, "session");
                text += &format!("; {sessions} ended with it, and the armed writes are made");
            }
            Some((format!("`{}`", folder.display()), text))
        }
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn of_dev(dev: &Dev, found: &Found, stored: &[String], address: SocketAddr, limits: Option<&Path>) -> String {
    let here = reachable(address);
    let url = format!("http://{here}");
    let mut text = format!("hearth {} for development\n\n", env!("CARGO_PKG_VERSION"));
    match &dev.rules {
        None => {
            let except = except_stored(stored);
            line(
                &mut text,
                format_args!(
                    "  OPEN      Without rules, whoever reaches this server may read and write everything in it{except}."
                ),
            );
            text += "            --rules FILE puts security rules before the data.\n";
        }
        Some(_) => text += "  Rules     Security rules decide; a client without a token is nobody.\n",
    }
    for (label, sentence) in std::iter::once("Stored").chain(std::iter::repeat("")).zip(stored) {
        line(&mut text, format_args!("  {label:<10}{sentence}"));
    }
    if !stored.is_empty() {
        text += "            DELETE of /.settings/rules.json takes stored rules back.\n";
    }
    if let Some(limits) = limits {
        line(
            &mut text,
            format_args!("  Limits    `{}` says how much anybody may write and read.", limits.display()),
        );
    }
    match of_data(found) {
        None => text += "  Memory    Nothing is kept: the data end with the server, and stored rules, too.\n",
        Some((place, found)) => {
            line(&mut text, format_args!("  Data      {place}: {found}"));
        }
    }
    match &dev.reach {
        Reach::Loopback => text += "  Admin     Authorization: Bearer owner\n",
        Reach::Remote(token) => {
            line(&mut text, format_args!("  Admin     Authorization: Bearer {}", token.reveal()));
            text += "            A new one with every start. `owner` is nobody, as other machines may reach this server.\n";
        }
    }
    if let Some(public) = &dev.public {
        line(&mut text, format_args!("  Files     {url}/ shows those of {}", public.folder().display()));
    }
    for origin in &dev.allowed {
        line(&mut text, format_args!("  Pages     {origin} may do what pages of this machine may"));
    }
    let admin = match (&dev.rules, &dev.reach) {
        (None, Reach::Loopback | Reach::Remote(_)) => String::new(),
        (Some(_), Reach::Loopback) => " -H 'Authorization: Bearer owner'".into(),
        (Some(_), Reach::Remote(token)) => format!(" -H 'Authorization: Bearer {}'", token.reveal()),
    };
    text += "\nTry it\n\n";
    line(
        &mut text,
        format_args!("  Watch     curl -N{admin} -H 'Accept: text/event-stream' '{url}/hello.json?ns=demo'"),
    );
    line(&mut text, format_args!("  Write     curl -X PUT{admin} -d '\"world\"' '{url}/hello.json?ns=demo'"));
    line(
        &mut text,
        format_args!("  Your app  getDatabase(initializeApp({{ databaseURL: '{url}?ns=demo' }}))"),
    );
    let other = if url == DEFAULT_URL { String::new() } else { format!("VITE_HEARTH_URL={url} ") };
    line(&mut text, format_args!("  The chat  cd examples/chat && npm install && {other}npm start"));
    if dev.rules.is_none() {
        text += "            With its rules: hearth dev --rules examples/chat/rules.json\n";
    }
    text += "\nCtrl-C ends it.\n\n";
    text
}

/// Where the chat looks for a server.
const DEFAULT_URL: &str = "http://127.0.0.1:9000";

fn of_serve(
    serve: &Serve,
    found: &Found,
    stored: &[String],
    is_encrypted: bool,
    limits: Option<&Path>,
) -> String {
    let names: Vec<_> = serve.namespaces.iter().map(|name| name.as_str()).collect();
    let mut text = format!("hearth {} for production: {}\n", env!("CARGO_PKG_VERSION"), names.join(", "));
    match of_data(found) {
        None => text += "nothing is kept: the data end with the server, and stored rules, too (--memory)\n",
        Some((place, found)) => line(&mut text, format_args!("data in {place}: {found}")),
    }
    if !is_encrypted {
        text += "not encrypted: --tls-cert and --tls-key put TLS before it, unless a proxy does\n";
    }
    if serve.rules.is_none() {
        let except = except_stored(stored);
        line(
            &mut text,
            format_args!(
                "closed: without rules only an admin may read or write{except}; --rules FILE puts rules before the data"
            ),
        );
    }
    for sentence in stored {
        line(&mut text, format_args!("{sentence}"));
    }
    if let Some(limits) = limits {
        line(&mut text, format_args!("`{}` says how much anybody may write and read", limits.display()));
    }
    if serve.tokens.is_empty() {
        text += "nobody can sign in: --firebase-project, --token-secret-file, or token-issuers in the file says whose tokens are believed\n";
    } else {
        line(&mut text, format_args!("tokens are believed of {}", serve.tokens.names().join(", ")));
    }
    if serve.admin.is_none() {
        text += "nobody is an admin: no admin credential is given by --admin-credential-file or HEARTH_ADMIN_CREDENTIAL\n";
    }
    text
}

const fn except_stored(stored: &[String]) -> &'static str {
    if stored.is_empty() { "" } else { ", except where rules are stored" }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string takes whatever is written to it");
}

/// An address for a browser or `curl`: who listens everywhere is reached on loopback, too.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = if address.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    SocketAddr::new(ip, address.port())
}
