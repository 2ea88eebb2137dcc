//! Why nothing could be measured.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio_tungstenite::tungstenite;

/// One sentence for whoever runs the bench.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(
        "`{}` is not there: build it with `cargo build --release --package hearth`, or name the server's program with `--server FILE`",
        .file.display()
    )]
    NoServer { file: PathBuf },
    #[error("cannot start `{}`: {error}", .file.display())]
    Start { file: PathBuf, error: io::Error },
    #[error("`{}` ended without saying `listening on http://…`", .file.display())]
    NotListening { file: PathBuf },
    #[error(
        "this measures a server from its start, so it cannot be one that runs already: leave `--url` out"
    )]
    StartOfRunning,
    #[error("the name of the folder for the data is not UTF-8")]
    FolderName,
    #[error("this measures memory: with `--url`, say the process of the server with `--pid`")]
    NoProcess,
    #[error("cannot read the figures of process {process} in /proc: {error}")]
    Figures { process: u32, error: io::Error },
    #[error("cannot connect to {address}: {error}")]
    Connect { address: SocketAddr, error: tungstenite::Error },
    #[error("a connection broke: {0}")]
    Broken(#[from] tungstenite::Error),
    #[error("a connection was closed by the other side")]
    Closed,
    #[error("the server refused a request: {text}")]
    Refused { text: String },
    #[error("the server sent what no client can follow: {0}")]
    Unreadable(#[from] hearth_wire::ReceiveError),
    #[error("the server answered a request over HTTP with `{status}`")]
    Status { status: String },
    #[error("nothing has happened for {seconds} s: {what}")]
    Stuck { what: String, seconds: u64 },
    #[error(
        "{wanted} connections are wanted, but only {possible} file descriptors may be open (`ulimit -Hn`)"
    )]
    Descriptors { wanted: u32, possible: u64 },
    #[error("the rule sets cannot be used: {why}")]
    RuleSets { why: String },
    #[error("a suite that has to pass did not: {said}")]
    Suite { said: String },
    #[error("the system refuses something: {0}")]
    System(#[from] io::Error),
    #[error("cannot print the figures: {0}")]
    Output(io::Error),
}
