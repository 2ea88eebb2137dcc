//! Stands between clients and a server, and judges what the server sends: see the module `witness`.

use hearth_tests::witness::Witness;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic;
use std::process::{self, ExitCode};

const USAGE: &str = "\
Stands between clients and a server: passes on every byte, and judges every message that the server sends over a
WebSocket or by long polling by what the Firebase SDKs can bear.

  hearth-witness URL     such as http://127.0.0.1:9000

On standard output it says where clients are to connect: `listening on http://ADDRESS`. Each fault is a line on standard
error, and the connection is closed before the client sees it. It ends when its standard input does: with 0 if nothing was
wrong, with 1 otherwise.
";

fn main() -> ExitCode {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        // A judge that failed must not be taken for one that found nothing.
        process::abort();
    }));
    match witness() {
        Ok(faults) => ExitCode::from(u8::from(0 < faults)),
        Err(sentence) => {
            say(&sentence);
            ExitCode::from(2)
        }
    }
}

/// How many faults there were.
fn witness() -> Result<usize, String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), None) = (arguments.next(), arguments.next()) else { return Err(USAGE.into()) };
    let witness =
        Witness::listen(address(&url)?, say).map_err(|error| format!("no port is free: {error}"))?;
    let mut out = io::stdout();
    writeln!(out, "listening on http://{}", witness.address()).map_err(|error| error.to_string())?;
    // However it fails, there is nobody left to wait for.
    drop(io::copy(&mut io::stdin().lock().by_ref(), &mut io::sink()));
    Ok(witness.faults().len())
}

fn address(url: &str) -> Result<SocketAddr, String> {
    let host = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let found = host.and_then(|host| host.to_socket_addrs().ok()).and_then(|mut found| found.next());
    found.ok_or_else(|| format!("`{url}` is no address of a server: `http://HOST:PORT` is needed"))
}

fn say(sentence: &str) {
    // With no standard error there is nobody to tell.
    drop(writeln!(io::stderr(), "hearth-witness: {sentence}"));
}
