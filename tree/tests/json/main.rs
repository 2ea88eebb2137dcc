//! JSON in and out, through the public interface.

mod envelope;
mod errors;
mod forms;
mod hashes;
mod limits;
mod numbers;
mod pending;
mod pieces;
mod properties;
mod surrogates;
mod writing;

use hearth_tree::{Form, Json, Node, ReadOptions, read_node};

/// The node that a text stands for.
fn node(text: &str) -> Option<Node> {
    read_node(text.as_bytes(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A node's text.
fn text(node: Option<&Node>, form: Form) -> String {
    String::from_utf8(Json::new(node, form).to_bytes()).expect("JSON is UTF-8")
}
