//! The messages of the protocol through the public interface, in both directions.

mod answers;
mod control;
mod hostile;
mod long;
mod pushes;
mod refused;
mod requests;

use hearth_tree::ReadOptions;
use hearth_wire::{ClientMessage, Refused, Request};

fn parse(text: &str) -> Result<ClientMessage, Refused> {
    ClientMessage::parse(text.as_bytes(), &ReadOptions::default())
}

/// The request that a text is.
fn request(text: &str) -> Request {
    match parse(text) {
        Ok(ClientMessage::Request(request)) => request,
        Ok(ClientMessage::Control(control)) => panic!("{text}: {control:?} is no request"),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// A message of a request with this number, action and body.
fn message(number: u64, action: &str, body: &str) -> String {
    format!(r#"{{"t":"d","d":{{"r":{number},"a":"{action}","b":{body}}}}}"#)
}
